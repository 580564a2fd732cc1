//! Acts that checked commands mean in a cell.

use karakuri_commands::{
    Arguments, ChangeTool, Code, Command, Destination, Envelope, Grip, Height, Limits, Move, Pick,
    Place, Refusal, SetGripper, Verb,
};
use karakuri_grasp::gripper_command::{CommandUnit, StatedCommand};
use karakuri_grasp::pick_and_place::{
    KnownObject, ObjectPose, Part, PickAndPlace, Statement, ToolAim, ToolMove,
};
use karakuri_grasp::tool_change::ToolChangeSettings;
use karakuri_rehearsal::{Act, Cell, Hand, RehearsalError, state};
use karakuri_spatial::Vector3;

use crate::refusals::{described, of_error};
use crate::seen::{half_height, top_below};
use crate::walk::walk_to;

/// Posture to which `home` moves.
const HOME: &str = "home";
/// Share of the envelope's speed at which moves are planned: drives overshoot.
// Measured on arm6: 2 %.
const SPEED_SHARE: f64 = 0.9;
/// Height above everything at which a high move ends. [m]
// The usual height above an object.
const ABOVE: f64 = 0.1;
/// Height above its support at which a low move brings what is in the hand. [m]
// As placing does: errors of either sign would press it into the support.
const PUT_DOWN: f64 = 0.0005;

/// What the commander remembers of the hand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// Name of what was picked and is in the hand.
    pub(crate) held: Option<String>,
    /// Name of what was about the tool's centre when a command closed the hand.
    pub(crate) gripped: Option<String>,
}

impl Memory {
    /// Name of what is in the hand, as far as is known.
    pub(crate) fn in_hand(&self) -> Option<&str> {
        self.held.as_deref().or(self.gripped.as_deref())
    }
}

/// What a command means in a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// What is sent to the robot.
    pub sent: Act,
    /// The same, to the bits with which it arrives there.
    pub act: Act,
    /// Name of the object that it is about.
    pub object: Option<String>,
}

impl Order {
    pub(crate) fn new(act: Act, object: Option<String>) -> Self {
        Self { sent: act.clone(), act, object }
    }

    /// The same at a share of its speeds and accelerations, where the hand plans them. [-]
    pub(crate) fn at_speed(self, share: f64) -> Self {
        Self { sent: self.sent.at_speed(share), act: self.act.at_speed(share), ..self }
    }
}

/// What a command means in a cell.
///
/// # Errors
/// When its robot cannot do it.
pub(crate) fn order(
    cell: &Cell,
    envelope: &Envelope,
    memory: &Memory,
    command: &Command,
) -> Result<Order, Refusal> {
    let limits = &envelope.limits;
    match (&command.arguments, &cell.hand, &cell.gait) {
        (Arguments::WalkTo(aim), _, Some(gait)) => walk_to(cell, gait, limits, aim),
        (Arguments::ChangeTool(change), ..) => change_tool(cell, limits, change),
        (_, Some(hand), _) => Context { cell, hand, limits, memory }.order(command),
        (other, None, _) if cell.tools.is_some() && is_of_hand(other.verb()) => {
            let hint = "change the tool: there is no hand on the arm";
            Err(Refusal::new(Code::WrongTool, hint).of("verb", other.verb().name()))
        }
        (other, None, _) => Err(unknown(other.verb())),
    }
}

/// Change of tools within the limits.
fn change_tool(cell: &Cell, limits: &Limits, change: &ChangeTool) -> Result<Order, Refusal> {
    let tools = cell.tools.as_ref().ok_or_else(|| unknown(Verb::ChangeTool))?;
    let tool = change.tool.as_str();
    if !tools.names().any(|known| known == tool) {
        let known = tools.names().collect::<Vec<_>>().join(", ");
        let hint = "choose a tool that the robot has";
        return Err(Refusal::new(Code::BadArgument, hint).of("tool", tool).within(known));
    }
    let usual = cell.tuning().tool_change;
    let settings = ToolChangeSettings {
        speed: usual.speed.min(SPEED_SHARE * limits.tool_speed_m_s),
        acceleration: usual.acceleration.min(limits.tool_acceleration_m_s2),
        ..usual
    };
    Ok(Order::new(Act::ChangeTool { tool: tool.to_owned(), settings }, None))
}

