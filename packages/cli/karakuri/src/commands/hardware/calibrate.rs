//! `karakuri hardware calibrate`: zero, sense and limits of every servo, by a person who turns the joints.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use karakuri_files::write_atomic;
use karakuri_hardware::RobotLayout;
use karakuri_hardware::driver::{HardwareFile, ServoSetup};
use karakuri_model::Diagnostics;

use super::bus::Bus;
use super::buses::open;
use super::wire::{Heard, Wire};
use crate::commands::Outcome;
use crate::commands::robot::RobotArgs;
use crate::dialogue::Dialogue;
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output;

/// Writes a calibration: zero, sense and limits of every servo, of joints that you turn by hand
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// The hardware file, as config/hardware/so101.yaml
    #[arg(value_parser = input_file())]
    file: PathBuf,
    #[command(flatten)]
    robot: RobotArgs,
    /// Posture of the robot YAML that you bring the joints to; all at zero, if not given
    #[arg(long)]
    posture: Option<String>,
    /// Port, in place of that of the hardware file
    #[arg(long)]
    device: Option<PathBuf>,
    /// Go on without questions; Enter is still awaited at each place
    #[arg(long)]
    yes: bool,
}

const HELP: &str = "\
The torque of all servos goes off, and nothing moves but by your hand. You bring the joints to a
posture that is known, then each to its two ends. The calibration is written in the end, whole or
not at all, where the hardware file says (`calibration: FILE`), or beside it. Drivers take its
values before those of the hardware file.

  karakuri hardware calibrate config/hardware/so101.yaml \\
    urdf/so101/so101.urdf --config config/so101.yaml --posture home";

/// Distance of limits from the ends that were felt. [rad or m]
const MARGIN: f64 = 0.02;
/// Least distance between two ends that are no mistake, as a share of the joint's range. [-]
const LEAST_SHARE: f64 = 0.2;
/// Distance of the ends from the limits of the URDF that is worth a word. [rad or m]
const FAR: f64 = 0.2;

/// What was found of a servo.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    joint: String,
    /// Counts at which the joint is at 0. [counts]
    zero: f64,
    reversed: bool,
    /// Least and largest position, within the ends. [rad or m]
    limits: [f64; 2],
    /// What is odd.
    remark: Option<String>,
}

/// What a person has shown of a servo.
#[derive(Debug, Clone, Copy)]
struct Shown {
    /// Counts in the posture. [counts]
    posture: i32,
    /// Position of the joint there. [rad or m]
    position: f64,
    /// Counts at the lower and at the upper end. [counts]
    ends: [i32; 2],
}

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let model = Arc::new(args.robot.load()?);
    let layout = RobotLayout::new(&model.name, Arc::clone(&model));
    let read = HardwareFile::read_uncalibrated(&args.file, &layout);
    let (mut file, named) = read.map_err(|problems| said(&problems))?;
    if let Some(device) = &args.device {
        file.device.clone_from(device);
    }
    ensure!(
        file.bus.name != "robotiq",
        "a gripper finds its ends at each activation; there is nothing to calibrate"
    );
    let target = named.clone().unwrap_or_else(|| args.file.with_extension("calibration.yaml"));
    let posture = posture(&layout, args.posture.as_deref())?;
    let (mut bus, mut wire) = open(file.bus, &file.device, file.baud, interrupt)?;
    let mut dialogue = Dialogue::new(interrupt.clone(), args.yes);
    let n = file.servos.len();
    for servo in &file.servos {
        counts(bus.as_mut(), &mut wire, servo, &layout)?;
    }
    dialogue.confirm(&format!(
        "All {n} servos of {} answer. Their torque goes off: hold the robot. Go on?",
        layout.name
    ))?;
    for servo in &file.servos {
        bus.limp(&mut wire, servo.id)?;
    }
    let mut person = Person { dialogue, bus: bus.as_mut(), wire: &mut wire, layout: &layout };
    let found = person.show(&file.servos, &posture)?;
    for servo in &found {
        let Found { joint, zero, reversed, limits: [least, most], .. } = servo;
        let sense = if *reversed { "reversed" } else { "straight" };
        eprintln!("{joint}: zero {zero:.0}, {sense}, {least:.3} to {most:.3} rad");
        if let Some(remark) = &servo.remark {
            eprintln!("  {remark}");
        }
    }
    person.dialogue.confirm(&format!("Write {}?", target.display()))?;
    write_atomic(&target, text(&layout.name, &args.file, &found).as_bytes())?;
    if named.is_some() {
        HardwareFile::read(&args.file, &layout).map_err(|problems| said(&problems))?;
        output::done(&format!("wrote {}", target.display()));
    } else {
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = args.file.display();
        output::done(&format!(
            "wrote {}; add the line `calibration: {name}` to {file}",
            target.display()
        ));
    }
    Ok(Outcome::Done)
}

