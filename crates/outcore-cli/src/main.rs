//! The `outcore` command.

fn main() -> std::process::ExitCode {
    outcore::io::share_freed_memory();
    outcore::input::hush_decoders();
    outcore_cli::run(std::env::args_os())
}
