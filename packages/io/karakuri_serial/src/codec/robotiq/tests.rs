use proptest::prelude::*;

use super::super::FrameError;
use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn requests(bytes: &[u8]) -> Vec<Result<(u8, Request), FrameError>> {
    let mut decoder = RequestDecoder::default();
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

fn answers(bytes: &[u8]) -> Vec<Result<(u8, Answer), FrameError>> {
    let mut decoder = AnswerDecoder::default();
    bytes.iter().filter_map(|byte| decoder.push(*byte)).collect()
}

fn encoded(request: &Request) -> Vec<u8> {
    let mut out = Vec::new();
    request.encode(SLAVE, &mut out);
    out
}

fn encoded_answer(answer: &Answer) -> Vec<u8> {
    let mut out = Vec::new();
    answer.encode(SLAVE, &mut out);
    out
}

fn write(command: Command) -> Request {
    Request::Write { address: COMMAND_ADDRESS, words: Words::new(&command.to_words()).unwrap() }
}

fn read(function: ReadFunction, count: u16) -> Request {
    Request::Read { function, address: STATUS_ADDRESS, count }
}

fn status(status: Status, function: u8) -> Answer {
    Answer::Words { function, words: Words::new(&status.to_words()).unwrap() }
}

#[test]
fn requests_are_those_of_the_manual_and_of_clients() {
    let active = Command { is_active: true, ..Command::default() };
    let shut = Command { goes: true, position: 255, speed: 255, force: 255, ..active };
    for (hex, request) in [
        ("09 10 03 E8 00 03 06 00 00 00 00 00 00 73 30", write(Command::default())),
        ("09 10 03 E8 00 03 06 01 00 00 00 00 00 72 E1", write(active)),
        ("09 10 03 E8 00 03 06 09 00 00 FF FF FF 42 29", write(shut)),
        ("09 10 03 E8 00 03 06 09 00 00 00 FF FF 72 19", write(Command { position: 0, ..shut })),
        ("09 04 07 D0 00 03 B1 CE", read(ReadFunction::Input, 3)),
        ("09 03 07 D0 00 03 04 0E", read(ReadFunction::Holding, 3)),
        ("09 03 07 D0 00 06 C4 0D", read(ReadFunction::Holding, 6)),
        ("09 03 07 D0 00 01 85 CF", read(ReadFunction::Holding, 1)),
        (
            "09 10 03 E8 00 01 02 01 00 E4 28",
            Request::Write { address: COMMAND_ADDRESS, words: Words::new(&[0x0100]).unwrap() },
        ),
        (
            "09 17 07 D0 00 03 03 E9 00 02 04 00 64 FF FF CD C7",
            Request::ReadWrite {
                read_address: STATUS_ADDRESS,
                read_count: 3,
                write_address: COMMAND_ADDRESS + 1,
                words: Words::new(&[100, 0xFFFF]).unwrap(),
            },
        ),
    ] {
        assert_eq!(encoded(&request), bytes(hex), "{request:?}");
        assert_eq!(requests(&bytes(hex)), [Ok((SLAVE, request))], "{hex}");
    }
}

#[test]
fn answers_are_those_of_the_manual() {
    let shutting = Status {
        is_active: true,
        goes: true,
        activation: Activation::Ready,
        goal: 255,
        ..Status::default()
    };
    let exception = Answer::Exception { function: 4, exception: Exception::Address };
    for (hex, answer) in [
        ("09 10 03 E8 00 03 01 30", Answer::Written { address: COMMAND_ADDRESS, count: 3 }),
        ("09 84 02 43 03", exception),
        (
            "09 04 06 39 00 00 FF 0A 20 35 72",
            status(Status { position: 0x0A, current: 0x20, ..shutting }, 4),
        ),
        (
            "09 04 06 B9 00 00 FF BD 00 5C 9A",
            status(Status { position: 0xBD, object: Object::StoppedClosing, ..shutting }, 4),
        ),
    ] {
        assert_eq!(encoded_answer(&answer), bytes(hex), "{answer:?}");
        assert_eq!(answers(&bytes(hex)), [Ok((SLAVE, answer))], "{hex}");
    }
    for (hex, activation) in [
        ("09 03 02 11 00 55 D5", Activation::Activating),
        ("09 03 02 31 00 4C 15", Activation::Ready),
    ] {
        let Ok((_, Answer::Words { words, .. })) = answers(&bytes(hex))[0] else { panic!("{hex}") };
        assert_eq!(Status::from_words([words[0], 0, 0]).activation, activation);
    }
}

#[test]
fn an_answer_belongs_to_its_request() {
    let request = read(ReadFunction::Input, 3);
    let good = status(Status::default(), 4);
    assert!(good.is_of(&request));
    assert!(!good.is_of(&read(ReadFunction::Input, 2)), "another number of words");
    assert!(!good.is_of(&read(ReadFunction::Holding, 3)), "another function");
    assert!(!good.is_of(&write(Command::default())));
    assert!(Answer::Exception { function: 4, exception: Exception::Value }.is_of(&request));
    assert!(
        Answer::Written { address: COMMAND_ADDRESS, count: 3 }.is_of(&write(Command::default()))
    );
}

#[test]
fn a_release_has_its_direction() {
    for (release, word) in
        [(Release::No, 0x0000), (Release::Closing, 0x1000), (Release::Opening, 0x3000)]
    {
        let command = Command { release, ..Command::default() };
        assert_eq!(command.to_words()[0], word);
        assert_eq!(Command::from_words(command.to_words()), command);
    }
}

#[test]
fn widths_speeds_and_forces_are_those_of_the_types() {
    assert!((TWO_F_85.width(230)).abs() < 1e-12 && (TWO_F_85.width(0) - 0.085).abs() < 1e-12);
    assert!((TWO_F_85.width(100) - 0.0507).abs() < 1e-9, "130 counts of 0.39 mm");
    assert_eq!(TWO_F_85.position(0.0507), 100);
    assert!((TWO_F_85.speed(0) - 0.02).abs() < 1e-12 && (TWO_F_85.speed(255) - 0.15).abs() < 1e-12);
    assert!((TWO_F_85.force(255) - 235.0).abs() < 1e-9);
    for model in [TWO_F_85, TWO_F_140] {
        for byte in 0..=u8::MAX {
            assert_eq!(model.speed_byte(model.speed(byte)), byte);
            assert_eq!(model.force_byte(model.force(byte)), byte);
        }
    }
    assert!((Status { current: 32, ..Status::default() }.current_a() - 0.32).abs() < 1e-12);
}

#[test]
fn a_frame_of_a_wrong_length_is_named() {
    let mut frame = bytes("09 10 03 E8 00 03 06 00 00 00 00 00 00 73 30");
    frame[6] = 5;
    let results = requests(&frame);
    assert_eq!(results[0], Err(FrameError::Length { got: 5, least: 2, most: 250 }));
    assert_eq!(requests(&[9, 43]), [Err(FrameError::Unknown { code: 43 })]);
}

prop_compose! {
    fn some_words()(words in prop::collection::vec(any::<u16>(), 1..=MAX_WORDS)) -> Words {
        Words::new(&words).unwrap()
    }
}

fn any_request() -> impl Strategy<Value = Request> {
    let function = prop_oneof![Just(ReadFunction::Holding), Just(ReadFunction::Input)];
    prop_oneof![
        (function, any::<u16>(), any::<u16>())
            .prop_map(|(function, address, count)| Request::Read { function, address, count }),
        (any::<u16>(), some_words()).prop_map(|(address, words)| Request::Write { address, words }),
        (any::<u16>(), any::<u16>(), any::<u16>(), some_words()).prop_map(
            |(read_address, read_count, write_address, words)| Request::ReadWrite {
                read_address,
                read_count,
                write_address,
                words
            }
        ),
        (prop::sample::select(vec![1_u8, 2, 5, 6]), any::<[u8; 4]>())
            .prop_map(|(function, data)| Request::Other { function, data }),
    ]
}

fn any_answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        (prop::sample::select(vec![3_u8, 4, 23]), some_words())
            .prop_map(|(function, words)| Answer::Words { function, words }),
        (any::<u16>(), any::<u16>())
            .prop_map(|(address, count)| Answer::Written { address, count }),
        (1..127_u8, any::<u8>()).prop_map(|(function, code)| Answer::Exception {
            function,
            exception: frame::Exception::from_code(code)
        }),
    ]
}

