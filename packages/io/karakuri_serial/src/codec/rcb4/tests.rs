use proptest::prelude::*;

use super::memory::Configuration;
use super::*;

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn data(text: &str) -> Data {
    Data::new(&hex(text)).unwrap()
}

fn encoded(request: &Request) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(&mut out);
    out
}

fn frames(bytes: &[u8]) -> Vec<Result<Frame, FrameError>> {
    let mut decoder = Decoder::default();
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

fn requests(bytes: &[u8]) -> Vec<Result<Request, FrameError>> {
    frames(bytes).into_iter().map(|frame| frame?.request()).collect()
}

fn answers(request: &Request, bytes: &[u8]) -> Vec<Result<Answer, FrameError>> {
    let mut decoder = AnswerDecoder::default();
    decoder.expect(request);
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

fn all<T: Copy>(value: T) -> [T; SERVOS] {
    [value; SERVOS]
}

/// Values of servos; the others are as the decoder leaves them.
fn some<T: Copy + Default>(pairs: &[(usize, T)]) -> [T; SERVOS] {
    let mut values = [T::default(); SERVOS];
    for (servo, value) in pairs {
        values[*servo] = *value;
    }
    values
}

fn copies() -> Vec<(&'static str, Request)> {
    let host = Place::Host;
    vec![
        (
            "0A 00 20 00 00 00 90 00 14 CE",
            Request::Move { to: host, from: Source::Ram { address: 0x90, count: 20 } },
        ),
        (
            "0A 00 20 00 00 00 44 00 46 B4",
            Request::Move { to: host, from: Source::Ram { address: 0x44, count: 70 } },
        ),
        (
            "0B 00 23 00 00 00 DC 05 00 02 11",
            Request::Move { to: host, from: Source::Rom { address: 0x5dc, count: 2 } },
        ),
        (
            "09 00 02 00 00 00 91 40 DC",
            Request::Move { to: Place::Ram { address: 0 }, from: Source::Literal(data("91 40")) },
        ),
        (
            "11 00 02 02 00 00 4B 04 00 00 00 00 00 00 00 00 64",
            Request::Move {
                to: Place::Ram { address: 2 },
                from: Source::Literal(data("4B 04 00 00 00 00 00 00 00 00")),
            },
        ),
        (
            "13 00 02 00 00 00 21 87 FD 03 00 00 00 00 00 00 00 00 BD",
            Request::Move {
                to: Place::Ram { address: 0 },
                from: Source::Literal(data("21 87 FD 03 00 00 00 00 00 00 00 00")),
            },
        ),
        (
            "0B 00 03 00 00 00 DC 05 00 02 F1",
            Request::Move {
                to: Place::Ram { address: 0 },
                from: Source::Rom { address: 0x5dc, count: 2 },
            },
        ),
    ]
}

fn commands() -> Vec<(&'static str, Request)> {
    let two: ServoSet = [0, 2].into_iter().collect();
    let centre = Goal::Position(7500);
    let always = Condition::default();
    vec![
        ("04 FE 06 08", Request::Acknowledge),
        ("03 FD 00", Request::Version),
        ("07 0C 80 0B 00 00 9E", Request::Call { address: 0xb80, condition: always }),
        ("07 0C B8 0B 00 00 D6", Request::Call { address: 0xbb8, condition: always }),
        (
            "07 0B 96 03 00 04 AF",
            Request::Jump {
                address: 0x396,
                condition: Condition { zero: Some(false), carry: None },
            },
        ),
        (
            "09 07 82 3C 00 00 00 80 4E",
            Request::Operate {
                operation: Operation::Subtract,
                compare: true,
                address: 0x3c,
                value: data("00 80"),
            },
        ),
        ("07 0F 00 64 4C 1D E3", Request::MoveServo { servo: 0, frames: 100, goal: centre }),
        (
            "0D 10 05 00 00 00 00 43 4C 1D 4C 1D 37",
            Request::MoveServos { servos: two, frames: 67, goals: all(centre) },
        ),
        (
            "0E 11 05 00 00 00 00 43 4C 1D 32 4C 1D 6B",
            Request::MoveServosApart {
                servos: two,
                frames: some(&[(0, 67), (2, 50)]),
                goals: all(centre),
            },
        ),
        (
            "0D 10 05 00 00 00 00 01 00 80 00 80 23",
            Request::MoveServos {
                servos: two,
                frames: 1,
                goals: some(&[(0, Goal::Free), (2, Goal::Free)]),
            },
        ),
        (
            "0B 12 05 00 00 00 00 01 3C 3C 9B",
            Request::SetServos {
                servos: two,
                parameter: ServoParameter::Stretch,
                values: some(&[(0, 60), (2, 60)]),
            },
        ),
        ("03 0D 10", Request::Return { condition: always }),
    ]
}

#[test]
fn requests_are_those_of_the_reference() {
    for (text, request) in copies().into_iter().chain(commands()) {
        assert_eq!(encoded(&request), hex(text), "{text}");
        assert_eq!(requests(&hex(text)), [Ok(request)], "{text}");
    }
}

#[test]
fn answers_are_those_of_the_reference() {
    let config = copies()[3].1;
    let mut version = hex("23 FD");
    version.extend(b"CB-4 V1.0      090715          \xc7\x08");
    for (request, bytes, answer) in [
        (config, hex("04 00 06 0A"), Answer::Done { command: 0 }),
        (commands()[7].1, hex("04 10 06 1A"), Answer::Done { command: 0x10 }),
        (commands()[7].1, hex("04 10 15 29"), Answer::Refused { command: 0x10 }),
        (Request::Acknowledge, hex("04 FE 06 08"), Answer::Done { command: 0xfe }),
        (Request::Version, version, Answer::Version(VERSION)),
        (copies()[2].1, hex("05 00 91 40 D6"), Answer::Data(data("91 40"))),
    ] {
        let mut out = Vec::new();
        answer.encode(&mut out);
        assert_eq!(out, bytes);
        assert_eq!(answers(&request, &bytes), [Ok(answer)]);
    }
}

/// A byte of memory may be 06 or 15; what was asked for decides.
#[test]
fn one_byte_of_data_is_no_acknowledgement() {
    let read = Request::Move { to: Place::Host, from: Source::Ram { address: 0x98, count: 1 } };
    for byte in ["06", "15"] {
        let mut out = Vec::new();
        Answer::Data(data(byte)).encode(&mut out);
        assert_eq!(answers(&read, &out), [Ok(Answer::Data(data(byte)))]);
    }
}

#[test]
fn the_longest_copy_is_128_bytes() {
    let whole = Data::new(&[7; MAX_DATA]).unwrap();
    let request =
        Request::Move { to: Place::Rom { address: 0x3_ff80 }, from: Source::Literal(whole) };
    let bytes = encoded(&request);
    assert_eq!(bytes.len(), LONGEST);
    assert_eq!(requests(&bytes), [Ok(request)]);
    assert!(Data::new(&[7; MAX_DATA + 1]).is_err());
    assert!(Data::new(&[]).is_err());
}

#[test]
fn what_no_board_knows_is_refused() {
    for (body, error) in [
        ("04 20 00", "unknown code 0x20"),
        ("07 0F 23 01 4C 1D", "unknown code 0x0f"),
        ("08 0C 00 00 04 00 00", "unknown code 0x0c"),
        ("07 0C 00 00 04 00", "ROM address is 262144, expected 0 to 262143"),
        ("0A 00 20 00 00 00 90 00 81", "length 129, expected 1 to 128"),
        ("0A 00 40 00 00 00 90 00 01", "unknown code 0x40"),
        ("0B 12 05 00 00 00 00 05 3C 3C", "unknown code 0x05"),
        ("0B 12 01 00 00 00 08 01 3C 3C", "last byte of the servo mask is 8, expected 0 to 7"),
        ("0B 10 05 00 00 00 00 01 3C 3C", "length 11, expected 9 to 79"),
    ] {
        let mut bytes = hex(body);
        bytes.push(checksum(&bytes));
        let got = requests(&bytes);
        assert_eq!(got.len(), 1, "{body}");
        assert_eq!(got[0].unwrap_err().to_string(), error, "{body}");
    }
}

#[test]
fn configuration_word_is_that_of_the_reference() {
    let word = Configuration(0x4091);
    assert!(word.has(Configuration::ICS) && !word.has(Configuration::RUN));
    assert!((word.frame_time() - 0.015).abs() < 1e-12);
    assert_eq!((word.baud(), word.ics_baud()), (Some(1_250_000), Some(1_250_000)));
    assert_eq!(word.with_baud(115_200), Some(Configuration(0x4011)));
    assert_eq!(word.with_baud(9600), None);
}

#[test]
fn parts_of_memories_do_not_overlap() {
    for (regions, size) in
        [(&memory::RAM[..], memory::RAM_SIZE.into()), (&memory::ROM[..], memory::ROM_SIZE)]
    {
        for pair in regions.windows(2) {
            assert!(pair[0].address + pair[0].size <= pair[1].address, "{pair:?}");
        }
        assert!(regions.iter().all(|r| r.address + r.size <= size));
    }
    assert_eq!(memory::record_of(34), 0x90 + 34 * 20);
    assert_eq!(memory::motion_address(1), Some(0x1380));
    assert_eq!(memory::motion_at(0xbb8), Some(0), "the start of motions in older libraries");
    assert_eq!((memory::motion_at(0xb7f), memory::motion_address(120)), (None, None));
}

fn any_data() -> impl Strategy<Value = Data> {
    proptest::collection::vec(any::<u8>(), 1..=MAX_DATA).prop_map(|b| Data::new(&b).unwrap())
}

fn any_place() -> impl Strategy<Value = Place> {
    prop_oneof![
        any::<u16>().prop_map(|address| Place::Ram { address }),
        (0..35_u8, 0..20_u8).prop_map(|(servo, offset)| Place::Device { servo, offset }),
        Just(Place::Host),
        (0..memory::ROM_SIZE).prop_map(|address| Place::Rom { address }),
    ]
}

fn any_source() -> impl Strategy<Value = Source> {
    let count = 1..=128_u8;
    prop_oneof![
        (any::<u16>(), count.clone()).prop_map(|(address, count)| Source::Ram { address, count }),
        (0..35_u8, 0..20_u8, count.clone()).prop_map(|(servo, offset, count)| Source::Device {
            servo,
            offset,
            count
        }),
        any_data().prop_map(Source::Literal),
        (0..memory::ROM_SIZE, count).prop_map(|(address, count)| Source::Rom { address, count }),
    ]
}

fn any_servos() -> impl Strategy<Value = Request> {
    let set = proptest::collection::btree_set(0..SERVOS, 0..=SERVOS);
    let words = proptest::collection::vec(any::<u16>(), SERVOS);
    let bytes = proptest::collection::vec(any::<u8>(), SERVOS);
    (set, words, bytes, 0..3).prop_map(|(set, words, bytes, kind)| {
        let servos: ServoSet = set.iter().copied().collect();
        let (mut goals, mut values) = (all(Goal::default()), all(0));
        for servo in set {
            (goals[servo], values[servo]) = (Goal::from_word(words[servo]), bytes[servo]);
        }
        match kind {
            0 => Request::MoveServos { servos, frames: bytes[0], goals },
            1 => Request::MoveServosApart { servos, frames: values, goals },
            _ => Request::SetServos { servos, parameter: ServoParameter::Speed, values },
        }
    })
}

fn any_request() -> impl Strategy<Value = Request> {
    prop_oneof![
        (any_place(), any_source()).prop_map(|(to, from)| Request::Move { to, from }),
        any_servos(),
        proptest::sample::select(commands()).prop_map(|(_, request)| request),
    ]
}

proptest! {
    #[test]
    fn decode_undoes_encode(sent in proptest::collection::vec(any_request(), 1..5)) {
        let bytes: Vec<u8> = sent.iter().flat_map(encoded).collect();
        let got: Result<Vec<_>, _> = requests(&bytes).into_iter().collect();
        prop_assert_eq!(got, Ok(sent));
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..300), request in any_request()) {
        for frame in frames(&bytes).into_iter().flatten() {
            prop_assert!(frame.request().is_err() || frame.bytes().len() <= LONGEST);
            prop_assert!(frame.answer().is_err() || frame.bytes().len() <= LONGEST);
        }
        answers(&request, &bytes);
    }

    /// One wrong bit behind the size is seen by the sum.
    #[test]
    fn a_wrong_bit_is_no_frame(request in any_request(), place in any::<proptest::sample::Index>(), bit in 0..8_u8) {
        let mut bytes = encoded(&request);
        let place = 1 + place.index(bytes.len() - 1);
        bytes[place] ^= 1_u8 << bit;
        prop_assert!(Frame::first_of(&bytes).is_err(), "{:02X?}", bytes);
    }

    #[test]
    fn a_frame_after_garbage_is_found(garbage in proptest::collection::vec(any::<u8>(), 0..60), request in any_request()) {
        // FF is no size: after as many as the longest frame has, whatever garbage began is over.
        let bytes = [garbage, vec![0xff; LONGEST], encoded(&request)].concat();
        let got = requests(&bytes);
        prop_assert_eq!(got.last(), Some(&Ok(request)));
    }
}
