//! Cells of a line, with their columns, and numbers in them.

use karakuri_model::Place;

use crate::file::FileError;

/// A cell of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    /// Text without the spaces around it.
    pub(super) text: &'a str,
    /// Line and column, from 1.
    pub(super) at: [usize; 2],
}

/// Lines that are not empty and no comments, with their numbers from 1.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    numbered.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Cells of a line.
pub(super) fn cells(line: &str, number: usize, separator: char) -> Vec<Cell<'_>> {
    let mut column = 1;
    let mut found = Vec::new();
    for part in line.split(separator) {
        // Columns count characters, as editors do, not bytes.
        let spaces = part.chars().take_while(|c| c.is_whitespace()).count();
        found.push(Cell { text: part.trim(), at: [number, column + spaces] });
        column += part.chars().count() + 1;
    }
    found
}

/// Cells of a line between which there is white space, tabs or any number of spaces.
pub(super) fn words(line: &str, number: usize) -> Vec<Cell<'_>> {
    let mut column = 1;
    let mut found = Vec::new();
    for text in line.split(char::is_whitespace) {
        if !text.is_empty() {
            found.push(Cell { text, at: [number, column] });
        }
        column += text.chars().count() + 1;
    }
    found
}

/// A finite number of a cell.
pub(super) fn number(file: &str, cell: Cell<'_>, what: &str) -> Result<f64, FileError> {
    match cell.text.parse::<f64>() {
        // `inf` and `nan` parse as numbers, too.
        Ok(value) if value.is_finite() => Ok(value),
        _ => {
            // A binary file may be one cell of megabytes.
            let text: String = cell.text.chars().take(30).collect();
            Err(error(file, cell.at, &format!("{what} is `{text}`; write a number, as 0.25")))
        }
    }
}

/// An error at a line and column.
pub(super) fn error(file: &str, [line, column]: [usize; 2], message: &str) -> FileError {
    let place = Place { line, column, ..Place::file(file) };
    FileError { place, path: String::new(), message: message.to_owned() }
}
