//! The time for which an FTDI adapter holds short answers back: 16 ms from the factory, so that a read of servos takes as long.

use std::fs;
use std::path::Path;

/// What it is set to. [ms]
const SHORTEST: u32 = 1;

/// Sets it to 1 ms; what it is then, if the adapter has one. `sys` is where the system's files are. [ms]
pub(super) fn shorten(sys: &Path, port: &Path) -> Option<u32> {
    let device = port.canonicalize().ok()?;
    let file = sys.join("bus/usb-serial/devices").join(device.file_name()?).join("latency_timer");
    let read = || fs::read_to_string(&file).ok()?.trim().parse().ok();
    if read()? != SHORTEST {
        // Only root may; others write a rule for udev, and the driver says so.
        let _forbidden = fs::write(&file, format!("{SHORTEST}\n"));
    }
    read()
}