fn unknown(verb: Verb) -> Refusal {
    let hint = "use a verb that this robot has";
    Refusal::new(Code::InvalidGoal, hint).of("verb", verb.name())
}

/// Command to a hand.
#[derive(Debug, Clone, Copy)]
struct Context<'a> {
    cell: &'a Cell,
    hand: &'a Hand,
    limits: &'a Limits,
    memory: &'a Memory,
}

impl Context<'_> {
    fn order(&self, command: &Command) -> Result<Order, Refusal> {
        let held = self.memory.in_hand().map(str::to_owned);
        match &command.arguments {
            Arguments::Pick(pick) => self.pick(pick, command.object.as_deref()),
            Arguments::Place(place) => self.place(place),
            Arguments::SetGripper(set) => Ok(Order::new(Act::SetGripper(self.stated(set)?), held)),
            Arguments::Move(aim) => Ok(Order::new(Act::Move(self.aim(aim)?), held)),
            Arguments::Home(_) => {
                let home = ToolAim::Posture(HOME.to_owned());
                Ok(Order::new(Act::Move(self.at_speed(home, 1.0)), held))
            }
            other => Err(unknown(other.verb())),
        }
    }

    fn pick(&self, pick: &Pick, object: Option<&str>) -> Result<Order, Refusal> {
        if let Some(grasp) = &pick.grasp {
            let hint = "leave the grasp out: look lists none, the hand finds its own";
            return Err(Refusal::new(Code::BadArgument, hint).of("grasp", grasp.as_str()));
        }
        let hint = "look at the scene and name one of its objects";
        let unknown = || Refusal::new(Code::UnknownObject, hint);
        let object = object.ok_or_else(unknown)?;
        let known = self.known(object).ok_or_else(unknown)?;
        let stated = picked(self.cell, &known, self.strength(pick.force_n));
        let stated = stated.map_err(|error| of_error(self.cell, &error))?;
        stated.goal(self.hand.defaults()).map_err(|why| {
            let refusal = Refusal::new(Code::InvalidGoal, "set the object upright first");
            described(refusal, self.cell, "why", &why.to_string())
        })?;
        Ok(Order::new(Act::Stated(Box::new(stated)), Some(object.to_owned())))
    }

    fn place(&self, place: &Place) -> Result<Order, Refusal> {
        let held = self.memory.held.clone().and_then(|held| self.known(&held));
        let Some(held) = held else {
            return Err(Refusal::new(Code::InvalidGoal, "pick an object first"));
        };
        let except = Some(held.name.as_str());
        let position = match &place.destination {
            Destination::At { x_m, y_m, z_m: Some(z_m) } => Vector3::new(*x_m, *y_m, *z_m),
            Destination::At { x_m, y_m, z_m: None } => {
                let top = top_below(self.cell, [*x_m, *y_m], except).ok_or_else(|| {
                    let hint = "give z_m: nothing is known below this point";
                    Refusal::new(Code::InvalidGoal, hint).of("x_m", *x_m)
                })?;
                Vector3::new(*x_m, *y_m, top + half_height(&held))
            }
            Destination::On { on } => {
                let below = self.known(on).filter(|_| Some(on.as_str()) != except);
                let below = below.ok_or_else(|| {
                    let hint = "name another object that is in the scene";
                    Refusal::new(Code::UnknownObject, hint).of("on", on.as_str())
                })?;
                let top = below.pose.translation + Vector3::z() * half_height(&below);
                top + Vector3::z() * half_height(&held)
            }
        };
        let act = Act::Place { at: ObjectPose { position, yaw: 0.0 }, speed_scale: 1.0 };
        Ok(Order::new(act, Some(held.name)))
    }

    fn stated(&self, set: &SetGripper) -> Result<StatedCommand, Refusal> {
        let hand = self.hand.machine.opening_hand().map(|hand| hand.fingers().opening_range());
        // A command without a force takes the usual one.
        let usual = self.hand.defaults().grip_force;
        let force = set.force_n.map_or(usual.min(self.strength(None)), |n| self.strength(Some(n)));
        let stated = |position, effort| {
            Ok(StatedCommand { unit: CommandUnit::Opening, position, velocity: 0.0, effort })
        };
        let other_hand = |name: &str, value: f64, hint| {
            Err(Refusal::new(Code::BadArgument, hint).of(name, value))
        };
        match (set.grip, hand, self.cell.cup_area()) {
            (Grip::Opened { opened: true }, Some((_, widest)), _) => stated(widest, force),
            (Grip::Opened { opened: false }, Some((least, _)), _) => stated(least, force),
            (Grip::Width { width_m }, Some((least, widest)), _) => {
                if (least..=widest).contains(&width_m) {
                    return stated(width_m, force);
                }
                let refusal = Refusal::new(Code::BadArgument, "choose a width that the hand has");
                Err(refusal.of("width_m", width_m).within(format!("[{least}, {widest}]")))
            }
            (Grip::Vacuum { vacuum_kpa }, Some(_), _) => {
                other_hand("vacuum_kpa", vacuum_kpa, "say opened or width_m: this hand has fingers")
            }
            // A cup is commanded by a switch: 0 evacuates.
            (Grip::Opened { opened }, None, Some(_)) => {
                stated(if opened { 1.0 } else { 0.0 }, if opened { 0.0 } else { force })
            }
            (Grip::Vacuum { vacuum_kpa }, None, Some(area)) => {
                let pressed = 1e3 * vacuum_kpa * area;
                stated(if pressed > 0.0 { 0.0 } else { 1.0 }, pressed)
            }
            (Grip::Width { width_m }, None, _) => {
                other_hand("width_m", width_m, "say opened or vacuum_kpa: this hand has no fingers")
            }
            (_, None, None) => {
                Err(Refusal::new(Code::WrongTool, "change the tool: there is no hand on the arm"))
            }
        }
    }

    /// Force up to which the hand may grip. [N]
    fn strength(&self, force: Option<f64>) -> f64 {
        strength(&self.hand.machine, self.limits, force)
    }

    fn aim(&self, aim: &Move) -> Result<ToolMove, Refusal> {
        let Move { x_m, y_m, height, yaw_rad, speed_scale } = *aim;
        let z = match height {
            Height::At { z_m } => z_m,
            Height::Of { high: true } => self.high(),
            Height::Of { high: false } => self.low([x_m, y_m])?,
        };
        let yaw = yaw_rad.unwrap_or_else(|| ToolMove::yaw(&self.cell.tool_pose()));
        let pose = ToolMove::looking_down(Vector3::new(x_m, y_m, z), yaw);
        Ok(self.at_speed(ToolAim::Pose(pose), speed_scale.unwrap_or(1.0)))
    }

    /// A move within the envelope, at a share of its speed. [-]
    fn at_speed(&self, aim: ToolAim, scale: f64) -> ToolMove {
        let usual = ToolMove::new(aim, self.hand.usual_settings());
        ToolMove {
            speed: scale * usual.speed.min(SPEED_SHARE * self.limits.tool_speed_m_s),
            acceleration: scale
                * scale
                * usual.acceleration.min(self.limits.tool_acceleration_m_s2),
            along: self.memory.gripped.clone(),
            ..usual
        }
    }

    /// Height of the tool above all objects, with what is in the hand above them, too. [m]
    fn high(&self) -> f64 {
        let objects = self.cell.objects();
        let in_hand = self.memory.in_hand();
        let others = objects.iter().filter(|object| in_hand != Some(object.name.as_str()));
        let tops = others.map(|object| object.pose.translation.z + half_height(object));
        tops.fold(f64::NEG_INFINITY, f64::max) + self.hanging() + ABOVE
    }

    /// Height of the tool at which it puts down what is in the hand, or takes what is below. [m]
    fn low(&self, at: [f64; 2]) -> Result<f64, Refusal> {
        let hint = "give z_m: nothing is known below this point";
        let nothing = || Refusal::new(Code::InvalidGoal, hint).of("x_m", at[0]);
        if let Some(held) = self.memory.in_hand() {
            let top = top_below(self.cell, at, Some(held)).ok_or_else(nothing)?;
            return Ok(top + self.hanging() + PUT_DOWN);
        }
        let tool = Vector3::new(at[0], at[1], f64::INFINITY);
        loose_at(self.cell, &tool).map(|object| object.pose.translation.z).ok_or_else(nothing)
    }

    /// How far what is in the hand reaches below the tool. [m]
    fn hanging(&self) -> f64 {
        let in_hand = self.memory.in_hand().and_then(|name| self.known(name));
        in_hand.map_or(0.0, |object| {
            self.cell.tool_pose().translation.z - (object.pose.translation.z - half_height(&object))
        })
    }

    fn known(&self, name: &str) -> Option<KnownObject> {
        self.cell.objects().into_iter().find(|object| object.name == name)
    }
}

