//! Files that a process has open when it is replaced by another program: only those that it was started with are to stay.
#![expect(unsafe_code, reason = "files of the middleware are known by their numbers only")]

use std::{
    collections::BTreeSet,
    fs,
    os::fd::{BorrowedFd, RawFd},
};

use rustix::io::{FdFlags, fcntl_setfd};

/// Numbers of open files.
#[derive(Debug)]
pub(crate) struct OpenFiles(BTreeSet<RawFd>);

impl OpenFiles {
    /// Files that are open now; none where the system does not tell.
    pub(crate) fn now() -> Self {
        // The folder itself is among them while it is read.
        let mut files = listed();
        files.retain(|file| fs::symlink_metadata(format!("/dev/fd/{file}")).is_ok());
        Self(files)
    }

    /// Has every other file closed when the process is replaced. Fast DDS 2.14 leaves four sockets open with each participant that ends,
    /// and rcl its log.
    pub(crate) fn keep_no_others(&self) {
        for file in listed().difference(&self.0) {
            // SAFETY: a flag is set on the file of this number, if there still is one; nothing else is done with it.
            let file = unsafe { BorrowedFd::borrow_raw(*file) };
            // One that was closed meanwhile needs no flag.
            fcntl_setfd(file, FdFlags::CLOEXEC).unwrap_or_default();
        }
    }
}

fn listed() -> BTreeSet<RawFd> {
    let entries = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::{fs::File, os::fd::AsRawFd};

    use rustix::io::fcntl_getfd;

    use super::*;

    #[test]
    fn only_the_first_files_survive_a_replacement() {
        let inheritable = || {
            let file = File::open("/dev/null").unwrap();
            fcntl_setfd(&file, FdFlags::empty()).unwrap();
            file
        };
        let first = inheritable();
        let files = OpenFiles::now();
        let later = inheritable();
        assert!(files.0.contains(&first.as_raw_fd()) && !files.0.contains(&later.as_raw_fd()));
        files.keep_no_others();
        assert_eq!(fcntl_getfd(&first).unwrap(), FdFlags::empty());
        assert_eq!(fcntl_getfd(&later).unwrap(), FdFlags::CLOEXEC);
    }
}
