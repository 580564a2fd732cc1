//! A change of tools from one place of a dock to another, by a stand-in of controller, coupling and wrist.
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::path::Path;
use std::sync::Arc;

use karakuri_control::cartesian::MovePlanner;
use karakuri_control::trajectory::JointTrajectory;
use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_files::Tools;
use karakuri_grasp::tool_change::{
    RackError, RackTool, ToolChange, ToolChangeFailure as Failure, ToolChangeOrder as Order,
    ToolChangeResult, ToolChangeSettings, ToolChangeView, ToolRack, Weight, Work,
};
use karakuri_model::Model;
use karakuri_spatial::{Force, Pose, Time, Vector3};

const GRAVITY: f64 = 9.81;
/// Of the link `wrist_3_link` in the URDF. [kg]
const WRIST: f64 = 0.35;
/// Of palm and lip in the URDF. [kg]
const CUP: f64 = 0.34 + 0.0136;
/// [s]
const PERIOD: f64 = 0.01;
const SETTINGS: ToolChangeSettings =
    ToolChangeSettings { speed: 0.4, acceleration: 1.5, lift: 0.15, weigh: true };

fn tools() -> Vec<RackTool> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/tools/arm6.yaml");
    let tools = Tools::read(&path).unwrap();
    let models = tools.load(&path, None).unwrap();
    let pairs = tools.tools.into_iter().zip(models);
    pairs.map(|(tool, model)| RackTool { name: tool.name, model, dock: tool.dock }).collect()
}

/// Controller, coupling and wrist, which do at once what they are reported.
struct Cell {
    rack: ToolRack,
    q: Vec<f64>,
    wall: f64,
    time: Time,
    tool: String,
    /// What hangs at the wrist besides the flange. [kg]
    hangs: f64,
    arm: Result<bool, &'static str>,
    coupling: Result<bool, &'static str>,
    /// What the coupling answers; `Ok(false)`: it says yes and couples nothing.
    answer: Result<bool, &'static str>,
    /// Whether the controller carries out trajectories.
    follows: bool,
    has_controller: bool,
    is_silent: bool,
    /// Stages and orders: `follow`, `stop`, or the name of the tool that was asked for.
    log: Vec<(&'static str, String)>,
    /// Trajectories, and where each began.
    moves: Vec<(Vec<f64>, JointTrajectory)>,
}

impl Cell {
    fn new(tool: &str) -> Self {
        let rack = ToolRack::new("flange", tools()).unwrap();
        let bare = Arc::clone(rack.bare());
        let mut q = bare.neutral_position();
        let ready = bare.postures.iter().find(|p| p.name == "ready").unwrap();
        for (id, value) in &ready.positions {
            q[bare.joints[id.0].q_start] = *value;
        }
        let hangs = if tool == "cup" { CUP } else { mass_of(&rack, tool) };
        Self {
            rack,
            q,
            wall: 0.0,
            time: Time::ZERO,
            tool: tool.to_owned(),
            hangs,
            arm: Ok(false),
            coupling: Ok(false),
            answer: Ok(true),
            follows: true,
            has_controller: true,
            is_silent: false,
            log: Vec::new(),
            moves: Vec::new(),
        }
    }

    fn start(&mut self, desired: &str) -> Result<ToolChange, (Failure, String)> {
        let present = self.tool.clone();
        ToolChange::start(&mut self.rack, [&present, desired], &self.q, SETTINGS)
    }

    /// Weight of all beyond the wrist, in the link's axes.
    fn wrench(&self) -> Force {
        let bare = self.rack.bare();
        let mut data = Data::new(bare);
        forward_kinematics(bare, &mut data, &self.q);
        let wrist = frame_pose(bare, &data, bare.frame("wrist_3_link").unwrap());
        let weight = Vector3::z() * ((WRIST + self.hangs) * GRAVITY);
        Force::new(Vector3::zeros(), wrist.rotation.transpose() * weight)
    }

