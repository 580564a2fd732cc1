use std::fs;

use super::*;
use crate::emulator::pty::Pty;

const LINE: Line = Line::eight_n_one(115_200);
const SETTINGS: Settings = Settings { line: LINE, raises_dtr: false };

/// A port, the terminal at its other end, and the folder with the link between them.
struct Bench {
    port: Port,
    far_end: Pty,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let far_end = Pty::open(&folder.path().join("bus")).unwrap();
        let port = Port::open(&folder.path().join("bus"), settings).unwrap();
        Self { port, far_end, folder }
    }

    fn receive(&mut self) -> Result<Vec<u8>, PortError> {
        let mut buffer = [0; 64];
        let n = self.port.receive(&mut buffer, soon())?;
        Ok(buffer[..n].to_vec())
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(50)
}

fn error(path: &Path) -> String {
    Port::open(path, SETTINGS).unwrap_err().to_string()
}

#[test]
fn bytes_go_both_ways() {
    let mut bench = Bench::new(SETTINGS);
    bench.port.send(b"hello").unwrap();
    let mut buffer = [0; 64];
    assert_eq!(bench.far_end.read(&mut buffer).unwrap(), 5);
    bench.far_end.write(b"\x00\xff\r\n\x03").unwrap();
    assert_eq!(bench.receive(), Ok(b"\x00\xff\r\n\x03".to_vec()));
}

#[test]
fn any_baud_rate_and_even_parity_are_taken() {
    for baud in [9_600, 57_600, 115_200, 625_000, 1_000_000, 1_250_000, 4_000_000] {
        let line = Line::eight_e_one(baud);
        let mut bench = Bench::new(Settings { line, ..SETTINGS });
        assert_eq!(bench.far_end.baud().unwrap(), baud);
        bench.port.set_line(LINE).unwrap();
        assert_eq!(bench.far_end.baud().unwrap(), LINE.baud);
    }
}

#[test]
fn silence_ends_at_the_deadline() {
    let mut bench = Bench::new(SETTINGS);
    let start = Instant::now();
    let error = bench.receive().unwrap_err();
    let waited = start.elapsed().as_secs_f64();
    assert!(
        matches!(error, PortError::Silent { .. }) && (0.049..0.5).contains(&waited),
        "{waited} s"
    );
    assert!(error.to_string().ends_with("check power, cable, id and baud rate"));
    bench.far_end.write(b"x").unwrap();
    let mut buffer = [0];
    assert_eq!(
        bench.port.receive(&mut buffer, start),
        Ok(1),
        "what is there is read after a deadline"
    );
}

