use proptest::prelude::*;

use super::*;

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn encoded(request: &Request) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(&mut out);
    out
}

fn requests(bytes: &[u8]) -> Vec<Result<Request, FrameError>> {
    let mut decoder = RequestDecoder::default();
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

/// Answers to a request, and the id of who answered last.
fn answers(request: &Request, bytes: &[u8]) -> (Vec<Result<Answer, FrameError>>, u8) {
    let mut decoder = AnswerDecoder::default();
    decoder.expect(request);
    (bytes.iter().filter_map(|byte| decoder.push(*byte)).collect(), decoder.id())
}

#[test]
fn exchanges_are_those_of_the_reference() {
    let (stretch, speed) = (Parameter::Stretch, Parameter::Speed);
    for (sent, request, received, id, answer) in [
        ("FF 00 00 00", Request::GetId, "65", 5, Answer::Id),
        ("E5 01 01 01", Request::SetId { id: 5 }, "65", 5, Answer::Id),
        ("A5 05", Request::Position { id: 5 }, "25 05 3A 4C", 5, Answer::Position(7500)),
        ("81 3A 4C", Request::Move { id: 1, position: 7500 }, "01 3A 4C", 1, Answer::Moved(7500)),
        ("85 3E 40", Request::Move { id: 5, position: 8000 }, "05 3E 40", 5, Answer::Moved(8000)),
        (
            "C5 02 64",
            Request::Write { id: 5, parameter: speed, value: 100 },
            "45 02 64",
            5,
            Answer::Written(speed, 100),
        ),
        (
            "CA 02 64",
            Request::Write { id: 10, parameter: speed, value: 100 },
            "4A 02 64",
            10,
            Answer::Written(speed, 100),
        ),
        (
            "A5 03",
            Request::Read { id: 5, parameter: Parameter::Current },
            "25 03 0A",
            5,
            Answer::Read(Parameter::Current, 10),
        ),
        (
            "A5 04",
            Request::Read { id: 5, parameter: Parameter::Temperature },
            "25 04 5A",
            5,
            Answer::Read(Parameter::Temperature, 90),
        ),
        (
            "A5 01",
            Request::Read { id: 5, parameter: stretch },
            "25 01 3C",
            5,
            Answer::Read(stretch, 60),
        ),
    ] {
        assert_eq!(encoded(&request), hex(sent), "{sent}");
        assert_eq!(requests(&hex(sent)), [Ok(request)], "{sent}");
        let mut out = Vec::new();
        answer.encode(id, &mut out);
        assert_eq!(out, hex(received), "{received}");
        let echoed = [hex(sent), hex(received)].concat();
        for wire in [hex(received), echoed] {
            assert_eq!(answers(&request, &wire), (vec![Ok(answer)], id), "{sent} -> {wire:02X?}");
        }
    }
}

#[test]
fn eeprom_travels_both_senses() {
    let eeprom = Eeprom::new(5, 115_200);
    let read = encoded(&Request::ReadEeprom { id: 5 });
    assert_eq!(read, hex("A5 00"));
    let mut answer = read.clone();
    Answer::Eeprom(eeprom).encode(5, &mut answer);
    assert_eq!(answer[2..4], hex("25 00"));
    assert_eq!(answer.len(), 2 + 66);
    assert_eq!(answers(&Request::ReadEeprom { id: 5 }, &answer).0, [Ok(Answer::Eeprom(eeprom))]);

    let write = Request::WriteEeprom { id: 5, eeprom };
    let bytes = encoded(&write);
    assert_eq!((&bytes[..2], bytes.len()), (&hex("C5 00")[..], 66));
    assert_eq!(requests(&bytes), [Ok(write)]);
    let wire = [bytes, hex("45 00")].concat();
    assert_eq!(answers(&write, &wire).0, [Ok(Answer::EepromWritten)]);
}

#[test]
fn fields_are_nibbles_high_first() {
    let mut eeprom = Eeprom::new(17, 115_200);
    assert_eq!(eeprom.bytes()[56..58], [1, 1], "id 17");
    assert_eq!(eeprom.bytes()[16..24], [2, 12, 14, 12, 0, 13, 10, 12], "11500, 3500");
    assert_eq!(eeprom.bytes()[26..28], [0, 10]);
    assert_eq!(eeprom.baud(), Some(115_200));
    eeprom.set(Eeprom::BAUD, 0x01);
    assert_eq!(eeprom.baud(), Some(625_000));
    assert_eq!(eeprom.get(Eeprom::MAX_POSITION), MAX_COUNTS);
    assert_eq!(eeprom.get(Eeprom::STRETCH), 120);
    // No nibble belongs to two fields.
    let mut used = [false; 64];
    for field in FIELDS {
        for nibble in &mut used[field.first - 1..field.first - 1 + field.nibbles] {
            assert!(!std::mem::replace(nibble, true), "{}", field.name);
        }
    }
}

#[test]
fn units_are_those_of_the_reference() {
    assert_eq!(counts_from_angle(0.0), 7500);
    assert_eq!(counts_from_angle(135_f64.to_radians()), 11500);
    assert_eq!(counts_from_angle(-4.0), 3500, "clamped");
    assert!((COUNTS_PER_RADIAN.to_radians() - 29.63).abs() < 0.005, "counts/deg");
    assert!((current_from_byte(10) - 1.0).abs() < 1e-12);
    assert!((current_from_byte(74) + 1.0).abs() < 1e-12);
    for (byte, temperature) in [(0, 118.0), (30, 100.0), (60, 80.0)] {
        assert!((temperature_from_byte(byte) - temperature).abs() < 1e-9, "{byte}");
    }
    assert_eq!(byte_from_temperature(200.0), 0);
    assert_eq!(byte_from_temperature(0.0), 127);
}

#[test]
fn a_broken_request_does_not_hide_the_next() {
    let got = requests(&hex("85 3A 81 3A 4C 05"));
    assert!(got[0].is_err(), "{got:?}");
    assert_eq!(got[1], Ok(Request::Move { id: 1, position: 7500 }));
    assert_eq!(got[2], Err(FrameError::Unknown { code: 5 }));
}

fn any_eeprom() -> impl Strategy<Value = Eeprom> {
    proptest::collection::vec(0..16_u8, 64).prop_map(|b| Eeprom::from_bytes(&b).unwrap())
}

fn any_request() -> impl Strategy<Value = Request> {
    let id = 0..=MAX_ID;
    let parameter = proptest::sample::select(&Parameter::ALL[..]);
    prop_oneof![
        (id.clone(), 0..=MAX_WORD).prop_map(|(id, position)| Request::Move { id, position }),
        id.clone().prop_map(|id| Request::Position { id }),
        (id.clone(), parameter.clone()).prop_map(|(id, parameter)| Request::Read { id, parameter }),
        (id.clone(), parameter, 0..0x80_u8).prop_map(|(id, parameter, value)| Request::Write {
            id,
            parameter,
            value
        }),
        id.clone().prop_map(|id| Request::ReadEeprom { id }),
        (id.clone(), any_eeprom()).prop_map(|(id, eeprom)| Request::WriteEeprom { id, eeprom }),
        Just(Request::GetId),
        id.prop_map(|id| Request::SetId { id }),
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
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), request in any_request()) {
        requests(&bytes);
        answers(&request, &bytes);
    }

    #[test]
    fn a_request_after_garbage_is_found(garbage in proptest::collection::vec(any::<u8>(), 0..60), first in any_request(), request in any_request()) {
        // A frame that garbage has begun costs at most one request.
        let bytes = [garbage, encoded(&first), encoded(&request)].concat();
        let got = requests(&bytes);
        prop_assert_eq!(got.last(), Some(&Ok(request)));
    }

    #[test]
    fn counts_return_within_half_of_one(angle in -2.35..2.35_f64) {
        let back = position_from_counts(counts_from_angle(angle));
        prop_assert!((back - angle).abs() <= 0.5 / COUNTS_PER_RADIAN + 1e-12, "{angle} {back}");
    }

    #[test]
    fn temperatures_return_within_a_byte(byte in 0..0x80_u8) {
        prop_assert_eq!(byte_from_temperature(temperature_from_byte(byte)), byte);
    }
}
