//! The `outcore` command.

fn main() -> std::process::ExitCode {
    outcore::io::share_freed_memory();
    outcore::io::own_process(outcore_cli::end);
    outcore::input::silence_decoders();
    outcore_cli::run(std::env::args_os())
}
