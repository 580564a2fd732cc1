//! The offline program; see the library for what it does.

fn main() -> std::process::ExitCode {
    karakuri::main()
}
