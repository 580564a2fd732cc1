use serde_json::json;

use super::*;

fn record(i: u32) -> Record {
    Record {
        time_s: f64::from(i) + 0.1,
        principal: "local".to_owned(),
        verb: "move".to_owned(),
        arguments: r#"{"x_m":0.1}"#.to_owned(),
        world: Some("w\n\"".to_owned()),
        envelope: "e".to_owned(),
        build: "b".to_owned(),
        prediction: Some(json!({"margin": 0.3})),
        approval: None,
        command_hash: None,
        result: json!("OK"),
    }
}

fn log(n: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut log = AuditLog::new(&mut bytes, Tail::default());
    for i in 0..n {
        log.append(&record(i)).unwrap();
    }
    bytes
}

fn broken_at(bytes: &[u8]) -> u64 {
    match verify_log(bytes) {
        Err(VerifyError::Broken { number, .. }) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_line_has_the_hash_of_the_one_before() {
    let bytes = log(3);
    let lines: Vec<&str> = std::str::from_utf8(&bytes).unwrap().lines().collect();
    assert_eq!(lines.len(), 3);
    let values: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    // SHA-256 of nothing, from FIPS 180-2's test vectors.
    let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(values[0]["before"], nothing);
    assert_eq!(values[1]["before"], sha256(lines[0].as_bytes()));
    assert_eq!(values[2]["number"], 3);
    assert_eq!(values[2]["principal"], "local");
    assert_eq!(
        verify_log(&bytes[..]).unwrap(),
        Tail { lines: 3, hash: sha256(lines[2].as_bytes()) }
    );
}

#[test]
fn the_first_broken_line_is_named() {
    let bytes = log(6);
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let joined = |lines: &[&str]| (lines.join("\n") + "\n").into_bytes();
    // Changed in a digit: the line after it does not follow.
    let changed = lines[2].replace("2.1", "2.2");
    let with_change = [lines[0], lines[1], &changed, lines[3], lines[4], lines[5]];
    assert_eq!(broken_at(&joined(&with_change)), 4);
    let without_third = [lines[0], lines[1], lines[3], lines[4]];
    assert_eq!(broken_at(&joined(&without_third)), 3);
    let swapped = [lines[0], lines[2], lines[1]];
    assert_eq!(broken_at(&joined(&swapped)), 2);
    assert_eq!(broken_at(&joined(&lines[1..])), 1);
    let renumbered = lines[0].replace(r#""number":1"#, r#""number":2"#);
    assert_eq!(broken_at(&joined(&[&renumbered])), 1);
    assert_eq!(broken_at(&joined(&[lines[0], "not json"])), 2);
    assert_eq!(broken_at(&joined(&[lines[0], ""])), 2);
}

#[test]
fn each_changed_byte_but_those_of_the_last_line_is_noticed() {
    let bytes = log(3);
    let tail = verify_log(&bytes[..]).unwrap();
    for i in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[i] ^= 1;
        // Of the last line, by the hash that is kept elsewhere.
        assert_ne!(verify_log(&changed[..]).ok().as_ref(), Some(&tail), "byte {i}");
    }
}

#[test]
fn a_chain_goes_on_after_a_restart() {
    let mut bytes = log(2);
    let tail = verify_log(&bytes[..]).unwrap();
    let mut again = AuditLog::new(&mut bytes, tail);
    again.append(&record(2)).unwrap();
    again.append(&record(3)).unwrap();
    assert_eq!(bytes, log(4));
}

#[test]
fn a_torn_line_is_reported_with_what_is_whole() {
    let bytes = log(2);
    let first = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    let Err(VerifyError::Torn { number: 2, whole }) = verify_log(&bytes[..bytes.len() - 5]) else {
        panic!("not torn");
    };
    assert_eq!(whole, first as u64);
    assert_eq!(verify_log(&bytes[..first]).unwrap().lines, 1);
}

/// A disk of so many bytes.
struct Disk {
    bytes: Vec<u8>,
    size: usize,
    fails_to_keep: bool,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.size - self.bytes.len());
        self.bytes.extend(&bytes[..n]);
        if n == 0 { Err(io::Error::from(io::ErrorKind::StorageFull)) } else { Ok(n) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.fails_to_keep { Err(io::Error::other("not kept")) } else { Ok(()) }
    }
}

#[test]
fn a_full_disk_is_an_error_then_and_later() {
    let size = log(1).len() + 20;
    let mut log =
        AuditLog::new(Disk { bytes: vec![], size, fails_to_keep: false }, Tail::default());
    log.append(&record(0)).unwrap();
    let error = log.append(&record(1)).unwrap_err();
    assert!(matches!(error, AuditError::Write { number: 2, .. }), "{error}");
    // Room again: what follows a torn line would be no log.
    log.writer.size = 1_000_000;
    assert!(matches!(log.append(&record(1)), Err(AuditError::Ended { number: 2 })));
    let mut log =
        AuditLog::new(Disk { bytes: vec![], size: 10_000, fails_to_keep: true }, Tail::default());
    assert!(matches!(log.append(&record(0)), Err(AuditError::Write { number: 1, .. })));
}