/// Force up to which a hand may grip; 0 takes its own. Of a vacuum only what the command says is a limit. [N]
pub(crate) fn strength(machine: &PickAndPlace, limits: &Limits, force: Option<f64>) -> f64 {
    let usual = if machine.opening_hand().is_some() { limits.grip_force_n } else { 0.0 };
    force.unwrap_or(usual).min(machine.force_max())
}

/// Statement of a pick of an object as it lies, gripped up to a force. [N]
pub(crate) fn picked(
    cell: &Cell,
    object: &KnownObject,
    max_grip_force: f64,
) -> Result<Statement, RehearsalError> {
    let stated = state(cell, &object.name, &object.pose.translation, 0.0)?;
    Ok(Statement { part: Part::Pick, max_grip_force, ..stated })
}

/// The highest thing that can be taken at a point, of those that are not above it. [m] (3)
pub(crate) fn loose_at(cell: &Cell, point: &Vector3) -> Option<KnownObject> {
    let world = cell.io.world();
    let is_loose = |object: &KnownObject| {
        world.find_body(&object.name).is_some_and(|id| !world.body(id).description().fixed)
    };
    let is_there = |object: &KnownObject| {
        let off = object.pose.translation - point;
        let bottom = object.pose.translation.z - half_height(object);
        off.xy().norm() <= 0.5 * object.size.x.min(object.size.y) && bottom <= point.z
    };
    let there = cell.objects().into_iter().filter(|object| is_loose(object) && is_there(object));
    there.max_by(|a, b| a.pose.translation.z.total_cmp(&b.pose.translation.z))
}

/// Verbs that a cell carries out, or answers.
pub fn verbs(cell: &Cell) -> Vec<Verb> {
    let has = |verb: &Verb| match verb {
        Verb::WalkTo => cell.gait.is_some(),
        Verb::ChangeTool => cell.tools.is_some(),
        // With the bare arm they are those of the tools in the dock.
        verb => !is_of_hand(*verb) || cell.hand.is_some() || cell.tools.is_some(),
    };
    Verb::ALL.into_iter().filter(has).collect()
}

/// Whether a verb needs a hand.
fn is_of_hand(verb: Verb) -> bool {
    matches!(verb, Verb::Move | Verb::SetGripper | Verb::Pick | Verb::Place | Verb::Home)
}
