use proptest::prelude::*;

use super::*;
use crate::codec::FrameError;

/// Bytes as the references print them.
fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn bytes_of(request: &Request<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    request.encode(&mut bytes).unwrap();
    bytes
}

fn answer_of(status: &Status<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    status.encode(&mut bytes).unwrap();
    bytes
}

/// All requests in `bytes`, each encoded again; errors as they are.
fn requests(decoder: &mut RequestDecoder, bytes: &[u8]) -> Vec<Result<Vec<u8>, FrameError>> {
    let found = bytes.iter().filter_map(|byte| {
        let request = decoder.push(*byte)?;
        Some(request.map(|request| bytes_of(&request)))
    });
    found.collect()
}

/// The same for answers.
fn answers(decoder: &mut StatusDecoder, bytes: &[u8]) -> Vec<Result<Vec<u8>, FrameError>> {
    let found = bytes.iter().filter_map(|byte| {
        let status = decoder.push(*byte)?;
        Some(status.map(|status| answer_of(&status)))
    });
    found.collect()
}

#[track_caller]
fn assert_request(request: &Request<'_>, printed: &str) {
    let printed = hex(printed);
    assert_eq!(bytes_of(request), printed, "{request:?}");
    let mut decoder = RequestDecoder::default();
    let (last, first) = printed.split_last().unwrap();
    for byte in first {
        assert_eq!(decoder.push(*byte), None);
    }
    assert_eq!(decoder.push(*last), Some(Ok(*request)));
}

#[track_caller]
fn assert_answer(status: &Status<'_>, printed: &str) {
    let printed = hex(printed);
    assert_eq!(answer_of(status), printed, "{status:?}");
    let mut decoder = StatusDecoder::default();
    let (last, first) = printed.split_last().unwrap();
    for byte in first {
        assert_eq!(decoder.push(*byte), None);
    }
    assert_eq!(decoder.push(*last), Some(Ok(*status)));
}

/// A write of one register of the STS3215.
#[track_caller]
fn assert_write(register: &Register, value: i32, printed: &str) {
    let data = STS3215.bytes(register, value);
    let data = &data[..register.size.into()];
    assert_request(&Request::Write { id: 1, address: register.address, data }, printed);
}

#[test]
fn pings_and_reads_are_as_printed() {
    assert_request(&Request::Ping { id: 1 }, "FF FF 01 02 01 FB");
    let read = |address, size| Request::Read { id: 1, address, size };
    assert_request(&read(sts::MODEL_NUMBER.address, 2), "FF FF 01 04 02 03 02 F3");
    assert_request(&read(sts::PRESENT_POSITION.address, 2), "FF FF 01 04 02 38 02 BE");
    assert_request(&read(sts::PRESENT_POSITION.address, 15), "FF FF 01 04 02 38 0F B1");
}

#[test]
fn answers_are_as_printed() {
    let status = |data| Status { id: 1, alarms: Alarms::NONE, data };
    assert_answer(&status(&[]), "FF FF 01 02 00 FC");
    let model = STS3215.bytes(&sts::MODEL_NUMBER, 777);
    assert_answer(&status(&model), "FF FF 01 04 00 09 03 EE");
    let position = STS3215.bytes(&sts::PRESENT_POSITION, 2048);
    assert_answer(&status(&position), "FF FF 01 04 00 00 08 F2");
    let overloaded = Status { id: 1, alarms: Alarms::OVERLOAD, data: &position };
    assert_answer(&overloaded, "FF FF 01 04 20 00 08 D2");
}

#[test]
fn writes_are_as_printed() {
    assert_write(&sts::GOAL_POSITION, 2048, "FF FF 01 05 03 2A 00 08 C4");
    assert_write(&sts::GOAL_POSITION, 3000, "FF FF 01 05 03 2A B8 0B 09");
    assert_write(&sts::GOAL_SPEED, -100, "FF FF 01 05 03 2E 64 80 E4");
    assert_write(&sts::TORQUE_ENABLE, 1, "FF FF 01 04 03 28 01 CE");
    assert_write(&sts::TORQUE_ENABLE, 0x80, "FF FF 01 04 03 28 80 4F");
    assert_write(&sts::LOCK, 0, "FF FF 01 04 03 37 00 C0");
    assert_write(&sts::ID, 2, "FF FF 01 04 03 05 02 F0");
    assert_write(&sts::LOCK, 1, "FF FF 01 04 03 37 01 BF");
}

