//! Forms of the verbs: which arguments there are, of which kind, and which exclude each other. Parser and schemas come from them.

use std::f64::consts::TAU;

use super::Verb;
use crate::interval::Interval;

/// Form of a verb's arguments.
#[derive(Debug)]
pub(crate) struct Form {
    /// Title of the tool.
    pub title: &'static str,
    /// Description of the tool.
    pub text: &'static str,
    /// Arguments.
    pub fields: &'static [Field],
    /// Sets of arguments of which exactly one is given; none where there is no choice.
    pub alternatives: &'static [Alternative],
}

/// Argument of a verb.
#[derive(Debug)]
pub(crate) struct Field {
    /// Name, with its unit.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: Kind,
    /// Whether it is there whatever the choice is.
    pub is_required: bool,
    /// Description.
    pub text: &'static str,
}

/// Kind of a value.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Number in a range that holds for any robot.
    Number(Interval),
    /// Whole number from 0 to 2^53.
    Whole,
    /// `true` or `false`.
    Flag,
    /// Name.
    Name,
    /// List of names.
    Names,
    /// Number of a ticket.
    Ticket,
    /// Words for people, in which no path fits.
    Words,
}

/// One way to say what is meant.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// Arguments that it needs.
    pub needs: &'static [&'static str],
    /// Arguments that may be with them.
    pub takes: &'static [&'static str],
}

/// Pattern of a ticket: 128 bits in hexadecimal digits.
pub(crate) const TICKET: &str = "^[0-9a-f]{32}$";
/// Pattern of words: without points and slashes no path and no address fits in.
pub(crate) const WORDS: &str = "^[A-Za-z0-9 ,_-]{1,200}$";
/// Most characters of words.
pub(crate) const WORDS_LENGTH: usize = 200;
/// Most names of a list.
pub(crate) const NAMES_LENGTH: usize = 64;
/// Largest whole number: up to it doubles have every whole number.
pub(crate) const LARGEST: u64 = 1 << 53;

/// What is further away is in another unit. [m]
const LENGTH: Interval = Interval::closed(-1000.0, 1000.0);
/// One turn either way. [rad]
const ANGLE: Interval = Interval::closed(-TAU, TAU);
/// Force of any hand. [N]
const FORCE: Interval = Interval::positive(10_000.0);
/// Width of any hand. [m]
const WIDTH: Interval = Interval::closed(0.0, 1.0);
/// From nothing to all of the atmosphere. [kPa]
const VACUUM: Interval = Interval::closed(0.0, 101.325);
/// Part of a speed. [-]
const SCALE: Interval = Interval::positive(1.0);

const fn needed(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, is_required: true, text }
}

const fn optional(name: &'static str, kind: Kind, text: &'static str) -> Field {
    Field { name, kind, is_required: false, text }
}

const fn alternative(needs: &'static [&'static str]) -> Alternative {
    Alternative { needs, takes: &[] }
}

const FORCE_N: Field = optional(
    "force_n",
    Kind::Number(FORCE),
    "Grip force of a finger, or of the vacuum over all cups, in newtons.",
);
const YAW_RAD: Field =
    optional("yaw_rad", Kind::Number(ANGLE), "Angle about the vertical, in radians.");
const X_M: Field = needed("x_m", Kind::Number(LENGTH), "Position along the world's x, in metres.");
const Y_M: Field = needed("y_m", Kind::Number(LENGTH), "Position along the world's y, in metres.");
const OR_X_M: Field =
    optional("x_m", Kind::Number(LENGTH), "Position along the world's x, in metres.");
const OR_Y_M: Field =
    optional("y_m", Kind::Number(LENGTH), "Position along the world's y, in metres.");
const OR_Z_M: Field =
    optional("z_m", Kind::Number(LENGTH), "Height above the world's origin, in metres.");

