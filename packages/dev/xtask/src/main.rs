//! `cargo run -p xtask -- tidy`: house rules that no linter has.

mod tidy;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["tidy"] {
        eprintln!("usage: cargo run -p xtask -- tidy");
        return ExitCode::from(2);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for hint in tidy::hints(&root) {
        eprintln!("hint: commit {hint}");
    }
    match root.canonicalize().map_err(Into::into).and_then(|root| tidy::check(&root)) {
        Ok(violations) if violations.is_empty() => ExitCode::SUCCESS,
        Ok(violations) => {
            for violation in &violations {
                eprintln!("{violation}");
            }
            eprintln!("{} house rules are broken", violations.len());
            ExitCode::from(1)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}