#[test]
fn writes_of_several_registers_and_to_all_are_as_printed() {
    let data = hex("32 00 08 00 00 E8 03");
    let move_there = Request::Write { id: 1, address: sts::ACCELERATION.address, data: &data };
    assert_request(&move_there, "FF FF 01 0A 03 29 32 00 08 00 00 E8 03 A3");
    for (register, value) in
        [(sts::ACCELERATION, 50), (sts::GOAL_POSITION, 2048), (sts::GOAL_SPEED, 1000)]
    {
        assert_eq!(STS3215.get(&register, sts::ACCELERATION.address, &data), Some(value));
    }
    let all_off = Request::Write { id: BROADCAST, address: sts::TORQUE_ENABLE.address, data: &[0] };
    assert_request(&all_off, "FF FF FE 04 03 28 00 D2");
    let data = SCS0009.bytes(&scs::GOAL_POSITION, 512);
    let scs = Request::Write { id: 1, address: scs::GOAL_POSITION.address, data: &data };
    assert_request(&scs, "FF FF 01 05 03 2A 02 00 CA");
}

#[test]
fn delayed_writes_are_as_printed() {
    let data = STS3215.bytes(&sts::GOAL_POSITION, 2048);
    let later = Request::RegWrite { id: 1, address: sts::GOAL_POSITION.address, data: &data };
    assert_request(&later, "FF FF 01 05 04 2A 00 08 C3");
    assert_request(&Request::Action { id: BROADCAST }, "FF FF FE 02 05 FA");
    // Sum 1 + 2 + 6 = 9; the reference prints no factory reset.
    assert_request(&Request::FactoryReset { id: 1 }, "FF FF 01 02 06 F6");
}

#[test]
fn requests_to_several_are_as_printed() {
    let read = Request::SyncRead { address: 56, size: 2, ids: &[1, 2, 3] };
    assert_request(&read, "FF FF FE 07 82 38 02 01 02 03 38");
    let entries = hex("01 00 08 02 B8 0B");
    let write = Request::SyncWrite { address: 42, size: 2, entries: &entries };
    assert_request(&write, "FF FF FE 0A 83 2A 02 01 00 08 02 B8 0B 7A");
}

#[test]
fn data_follow_whatever_the_alarms() {
    for bits in 0..=255 {
        let status = Status { id: 3, alarms: Alarms(bits), data: &[1, 2] };
        let bytes = answer_of(&status);
        assert_eq!(answers(&mut StatusDecoder::default(), &bytes), [Ok(bytes.clone())]);
    }
}

#[test]
fn alarms_have_names() {
    assert_eq!(Alarms::NONE.to_string(), "none");
    assert_eq!((Alarms::OVERLOAD | Alarms::VOLTAGE).to_string(), "voltage, overload");
    assert_eq!((Alarms::HEAT | Alarms(0x40)).to_string(), "heat, unnamed 0x40");
    assert_eq!(Alarms(0x10).to_string(), "unnamed 0x10");
    assert_eq!((Alarms::CURRENT | Alarms::SENSOR).to_string(), "angle sensor, current");
}

#[test]
fn what_is_no_request_is_refused() {
    let refused = |request: Request<'_>| {
        let mut bytes = Vec::new();
        let error = request.encode(&mut bytes).unwrap_err().to_string();
        assert!(bytes.is_empty(), "{bytes:?}");
        error
    };
    assert_eq!(refused(Request::Ping { id: 0xFF }), "id is 255, expected 0 to 254");
    let long = [0; 253];
    let write = Request::Write { id: 1, address: 0, data: &long };
    assert_eq!(refused(write), "length 254, expected 0 to 253");
    let write = Request::Write { id: 1, address: 0, data: &[] };
    assert_eq!(refused(write), "length 0, expected 1 to 253");
    let ragged = Request::SyncWrite { address: 42, size: 2, entries: &[1, 0, 8, 2] };
    assert_eq!(refused(ragged), "length 4, expected 3 to 253");
    let nobody = Request::SyncRead { address: 56, size: 2, ids: &[] };
    assert_eq!(refused(nobody), "length 0, expected 1 to 253");
}

#[test]
fn what_the_wire_carries_wrong_is_named() {
    let mut decoder = RequestDecoder::default();
    let mut error = |bytes: &str| {
        let mut found = requests(&mut decoder, &hex(bytes));
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0).unwrap_err().to_string()
    };
    assert_eq!(error("FF FF 01 02 01 FC"), "checksum 0xfc, expected 0xfb");
    assert_eq!(error("FF FF 01 01"), "length 1, expected 2 to 255");
    assert_eq!(error("FF FF 01 02 09 F3"), "unknown code 0x09");
    assert_eq!(error("FF FF 01 03 02 38 C1"), "length 1, expected 2 to 253");
}