/// Problems of files as one error.
fn said(problems: &Diagnostics) -> anyhow::Error {
    anyhow::anyhow!("{problems}")
}

/// Positions of all joints in a posture; zeros without one. [rad or m]
fn posture(layout: &RobotLayout, name: Option<&str>) -> Result<Vec<f64>> {
    let mut positions = vec![0.0; layout.joints.len()];
    let Some(name) = name else { return Ok(positions) };
    let known = &layout.model.postures;
    let posture = known.iter().find(|posture| posture.name == name).with_context(|| {
        let names: Vec<_> = known.iter().map(|posture| posture.name.as_str()).collect();
        format!("there is no posture `{name}`; the robot YAML has {}", names.join(", "))
    })?;
    for (body, position) in &posture.positions {
        if let Some(index) = layout.joints.iter().position(|joint| joint.body == *body) {
            positions[index] = *position;
        }
    }
    Ok(positions)
}

/// Where a servo is. [counts]
fn counts(
    bus: &mut dyn Bus,
    wire: &mut Wire,
    servo: &ServoSetup,
    layout: &RobotLayout,
) -> Result<i32> {
    let joint = &layout.joints[servo.joint].name;
    match bus.state(wire, servo.id)? {
        Heard::Answer(state) => Ok(state.position),
        _ => bail!(
            "servo {} of joint `{joint}` does not answer on {} at {} baud; check power, cable and id",
            servo.id,
            wire.path().display(),
            wire.baud()
        ),
    }
}

/// The person who turns the joints, and what reads them.
struct Person<'a> {
    dialogue: Dialogue,
    bus: &'a mut dyn Bus,
    wire: &'a mut Wire,
    layout: &'a RobotLayout,
}

impl Person<'_> {
    /// Lets the joints be turned to the posture and to their ends.
    fn show(&mut self, servos: &[ServoSetup], posture: &[f64]) -> Result<Vec<Found>> {
        let layout = self.layout;
        eprintln!("Bring the joints to these positions, as near as you can:");
        for servo in servos {
            let joint = &layout.joints[servo.joint];
            eprintln!("  {:<20} {:>7.3} rad", joint.name, posture[servo.joint]);
        }
        self.enter("Press Enter when all are there.", &mut |_, _| Ok(()))?;
        let mut places = Vec::new();
        for servo in servos {
            places.push(counts(self.bus, self.wire, servo, layout)?);
        }
        let mut found = Vec::new();
        for (servo, place) in servos.iter().zip(places) {
            let joint = &layout.joints[servo.joint];
            let lower = self.end(servo, place, "lower", joint.limits.0)?;
            let upper = self.end(servo, lower, "upper", joint.limits.1)?;
            let position = posture[servo.joint];
            let shown = Shown { posture: place, position, ends: [lower, upper] };
            found.push(conclude(&joint.name, [joint.limits.0, joint.limits.1], servo, shown)?);
        }
        Ok(found)
    }

    /// Lets a joint be turned to an end; its counts there. On its path no count may be jumped over.
    fn end(&mut self, servo: &ServoSetup, from: i32, which: &str, limit: f64) -> Result<i32> {
        let layout = self.layout;
        let joint = &layout.joints[servo.joint].name;
        let (least, most) = servo.map.range;
        let mut last = from;
        let mut look = |bus: &mut dyn Bus, wire: &mut Wire| {
            let now = counts(bus, wire, servo, layout)?;
            ensure!(
                i64::from(now).abs_diff(last.into()) < i64::from(most).abs_diff(least.into()) / 2,
                "`{joint}` passes the end of the counts of servo {}; mount its horn half a turn further, then calibrate again",
                servo.id
            );
            last = now;
            Ok(())
        };
        let prompt = format!(
            "{joint} (servo {}): to its {which} end, near {limit:.2} rad, then Enter.",
            servo.id
        );
        self.enter(&prompt, &mut look)?;
        look(self.bus, self.wire)?;
        Ok(last)
    }

    /// Waits for Enter, and looks at servos meanwhile.
    fn enter(
        &mut self,
        prompt: &str,
        look: &mut dyn FnMut(&mut dyn Bus, &mut Wire) -> Result<()>,
    ) -> Result<()> {
        let (bus, wire) = (&mut *self.bus, &mut *self.wire);
        let line = self.dialogue.line(&format!("{prompt} "), &mut || look(bus, wire))?;
        ensure!(
            line.is_some(),
            "the input ended before all joints were shown; nothing was written"
        );
        Ok(())
    }
}