    fn tick(&mut self, change: &mut ToolChange) -> Option<ToolChangeResult> {
        self.wall += PERIOD;
        self.time = self.time.plus_seconds(PERIOD);
        let work = |state: Result<bool, &'static str>| match state {
            Ok(false) => Work::Pending,
            Ok(true) => Work::Done,
            Err(why) if why.starts_with("lost") => Work::Lost(why),
            Err(why) => Work::Refused(why),
        };
        let wrench = self.wrench();
        let v = vec![0.0; self.rack.bare().nv];
        let view = ToolChangeView {
            wall: self.wall,
            time: self.time,
            q: &self.q,
            v: &v,
            is_silent: self.is_silent,
            wrench: Some((self.time, wrench)),
            arm: work(self.arm),
            coupling: work(self.coupling),
            tool: &self.tool,
            is_its_robot: true,
            has_controller: self.has_controller,
        };
        let order = change.tick(&mut self.rack, &view)?;
        let stage = change.stage().name();
        match order {
            Order::Follow(trajectory) => {
                self.log.push((stage, "follow".to_owned()));
                self.arm = Ok(self.follows);
                self.moves.push((self.q.clone(), trajectory.clone()));
                if self.follows {
                    self.q.clone_from(&trajectory.points.last().unwrap().positions);
                }
            }
            Order::Stop => self.log.push((stage, "stop".to_owned())),
            Order::Couple(tool) => {
                self.log.push((stage, tool.clone()));
                self.coupling = self.answer.map(|_| true);
                if let Ok(couples) = self.answer {
                    self.hangs = if couples { mass_of(&self.rack, &tool) } else { 0.0 };
                    self.tool = tool;
                }
            }
            Order::End(result) => return Some(result),
        }
        None
    }

    fn finish(&mut self, change: &mut ToolChange) -> ToolChangeResult {
        // 100 s.
        (0..10_000).find_map(|_| self.tick(change)).unwrap()
    }

    /// Ticks until it was said so for the `n`th time.
    fn until(&mut self, change: &mut ToolChange, entry: (&str, &str), n: usize) {
        let said = |log: &[(&str, String)]| {
            log.iter().filter(|(stage, what)| (*stage, what.as_str()) == entry).count()
        };
        while said(&self.log) < n {
            assert_eq!(self.tick(change), None, "{:?}", self.log);
        }
    }

    /// Height of the flange. [m]
    fn height(&self) -> f64 {
        flange(self.rack.bare(), &self.q).translation.z
    }

    fn log(&self) -> Vec<(&str, &str)> {
        self.log.iter().map(|(stage, what)| (*stage, what.as_str())).collect()
    }
}

fn flange(model: &Model, q: &[f64]) -> Pose {
    let mut data = Data::new(model);
    let mut whole = model.neutral_position();
    whole[..q.len()].copy_from_slice(q);
    forward_kinematics(model, &mut data, &whole);
    frame_pose(model, &data, model.frame("flange").unwrap())
}

fn tool<'a>(tools: &'a [RackTool], name: &str) -> &'a RackTool {
    tools.iter().find(|tool| tool.name == name).unwrap()
}

/// Height of the flange when a tool is in its place. [m]
fn height_of(name: &str) -> f64 {
    tool(&tools(), name).dock.unwrap().translation.z
}

fn mass_of(rack: &ToolRack, name: &str) -> f64 {
    tool(&tools(), name).model.mass() - rack.bare().mass()
}

fn gap(a: &Pose, b: &Pose) -> f64 {
    (a.translation - b.translation).norm() + (a.rotation - b.rotation).norm()
}