#[test]
fn a_frame_inside_a_damaged_one_is_found() {
    // The first claims 17 bytes, of which the second is a part.
    let mut bytes = hex("FF FF 01 0D 02");
    bytes.extend(hex("FF FF 01 02 01 FB"));
    bytes.extend(hex("FF FF 01 02 01 FB"));
    let ping = hex("FF FF 01 02 01 FB");
    assert_eq!(requests(&mut RequestDecoder::default(), &bytes), [Ok(ping.clone())]);
    // The second ping is in the buffer still, and comes with the next byte.
    let mut decoder = RequestDecoder::default();
    bytes.push(0x00);
    assert_eq!(requests(&mut decoder, &bytes), [Ok(ping.clone()), Ok(ping.clone())]);
    decoder.push(0xFF);
    decoder.reset();
    assert_eq!(requests(&mut decoder, &ping), [Ok(ping.clone())]);
    assert_eq!(requests(&mut decoder, &hex("FF FF FF 01 02 01 FB")), [Ok(ping)]);
}

#[test]
fn tables_are_in_order_and_fit() {
    for model in [&STS3215, &SCS0009] {
        for pair in model.registers.windows(2) {
            assert!(
                pair[0].end() <= pair[1].address.into(),
                "{} and {}",
                pair[0].name,
                pair[1].name
            );
        }
        for register in model.registers {
            let name = register.name;
            assert!((register.least..=register.most).contains(&register.factory), "{name}");
            for value in [register.least, register.factory, register.most] {
                let bytes = model.bytes(register, value);
                let bytes = &bytes[..register.size.into()];
                assert_eq!(model.get(register, register.address, bytes), Some(value), "{name}");
            }
            assert_eq!(model.register(name), Some(register));
        }
        let number = model.register("model_number").unwrap();
        assert_eq!(number.factory, i32::from(model.number));
        assert_eq!(model.register("lock"), Some(&model.lock));
        assert_eq!(model.register("nothing"), None);
    }
}

#[test]
fn signs_are_bits() {
    assert_eq!(STS3215.bytes(&sts::GOAL_SPEED, -100), [0x64, 0x80]);
    assert_eq!(STS3215.bytes(&sts::PRESENT_LOAD, -100), [0x64, 0x04]);
    assert_eq!(STS3215.bytes(&sts::OFFSET, -100), [0x64, 0x08]);
    assert_eq!(STS3215.get(&sts::OFFSET, 31, &[0x64, 0x08]), Some(-100));
    assert_eq!(SCS0009.bytes(&scs::PRESENT_LOAD, -100), [0x04, 0x64]);
    assert_eq!(STS3215.bytes(&sts::OFFSET, 5000), [0xFF, 0x07], "limited");
    assert_eq!(STS3215.bytes(&sts::ID, -1), [0, 0], "limited");
    assert_eq!(STS3215.get(&sts::OFFSET, 31, &[0x00, 0x08]), Some(0), "minus zero");
    assert_eq!(STS3215.get(&sts::OFFSET, 31, &[0x00]), None);
    assert_eq!(STS3215.get(&sts::OFFSET, 32, &[0x00]), None);
}

/// Equal to the last bit but some.
#[track_caller]
fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-12 * expected.abs(), "{got}, expected {expected}");
}

#[test]
fn units_are_those_of_the_maker() {
    let si = |register, counts| STS3215.si(register, counts);
    assert_close(si(&sts::PRESENT_POSITION, 3072), std::f64::consts::FRAC_PI_2);
    assert_close(si(&sts::PRESENT_POSITION, 2048), 0.0);
    assert_close(si(&sts::PRESENT_SPEED, -4096), -std::f64::consts::TAU);
    assert_close(si(&sts::ACCELERATION, 50), 5000.0 * std::f64::consts::TAU / 4096.0);
    assert_close(si(&sts::PRESENT_LOAD, -250), -0.25);
    assert_close(si(&sts::PRESENT_CURRENT, 100), 0.65);
    assert_close(si(&sts::PRESENT_VOLTAGE, 121), 12.1);
    assert_close(si(&sts::PRESENT_TEMPERATURE, 35), 35.0);
    assert_close(si(&sts::ANSWER_DELAY, 250), 500e-6);
    assert_close(si(&sts::PROTECTION_TIME, 200), 2.0);
    assert_close(si(&sts::OVERLOAD_TORQUE, 80), 0.8);
    assert_close(si(&sts::MODE, 3), 3.0);
    assert_close(SCS0009.si(&scs::PRESENT_POSITION, 1024), 150_f64.to_radians());
    assert_close(SCS0009.si(&scs::GOAL_TIME, 1500), 1.5);
    assert_eq!(STS3215.counts(&sts::GOAL_POSITION, -std::f64::consts::FRAC_PI_2), 1024);
    assert_eq!(STS3215.counts(&sts::TORQUE_LIMIT, 7.0), 1000, "limited");
    assert_eq!(BAUDS[5], 76_800, "the maker's, not 57600");
}

