//! What waits for one client: texts in order, of frames the latest, and rows of a preview when there is nothing else.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::wire::frame;

/// Most texts that wait for a client; it is closed when there are more.
const TEXT_LIMIT: usize = 1024;
/// Most bundles of frames that a client has not confirmed.
const UNCONFIRMED: u32 = 2;
/// Most rows of a preview that wait: a client that is behind gets them whole at the end. [bytes]
const ROWS_LIMIT: usize = 4 << 20;

/// What waits for a client.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    texts: VecDeque<String>,
    /// Frames of one instant; a later one takes their place.
    frames: Option<Vec<Vec<u8>>>,
    /// A frame of another source; a later one takes its place.
    beside: Option<Vec<u8>>,
    /// Parts of a preview's rows, in order.
    rows: VecDeque<Arc<Vec<u8>>>,
    /// Whether a part was left out: those behind it would leave a gap.
    rows_cut: bool,
    sent: u32,
    confirmed: u32,
    closed: Option<&'static str>,
}

/// What goes to a client next.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// A text.
    Text(String),
    /// Frames of one instant, with one number.
    Frames(Vec<Vec<u8>>),
    /// Rows of a preview, which nobody confirms.
    Rows(Arc<Vec<u8>>),
    /// Nothing more, for this reason.
    Close(&'static str),
}

impl Outbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Whoever panicked while it held the lock left a queue in order.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a text.
    pub(crate) fn send(&self, text: String) {
        let mut waiting = self.waiting();
        if waiting.texts.len() >= TEXT_LIMIT {
            waiting.closed = Some("the client reads too slowly: 1024 messages wait for it");
        } else if waiting.closed.is_none() {
            waiting.texts.push_back(text);
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// Puts the frames of an instant in the place of those that wait.
    pub(crate) fn show(&self, frames: Vec<Vec<u8>>) {
        let mut waiting = self.waiting();
        if waiting.closed.is_none() {
            waiting.frames = Some(frames);
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// Puts a frame of another source in the place of the one that waits.
    pub(crate) fn show_beside(&self, frame: Vec<u8>) {
        let mut waiting = self.waiting();
        if waiting.closed.is_none() {
            waiting.beside = Some(frame);
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// Adds rows of a preview, while they are not too many.
    pub(crate) fn add_rows(&self, part: &Arc<Vec<u8>>) {
        let mut waiting = self.waiting();
        let waits: usize = waiting.rows.iter().map(|part| part.len()).sum();
        waiting.rows_cut |= waits + part.len() > ROWS_LIMIT;
        if waiting.closed.is_none() && !waiting.rows_cut {
            waiting.rows.push_back(Arc::clone(part));
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// Throws away the rows that wait: they are of a preview that is no more.
    pub(crate) fn drop_rows(&self) {
        let mut waiting = self.waiting();
        waiting.rows.clear();
        waiting.rows_cut = false;
    }

    /// The client has got the frames of this number.
    pub(crate) fn confirm(&self, seq: u32) {
        let mut waiting = self.waiting();
        if seq <= waiting.sent {
            waiting.confirmed = waiting.confirmed.max(seq);
        }
        drop(waiting);
        self.news.notify_one();
    }

    /// Whether the client is to be closed, whatever it still reads.
    pub(crate) async fn overflowed(&self) {
        loop {
            {
                let waiting = self.waiting();
                if waiting.closed.is_some() && waiting.texts.len() >= TEXT_LIMIT {
                    return;
                }
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// What goes to the client next; waits for it.
    pub(crate) async fn next(&self) -> Outgoing {
        loop {
            let news = self.news.notified();
            if let Some(outgoing) = self.waiting().take() {
                return outgoing;
            }
            news.await;
        }
    }
}

impl Waiting {
    fn take(&mut self) -> Option<Outgoing> {
        if let Some(text) = self.texts.pop_front() {
            return Some(Outgoing::Text(text));
        }
        if let Some(reason) = self.closed {
            return Some(Outgoing::Close(reason));
        }
        self.take_frames()
            .map(Outgoing::Frames)
            .or_else(|| self.rows.pop_front().map(Outgoing::Rows))
    }

    fn take_frames(&mut self) -> Option<Vec<Vec<u8>>> {
        if self.sent.saturating_sub(self.confirmed) >= UNCONFIRMED {
            return None;
        }
        let mut frames = self.frames.take().unwrap_or_default();
        frames.extend(self.beside.take());
        if frames.is_empty() {
            return None;
        }
        self.sent += 1;
        for bytes in &mut frames {
            frame::set_seq(bytes, self.sent);
        }
        Some(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(number: u8) -> Vec<Vec<u8>> {
        vec![vec![number; 16]]
    }

    #[test]
    fn of_frames_the_latest_goes_and_two_may_be_unconfirmed() {
        let outbox = Outbox::default();
        let mut shown = Vec::new();
        for number in 1..=5 {
            outbox.show(frames(number));
            while let Some(Outgoing::Frames(frames)) = outbox.waiting().take() {
                shown.push((frames[0][0], frames[0][4]));
            }
        }
        assert_eq!(shown, [(1, 1), (2, 2)]);
        outbox.confirm(1);
        let Some(Outgoing::Frames(next)) = outbox.waiting().take() else { panic!("nothing") };
        assert_eq!((next[0][0], next[0][4]), (5, 3), "the latest, not the next");
        outbox.confirm(99);
        assert!(outbox.waiting().take().is_none(), "a number that was never sent confirms nothing");
    }

    #[test]
    fn texts_go_first_and_too_many_close() {
        let outbox = Outbox::default();
        outbox.show(frames(1));
        outbox.send("a".to_owned());
        assert!(matches!(outbox.waiting().take(), Some(Outgoing::Text(text)) if text == "a"));
        for _ in 0..=TEXT_LIMIT {
            outbox.send("b".to_owned());
        }
        assert!(outbox.waiting().closed.is_some());
    }

    #[test]
    fn rows_come_after_all_else_in_order_and_without_gaps() {
        let outbox = Outbox::default();
        let part = |number: u8, n: usize| Arc::new(vec![number; n]);
        outbox.add_rows(&part(1, 16));
        outbox.add_rows(&part(2, 16));
        outbox.show(frames(9));
        outbox.send("a".to_owned());
        assert!(matches!(outbox.waiting().take(), Some(Outgoing::Text(_))));
        assert!(matches!(outbox.waiting().take(), Some(Outgoing::Frames(_))));
        let next = |outbox: &Outbox| match outbox.waiting().take() {
            Some(Outgoing::Rows(part)) => Some(part[0]),
            _ => None,
        };
        assert_eq!([next(&outbox), next(&outbox), next(&outbox)], [Some(1), Some(2), None]);

        outbox.add_rows(&part(3, ROWS_LIMIT));
        outbox.add_rows(&part(4, 16));
        assert_eq!(next(&outbox), Some(3));
        outbox.add_rows(&part(5, 16));
        assert_eq!(next(&outbox), None, "a part was left out before it");
        outbox.drop_rows();
        outbox.add_rows(&part(6, 16));
        assert_eq!(next(&outbox), Some(6), "of the next preview");
    }
}
