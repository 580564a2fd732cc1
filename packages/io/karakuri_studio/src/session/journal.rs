//! The journal: unsaved changes, on disk within a second, for the day that the program or the machine dies.
//!
//! Beside the file, hidden: a line that says what it is about, then a line a change, and in their place a copy of the document
//! after every [`SNAPSHOT_EVERY`] changes. A last line that was cut short is left out.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use karakuri_files::{read_text, write_atomic};
use karakuri_motion::{Document, Op};
use serde::{Deserialize, Serialize};

use crate::assets::hash;
use crate::wire::Recovery;

/// Changes after which the document is written whole.
const SNAPSHOT_EVERY: usize = 200;
/// Longest time that a change is not on the disk for good.
const SYNC_AFTER: Duration = Duration::from_secs(1);

/// A line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// SHA-256 of the file's text when the journal began.
    File(String),
    /// The whole document, in place of all before.
    Document(Box<Document>),
    /// A change.
    Ops(Vec<Op>),
}

/// Journal of a document.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// Hash of the file's text.
    base: String,
    file: Option<File>,
    /// Changes since the last copy of the document.
    since_copy: usize,
    unsynced: Option<Instant>,
    problem: Option<String>,
    /// What another session left.
    left: Option<Left>,
}

#[derive(Debug)]
struct Left {
    lines: Vec<Line>,
    recovery: Recovery,
}

impl Journal {
    /// Journal of the file of this text, with what another session left of it.
    pub(super) fn beside(file: &Path, text: &str) -> Self {
        let path = path_of(file);
        // Aside, so that this session has a journal of its own while nobody has said what becomes of the other. There may be
        // none, or the folder may not be ours to write: then it is read where it is.
        let aside = aside(&path);
        let _absent = std::fs::rename(&path, &aside);
        Self {
            left: Left::read(&aside).or_else(|| Left::read(&path)),
            base: hash(&[text.as_bytes()]),
            path,
            file: None,
            since_copy: 0,
            unsynced: None,
            problem: None,
        }
    }

    /// What another session left.
    pub(super) fn recovery(&self) -> Option<&Recovery> {
        self.left.as_ref().map(|left| &left.recovery)
    }

    /// Takes what another session left: the document that it makes of this one.
    pub(super) fn take_left(&mut self, document: &Document) -> Option<Document> {
        let mut recovered = document.clone();
        let left = self.left.take()?;
        for line in left.lines {
            match line {
                Line::File(_) => {}
                Line::Document(whole) => recovered = *whole,
                // A change that does not fit ends it: what came before is kept.
                Line::Ops(ops) => {
                    if recovered.commit(&ops).is_err() {
                        break;
                    }
                }
            }
        }
        Some(recovered)
    }

    /// What was left is in this session's journal now.
    pub(super) fn forget_left(&mut self) {
        self.sync();
        if self.file.is_some() {
            let _absent = std::fs::remove_file(aside(&self.path));
        }
    }

    /// Forgets what another session left.
    pub(super) fn drop_left(&mut self) {
        if self.left.take().is_some() {
            let _absent = std::fs::remove_file(aside(&self.path));
        }
    }

    /// Adds a change, after which the document is this one.
    pub(super) fn add(&mut self, ops: &[Op], document: &Document) {
        if self.problem.is_some() {
            return;
        }
        let written = if self.file.is_none() {
            self.begin(document)
        } else if self.since_copy >= SNAPSHOT_EVERY {
            self.replace(document)
        } else {
            self.since_copy += 1;
            self.append(&Line::Ops(ops.to_vec()))
        };
        if let Err(error) = written {
            self.file = None;
            self.problem =
                Some(format!("unsaved changes are not kept: {}: {error}", self.path.display()));
        }
        self.unsynced.get_or_insert_with(Instant::now);
    }

    /// Writes the first copy. [`Self::sync`] brings it to the disk, as it does changes: whoever waits for the edit does not wait
    /// for the disk.
    fn begin(&mut self, document: &Document) -> std::io::Result<()> {
        let text = self.copy(document)?;
        let mut file = File::create(&self.path)?;
        file.write_all(text.as_bytes())?;
        self.file = Some(file);
        self.since_copy = 0;
        Ok(())
    }

    /// Puts a copy in the place of the lines so far, which are there until it is on the disk.
    fn replace(&mut self, document: &Document) -> std::io::Result<()> {
        write_atomic(&self.path, self.copy(document)?.as_bytes()).map_err(|e| e.error)?;
        self.file = Some(OpenOptions::new().append(true).open(&self.path)?);
        self.since_copy = 0;
        Ok(())
    }

    fn copy(&self, document: &Document) -> std::io::Result<String> {
        let lines = [Line::File(self.base.clone()), Line::Document(Box::new(document.clone()))];
        let mut text = String::new();
        for line in &lines {
            text += &serde_json::to_string(line)?;
            text.push('\n');
        }
        Ok(text)
    }

    fn append(&mut self, line: &Line) -> std::io::Result<()> {
        let text = serde_json::to_string(line)? + "\n";
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))
    }

    /// Brings changes to the disk; a problem is said once.
    pub(super) fn tick(&mut self) -> Option<String> {
        if self.unsynced.is_some_and(|since| since.elapsed() >= SYNC_AFTER) {
            self.sync();
        }
        // An empty text stands for a problem that was said.
        self.problem.as_mut().map(std::mem::take).filter(|problem| !problem.is_empty())
    }

    /// Brings changes to the disk now.
    pub(super) fn sync(&mut self) {
        self.unsynced = None;
        if let Some(file) = &self.file
            && let Err(error) = file.sync_data()
        {
            self.problem = Some(format!("unsaved changes may be lost: {error}"));
        }
    }

    /// The document is saved to a file as this text: nothing is unsaved.
    pub(super) fn restart(&mut self, file: &Path, text: &str) {
        self.drop_left();
        self.remove();
        *self = Self::beside(file, text);
        // Of a file that was overwritten.
        self.drop_left();
    }

    fn remove(&mut self) {
        self.file = None;
        self.unsynced = None;
        // There may be none.
        let _absent = std::fs::remove_file(&self.path);
    }
}

impl Left {
    fn read(path: &Path) -> Option<Self> {
        let text = read_text(path).ok()?;
        let lines: Vec<Line> =
            text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
        let changes = lines.iter().filter(|line| !matches!(line, Line::File(_))).count();
        let age = path.metadata().and_then(|m| m.modified()).ok()?.elapsed().ok();
        let edits = u32::try_from(changes).unwrap_or(u32::MAX);
        let age = age.unwrap_or_default().as_secs_f64();
        (changes > 0).then_some(Self { lines, recovery: Recovery { edits, age } })
    }
}

/// Where the journal of a session that is over is put.
fn aside(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".left");
    PathBuf::from(name)
}

fn path_of(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.studio-journal"))
}