/// Any request that fits.
fn any_request() -> impl Strategy<Value = Vec<u8>> {
    let id = 0_u8..=BROADCAST;
    let data = prop::collection::vec(any::<u8>(), 1..40);
    let entries = (1_u8..8, prop::collection::vec((0_u8..BROADCAST, any::<[u8; 7]>()), 1..20));
    prop_oneof![
        id.clone().prop_map(|id| bytes_of(&Request::Ping { id })),
        id.clone().prop_map(|id| bytes_of(&Request::Action { id })),
        id.clone().prop_map(|id| bytes_of(&Request::FactoryReset { id })),
        (id.clone(), any::<u8>(), any::<u8>())
            .prop_map(|(id, address, size)| bytes_of(&Request::Read { id, address, size })),
        (id.clone(), any::<u8>(), data.clone())
            .prop_map(|(id, address, data)| bytes_of(&Request::Write { id, address, data: &data })),
        (id, any::<u8>(), data).prop_map(|(id, address, data)| {
            bytes_of(&Request::RegWrite { id, address, data: &data })
        }),
        (any::<u8>(), any::<u8>(), prop::collection::vec(0_u8..BROADCAST, 1..40)).prop_map(
            |(address, size, ids)| bytes_of(&Request::SyncRead { address, size, ids: &ids })
        ),
        (any::<u8>(), entries).prop_map(|(address, (size, servos))| {
            let entries: Vec<u8> = servos
                .iter()
                .flat_map(|(id, data)| {
                    std::iter::once(*id).chain(data[..size.into()].iter().copied())
                })
                .collect();
            bytes_of(&Request::SyncWrite { address, size, entries: &entries })
        }),
    ]
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(frames in prop::collection::vec(any_request(), 1..6)) {
        let expected: Vec<_> = frames.iter().cloned().map(Ok).collect();
        prop_assert_eq!(requests(&mut RequestDecoder::default(), &frames.concat()), expected);
    }

    #[test]
    fn answers_come_back(id in 0_u8..BROADCAST, bits: u8, data in prop::collection::vec(any::<u8>(), 0..200)) {
        let bytes = answer_of(&Status { id, alarms: Alarms(bits), data: &data });
        prop_assert_eq!(answers(&mut StatusDecoder::default(), &bytes), [Ok(bytes.clone())]);
    }

    #[test]
    fn any_bytes_are_survived_and_the_next_frame_found(
        noise in prop::collection::vec(prop_oneof![Just(0xFF), any::<u8>()], 0..600),
        frame in any_request(),
    ) {
        let mut decoder = RequestDecoder::default();
        requests(&mut decoder, &noise);
        // At most one longest frame is begun by the noise; behind it every frame is heard.
        let silence = vec![0; 260];
        requests(&mut decoder, &silence);
        prop_assert_eq!(requests(&mut decoder, &frame), [Ok(frame.clone())]);
    }

    #[test]
    fn a_frame_right_after_noise_is_found(noise in prop::collection::vec(0_u8..0xFF, 0..50), frame in any_request()) {
        let bytes = [noise, frame.clone()].concat();
        prop_assert_eq!(requests(&mut RequestDecoder::default(), &bytes), [Ok(frame)]);
    }

    #[test]
    fn one_wrong_byte_is_never_another_frame(frame in any_request(), at in any::<prop::sample::Index>(), change in 1_u8..=255) {
        // Apart from header and length, which say where the frame is: a sum cannot tell those.
        let at = [2].into_iter().chain(4..frame.len()).nth(at.index(frame.len() - 3)).unwrap();
        let mut wrong = frame.clone();
        wrong[at] ^= change;
        let found = requests(&mut RequestDecoder::default(), &wrong);
        prop_assert!(found.iter().all(Result::is_err), "{:?}", found);
    }

    #[test]
    fn units_come_back(counts in -32_767_i32..=32_767) {
        for model in [&STS3215, &SCS0009] {
            for register in model.registers {
                let counts = counts.clamp(register.least, register.most);
                prop_assert_eq!(model.counts(register, model.si(register, counts)), counts, "{}", register.name);
            }
        }
    }
}
