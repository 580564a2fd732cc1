//! A pseudo-terminal that passes for a serial port.
//!
//! A terminal starts in a mode for people, with echo: it is set raw before anybody learns its name. We keep a descriptor of the
//! programs' side, or the first program to close it would hang up for all that follow. That descriptor also keeps what a real
//! port forgets on its last close: bytes that nobody has read and the mark of exclusive use. Both are taken away here.
//! Linux accepts any baud rate of a terminal but never its parity, so that parity cannot be checked.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, inotify};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    OptionalActions, QueueSelector, ioctl_tiocnxcl, tcflush, tcgetattr, tcsetattr,
};

use super::run::RunError;

/// A terminal, our side of it, and the link to it.
#[derive(Debug)]
pub(crate) struct Pty {
    master: OwnedFd,
    programs_side: File,
    terminal: PathBuf,
    link: PathBuf,
    watch: OwnedFd,
    /// Whether a program opened it after the last one closed it. The system merges equal events, so that programs cannot be
    /// counted.
    is_open: bool,
}

/// What programs did with a terminal since the last look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Openings {
    pub(crate) opened: bool,
    pub(crate) closed: bool,
}

impl Pty {
    /// A new terminal with a link to it, which takes the place of an older link.
    pub(crate) fn open(link: &Path) -> Result<Self, RunError> {
        check_link(link)?;
        let (master, programs_side, terminal) =
            terminal().map_err(|source| RunError::Terminal { source })?;
        let watch = watch(&terminal).map_err(|source| RunError::Terminal { source })?;
        make_link(&terminal, link)
            .map_err(|source| RunError::Link { link: link.to_owned(), source })?;
        Ok(Self { master, programs_side, terminal, link: link.to_owned(), watch, is_open: false })
    }

    /// Name of the terminal.
    pub(crate) fn terminal(&self) -> &Path {
        &self.terminal
    }

    /// What becomes readable when programs write, open or close.
    pub(crate) fn sources(&self) -> [BorrowedFd<'_>; 2] {
        [self.master.as_fd(), self.watch.as_fd()]
    }

    /// Baud rate that programs have set. [bit/s]
    pub(crate) fn baud(&self) -> io::Result<u32> {
        Ok(tcgetattr(&self.master)?.output_speed())
    }

    /// Bytes that programs have written; 0 for none.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(&self.master, buffer) {
            Ok(n) => Ok(n),
            Err(error) if io::Error::from(error).kind() == ErrorKind::WouldBlock => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands bytes to programs. What finds no room is lost, as in a receiver that overruns.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        match rustix::io::write(&self.master, bytes) {
            Ok(_) => Ok(()),
            Err(error) if io::Error::from(error).kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks who opened and closed it since the last call, and forgets what a closed port forgets. To be called before
    /// anything is read or written: then what lies unread was never for a program that has just come.
    pub(crate) fn look(&mut self) -> io::Result<Openings> {
        let mut openings = Openings::default();
        let mut buffer = [MaybeUninit::uninit(); 1024];
        let mut reader = inotify::Reader::new(&self.watch, &mut buffer);
        let mut is_stale = false;
        loop {
            let flags = match reader.next() {
                Ok(event) => event.events(),
                Err(error) if io::Error::from(error).kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            };
            if flags.contains(inotify::ReadFlags::OPEN) {
                openings.opened = true;
                is_stale |= !self.is_open;
                self.is_open = true;
            } else {
                openings.closed = true;
                self.is_open = false;
            }
        }
        if openings.closed || is_stale {
            tcflush(&self.programs_side, QueueSelector::IFlush)?;
        }
        if openings.closed && !self.is_open {
            ioctl_tiocnxcl(&self.programs_side)?;
        }
        Ok(openings)
    }
}

impl Drop for Pty {
    /// Takes the link away, unless it is another's by now.
    fn drop(&mut self) {
        if fs::read_link(&self.link).is_ok_and(|terminal| terminal == self.terminal) {
            let _gone = fs::remove_file(&self.link);
        }
    }
}

/// Our side of a new terminal, the programs' side, and its name.
fn terminal() -> io::Result<(OwnedFd, File, PathBuf)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?.into_bytes();
    let terminal = PathBuf::from(std::ffi::OsString::from_vec(name));
    let flags = i32::try_from(OFlags::NOCTTY.bits()).unwrap_or_default();
    let programs_side =
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(&terminal)?;
    let mut attributes = tcgetattr(&programs_side)?;
    attributes.make_raw();
    tcsetattr(&programs_side, OptionalActions::Now, &attributes)?;
    rustix::io::ioctl_fionbio(&master, true)?;
    Ok((master, programs_side, terminal))
}

/// Tells of programs that open and close the terminal.
fn watch(terminal: &Path) -> io::Result<OwnedFd> {
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    let flags = inotify::WatchFlags::OPEN
        | inotify::WatchFlags::CLOSE_WRITE
        | inotify::WatchFlags::CLOSE_NOWRITE;
    inotify::add_watch(&watch, terminal, flags)?;
    Ok(watch)
}

/// Refuses to put a link in the place of anything but a link.
fn check_link(link: &Path) -> Result<(), RunError> {
    match fs::symlink_metadata(link) {
        Ok(metadata) if !metadata.file_type().is_symlink() => {
            Err(RunError::LinkTaken { link: link.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Makes a link, or replaces one at once: nobody sees it missing.
fn make_link(terminal: &Path, link: &Path) -> io::Result<()> {
    let mut beside = link.as_os_str().to_owned();
    beside.push(format!(".{}", std::process::id()));
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => symlink(terminal, &beside)?,
    }
    fs::rename(&beside, link)
}
