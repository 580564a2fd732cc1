//! Numbers of devices on the command line.

use std::str::FromStr;

use anyhow::{Result, bail};

/// Numbers on a bus: `1-6,9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ids(Vec<u8>);

impl FromStr for Ids {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut ids = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Ok(first), Ok(last)) = (first.trim().parse::<u8>(), last.trim().parse::<u8>())
            else {
                return Err(format!("`{part}` is no id; write numbers and ranges, as 1-6,9"));
            };
            if first > last {
                return Err(format!("`{part}` is empty; write {last}-{first}"));
            }
            ids.extend(first..=last);
        }
        Ok(Self(ids))
    }
}

impl Ids {
    /// The numbers, none of them above the greatest.
    pub(super) fn up_to(&self, greatest: u8, what: &str) -> Result<Vec<u8>> {
        if let Some(id) = self.0.iter().find(|id| **id > greatest) {
            bail!("--ids: {id} is no {what}; they go up to {greatest}");
        }
        Ok(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_and_ranges() {
        assert_eq!("1-3,9".parse(), Ok(Ids(vec![1, 2, 3, 9])));
        assert_eq!("7".parse(), Ok(Ids(vec![7])));
        for (text, expected) in [
            ("", "`` is no id; write numbers and ranges, as 1-6,9"),
            ("1-x", "`1-x` is no id; write numbers and ranges, as 1-6,9"),
            ("6-1", "`6-1` is empty; write 1-6"),
        ] {
            assert_eq!(text.parse::<Ids>(), Err(expected.to_owned()), "{text}");
        }
        let error = Ids(vec![1, 40]).up_to(31, "ICS id").unwrap_err().to_string();
        assert_eq!(error, "--ids: 40 is no ICS id; they go up to 31");
    }
}
