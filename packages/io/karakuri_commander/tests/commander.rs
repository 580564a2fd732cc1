//! A commander of arm6's cell: what it is asked, predicts, is allowed and does.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use karakuri_commander::{
    Agreement, Caller, Commander, Flow, Instant, Order, Reply, Robot, Settings,
};
use karakuri_commands::{Approval, Envelope, Refusal, Tail, Verb, output_schema, verify_log};
use karakuri_rehearsal::{Cell, CellFile, Ended};
use karakuri_spatial::Vector3;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A log in memory; full after so many bytes.
#[derive(Clone)]
struct Memory {
    text: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = self.text.lock().unwrap();
        if text.len() + bytes.len() > self.room {
            return Err(io::Error::other("the disk is full"));
        }
        text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Desk {
    commander: Commander,
    log: Memory,
    now: Mutex<f64>,
    bits: Mutex<u8>,
}

/// The envelope of the table, with few copies, and approval by a client.
fn envelope() -> Envelope {
    let mut envelope = Envelope::read(&root().join("config/envelopes/table.yaml")).unwrap();
    envelope.rehearsal.copies = 2;
    envelope.limits.acts_per_minute = 100;
    envelope
}

/// The scene at the table.
fn table() -> CellFile {
    CellFile::new(&root().join("config/scenes/pick_and_place.yaml"))
}

impl Desk {
    fn new(envelope: Envelope) -> Self {
        Self::with_room(envelope, usize::MAX)
    }

    fn with_room(envelope: Envelope, room: usize) -> Self {
        Self::of(Box::new(table().open().unwrap()), envelope, room)
    }

    fn of(robot: Box<dyn Robot>, envelope: Envelope, room: usize) -> Self {
        let log = Memory { text: Arc::default(), room };
        let settings = Settings {
            robot,
            urdf: String::new(),
            envelope,
            log: Box::new(log.clone()),
            tail: Tail::default(),
        };
        let commander = Commander::new(settings);
        Self { commander, log, now: Mutex::new(0.0), bits: Mutex::new(0) }
    }

    fn call_as(
        &self,
        principal: &str,
        verb: Verb,
        arguments: &Value,
        agreement: Option<Agreement>,
        watch: &mut dyn FnMut(&Instant) -> Flow,
    ) -> Reply {
        let random = {
            let mut bits = self.bits.lock().unwrap();
            *bits += 1;
            [*bits; 16]
        };
        let now = *self.now.lock().unwrap();
        let caller = Caller { principal, now, date: now, random, agreement };
        self.commander.call(&caller, verb, arguments, watch)
    }

    fn call(&self, verb: Verb, arguments: &Value) -> Reply {
        self.call_as("local", verb, arguments, None, &mut |_| Flow::GoOn)
    }

    fn done(&self, verb: Verb, arguments: &Value) -> Value {
        let reply = self.call(verb, arguments);
        let Reply::Done(answer) = reply else { panic!("{verb}: {reply:?}") };
        let schema = jsonschema::validator_for(&output_schema(verb)).unwrap();
        assert!(schema.is_valid(&answer), "{verb}: {answer}");
        answer
    }

    fn ticket(&self, verb: Verb, arguments: &Value) -> String {
        self.done(verb, arguments)["ticket"].as_str().unwrap().to_owned()
    }

    fn act_with(
        &self,
        ticket: &str,
        request: &str,
        watch: &mut dyn FnMut(&Instant) -> Flow,
    ) -> Reply {
        let arguments = json!({"ticket": ticket, "request_id": request});
        self.call_as("local", Verb::Act, &arguments, Some(Agreement::Client), watch)
    }

    fn act(&self, ticket: &str) -> Value {
        // Tickets are names of their requests here.
        let reply = self.act_with(ticket, ticket, &mut |_| Flow::GoOn);
        let Reply::Done(answer) = reply else { panic!("{reply:?}") };
        let schema = jsonschema::validator_for(&output_schema(Verb::Act)).unwrap();
        assert!(schema.is_valid(&answer), "{answer}");
        answer
    }