#[test]
fn one_tool_is_put_down_and_the_other_taken() {
    let mut cell = Cell::new("jaws");
    let start = cell.q.clone();
    let mut change = cell.start("cup").unwrap();
    let result = cell.finish(&mut change);
    assert_eq!(result.failure, None, "{}", result.message);
    assert!((result.mass - CUP).abs() < 1e-9, "{} kg", result.mass);
    assert!(result.message.contains("on the flange: `cup`"), "{}", result.message);
    let expected = [
        ("TO_DOCK", "follow"),
        ("TO_DOCK", "follow"),
        ("LET_GO", "none"),
        ("LET_GO", "follow"),
        ("TO_NEXT", "follow"),
        ("TO_NEXT", "follow"),
        ("COUPLE", "cup"),
        ("COUPLE", "follow"),
        ("RETREAT", "follow"),
    ];
    assert_eq!(cell.log(), expected);
    // Where the robot with each tool has its flange at the end of each motion.
    let tools = tools();
    let [jaws, cup] = ["jaws", "cup"].map(|name| tool(&tools, name));
    let above = |tool: &RackTool| {
        let dock = tool.dock.unwrap();
        Pose::new(dock.rotation, dock.translation + Vector3::z() * SETTINGS.lift)
    };
    let down = |tool: &RackTool| tool.dock.unwrap();
    let places = [above(jaws), down(jaws), above(jaws), above(cup), down(cup), above(cup)];
    let with = [jaws, jaws, jaws, cup, cup, cup];
    for (i, (place, tool)) in places.iter().zip(with).enumerate() {
        let end = &cell.moves[i].1.points.last().unwrap().positions;
        let off = gap(&flange(&tool.model, end), place);
        assert!(off < 1e-5, "motion {i} ends {off:e} off");
    }
    let end = &cell.moves[6].1.points.last().unwrap().positions;
    assert_eq!(end, &start, "it ends where it began");
}

#[test]
fn the_bare_flange_takes_a_tool_and_puts_it_down() {
    let mut cell = Cell::new("none");
    let mut change = cell.start("jaws").unwrap();
    assert_eq!(cell.finish(&mut change).failure, None);
    assert_eq!(cell.log()[..3], [("TO_NEXT", "follow"), ("TO_NEXT", "follow"), ("COUPLE", "jaws")]);
    cell.log.clear();
    let mut change = cell.start("none").unwrap();
    let result = cell.finish(&mut change);
    assert_eq!((result.failure, cell.tool.as_str()), (None, "none"));
    assert!(result.mass.abs() < 1e-9, "{} kg", result.mass);
    let expected =
        [("TO_DOCK", "follow"), ("TO_DOCK", "follow"), ("LET_GO", "none"), ("LET_GO", "follow")];
    assert_eq!(cell.log(), expected, "and ends above the dock");
    // Over the place of the jaws the cup could touch them: it stays over its own.
    cell.log.clear();
    let mut change = cell.start("cup").unwrap();
    assert_eq!(cell.finish(&mut change).failure, None);
    assert_eq!(cell.log().last(), Some(&("COUPLE", "follow")));
}

#[test]
fn what_is_on_the_flange_already_is_only_weighed() {
    let mut cell = Cell::new("cup");
    let mut change = cell.start("cup").unwrap();
    let result = cell.finish(&mut change);
    assert_eq!((result.failure, cell.log.len()), (None, 0));
    assert!((result.mass - CUP).abs() < 1e-9, "{} kg", result.mass);
}

#[test]
fn the_flange_goes_straight_and_within_its_limits() {
    let mut cell = Cell::new("jaws");
    let mut change = cell.start("cup").unwrap();
    cell.finish(&mut change);
    let bare = Arc::clone(cell.rack.bare());
    let frame = bare.frame("flange").unwrap();
    let mut moves = MovePlanner::new(&bare, frame, &bare.groups[0].joints);
    let tools = tools();
    for (i, (q, trajectory)) in cell.moves.iter().enumerate() {
        // Straight are: down and up at the first place, down and up at the second.
        let vertical = [1, 2, 4, 5].contains(&i);
        let dock = tool(&tools, if i < 3 { "jaws" } else { "cup" }).dock.unwrap();
        let (mut off, mut speed, mut acceleration) = (0.0_f64, 0.0_f64, 0.0_f64);
        moves.visit(&bare, q, trajectory, 0.001, |_, X_WF, V, A| {
            off = off.max((X_WF.translation - dock.translation).xy().norm());
            off = off.max((X_WF.rotation - dock.rotation).norm());
            speed = speed.max(V.linear.norm());
            acceleration = acceleration.max(A.linear.norm());
        });
        if vertical {
            assert!(off < 1e-4, "motion {i} leaves its line by {off:e}");
        }
        // Between the instants of the planner they may be a little more.
        let highest = if vertical { 0.1 } else { SETTINGS.speed };
        assert!(speed < 1.01 * highest, "motion {i}: {speed} m/s");
        assert!(acceleration < 1.01 * SETTINGS.acceleration, "motion {i}: {acceleration} m/s²");
        assert!(speed > 0.5 * highest || acceleration > 0.1, "motion {i} crawls: {speed} m/s");
    }
}

