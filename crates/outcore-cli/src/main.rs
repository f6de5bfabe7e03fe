//! The `outcore` command.

fn main() -> std::process::ExitCode {
    outcore_cli::run(std::env::args_os())
}