static LOOK: Form = Form {
    title: "Look",
    text: "Describes the scene: objects and tool, with a digest of the state. Nothing moves.",
    fields: &[optional("objects", Kind::Names, "Names of the objects to describe; all if absent.")],
    alternatives: &[],
};
static STATUS: Form = Form {
    title: "Status",
    text: "Tells what the robot holds, whether it is busy, and which limits are left. Nothing moves.",
    fields: &[],
    alternatives: &[],
};
static LOG: Form = Form {
    title: "Log",
    text: "Reads lines of the audit log. Nothing moves.",
    fields: &[optional("since", Kind::Whole, "Number of the first line; the newest if absent.")],
    alternatives: &[],
};
static MOVE: Form = Form {
    title: "Rehearse a move",
    text: "Rehearses a move of the tool's centre and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[
        X_M,
        Y_M,
        OR_Z_M,
        optional(
            "high",
            Kind::Flag,
            "Above all objects (true), or low enough to take one (false).",
        ),
        YAW_RAD,
        optional(
            "speed_scale",
            Kind::Number(SCALE),
            "Part of the tool's largest speed; 1 if absent.",
        ),
    ],
    alternatives: &[alternative(&["z_m"]), alternative(&["high"])],
};
static SET_GRIPPER: Form = Form {
    title: "Rehearse the gripper",
    text: "Rehearses opening, closing or evacuating the hand and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[
        optional("opened", Kind::Flag, "Open (true) or closed (false)."),
        optional("width_m", Kind::Number(WIDTH), "Distance between the pads, in metres."),
        optional(
            "vacuum_kpa",
            Kind::Number(VACUUM),
            "Pressure below the atmosphere's, in kilopascals.",
        ),
        FORCE_N,
    ],
    alternatives: &[
        alternative(&["opened"]),
        alternative(&["width_m"]),
        alternative(&["vacuum_kpa"]),
    ],
};
static PICK: Form = Form {
    title: "Rehearse a pick",
    text: "Rehearses taking an object and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[
        optional("object", Kind::Name, "Name of the object."),
        OR_X_M,
        OR_Y_M,
        FORCE_N,
        optional("grasp", Kind::Name, "Name of the grasp, as look lists it; the best if absent."),
    ],
    alternatives: &[alternative(&["object"]), alternative(&["x_m", "y_m"])],
};
static PLACE: Form = Form {
    title: "Rehearse a place",
    text: "Rehearses putting the held object down and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[
        OR_X_M,
        OR_Y_M,
        OR_Z_M,
        optional("on", Kind::Name, "Name of the object on which it is put."),
    ],
    alternatives: &[Alternative { needs: &["x_m", "y_m"], takes: &["z_m"] }, alternative(&["on"])],
};
static HOME: Form = Form {
    title: "Rehearse the way home",
    text: "Rehearses the move to the home posture and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[],
    alternatives: &[],
};
static WALK_TO: Form = Form {
    title: "Rehearse a walk",
    text: "Rehearses a walk to a place and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[X_M, Y_M, YAW_RAD],
    alternatives: &[],
};
static CHANGE_TOOL: Form = Form {
    title: "Rehearse a change of tools",
    text: "Rehearses taking another tool at the dock and answers with what will happen and a ticket. Nothing moves before act.",
    fields: &[needed("tool", Kind::Name, "Name of the tool.")],
    alternatives: &[],
};
static ACT: Form = Form {
    title: "Act",
    text: "Carries out what was rehearsed, if nothing has changed since. The robot moves.",
    fields: &[
        needed("ticket", Kind::Ticket, "Ticket of the rehearsal."),
        needed(
            "request_id",
            Kind::Name,
            "Name of this request; a repetition gets the first answer.",
        ),
    ],
    alternatives: &[],
};
static STOP: Form = Form {
    title: "Stop",
    text: "Brakes at once and holds. Always allowed.",
    fields: &[optional("reason", Kind::Words, "Cause, for the log.")],
    alternatives: &[],
};

/// Form of a verb.
pub(crate) fn of(verb: Verb) -> &'static Form {
    match verb {
        Verb::Look => &LOOK,
        Verb::Status => &STATUS,
        Verb::Log => &LOG,
        Verb::Move => &MOVE,
        Verb::SetGripper => &SET_GRIPPER,
        Verb::Pick => &PICK,
        Verb::Place => &PLACE,
        Verb::Home => &HOME,
        Verb::WalkTo => &WALK_TO,
        Verb::ChangeTool => &CHANGE_TOOL,
        Verb::Act => &ACT,
        Verb::Stop => &STOP,
    }
}

impl Form {
    /// Names of the arguments.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name)
    }

    /// Arguments that are in some other alternative and not in this one.
    pub(crate) fn excluded_by(&self, chosen: &Alternative) -> Vec<&'static str> {
        let of_all = self.alternatives.iter().flat_map(|a| a.needs.iter().chain(a.takes));
        let is_of_chosen = |name: &&str| chosen.needs.contains(name) || chosen.takes.contains(name);
        of_all.copied().filter(|name| !is_of_chosen(name)).collect()
    }
}