#[test]
fn a_dock_out_of_reach_is_named() {
    for (away, place) in
        [(1.5, "0.150 m above the dock of `cup`"), (0.0, "down to the dock of `cup`")]
    {
        let mut tools = tools();
        let dock = tools[2].dock.as_mut().unwrap();
        // Far away, or below the table and the reach of the arm, though above it is reached.
        dock.translation.x += away;
        let mut settings = SETTINGS;
        if away == 0.0 {
            settings.lift = 1.0;
            dock.translation.z -= 1.0;
        } else {
            assert!(dock.translation.x > 1.5);
        }
        let mut rack = ToolRack::new("flange", tools).unwrap();
        let q = Cell::new("none").q;
        let refused = ToolChange::start(&mut rack, ["none", "cup"], &q, settings);
        let (failure, text) = refused.unwrap_err();
        assert_eq!(failure, Failure::Unreachable);
        assert!(text.contains(place), "{text}");
        assert!(text.contains(" m and ") && text.contains("remain"), "{text}");
    }
}

#[test]
fn an_unknown_tool_is_refused_with_the_names() {
    let (failure, text) = Cell::new("none").start("fork").unwrap_err();
    assert_eq!(failure, Failure::UnknownTool);
    assert_eq!(text, "no tool `fork`; there are: none, jaws, cup");
}

#[test]
fn the_wrist_weighs_at_any_tilt() {
    let mut cell = Cell::new("none");
    let bare = Arc::clone(cell.rack.bare());
    let (pitch, roll, mass) = (0.7_f64, -0.4_f64, 0.5);
    let mut q = bare.neutral_position();
    for (name, value) in [("wrist_pitch", pitch), ("wrist_roll", roll)] {
        q[bare.joints[bare.joint(name).unwrap().0].q_start] = value;
    }
    // The weight's reaction (0, 0, F), turned back by the pitch about y and the roll about x.
    let F = (WRIST + mass) * GRAVITY;
    let (x, z) = (-pitch.sin() * F, pitch.cos() * F);
    let force = Vector3::new(x, roll.sin() * z, roll.cos() * z);
    let weight = cell.rack.weight("cup", &q, &Force::new(Vector3::zeros(), force)).unwrap();
    assert!((weight.felt - mass).abs() < 1e-12, "{} kg", weight.felt);
    assert!((weight.expected - CUP).abs() < 1e-12, "{} kg", weight.expected);
}

#[test]
fn a_fifth_of_the_mass_or_twenty_grams_are_tolerated() {
    for (felt, expected, is_right) in [
        (0.59, 0.5, true),
        (0.41, 0.5, true),
        (0.61, 0.5, false),
        (0.39, 0.5, false),
        (0.069, 0.05, true),
        (0.071, 0.05, false),
        (-0.019, 0.0, true),
        (0.021, 0.0, false),
    ] {
        assert_eq!(Weight { felt, expected }.is_right(), is_right, "{felt} of {expected} kg");
    }
}

#[test]
fn a_tool_that_is_not_felt_is_lost() {
    let mut cell = Cell::new("none");
    cell.answer = Ok(false);
    let mut change = cell.start("cup").unwrap();
    let result = cell.finish(&mut change);
    assert_eq!(result.failure, Some(Failure::ToolLost));
    assert!(
        result.message.contains("feels 0.000 kg where `cup` has 0.354 kg")
            || result.message.contains("feels -0.000 kg where `cup` has 0.354 kg"),
        "{}",
        result.message
    );
    assert_eq!(cell.log.last().unwrap().0, "COUPLE", "it stays above");
    // Let go by the coupling's word, but still on the flange.
    let mut cell = Cell::new("cup");
    let mut change = cell.start("none").unwrap();
    cell.until(&mut change, ("LET_GO", "none"), 1);
    cell.hangs = CUP;
    let result = cell.finish(&mut change);
    assert_eq!(result.failure, Some(Failure::ToolLost));
    assert!(result.message.contains("still feels 0.354 kg"), "{}", result.message);
}