#[test]
fn a_device_that_is_gone_is_not_a_silent_one() {
    let Bench { mut port, far_end, folder } = Bench::new(SETTINGS);
    drop(far_end);
    let start = Instant::now();
    let error = port.receive(&mut [0; 8], start + Duration::from_secs(5)).unwrap_err();
    assert!(matches!(error, PortError::Lost { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(1), "at once");
    assert!(matches!(port.send(b"x"), Err(PortError::Lost { .. })));
    drop(port);
    let far_end = Pty::open(&folder.path().join("bus")).unwrap();
    let mut port = Port::open(&folder.path().join("bus"), SETTINGS).unwrap();
    far_end.write(b"back").unwrap();
    assert_eq!(port.receive(&mut [0; 8], soon()), Ok(4));
}

#[test]
fn what_lay_unread_is_forgotten() {
    let mut bench = Bench::new(SETTINGS);
    bench.far_end.write(b"stale").unwrap();
    bench.port.clear().unwrap();
    assert!(matches!(bench.receive(), Err(PortError::Silent { .. })));
}

/// Sends a request while the far end writes back what it is given.
fn echo(bench: &mut Bench, answer: &[u8]) -> bool {
    bench.port.clear().unwrap();
    bench.far_end.write(answer).unwrap();
    // `detect_echo` clears first: the far end has to answer meanwhile.
    let Bench { port, far_end, .. } = bench;
    std::thread::scope(|scope| {
        let far_end = &*far_end;
        scope.spawn(move || {
            let mut buffer = [0; 64];
            while far_end.read(&mut buffer).unwrap() == 0 {
                std::thread::yield_now();
            }
            far_end.write(answer).unwrap();
        });
        port.detect_echo(b"ping", soon()).unwrap()
    })
}

#[test]
fn an_echo_is_found_and_left_out() {
    let mut bench = Bench::new(SETTINGS);
    assert!(!echo(&mut bench, b"pong"));
    assert!(!echo(&mut bench, b""));
    assert!(echo(&mut bench, b"pingpong"));
    bench.port.send(b"abc").unwrap();
    bench.far_end.write(b"ab").unwrap();
    assert!(matches!(bench.receive(), Err(PortError::Silent { .. })), "only echo yet");
    bench.far_end.write(b"cdef").unwrap();
    assert_eq!(bench.receive(), Ok(b"def".to_vec()));
    bench.port.send(b"abc").unwrap();
    bench.far_end.write(b"axc").unwrap();
    assert!(matches!(bench.receive(), Err(PortError::Collision { .. })));
    bench.far_end.write(b"fine").unwrap();
    assert_eq!(bench.receive(), Ok(b"fine".to_vec()));
}

#[test]
fn a_port_is_one_process_s_alone() {
    let bench = Bench::new(SETTINGS);
    let path = bench.folder.path().join("bus");
    let number = std::process::id().to_string();
    let busy = error(&path);
    assert!(busy.contains("is in use by `") && busy.ends_with("; end that first"), "{busy}");
    assert!(busy.contains(&number), "{busy}");
    let Bench { port, far_end, folder } = bench;
    drop(port);
    assert!(Port::open(&path, SETTINGS).is_ok());
    drop((far_end, folder));
}

#[test]
fn each_error_has_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let missing = error(&folder.path().join("ttyUSB7"));
    assert!(missing.starts_with("there is no port ") && missing.contains("ttyUSB7; "), "{missing}");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let unfit = error(&file);
    assert!(unfit.contains("cannot be opened as a serial port: "), "{unfit}");
    let forbidden = OpenError::Forbidden { path: "/dev/ttyUSB0".into() }.to_string();
    assert!(forbidden.contains("sudo usermod -aG dialout $USER"), "{forbidden}");
    let present = vec!["/dev/ttyUSB0".into(), "/dev/ttyUSB1".into()];
    let missing = OpenError::Missing { path: "/dev/ttyUSB7".into(), present };
    assert_eq!(
        missing.to_string(),
        "there is no port /dev/ttyUSB7; use one of /dev/ttyUSB0, /dev/ttyUSB1"
    );
}

#[test]
fn ports_are_listed_by_the_names_of_adapters() {
    let dev = tempfile::tempdir().unwrap();
    assert!(error::ports(dev.path()).is_empty());
    for name in ["ttyUSB1", "ttyUSB0", "ttyACM0", "tty1", "null"] {
        fs::write(dev.path().join(name), "").unwrap();
    }
    let names = ["ttyACM0", "ttyUSB0", "ttyUSB1"].map(|name| dev.path().join(name));
    assert_eq!(error::ports(dev.path()), names);
    let by_id = dev.path().join("serial/by-id");
    fs::create_dir_all(&by_id).unwrap();
    fs::write(by_id.join("usb-FTDI-if00"), "").unwrap();
    assert_eq!(error::ports(dev.path()), [by_id.join("usb-FTDI-if00")]);
}

#[test]
fn the_latency_of_an_adapter_is_shortened() {
    let sys = tempfile::tempdir().unwrap();
    let port = sys.path().join("ttyUSB0");
    fs::write(&port, "").unwrap();
    assert_eq!(latency::shorten(sys.path(), &port), None, "no FTDI adapter");
    let device = sys.path().join("bus/usb-serial/devices/ttyUSB0");
    fs::create_dir_all(&device).unwrap();
    fs::write(device.join("latency_timer"), "16\n").unwrap();
    let by_id = sys.path().join("usb-FTDI");
    std::os::unix::fs::symlink(&port, &by_id).unwrap();
    assert_eq!(latency::shorten(sys.path(), &by_id), Some(1));
    assert_eq!(fs::read_to_string(device.join("latency_timer")).unwrap(), "1\n");
}
