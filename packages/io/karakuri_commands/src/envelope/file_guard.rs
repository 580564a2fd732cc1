//! Guard of the envelope's file: whether the process that obeys it could have written it.

/// Bits of a mode that let somebody write.
const WRITE: u32 = 0o222;
/// Those of others than the owner.
const WRITE_OF_OTHERS: u32 = 0o022;

/// What the system says about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    /// Number of the user who owns it.
    pub owner: u32,
    /// Permission bits.
    pub mode: u32,
}

/// Reason why a file is within reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileGuardError {
    /// The server's own user owns the file and may write it.
    #[error(
        "the server's own user may write the envelope (mode {mode:04o}); give it another owner, or `chmod 0444`"
    )]
    OwnAndWritable {
        /// Permission bits.
        mode: u32,
    },
    /// Others than the owner may write the file.
    #[error("others than its owner may write the envelope (mode {mode:04o}); `chmod go-w` it")]
    WritableByOthers {
        /// Permission bits.
        mode: u32,
    },
}

impl FileFacts {
    /// Checks that a server of this user does not write the file without first changing its owner or mode.
    ///
    /// # Errors
    /// When the user or others may write it.
    pub fn check(&self, user: u32) -> Result<(), FileGuardError> {
        let mode = self.mode & 0o7777;
        if self.owner == user && mode & WRITE != 0 {
            return Err(FileGuardError::OwnAndWritable { mode });
        }
        if mode & WRITE_OF_OTHERS != 0 {
            return Err(FileGuardError::WritableByOthers { mode });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_out_of_reach_is_of_another_or_read_only() {
        let check = |owner, mode| FileFacts { owner, mode }.check(1000);
        assert_eq!(check(1000, 0o10_0444), Ok(()));
        assert_eq!(check(0, 0o10_0644), Ok(()));
        let own = check(1000, 0o10_0644).unwrap_err();
        assert_eq!(own, FileGuardError::OwnAndWritable { mode: 0o644 });
        assert!(own.to_string().contains("mode 0644"), "{own}");
        for mode in [0o664, 0o646] {
            assert_eq!(check(0, mode), Err(FileGuardError::WritableByOthers { mode }));
        }
    }
}