#[test]
fn without_weighing_nothing_is_felt() {
    let mut cell = Cell::new("none");
    cell.answer = Ok(false);
    let settings = ToolChangeSettings { weigh: false, ..SETTINGS };
    let mut change = ToolChange::start(&mut cell.rack, ["none", "cup"], &cell.q, settings).unwrap();
    let result = cell.finish(&mut change);
    assert_eq!((result.failure, result.mass), (None, 0.0));
}

#[test]
fn a_coupling_that_refuses_is_left_upwards() {
    for (present, desired, stage) in [("none", "cup", "COUPLE"), ("jaws", "cup", "LET_GO")] {
        let mut cell = Cell::new(present);
        cell.answer = Err("3 mm beside the place");
        let mut change = cell.start(desired).unwrap();
        let result = cell.finish(&mut change);
        assert_eq!(result.failure, Some(Failure::Refused));
        assert!(result.message.contains("3 mm beside"), "{}", result.message);
        assert!(result.message.contains(&format!("on the flange: `{present}`")));
        assert_eq!(cell.log.last().unwrap(), &(stage, "follow".to_owned()));
        let height = cell.height();
        // Of the place where the coupling is: that of the tool that stays, or that of the next one.
        let place = height_of(if stage == "COUPLE" { desired } else { present });
        assert!((height - place - SETTINGS.lift).abs() < 1e-5, "the flange is at {height} m");
    }
}

#[test]
fn a_cancel_ends_where_nothing_is_between() {
    // Stage and order at which it comes, the order that follows it at the end, and what is on the flange then.
    for (at, n, last, on) in [
        (("TO_DOCK", "follow"), 1, ("TO_DOCK", "stop"), "jaws"),
        (("TO_DOCK", "follow"), 2, ("TO_DOCK", "follow"), "jaws"),
        (("LET_GO", "none"), 1, ("LET_GO", "follow"), "none"),
        (("LET_GO", "follow"), 1, ("LET_GO", "follow"), "none"),
        (("TO_NEXT", "follow"), 1, ("TO_NEXT", "stop"), "none"),
        (("COUPLE", "cup"), 1, ("COUPLE", "follow"), "cup"),
        (("RETREAT", "follow"), 1, ("RETREAT", "stop"), "cup"),
    ] {
        let mut cell = Cell::new("jaws");
        let mut change = cell.start("cup").unwrap();
        cell.until(&mut change, at, n);
        let moves = at.1 == "follow";
        if moves {
            cell.arm = Ok(false);
        }
        change.cancel();
        // The arm is in the middle of a motion, which its controller ends if it is let.
        for _ in 0..5 {
            assert_eq!(cell.tick(&mut change), None, "{at:?}");
        }
        if !(moves && at.0 == "TO_DOCK") {
            cell.arm = Ok(true);
        }
        let result = cell.finish(&mut change);
        assert_eq!(result.failure, Some(Failure::Canceled), "{at:?}: {}", result.message);
        assert_eq!(*cell.log().last().unwrap(), last, "{at:?}");
        assert!(result.message.contains(&format!("on the flange: `{on}`")), "{}", result.message);
        let height = cell.height();
        if last.1 == "follow" {
            let place = height_of(if at.0 == "COUPLE" { "cup" } else { "jaws" });
            let up = place + SETTINGS.lift;
            assert!((height - up).abs() < 1e-5, "{at:?}: the flange is at {height} m");
        }
    }
}

#[test]
fn a_robot_that_does_not_come_back_is_lost() {
    let mut cell = Cell::new("none");
    let mut change = cell.start("cup").unwrap();
    cell.until(&mut change, ("COUPLE", "cup"), 1);
    cell.has_controller = false;
    let asked = cell.wall;
    let result = cell.finish(&mut change);
    assert_eq!(result.failure, Some(Failure::RobotLost));
    assert!(result.message.contains("controller is not back"), "{}", result.message);
    assert!((cell.wall - asked - 20.0).abs() < 0.1, "after {} s", cell.wall - asked);
}

