//! Traces: CSV, one row per instant, with a header of names and units: `time [s]`, `arm.shoulder.q [rad]`. A file that ends in
//! `.jsonl` has JSON lines instead, an object per row, its keys the names alone.
//!
//! Numbers are written so that they read back to the same bits.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use crate::atomic::Pending;
use crate::{LoadError, WriteError, read_text};

/// Column of a trace: its quantity and unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name, such as `arm.shoulder.q`.
    pub name: String,
    /// Unit, such as `rad`; empty for none.
    pub unit: String,
}

impl Column {
    /// Column with this name and unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }

    fn header(&self) -> String {
        let unit = if self.unit.is_empty() { "-" } else { &self.unit };
        format!("{} [{unit}]", self.name)
    }

    /// Reads a header; without a unit it is a name alone.
    fn parse(header: &str) -> Self {
        match header.trim().strip_suffix(']').and_then(|h| h.rsplit_once('[')) {
            Some((name, "-")) => Self::new(name.trim(), ""),
            Some((name, unit)) => Self::new(name.trim(), unit.trim()),
            None => Self::new(header.trim(), ""),
        }
    }
}

/// Reason why a trace was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file could not be written.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// The file could not be read.
    #[error("{0}")]
    Read(#[from] LoadError),
    /// A row has another number of values than there are columns.
    #[error("a row has {given} values for {columns} columns")]
    RowLength {
        /// Number of values in the row.
        given: usize,
        /// Number of columns in the trace.
        columns: usize,
    },
    /// The content is not a table of numbers.
    #[error("{}:{line}: {what}; {remedy}", path.display())]
    NotATable {
        /// Path of the file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Problem of the line.
        what: String,
        /// Remedy: text to write instead.
        remedy: &'static str,
    },
}

/// Writer of a trace, row by row; the file appears, whole, with [`Self::finish`].
#[derive(Debug)]
pub struct TraceWriter {
    path: PathBuf,
    rows: Rows,
    /// Numbers of columns of words, then of numbers.
    columns: [usize; 2],
}

#[derive(Debug)]
enum Rows {
    Csv(Box<csv::Writer<BufWriter<Pending>>>),
    /// JSON lines, with the keys.
    JsonLines(BufWriter<Pending>, Vec<String>),
}

impl TraceWriter {
    /// Begins a trace.
    ///
    /// # Errors
    /// When the file cannot be created or the header cannot be written.
    pub fn create(path: &Path, columns: &[Column]) -> Result<Self, TraceError> {
        Self::create_named(path, &[], columns)
    }

    /// Begins a trace whose rows begin with words in columns of these names.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_named(
        path: &Path,
        names: &[&str],
        columns: &[Column],
    ) -> Result<Self, TraceError> {
        let buffered = BufWriter::with_capacity(1 << 16, Pending::create(path)?);
        let lines = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jsonl"));
        let words = names.iter().map(|&name| name.to_owned());
        let rows = if lines {
            let keys = words.chain(columns.iter().map(|column| column.name.clone()));
            Rows::JsonLines(buffered, keys.collect())
        } else {
            let mut writer = csv::Writer::from_writer(buffered);
            let written = writer.write_record(words.chain(columns.iter().map(Column::header)));
            written.map_err(|e| WriteError { path: path.to_owned(), error: io_error(e) })?;
            Rows::Csv(Box::new(writer))
        };
        Ok(Self { path: path.to_owned(), rows, columns: [names.len(), columns.len()] })
    }

    /// Writes a row, one value per column.
    ///
    /// # Errors
    /// When the number of values is not that of the columns, or the row cannot be written.
    pub fn row(&mut self, values: &[f64]) -> Result<(), TraceError> {
        self.named_row(&[], values)
    }

    /// Writes a row of words and values, one per column. Values that are not finite are `null` in JSON lines.
    ///
    /// # Errors
    /// When the numbers of words or values are not those of the columns, or the row cannot be written.
    pub fn named_row(&mut self, words: &[&str], values: &[f64]) -> Result<(), TraceError> {
        let (given, columns) = (words.len() + values.len(), self.columns[0] + self.columns[1]);
        if [words.len(), values.len()] != self.columns {
            return Err(TraceError::RowLength { given, columns });
        }
        let written = match &mut self.rows {
            Rows::Csv(writer) => {
                let words = words.iter().map(|&word| word.to_owned());
                let fields = words.chain(values.iter().map(f64::to_string));
                writer.write_record(fields).map_err(io_error)
            }
            Rows::JsonLines(writer, keys) => write_line(writer, keys, words, values),
        };
        written.map_err(|error| WriteError { path: self.path.clone(), error }.into())
    }

    /// Ends the trace and puts the file in its place.
    ///
    /// # Errors
    /// When the rest of the buffer cannot be written or the file cannot be put in its place.
    pub fn finish(self) -> Result<(), TraceError> {
        let Self { path, rows, .. } = self;
        let fail = |error| WriteError { path: path.clone(), error };
        let buffered = match rows {
            Rows::Csv(writer) => writer.into_inner().map_err(|e| fail(e.into_error()))?,
            Rows::JsonLines(writer, _) => writer,
        };
        let pending = buffered.into_inner().map_err(|e| fail(e.into_error()))?;
        Ok(pending.commit()?)
    }
}

