//! The offline program; see the library for its commands.

fn main() -> std::process::ExitCode {
    karakuri::main()
}
