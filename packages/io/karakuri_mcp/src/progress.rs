//! How far a call is.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use tokio::sync::mpsc;

/// Number of reports that may wait for a slow client; further ones are left out.
const WAITING: usize = 64;

/// A report of progress.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Report {
    /// Part that is done, from 0 to 1.
    pub(crate) fraction: f64,
    pub(crate) message: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:.0} %", self.message, 100.0 * self.fraction)
    }
}

/// Where a verb reports how far it is. It never waits for the client.
#[derive(Debug)]
pub struct Progress {
    last: Mutex<f64>,
    reports: mpsc::Sender<Report>,
}

/// A sender of progress and where its reports come out.
pub(crate) fn channel() -> (Progress, mpsc::Receiver<Report>) {
    let (reports, receiver) = mpsc::channel(WAITING);
    (Progress { last: Mutex::new(-1.0), reports }, receiver)
}

impl Progress {
    /// Reports that a part between 0 and 1 is done. What does not rise above the last report is left out, as the protocol asks.
    pub fn report(&self, fraction: f64, message: &str) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !(0.0..=1.0).contains(&fraction) || fraction <= *last {
            return;
        }
        // Nobody may listen, or slowly: progress is for people, the motion goes on.
        if self.reports.try_send(Report { fraction, message: message.to_owned() }).is_ok() {
            *last = fraction;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_rises_is_reported() {
        let (progress, mut reports) = channel();
        for fraction in [0.0, 0.5, 0.5, 0.25, f64::NAN, -1.0, 1.5, 0.75, 1.0] {
            progress.report(fraction, "going");
        }
        let mut seen = Vec::new();
        while let Ok(report) = reports.try_recv() {
            seen.push(report.fraction);
        }
        assert_eq!(seen, [0.0, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn a_report_is_a_text() {
        let report = Report { fraction: 0.256, message: "LIFT".into() };
        assert_eq!(report.to_string(), "LIFT, 26 %");
    }

    #[test]
    fn a_client_that_does_not_listen_stops_nothing() {
        let (progress, reports) = channel();
        for step in 0..200 {
            progress.report(f64::from(step) / 200.0, "going");
        }
        drop(reports);
        progress.report(1.0, "there");
    }
}