/// Error with the kind of the system's error, which the conversion in `csv` drops.
fn io_error(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}

/// Writes an object of words and numbers.
fn write_line(
    writer: &mut impl std::io::Write,
    keys: &[String],
    words: &[&str],
    values: &[f64],
) -> std::io::Result<()> {
    let mut separator = "{";
    for (i, key) in keys.iter().enumerate() {
        write!(writer, "{separator}{}:", serde_json::Value::from(key.as_str()))?;
        match (words.get(i), values.get(i.wrapping_sub(words.len()))) {
            (Some(word), _) => write!(writer, "{}", serde_json::Value::from(*word))?,
            (None, Some(value)) => write!(writer, "{}", serde_json::Value::from(*value))?,
            (None, None) => write!(writer, "null")?,
        }
        separator = ",";
    }
    writeln!(writer, "}}")
}

/// Trace in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Columns, in order.
    pub columns: Vec<Column>,
    /// Rows, each with one value per column.
    pub rows: Vec<Vec<f64>>,
}

/// Reads a trace, or any CSV table of numbers with a header.
///
/// # Errors
/// When the file cannot be read, has no header, or has a row of another length or a value that is not a number; the
/// error names the line.
pub fn read_trace(path: &Path) -> Result<Trace, TraceError> {
    let text = read_text(path)?;
    let wrong = |line: u64, what: String, remedy| TraceError::NotATable {
        path: path.to_owned(),
        line,
        what,
        remedy,
    };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let header =
        reader.headers().map_err(|e| wrong(1, e.to_string(), "write a header of names"))?.clone();
    if header.is_empty() {
        return Err(wrong(1, "the file is empty".to_owned(), "write a header of names"));
    }
    let columns: Vec<Column> = header.iter().map(Column::parse).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| {
            let line = e.position().map_or(0, csv::Position::line);
            wrong(line, e.to_string(), "write numbers separated by commas")
        })?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != columns.len() {
            let what = format!("{} values for {} columns", record.len(), columns.len());
            return Err(wrong(line, what, "write one value a column"));
        }
        let row: Result<Vec<f64>, TraceError> = record
            .iter()
            .map(|word| {
                word.trim().parse().map_err(|_| {
                    let what = format!("`{word}` is not a number");
                    wrong(line, what, "write a number with a decimal point")
                })
            })
            .collect();
        rows.push(row?);
    }
    Ok(Trace { columns, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_to_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let columns =
            vec![Column::new("time", "s"), Column::new("arm.q", "rad"), Column::new("n", "")];
        let rows = vec![vec![0.0, 0.1 + 0.2, -0.0], vec![1e-300, f64::MAX, 3.0]];
        let mut trace = TraceWriter::create(&path, &columns).unwrap();
        for row in &rows {
            trace.row(row).unwrap();
        }
        assert!(matches!(trace.row(&[1.0]), Err(TraceError::RowLength { given: 1, columns: 3 })));
        assert!(!path.exists(), "the file appears whole");
        trace.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("time [s],arm.q [rad],n [-]\n0,0.30000000000000004,-0\n"),
            "{text}"
        );
        let read = read_trace(&path).unwrap();
        assert_eq!(read.columns, columns);
        let bits =
            |rows: &[Vec<f64>]| -> Vec<u64> { rows.concat().iter().map(|x| x.to_bits()).collect() };
        assert_eq!(bits(&read.rows), bits(&rows));
    }

    #[test]
    fn json_lines_have_an_object_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let columns = [Column::new("time", "s"), Column::new("fz", "N")];
        let mut trace = TraceWriter::create_named(&path, &["on"], &columns).unwrap();
        trace.named_row(&["a \"b\""], &[0.1, f64::NAN]).unwrap();
        trace.named_row(&["c"], &[0.2, 1e-300]).unwrap();
        assert!(trace.row(&[1.0, 2.0, 3.0]).is_err());
        trace.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(rows[0], serde_json::json!({"on": "a \"b\"", "time": 0.1, "fz": null}));
        assert_eq!(rows[1], serde_json::json!({"on": "c", "time": 0.2, "fz": 1e-300}));
    }

    #[test]
    fn wrong_tables_name_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        for (text, expected) in [
            ("", "t.csv:1: the file is empty"),
            ("a,b\n1,2\n3\n", "t.csv:3: 1 values for 2 columns; write one value a column"),
            ("a,b\n1,x\n", "t.csv:2: `x` is not a number"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = read_trace(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
