use proptest::prelude::*;

use super::*;

/// Bytes of `00 FF …`; `5A×12` repeats.
fn hex(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let (byte, times) = word.split_once('×').unwrap_or((word, "1"));
        let byte = u8::from_str_radix(byte, 16).unwrap();
        bytes.extend(std::iter::repeat_n(byte, times.parse().unwrap()));
    }
    bytes
}

fn board(id: u8, order: Order) -> Request {
    Request::Board { id, order }
}

fn encoded(request: Request) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(&mut out);
    out
}

fn requests(bytes: &[u8]) -> Vec<Result<Request, FrameError>> {
    let mut decoder = RequestDecoder::default();
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

fn answers(request: Request, bytes: &[u8]) -> Vec<Result<Answer, FrameError>> {
    let mut decoder = AnswerDecoder::default();
    decoder.expect(request);
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

fn degrees<const N: usize>(bytes: [u8; N]) -> [Channel; N] {
    bytes.map(|byte| Channel::from_byte(byte).unwrap())
}

/// Requests as the command reference and programs of the time send them.
#[test]
fn requests_are_those_of_the_reference() {
    let speed = Speed::new(4).unwrap();
    let home = degrees([5, 0, 90, 0xe1, 0xe1, 90, 175, 180, 90, 0xe1, 0xe1, 0xe1]);
    let cases = [
        ("FE 7E", Request::GetId),
        ("FF 5A 02 5B", Request::SetId { id: 2 }),
        ("FC 00 7C", board(0, Order::Positions)),
        ("FC 01 7D", board(1, Order::Positions)),
        (
            "FD 00 04 5A×12 39",
            board(0, Order::Move(Pose { speed, channels: [Channel::Degrees(90); 12] })),
        ),
        (
            "FD 00 04 05 00 5A E1 E1 5A AF B4 5A E1 E1 E1 5C",
            board(0, Order::Move(Pose { speed, channels: home })),
        ),
        ("FB 00 7B", board(0, Order::StoreHome)),
        ("FA 01 7B", board(1, Order::Home)),
        ("EF 00 01 70", board(0, Order::PlayMotion { motion: 1 })),
        ("EF 01 01 71", board(1, Order::PlayMotion { motion: 1 })),
        ("EE 00 00 6E", board(0, Order::PlayScenario { scenario: 0 })),
        ("F6 00 05 7B", board(0, Order::PositionCount { motion: 5 })),
        ("F7 00 05 0A 06", board(0, Order::SetPositionCount { motion: 5, count: 10 })),
        ("F1 00 02 73", board(0, Order::SetSwitches(Switches::default()))),
        ("E8 00 68", board(0, Order::Trims)),
    ];
    for (text, request) in cases {
        assert_eq!(encoded(request), hex(text), "{text}");
        assert_eq!(requests(&hex(text)), [Ok(request)], "{text}");
    }
}

#[test]
fn answers_are_those_of_the_reference() {
    let home_0 = degrees([5, 0, 90, 0, 0, 90, 175, 180, 90, 0, 0, 0]);
    let home_1 = degrees([88, 115, 115, 90, 92, 0, 92, 65, 65, 90, 88, 0]);
    let cases = [
        ("00 06", board(0, Order::Move(Pose::default())), 0, Answer::Done),
        (
            "00 05 00 5A 00 00 5A AF B4 5A 00 00 00 76",
            board(0, Order::Home),
            0,
            Answer::Channels(home_0),
        ),
        (
            "01 58 73 73 5A 5C 00 5C 41 41 5A 58 00 05",
            board(1, Order::Positions),
            1,
            Answer::Channels(home_1),
        ),
    ];
    for (text, request, id, answer) in cases {
        let mut out = Vec::new();
        answer.encode(id, &mut out);
        assert_eq!(out, hex(text), "{text}");
        assert_eq!(answers(request, &hex(text)), [Ok(answer)], "{text}");
    }
}

#[test]
fn lengths_of_the_table_are_those_of_the_frames() {
    for order in every_order() {
        let request = board(3, order);
        let command = Command::of(request.code()).unwrap();
        assert_eq!(encoded(request).len(), command.request, "{}", command.name);
    }
    assert!(COMMANDS.iter().all(|c| c.request <= LONGEST && c.answer <= LONGEST));
    assert!(COMMANDS.windows(2).all(|pair| pair[0].code > pair[1].code));
}

#[test]
fn special_bytes_are_a_type() {
    for (byte, channel) in [
        (0x5a, Channel::Degrees(90)),
        (0xb4, Channel::Degrees(180)),
        (0xdd, Channel::Free),
        (0xde, Channel::Characteristic(1)),
        (0xe0, Channel::Characteristic(3)),
        (0xe1, Channel::PortLow),
        (0xe2, Channel::PortHigh),
        (0xff, Channel::Keep),
    ] {
        assert_eq!(Channel::from_byte(byte), Ok(channel));
        assert_eq!(channel.to_byte(), byte);
    }
    assert_eq!(Channel::from_byte(200), Ok(Channel::Degrees(180)), "clamped");
    assert!(Channel::from_byte(0xfb).is_err(), "`store home` is a command, not a position");
}

#[test]
fn fields_out_of_range_are_refused() {
    for (text, error) in [
        ("EF 00 28 17", "motion is 40, expected 0 to 39"),
        ("EE 00 04 72", "scenario is 4, expected 0 to 3"),
        ("F7 00 05 65 61", "count is 101, expected 0 to 100"),
        ("FC 20 1C", "id is 32, expected 0 to 31"),
        ("FD 00 08 5A×12 3D", "speed is 8, expected 0 to 7"),
        ("FC 00 7B", "checksum 0x7b, expected 0x7c"),
        ("55", "unknown code 0x55"),
        ("FF 5B 02 5C", "unknown code 0x5b"),
    ] {
        let got = requests(&hex(text));
        assert_eq!(got.len(), 1, "{text}: {got:?}");
        assert_eq!(got[0].unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn an_answer_is_found_after_bytes_that_are_none() {
    let request = board(1, Order::Switches);
    let got = answers(request, &hex("55 01 07 01 02 03"));
    assert_eq!(got.last(), Some(&Ok(Answer::Switches(Switches::default()))), "{got:?}");
}

#[test]
fn trims_travel_with_20_added() {
    let trims = [-20, 19, 0, 1, -1, 5, 5, 5, 5, 5, 5, 5];
    let frame = encoded(board(0, Order::SetTrims(trims)));
    assert_eq!(frame[2..5], [0, 39, 20]);
    assert_eq!(requests(&frame), [Ok(board(0, Order::SetTrims(trims)))]);
}

fn every_order() -> Vec<Order> {
    let (pose, motion, scenario) = (Pose::default(), 3, 2);
    vec![
        Order::Move(pose),
        Order::Positions,
        Order::StoreHome,
        Order::Home,
        Order::WritePosition { motion, position: 7, pose },
        Order::ReadPosition { motion, position: 7 },
        Order::SetPositionCount { motion, count: 100 },
        Order::PositionCount { motion },
        Order::WriteScenario { scenario, index: 199, motion },
        Order::ReadScenario { scenario, index: 199 },
        Order::SetScenarioLength { scenario, count: 200 },
        Order::ScenarioLength { scenario },
        Order::SetSwitches(Switches::default()),
        Order::Switches,
        Order::PlayMotion { motion },
        Order::PlayScenario { scenario },
        Order::SetKey(KeyAssignment { key: 9, kind: 1, number: 3, mode: 0 }),
        Order::Key { key: 9 },
        Order::SetTrims([0; 12]),
        Order::Trims,
    ]
}

fn any_channel() -> impl Strategy<Value = Channel> {
    any::<u8>().prop_filter_map("a position", |byte| Channel::from_byte(byte).ok())
}

fn any_pose() -> impl Strategy<Value = Pose> {
    (0..=MAX_SPEED, proptest::array::uniform12(any_channel()))
        .prop_map(|(code, channels)| Pose { speed: Speed::new(code).unwrap(), channels })
}

fn any_request() -> impl Strategy<Value = Request> {
    let orders = prop_oneof![
        any_pose().prop_map(Order::Move),
        (0..MOTIONS, 0..POSITIONS, any_pose()).prop_map(|(motion, position, pose)| {
            Order::WritePosition { motion, position, pose }
        }),
        proptest::array::uniform12(-20..20_i8).prop_map(Order::SetTrims),
        proptest::sample::select(every_order()),
    ];
    prop_oneof![
        (0..=MAX_ID).prop_map(|id| Request::SetId { id }),
        Just(Request::GetId),
        (0..=MAX_ID, orders).prop_map(|(id, order)| board(id, order)),
    ]
}

proptest! {
    #[test]
    fn decode_undoes_encode(sent in proptest::collection::vec(any_request(), 1..5)) {
        let mut bytes = Vec::new();
        for request in &sent {
            request.encode(&mut bytes);
        }
        let got: Result<Vec<_>, _> = requests(&bytes).into_iter().collect();
        prop_assert_eq!(got, Ok(sent));
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), request in any_request()) {
        requests(&bytes);
        answers(request, &bytes);
    }

    /// One wrong bit is seen, but for the bit that 7 bits of a sum do not have, and for a code that has another length.
    #[test]
    fn a_wrong_bit_is_no_other_request(request in any_request(), place in any::<proptest::sample::Index>(), bit in 0..7_u8) {
        let mut bytes = encoded(request);
        let place = 1 + place.index(bytes.len() - 1);
        bytes[place] ^= 1_u8 << bit;
        let got = requests(&bytes);
        prop_assert!(got.iter().all(Result::is_err), "{:02X?} {:?}", bytes, got);
    }

    #[test]
    fn a_request_after_garbage_is_found(garbage in proptest::collection::vec(any::<u8>(), 0..60), request in any_request()) {
        // What garbage may have begun ends within the longest frame, and zeros begin none.
        let mut bytes = garbage;
        bytes.extend([0; LONGEST]);
        request.encode(&mut bytes);
        let got = requests(&bytes);
        prop_assert_eq!(got.last(), Some(&Ok(request)));
    }

    #[test]
    fn an_answer_after_garbage_is_found(garbage in proptest::collection::vec(0x20..0xff_u8, 0..60), channels in proptest::array::uniform12(any_channel())) {
        let answer = Answer::Channels(channels);
        let mut bytes = garbage;
        answer.encode(5, &mut bytes);
        let got = answers(board(5, Order::Positions), &bytes);
        prop_assert_eq!(got.last(), Some(&Ok(answer)));
    }
}