/// Zero, sense and limits of a servo by what was shown of it.
fn conclude(
    joint: &str,
    [least, most]: [f64; 2],
    servo: &ServoSetup,
    shown: Shown,
) -> Result<Found> {
    let [lower, upper] = shown.ends.map(f64::from);
    let scale = servo.map.counts_per_radian.abs();
    let (distance, range) = ((upper - lower).abs() / scale, most - least);
    ensure!(
        distance >= LEAST_SHARE * range,
        "`{joint}` went {distance:.3} rad between its ends, of {range:.3} rad; calibrate again, and see that servo {} turns with it",
        servo.id
    );
    let reversed = upper < lower;
    let signed = if reversed { -scale } else { scale };
    let zero = (f64::from(shown.posture) - signed * shown.position).round();
    let ends = [lower, upper].map(|counts| (counts - zero) / signed);
    let off = [ends[0] - least, ends[1] - most].map(f64::abs);
    let remark = (off[0].max(off[1]) > FAR).then(|| {
        format!(
            "its ends are at {:.3} and {:.3} rad, those of the URDF at {:.3} and {:.3}: was the posture right?",
            ends[0], ends[1], least, most
        )
    });
    let limits = [ends[0] + MARGIN, ends[1] - MARGIN];
    Ok(Found { joint: joint.to_owned(), zero, reversed, limits, remark })
}

/// The calibration file.
fn text(robot: &str, file: &Path, found: &[Found]) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut text = format!(
        "# Calibration of one {robot}, by `karakuri hardware calibrate`. Its values win over those of {name}.\nservos:\n"
    );
    for Found { joint, zero, reversed, limits: [least, most], .. } in found {
        // A String takes everything.
        let _infallible = writeln!(
            text,
            "  {joint}: {{zero: {zero}, trim: 0, reversed: {reversed}, limits: [{least:.4}, {most:.4}]}}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use karakuri_hardware::driver::{BUSES, ServoMap};

    use super::*;

    /// A Feetech servo, 1000 counts a radian.
    fn servo() -> ServoSetup {
        let map = ServoMap {
            zero: 2048.0,
            counts_per_radian: 1000.0,
            limits: (-1.5, 1.5),
            range: (0, 4095),
            torque_per_amp: 0.0,
        };
        ServoSetup { joint: 0, id: 1, model: &BUSES[0].models[0], map, torque_limit: None }
    }

    fn found(posture: i32, position: f64, ends: [i32; 2]) -> Result<Found> {
        conclude("elbow", [-1.5, 1.5], &servo(), Shown { posture, position, ends })
    }

    #[test]
    fn ends_and_posture_make_zero_sense_and_limits() {
        let straight = found(2300, 0.2, [600, 3600]).unwrap();
        assert_eq!((straight.zero, straight.reversed, straight.remark), (2100.0, false, None));
        assert!(
            (straight.limits[0] + 1.48).abs() < 1e-9 && (straight.limits[1] - 1.48).abs() < 1e-9
        );
        let reversed = found(1900, 0.2, [3600, 600]).unwrap();
        assert_eq!((reversed.zero, reversed.reversed), (2100.0, true));
        assert!(
            (reversed.limits[0] + 1.48).abs() < 1e-9 && (reversed.limits[1] - 1.48).abs() < 1e-9
        );
    }

    #[test]
    fn what_cannot_be_is_refused_and_what_is_odd_is_said() {
        let error = found(2048, 0.0, [2000, 2100]).unwrap_err().to_string();
        assert!(
            error.starts_with("`elbow` went 0.100 rad between its ends, of 3.000 rad"),
            "{error}"
        );
        let odd = found(2048, 0.0, [1000, 4000]).unwrap().remark.unwrap();
        assert!(
            odd.starts_with("its ends are at -1.048 and 1.952 rad, those of the URDF at"),
            "{odd}"
        );
    }

    #[test]
    fn the_file_is_what_drivers_read() {
        let found = [found(2048, 0.0, [548, 3548]).unwrap()];
        let text = text("arm", Path::new("config/hardware/arm.yaml"), &found);
        let [comment, servos, elbow] = text.lines().collect::<Vec<_>>()[..] else { unreachable!() };
        assert!(comment.ends_with("Its values win over those of arm.yaml."), "{comment}");
        assert_eq!(servos, "servos:");
        assert_eq!(
            elbow,
            "  elbow: {zero: 2048, trim: 0, reversed: false, limits: [-1.4800, 1.4800]}"
        );
    }
}