    /// Rehearses and acts.
    fn run(&self, verb: Verb, arguments: &Value) -> Value {
        let answer = self.done(verb, arguments);
        let done = self.act(answer["ticket"].as_str().unwrap());
        assert_eq!(done["commands"], answer["commands"], "{verb}");
        done
    }

    fn place_of(&self, object: &str) -> Vector3 {
        self.commander.with_cell(|cell| {
            let world = cell.io.world();
            world.body(world.find_body(object).unwrap()).pose().translation
        })
    }

    fn digest(&self) -> String {
        self.commander.with_cell(Cell::digest).to_string()
    }

    fn lines(&self) -> Vec<Value> {
        let text = self.log.text.lock().unwrap().clone();
        verify_log(text.as_slice()).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn code(reply: &Reply) -> &str {
    let Reply::Refused(refusal) = reply else { panic!("{reply:?}") };
    refusal["code"].as_str().unwrap()
}

#[test]
fn the_cube_goes_to_the_shelf_as_predicted() {
    let desk = Desk::new(envelope());
    let seen = desk.done(Verb::Look, &json!({}));
    let names = seen["objects"].as_array().unwrap().iter().map(|object| &object["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["table", "table_foot", "shelf", "cube"]);
    let hands = seen["objects"].as_array().unwrap().iter().map(|object| &object["graspable_by"]);
    let kind = &seen["tool"]["kind"];
    assert_eq!(hands.collect::<Vec<_>>(), [&json!([]), &json!([]), &json!([]), &json!([kind])]);
    let picked = desk.run(Verb::Pick, &json!({"object": "cube"}));
    assert_eq!((&picked["outcome"], &picked["holds"]), (&json!("DONE"), &json!(true)));
    let seen = desk.done(Verb::Look, &json!({"objects": ["cube"]}));
    assert_eq!(seen["objects"][0]["held"], true);
    assert_eq!(desk.done(Verb::Status, &json!({}))["held"], "cube");
    let placed = desk.run(Verb::Place, &json!({"on": "shelf"}));
    assert_eq!(placed["holds"], false);
    let off = desk.place_of("cube") - Vector3::new(0.5, 0.2, 0.875);
    assert!(off.norm() < 0.005, "{off}");
    let home = desk.run(Verb::Home, &json!({}));
    assert_eq!(home["outcome"], "DONE");
    // Two lines of each act, one of each rehearsal; no ticket in any.
    let lines = desk.lines();
    let verbs: Vec<_> = lines.iter().map(|line| line["verb"].as_str().unwrap()).collect();
    let expected = ["pick", "act", "act", "place", "act", "act", "home", "act", "act"];
    assert_eq!(verbs, expected);
    assert!(lines[1]["prediction"]["commands"] == lines[2]["command_hash"], "{:?}", lines[2]);
    assert!(lines.iter().all(|line| !line.to_string().contains(&"01".repeat(16))));
    let log = desk.done(Verb::Log, &json!({"since": 8}));
    assert_eq!((&log["lines"][0]["verb"], &log["next"]), (&json!("act"), &json!(10)));
}

/// By the two verbs of language models' demonstrations: to the block, close, up, over the place, open.
#[test]
fn moves_and_a_hand_take_the_cube_along() {
    let desk = Desk::new(envelope());
    let over = |x: f64, y: f64, high: bool| json!({"x_m": x, "y_m": y, "high": high});
    desk.run(Verb::Move, &over(0.5, -0.2, true));
    desk.run(Verb::SetGripper, &json!({"opened": true}));
    desk.run(Verb::Move, &over(0.5, -0.2, false));
    desk.run(Verb::SetGripper, &json!({"opened": false, "force_n": 10.0}));
    desk.run(Verb::Move, &over(0.5, -0.2, true));
    let lifted = desk.place_of("cube");
    assert!(lifted.z > 0.9, "{lifted}");
    desk.run(Verb::Move, &over(0.45, 0.0, true));
    desk.run(Verb::Move, &over(0.45, 0.0, false));
    desk.run(Verb::SetGripper, &json!({"opened": true}));
    let off = desk.place_of("cube") - Vector3::new(0.45, 0.0, 0.775);
    assert!(off.norm() < 0.005, "{off}");
}

#[test]
fn what_is_outside_of_the_envelope_is_refused() {
    let desk = Desk::new(envelope());
    let before = desk.digest();
    let refused = |verb, arguments: &Value| {
        let reply = desk.call(verb, arguments);
        (code(&reply).to_owned(), reply)
    };
    for (verb, arguments, expected) in [
        (Verb::Move, json!({"x_m": 0.701, "y_m": 0.0, "z_m": 1.0}), "OUTSIDE_ENVELOPE"),
        (Verb::Move, json!({"x_m": 0.5, "y_m": 0.2, "z_m": 0.84}), "OUTSIDE_ENVELOPE"),
        (Verb::Pick, json!({"object": "cube", "force_n": 16.0}), "OUTSIDE_ENVELOPE"),
        (Verb::Pick, json!({"object": "shelf"}), "OUTSIDE_ENVELOPE"),
        (Verb::Pick, json!({"object": "cube_2"}), "UNKNOWN_OBJECT"),
        (Verb::Pick, json!({"object": "cube; home"}), "BAD_ARGUMENT"),
        (Verb::Pick, json!({"object": "cube", "grasp": "side"}), "BAD_ARGUMENT"),
        (Verb::Place, json!({"on": "shelf"}), "INVALID_GOAL"),
        (Verb::SetGripper, json!({"width_m": 0.3}), "BAD_ARGUMENT"),
        (Verb::SetGripper, json!({"vacuum_kpa": 30.0}), "BAD_ARGUMENT"),
        (Verb::WalkTo, json!({"x_m": 0.5, "y_m": 0.0}), "NOT_ALLOWED"),
        // Down beside the shelf: the hand would hit it.
        (Verb::Move, json!({"x_m": 0.5, "y_m": 0.06, "z_m": 0.78}), "UNREACHABLE"),
    ] {
        let (found, reply) = refused(verb, &arguments);
        assert_eq!(found, expected, "{verb} {arguments}: {reply:?}");
    }
    assert_eq!(desk.digest(), before);
    assert_eq!(desk.lines().len(), 12, "one line each");
    let (_, reply) = refused(Verb::Move, &json!({"x_m": 0.5, "y_m": 0.06, "z_m": 0.78}));
    let Reply::Refused(refusal) = reply else { return };
    assert!(refusal["value"].as_str().unwrap().contains("would hit `shelf`"), "{refusal}");
}

#[test]
fn an_act_keeps_the_speed_of_the_envelope() {
    let desk = Desk::new(envelope());
    let ticket = desk.ticket(Verb::Pick, &json!({"object": "cube"}));
    let commander = &desk.commander;
    // The cell is the act's while it runs: the tool is seen by `look`, every 0.1 s.
    let (mut last, mut fastest) = (None::<(f64, Vector3)>, 0.0_f64);
    let reply = desk.act_with(&ticket, "r", &mut |_| {
        let caller =
            Caller { principal: "local", now: 0.0, date: 0.0, random: [0; 16], agreement: None };
        let reply = commander.call(&caller, Verb::Look, &json!({}), &mut |_| Flow::GoOn);
        let Reply::Done(seen) = reply else { panic!("{reply:?}") };
        assert!(seen["objects"][0]["graspable_by"].is_null(), "the robot is busy: {seen}");
        let at = seen["tool"]["xyz_m"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap());
        let at = Vector3::from_iterator(at);
        let time = seen["time_s"].as_f64().unwrap();
        if let Some((before, from)) = last.filter(|(before, _)| time > *before) {
            fastest = fastest.max((at - from).norm() / (time - before));
        }
        last = Some((time, at));
        Flow::GoOn
    });
    assert!(matches!(reply, Reply::Done(_)), "{reply:?}");
    assert!((0.2..=0.4).contains(&fastest), "{fastest} m/s");
}

#[test]
fn attack_09_of_two_clients_one_is_busy() {
    let desk = Desk::new(envelope());
    let ticket = desk.ticket(Verb::Home, &json!({}));
    let other = desk.ticket(Verb::SetGripper, &json!({"opened": true}));
    let mut codes = Vec::new();
    let reply = desk.act_with(&ticket, "a", &mut |_| {
        if codes.is_empty() {
            let second = desk.act_with(&other, "b", &mut |_| Flow::GoOn);
            let third = desk.call(Verb::Pick, &json!({"object": "cube"}));
            let again = desk.act_with(&ticket, "a", &mut |_| Flow::GoOn);
            codes = [&second, &third, &again].map(|reply| code(reply).to_owned()).to_vec();
            assert_eq!(desk.done(Verb::Status, &json!({}))["busy"], true);
        }
        Flow::GoOn
    });
    assert!(matches!(reply, Reply::Done(_)), "{reply:?}");
    assert_eq!(codes, ["BUSY"; 3]);
}

#[test]
fn attack_10_a_world_that_changed_makes_tickets_stale() {
    let desk = Desk::new(envelope());
    desk.run(Verb::SetGripper, &json!({"opened": true}));
    let pick = desk.ticket(Verb::Pick, &json!({"object": "cube"}));
    let open = desk.ticket(Verb::SetGripper, &json!({"opened": true}));
    let home = desk.ticket(Verb::Home, &json!({}));
    // The hand is open already: nearly nothing moves, and the rehearsal of the next act is repeated.
    desk.act(&open);
    desk.act(&home);
    let before = desk.digest();
    let reply = desk.act_with(&pick, "p", &mut |_| Flow::GoOn);
    assert_eq!(code(&reply), "STALE_TICKET", "{reply:?}");
    assert_eq!(desk.digest(), before);
}

#[test]
fn attack_12_a_client_is_no_operator() {
    let mut envelope = envelope();
    envelope.principals.get_mut("local").unwrap().approval = Approval::Operator;
    envelope.auto_act.verbs.clear();
    let desk = Desk::new(envelope);
    let before = desk.digest();
    let ticket = desk.ticket(Verb::Home, &json!({}));
    let arguments = json!({"ticket": ticket, "request_id": "r"});
    let act =
        |agreement| desk.call_as("local", Verb::Act, &arguments, agreement, &mut |_| Flow::GoOn);
    assert_eq!(code(&act(None)), "NEEDS_APPROVAL");
    assert_eq!(code(&act(Some(Agreement::Client))), "NEEDS_APPROVAL");
    assert_eq!(code(&act(Some(Agreement::Declined))), "DECLINED");
    assert_eq!(desk.digest(), before);
    let done = act(Some(Agreement::Operator));
    assert!(matches!(done, Reply::Done(_)), "{done:?}");
    assert_eq!(desk.lines()[4]["approval"], "operator");
}

#[test]
fn a_client_is_asked_before_it_acts() {
    let desk = Desk::new(envelope());
    let ticket = desk.ticket(Verb::Pick, &json!({"object": "cube"}));
    let arguments = json!({"ticket": ticket, "request_id": "r"});
    let asked = desk.call_as("local", Verb::Act, &arguments, None, &mut |_| Flow::GoOn);
    let Reply::Question(question) = asked else { panic!("{asked:?}") };
    let begins = "Carry out `pick` `cube`? All of 2 copies succeed";
    assert!(question.text.starts_with(begins), "{question:?}");
    // Home is in `auto_act`, as long as its margin is large.
    let ticket = desk.ticket(Verb::Home, &json!({}));
    let arguments = json!({"ticket": ticket, "request_id": "h"});
    let done = desk.call_as("local", Verb::Act, &arguments, None, &mut |_| Flow::GoOn);
    assert!(matches!(done, Reply::Done(_)), "{done:?}");
}

#[test]
fn attack_13_stop_brakes_within_one_period() {
    let desk = Desk::new(envelope());
    let ticket = desk.ticket(Verb::Pick, &json!({"object": "cube"}));
    let mut after = 0;
    let reply = desk.act_with(&ticket, "r", &mut |instant| {
        if after > 0 {
            after += 1;
            // The period in which it was stopped was over: the next one has no stage of the act.
            assert!(matches!(instant.stage, "STOPPED" | "IDLE"), "{after}");
        } else if instant.stage == "DESCEND" {
            assert_eq!(
                desk.done(Verb::Stop, &json!({"reason": "a hand"})),
                json!({"stopped": true})
            );
            after = 1;
        }
        Flow::GoOn
    });
    assert_eq!(code(&reply), "CANCELED", "{reply:?}");
    assert!(after > 10);
    let speed = desk.commander.with_cell(|cell| {
        cell.sample().velocity.iter().fold(0.0, |most: f64, v| most.max(v.abs()))
    });
    assert!(speed < 0.02, "{speed} rad/s");
    // Never gated: whoever asks, with whatever arguments.
    let odd = json!({"reason": [1]});
    let stop = desk.call_as("nobody", Verb::Stop, &odd, None, &mut |_| Flow::GoOn);
    assert_eq!(stop, Reply::Done(json!({"stopped": false})));
}

#[test]
fn a_request_that_comes_twice_is_done_once() {
    let desk = Desk::new(envelope());
    let ticket = desk.ticket(Verb::Home, &json!({}));
    let first = desk.act_with(&ticket, "r", &mut |_| Flow::GoOn);
    let after = desk.digest();
    let second = desk.act_with(&ticket, "r", &mut |_| panic!("nothing moves"));
    assert_eq!((first, desk.digest()), (second, after));
    let used = desk.act_with(&ticket, "s", &mut |_| panic!("nothing moves"));
    assert_eq!(code(&used), "TICKET_USED");
    let other = desk.ticket(Verb::Home, &json!({}));
    let reused = desk.act_with(&other, "r", &mut |_| panic!("nothing moves"));
    assert_eq!(code(&reused), "REQUEST_ID_REUSED");
    *desk.now.lock().unwrap() = 60.0;
    let late = desk.act_with(&other, "t", &mut |_| panic!("nothing moves"));
    assert_eq!(code(&late), "TICKET_EXPIRED");
    let unknown = desk.act_with(&"f".repeat(32), "u", &mut |_| panic!("nothing moves"));
    assert_eq!(code(&unknown), "TICKET_UNKNOWN");
}

#[test]
fn without_a_log_nothing_moves() {
    let full = Desk::with_room(envelope(), 0);
    let reply = full.call(Verb::Home, &json!({}));
    assert_eq!(code(&reply), "NOT_ALLOWED", "{reply:?}");
    // Room for the rehearsal's line.
    let measured = Desk::new(envelope());
    measured.done(Verb::Home, &json!({}));
    let room = measured.log.text.lock().unwrap().len() + 10;
    let desk = Desk::with_room(envelope(), room);
    let ticket = desk.ticket(Verb::Home, &json!({}));
    let before = desk.digest();
    let reply = desk.act_with(&ticket, "r", &mut |_| panic!("nothing moves"));
    assert_eq!(code(&reply), "NOT_ALLOWED", "{reply:?}");
    assert_eq!(desk.digest(), before);
    // It answers all the same what was seen, and stops.
    desk.done(Verb::Look, &json!({}));
    assert_eq!(desk.done(Verb::Stop, &json!({})), json!({"stopped": false}));
}

#[test]
fn a_prediction_has_a_picture_until_it_is_carried_out() {
    let desk = Desk::new(envelope());
    let answer = desk.done(Verb::Pick, &json!({"object": "cube"}));
    let number = answer["rehearsal"].as_u64().unwrap();
    let picture = desk.commander.picture(number).unwrap();
    assert!(picture.to_png().unwrap().starts_with(b"\x89PNG"));
    assert_eq!(desk.commander.pictures(), [number]);
    desk.act(answer["ticket"].as_str().unwrap());
    assert!(desk.commander.picture(number).is_none());
}

/// Whoever draws, looks, rehearses and acts at once waits for the others, and not for ever.
#[test]
fn many_at_once_get_their_answers() {
    let desk = Desk::new(envelope());
    let is_over = AtomicBool::new(false);
    let n_done = std::thread::scope(|scope| {
        let pictures = scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                for number in desk.commander.pictures() {
                    desk.commander.picture(number);
                }
                desk.done(Verb::Look, &json!({}));
                desk.done(Verb::Status, &json!({}));
            }
        });
        let actors: Vec<_> = (0..3)
            .map(|actor| {
                let desk = &desk;
                scope.spawn(move || {
                    let mut n_done = 0;
                    for turn in 0..8 {
                        let Reply::Done(answer) = desk.call(Verb::Home, &json!({})) else {
                            continue;
                        };
                        let ticket = answer["ticket"].as_str().unwrap();
                        let request = format!("r{actor}-{turn}");
                        let reply = desk.act_with(ticket, &request, &mut |_| Flow::GoOn);
                        n_done += usize::from(matches!(reply, Reply::Done(_)));
                    }
                    n_done
                })
            })
            .collect();
        let n_done = actors.into_iter().map(|actor| actor.join().unwrap()).sum::<usize>();
        is_over.store(true, Ordering::SeqCst);
        pictures.join().unwrap();
        n_done
    });
    assert!(n_done > 0 && !desk.lines().is_empty());
    assert_eq!(desk.done(Verb::Status, &json!({}))["busy"], false);
}

/// A robot that is measured beside its cell by an offset, from a sample on. [rad]
struct Beside {
    cell: Cell,
    offset: f64,
    n: usize,
    positions: Vec<f64>,
}

impl Robot for Beside {
    fn cell(&self) -> &Cell {
        &self.cell
    }