#[test]
fn the_controller_of_the_next_robot_is_waited_for() {
    // A controller that goes and comes back is the next one; one that is not seen to go, after 2 s.
    for (goes, time) in [(true, 0.5), (false, 2.0)] {
        let mut cell = Cell::new("none");
        let mut change = cell.start("cup").unwrap();
        cell.until(&mut change, ("COUPLE", "cup"), 1);
        let asked = cell.wall;
        cell.has_controller = !goes;
        while cell.wall < asked + 0.5 - PERIOD {
            assert_eq!(cell.tick(&mut change), None);
        }
        cell.has_controller = true;
        cell.until(&mut change, ("COUPLE", "follow"), 1);
        let waited = cell.wall - asked;
        assert!((waited - time).abs() < 0.05, "{waited} s");
    }
}

#[test]
fn a_controller_that_takes_a_trajectory_along_is_asked_again() {
    let mut cell = Cell::new("none");
    let mut change = cell.start("cup").unwrap();
    cell.until(&mut change, ("COUPLE", "cup"), 1);
    cell.follows = false;
    cell.until(&mut change, ("COUPLE", "follow"), 1);
    cell.arm = Err("lost: the controller went away");
    cell.follows = true;
    assert_eq!(cell.finish(&mut change).failure, None);
    let ups = cell.log().iter().filter(|entry| **entry == ("COUPLE", "follow")).count();
    assert_eq!(ups, 2);
}

#[test]
fn silence_and_a_controller_that_gives_up_end_it() {
    let mut cell = Cell::new("none");
    let mut change = cell.start("cup").unwrap();
    cell.follows = false;
    cell.until(&mut change, ("TO_NEXT", "follow"), 1);
    cell.arm = Err("joint `elbow_pitch` is 0.05 rad behind");
    let result = cell.finish(&mut change);
    assert_eq!(result.failure, Some(Failure::RobotLost));
    assert!(result.message.contains("elbow_pitch"), "{}", result.message);
    let mut cell = Cell::new("none");
    let mut change = cell.start("cup").unwrap();
    cell.is_silent = true;
    let result = cell.tick(&mut change).unwrap();
    assert_eq!(result.failure, Some(Failure::RobotLost));
    assert!(result.message.contains("joint states do not come any more"), "{}", result.message);
}

#[test]
fn from_within_a_place_the_flange_goes_up_first() {
    let mut cell = Cell::new("none");
    cell.answer = Err("lost: nobody answers");
    let mut change = cell.start("cup").unwrap();
    assert_eq!(cell.finish(&mut change).failure, Some(Failure::RobotLost));
    assert!((cell.height() - height_of("cup")).abs() < 1e-5, "it stays where it asked");
    let mut change = cell.start("jaws").unwrap();
    cell.moves.clear();
    cell.tick(&mut change);
    let up = height_of("cup") + SETTINGS.lift;
    assert!((cell.height() - up).abs() < 1e-5, "at {} m", cell.height());
    let dock = tool(&tools(), "cup").dock.unwrap();
    let there = flange(cell.rack.bare(), &cell.q);
    assert!((there.translation - dock.translation).xy().norm() < 1e-5);
}

#[test]
fn a_robot_without_a_sensor_at_the_last_joint_cannot_weigh() {
    let rack = ToolRack::new("flange", tools()).unwrap();
    assert_eq!(rack.sensor(), Ok("wrist"));
    let mut tools = tools();
    let mut numb = (*tools[2].model).clone();
    numb.sensors.clear();
    tools[2].model = Arc::new(numb);
    let rack = ToolRack::new("flange", tools).unwrap();
    let error = rack.sensor().unwrap_err();
    assert!(matches!(error, RackError::NoSensor { .. }));
    assert!(
        error.to_string().contains("wrist: {type: joint_wrench, link: wrist_3_link}"),
        "{error}"
    );
}

#[test]
fn joint_states_tell_whose_robot_they_are() {
    let rack = ToolRack::new("flange", tools()).unwrap();
    let names = |name: &str| {
        let model = Arc::clone(&tool(&tools(), name).model);
        let names: Vec<_> = model.joints.iter().map(|joint| joint.name.clone()).collect();
        names
    };
    assert!(rack.is_robot_of("jaws", &names("jaws")));
    assert!(!rack.is_robot_of("jaws", &names("none")));
    assert!(!rack.is_robot_of("none", &names("jaws")));
    let mut both = names("none");
    both.push("door".to_owned());
    assert!(rack.is_robot_of("none", &both), "joints of other machines do not matter");
}
