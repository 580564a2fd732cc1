//! The rhythm of commands: notices those that come after a pause, whose targets may have leapt.

/// Cycles for which commands count as after a pause once one did: those that waited in a queue come first, and none of them leaps yet.
const AFTERMATH: u32 = 5;

/// How often commands come, in cycles.
#[derive(Debug, Default)]
pub(super) struct Rhythm {
    /// Cycles since the last command.
    silence: u32,
    /// Cycles between the two commands before.
    last_gap: u32,
    /// Cycles between two commands, as they usually come.
    usual: u32,
    /// Cycles in which commands still count as after a pause.
    aftermath: u32,
}

impl Rhythm {
    /// Passes a cycle by. One before which others were `skipped` is the end of a pause of the driver.
    pub(super) fn pass(&mut self, skipped: bool) {
        self.silence = self.silence.saturating_add(1);
        self.aftermath = if skipped { AFTERMATH } else { self.aftermath.saturating_sub(1) };
    }

    /// Takes a command; whether it comes after a pause: of the driver, or of the commander, which a cycle more than usual is not,
    /// nor is the pace of a slow one, once it is known.
    pub(super) fn command(&mut self) -> bool {
        let gap = std::mem::take(&mut self.silence);
        if gap > 2 * self.usual.max(1) {
            self.aftermath = AFTERMATH;
        }
        self.usual = gap.min(self.last_gap);
        self.last_gap = gap;
        self.aftermath > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each command comes after a pause, of commands with so many cycles before each.
    fn pauses(gaps: &[u32]) -> Vec<bool> {
        let mut rhythm = Rhythm::default();
        let command = |gap: &u32| {
            (0..*gap).for_each(|_| rhythm.pass(false));
            rhythm.command()
        };
        gaps.iter().map(command).collect()
    }

    #[test]
    fn a_late_command_is_no_pause_and_a_slow_commander_makes_none() {
        assert_eq!(pauses(&[1, 1, 2, 1, 0, 2, 1, 1]), [false; 8]);
        assert_eq!(pauses(&[1, 1, 5, 5, 5, 6, 5]), [false, false, true, true, false, false, false]);
    }

    #[test]
    fn what_comes_soon_after_a_pause_counts_as_after_it() {
        let after = pauses(&[1, 1, 30, 0, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(after, [false, false, true, true, true, true, true, true, true, false, false]);
    }

    #[test]
    fn skipped_cycles_are_a_pause() {
        let mut rhythm = Rhythm::default();
        rhythm.pass(false);
        assert!(!rhythm.command());
        rhythm.pass(true);
        assert!(rhythm.command());
    }
}