    fn begin(&mut self, order: &Order) -> Result<(), Refusal> {
        Robot::begin(&mut self.cell, order)
    }

    fn step(&mut self) -> Result<Option<Ended>, Refusal> {
        let ended = Robot::step(&mut self.cell);
        self.n += 1;
        self.positions.clone_from(&self.cell.sample().position);
        if self.n > 300 {
            self.positions[0] += self.offset;
        }
        ended
    }

    fn cancel(&mut self) -> Result<(), Refusal> {
        Robot::cancel(&mut self.cell)
    }

    fn positions(&self) -> Option<&[f64]> {
        Some(&self.positions)
    }
}

#[test]
fn a_robot_that_leaves_the_band_of_all_copies_brakes() {
    for (offset, is_inside) in [(0.03, true), (0.5, false)] {
        let cell = table().open().unwrap();
        let positions = cell.sample().position.clone();
        let robot = Box::new(Beside { cell, offset, n: 0, positions });
        let desk = Desk::of(robot, envelope(), usize::MAX);
        let ticket = desk.ticket(Verb::Pick, &json!({"object": "cube"}));
        match desk.act_with(&ticket, "r", &mut |_| Flow::GoOn) {
            Reply::Done(done) => assert!(is_inside && done["commands"] == "", "{done}"),
            Reply::Refused(refusal) => {
                assert!(!is_inside && refusal["code"] == "DIVERGED", "{refusal}");
                let why = refusal["value"].as_str().unwrap();
                assert!(why.contains("joint `shoulder_yaw` is at"), "{why}");
            }
            Reply::Question(question) => panic!("{question:?}"),
        }
    }
}

/// The envelope of a file, with few copies.
fn envelope_of(name: &str) -> Envelope {
    let mut envelope = Envelope::read(&root().join("config/envelopes").join(name)).unwrap();
    envelope.rehearsal.copies = 2;
    envelope
}

#[test]
fn a_robot_walks_where_it_was_predicted_to() {
    let scene = CellFile::new(&root().join("config/scenes/walk.yaml"));
    let gait = Some(root().join("config/gaits/khr1_walk.yaml"));
    let cell = CellFile { gait, ..scene }.open().unwrap();
    let desk = Desk::of(Box::new(cell), envelope_of("floor.yaml"), usize::MAX);
    let names: Vec<_> = desk.commander.verbs("local").iter().map(|verb| verb.name()).collect();
    assert_eq!(names, ["look", "status", "log", "walk_to", "act", "stop"]);
    let aim = json!({"x_m": 0.15, "y_m": 0.05, "yaw_rad": 0.0});
    let answer = desk.done(Verb::WalkTo, &aim);
    let done = desk.act(answer["ticket"].as_str().unwrap());
    assert_eq!(done["commands"], answer["commands"]);
    let robot = desk.done(Verb::Look, &json!({}))["robot"].clone();
    for (i, aim) in [0.15, 0.05].into_iter().enumerate() {
        let at = robot["xyz_m"][i].as_f64().unwrap();
        assert!((at - aim).abs() < 0.04, "{robot}");
        assert!((at - answer["end_xyz_m"][i].as_f64().unwrap()).abs() < 1e-3, "{robot} {answer}");
    }
    assert!(robot["yaw_rad"].as_f64().unwrap().abs() < 0.06, "{robot}");
    for (aim, code) in [
        (json!({"x_m": 2.0, "y_m": 0.0}), "OUTSIDE_ENVELOPE"),
        (json!({"x_m": robot["xyz_m"][0], "y_m": robot["xyz_m"][1]}), "INVALID_GOAL"),
    ] {
        let reply = desk.call(Verb::WalkTo, &aim);
        assert!(matches!(&reply, Reply::Refused(refusal) if refusal["code"] == code), "{reply:?}");
    }
}

#[test]
fn an_arm_changes_its_tool_as_predicted() {
    let scene = CellFile::new(&root().join("config/scenes/pick_and_place_tools.yaml"));
    let tools = Some(root().join("config/tools/arm6.yaml"));
    let cell = CellFile { tools, ..scene }.open().unwrap();
    let desk = Desk::of(Box::new(cell), envelope_of("tools.yaml"), usize::MAX);
    let seen = desk.done(Verb::Look, &json!({}));
    assert_eq!(
        (&seen["flange"], &seen["tools"]),
        (&json!("jaws"), &json!(["none", "jaws", "cup"]))
    );
    let takes = |object: &str| {
        let seen = desk.done(Verb::Look, &json!({"objects": [object]}));
        seen["objects"][0]["graspable_by"].clone()
    };
    // The plate is wider than the jaws open.
    assert_eq!([takes("plate"), takes("cube")], [json!(["cup"]), json!(["jaws", "cup"])]);
    let answer = desk.done(Verb::ChangeTool, &json!({"tool": "none"}));
    assert_eq!(desk.act(answer["ticket"].as_str().unwrap())["commands"], answer["commands"]);
    assert_eq!(desk.done(Verb::Look, &json!({}))["flange"], "none");
    assert_eq!(takes("plate"), json!(["cup"]));
    for (verb, arguments, code) in [
        (Verb::Pick, json!({"object": "plate"}), "WRONG_TOOL"),
        (Verb::ChangeTool, json!({"tool": "drill"}), "BAD_ARGUMENT"),
    ] {
        let reply = desk.call(verb, &arguments);
        assert!(matches!(&reply, Reply::Refused(refusal) if refusal["code"] == code), "{reply:?}");
    }
}