proptest! {
    #[test]
    fn requests_are_read_as_they_were_written(request in any_request()) {
        prop_assert_eq!(requests(&encoded(&request)), [Ok((SLAVE, request))]);
    }

    #[test]
    fn answers_are_read_as_they_were_written(answer in any_answer()) {
        prop_assert_eq!(answers(&encoded_answer(&answer)), [Ok((SLAVE, answer))]);
    }

    #[test]
    fn any_bytes_are_survived(noise in prop::collection::vec(any::<u8>(), 0..1000)) {
        requests(&noise);
        answers(&noise);
    }

    #[test]
    fn a_frame_after_noise_is_found(
        noise in prop::collection::vec(any::<u8>(), 0..40),
        request in any_request(),
    ) {
        // Noise may begin like a long frame, whose end then is that of some frames after it.
        let mut stream = noise;
        let n = 2 + 270 / encoded(&request).len();
        (0..n).for_each(|_| stream.extend(encoded(&request)));
        let last = requests(&stream).into_iter().flatten().last();
        prop_assert_eq!(last, Some((SLAVE, request)));
    }

    #[test]
    fn one_wrong_bit_is_never_another_frame(request in any_request(), place in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let mut frame = encoded(&request);
        let place = place.index(frame.len());
        frame[place] ^= 1 << bit;
        prop_assert!(requests(&frame).into_iter().all(|result| result.is_err()));
    }

    #[test]
    fn commands_and_states_fit_their_words(words in any::<[u16; 3]>()) {
        let command = Command::from_words(words);
        prop_assert_eq!(Command::from_words(command.to_words()), command);
        let status = Status::from_words(words);
        prop_assert_eq!(Status::from_words(status.to_words()), status);
    }
}
