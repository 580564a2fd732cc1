//! Errors for the user: each once, in one text, with the place in the file where there is one.

use std::path::Path;

use karakuri_model::shorten_numbers;
use miette::{Diagnostic, MietteHandlerOpts, NamedSource, SourceSpan};

/// Prints an error and its causes to stderr.
pub fn print(error: anyhow::Error) {
    match error.downcast::<AtLine>() {
        Ok(pointed) => eprint!("{:?}", report(pointed)),
        Err(error) => {
            let mut said = shorten_numbers(&error.to_string());
            eprintln!("error: {said}");
            for cause in error.chain().skip(1).map(|cause| shorten_numbers(&cause.to_string())) {
                // Many messages quote their cause.
                if !said.contains(&cause) {
                    eprintln!("  because: {cause}");
                    said = cause;
                }
            }
        }
    }
}

/// Report with the source line; paths stay in one piece, whatever the width of the terminal.
fn report(pointed: AtLine) -> miette::Report {
    let options = || MietteHandlerOpts::new().wrap_lines(false).context_lines(0).build();
    // It fails only where a hook is installed already, which prints as well.
    let _kept = miette::set_hook(Box::new(move |_| Box::new(options())));
    miette::Report::new(pointed)
}

/// Problem at a line of a text file; printed with the line and the remedy.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{place}: {message}")]
pub struct AtLine {
    place: String,
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    source_code: NamedSource<String>,
    #[label]
    span: SourceSpan,
}

impl AtLine {
    /// Problem from the file, its text, the line (from 1), the message and the remedy.
    pub fn new(
        file: &Path,
        text: &str,
        line: usize,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Self {
        let file = file.display().to_string();
        let text = &shown(text, line);
        Self {
            place: format!("{file}:{line}"),
            message: shorten_numbers(&message.into()),
            help,
            span: span_of_line(text, line),
            source_code: NamedSource::new(file, text.to_owned()),
        }
    }
}

/// Text with its shown line cut where it is too long to read: files may be one line in all.
fn shown(text: &str, line: usize) -> String {
    const READ: usize = 240;
    let excerpt = |content: &str| match content.char_indices().nth(READ) {
        Some((end, _)) => format!("{} ...", &content[..end]),
        None => content.to_owned(),
    };
    let mut lines = text.lines().take(line);
    let before = lines.by_ref().take(line.saturating_sub(1)).fold(String::new(), |all, line| {
        // Lines before it are only counted.
        all + if line.is_empty() { "\n" } else { ".\n" }
    });
    before + lines.next().map(excerpt).unwrap_or_default().as_str()
}

/// Span of a line without its indentation.
fn span_of_line(text: &str, line: usize) -> SourceSpan {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let content = text[start..].lines().next().unwrap_or_default();
    let indentation = content.len() - content.trim_start().len();
    (start + indentation, content.trim().len()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_one_long_line_is_cut() {
        let text = format!("a: 1\n\n{{{}}}\nb: 2", "x, ".repeat(100_000));
        let problem = AtLine::new(Path::new("f.yaml"), &text, 3, "wrong", None);
        let printed = format!("{:?}", report(problem));
        assert!(printed.len() < 2000, "{} bytes", printed.len());
        assert!(printed.contains("f.yaml:3: wrong"), "{printed}");
        assert!(printed.contains("{x, x, "), "{printed}");
    }
}
