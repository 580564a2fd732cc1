//! History: what undo takes back.

use karakuri_motion::Op;

/// Most steps that are kept.
const STEPS: usize = 1000;
/// Most bytes of operations that are kept, as JSON.
const BYTES: usize = 64 << 20;

/// A change, by the operations that take it back.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// What it was.
    pub(super) label: String,
    /// Operations that take it back.
    pub(super) inverse: Vec<Op>,
    size: usize,
}

impl Step {
    pub(super) fn new(label: String, inverse: Vec<Op>) -> Self {
        let size = serde_json::to_vec(&inverse).map_or(0, |text| text.len());
        Self { label, inverse, size }
    }
}

/// What can be taken back and made again, the last at the end.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) undo: Vec<Step>,
    pub(super) redo: Vec<Step>,
}

impl History {
    /// A new change; what was taken back before cannot be made again.
    pub(super) fn push(&mut self, step: Step) {
        self.redo.clear();
        self.undo.push(step);
        let size: usize = self.undo.iter().map(|step| step.size).sum();
        let mut left_over = size.saturating_sub(BYTES);
        let mut oldest = self.undo.len().saturating_sub(STEPS);
        while left_over > 0 && oldest + 1 < self.undo.len() {
            left_over = left_over.saturating_sub(self.undo[oldest].size);
            oldest += 1;
        }
        self.undo.drain(..oldest);
    }

    /// What the next undo takes back.
    pub(super) fn next_undo(&self) -> Option<String> {
        self.undo.last().map(|step| step.label.clone())
    }

    /// What the next redo makes again.
    pub(super) fn next_redo(&self) -> Option<String> {
        self.redo.last().map(|step| step.label.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_steps_go() {
        let mut history = History::default();
        for i in 0..STEPS + 10 {
            history.push(Step::new(i.to_string(), Vec::new()));
        }
        assert_eq!(history.undo.len(), STEPS);
        assert_eq!(history.undo[0].label, "10");
        let big =
            |label: &str| Step { label: label.to_owned(), inverse: Vec::new(), size: BYTES / 2 };
        for label in ["a", "b", "c"] {
            history.push(big(label));
        }
        let labels: Vec<&str> = history.undo.iter().map(|s| s.label.as_str()).collect();
        assert_eq!(labels, ["b", "c"]);
    }
}
