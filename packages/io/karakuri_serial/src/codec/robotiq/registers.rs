//! What the words of a gripper say.

/// First word of what a host writes.
pub const COMMAND_ADDRESS: u16 = 0x03E8;
/// First word of what a host reads.
pub const STATUS_ADDRESS: u16 = 0x07D0;

/// A type of gripper. Force and speed go linearly from the least to the greatest with their bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: &'static str,
    /// Greatest width between the fingers. [m]
    pub stroke: f64,
    /// Width of a count of position. [m]
    pub width_per_count: f64,
    /// Least and greatest speed of the width. [m/s]
    pub speed: [f64; 2],
    /// Least and greatest grip force. [N]
    pub force: [f64; 2],
}

/// Position at which the fingers meet, of every type. [count]
const CLOSED: f64 = 230.0;

/// The 2F-85. [manual, §6.1; the width of a count: `PickNik`'s driver]
pub const TWO_F_85: Model = Model {
    name: "2f85",
    stroke: 0.085,
    width_per_count: 0.39e-3,
    speed: [0.020, 0.150],
    force: [20.0, 235.0],
};

/// The 2F-140. [manual, §6.2; the width of a count from that of the 2F-85, by the strokes]
pub const TWO_F_140: Model = Model {
    name: "2f140",
    stroke: 0.140,
    width_per_count: 0.39e-3 * 140.0 / 85.0,
    speed: [0.030, 0.250],
    force: [10.0, 125.0],
};

impl Model {
    /// Width between the fingers at a position that a gripper reports. [m]
    pub fn width(&self, position: u8) -> f64 {
        ((CLOSED - f64::from(position)) * self.width_per_count).clamp(0.0, self.stroke)
    }

    /// Position at which the fingers are so wide apart [m], to the nearest count.
    pub fn position(&self, width: f64) -> u8 {
        to_byte(CLOSED - width.clamp(0.0, self.stroke) / self.width_per_count)
    }

    /// Speed of the width by its byte. [m/s]
    pub fn speed(&self, byte: u8) -> f64 {
        between(self.speed, byte)
    }

    /// Byte of a speed of the width [m/s], to the nearest.
    pub fn speed_byte(&self, speed: f64) -> u8 {
        share(self.speed, speed)
    }

    /// Grip force by its byte. [N]
    pub fn force(&self, byte: u8) -> f64 {
        between(self.force, byte)
    }

    /// Byte of a grip force [N], to the nearest.
    pub fn force_byte(&self, force: f64) -> u8 {
        share(self.force, force)
    }
}

fn between([least, greatest]: [f64; 2], byte: u8) -> f64 {
    least + (greatest - least) * f64::from(byte) / 255.0
}

fn share([least, greatest]: [f64; 2], value: f64) -> u8 {
    to_byte((value - least) / (greatest - least) * 255.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn to_byte(number: f64) -> u8 {
    number.round().clamp(0.0, 255.0) as u8
}

/// An emergency release: slow, to the end, and only a reset ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Release {
    /// None.
    #[default]
    No,
    /// By closing.
    Closing,
    /// By opening.
    Opening,
}

/// What a gripper has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Command {
    /// Whether it is active (rACT); a change from off to on makes it find its ends, 2 to 5 s, and clears faults.
    pub is_active: bool,
    /// Whether it goes to the position (rGTO); off, it stops.
    pub goes: bool,
    /// Emergency release (rATR, rARD).
    pub release: Release,
    /// Position to go to, 0 open to 255 closed (rPR). [count]
    pub position: u8,
    /// Speed, 0 slowest to 255 fastest (rSP). [1/255]
    pub speed: u8,
    /// Force, 0 least to 255 most (rFR). [1/255]
    pub force: u8,
}

impl Command {
    /// As words from [`COMMAND_ADDRESS`] on.
    pub fn to_words(self) -> [u16; 3] {
        let release = match self.release {
            Release::No => 0,
            Release::Closing => 1 << 4,
            Release::Opening => 1 << 4 | 1 << 5,
        };
        let action = u8::from(self.is_active) | u8::from(self.goes) << 3 | release;
        [
            u16::from_be_bytes([action, 0]),
            u16::from(self.position),
            u16::from_be_bytes([self.speed, self.force]),
        ]
    }

    /// From words at [`COMMAND_ADDRESS`]; bits that mean nothing are ignored.
    pub fn from_words(words: [u16; 3]) -> Self {
        let [action, _] = words[0].to_be_bytes();
        let [speed, force] = words[2].to_be_bytes();
        let release = match (action & 1 << 4 != 0, action & 1 << 5 != 0) {
            (false, _) => Release::No,
            (true, false) => Release::Closing,
            (true, true) => Release::Opening,
        };
        Self {
            is_active: action & 1 != 0,
            goes: action & 1 << 3 != 0,
            release,
            position: words[1].to_be_bytes()[1],
            speed,
            force,
        }
    }
}

/// How far an activation is (gSTA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// Not active.
    #[default]
    Reset,
    /// Finding its ends.
    Activating,
    /// A code that the manual does not use.
    Reserved,
    /// Active.
    Ready,
}

/// What the fingers found (gOBJ); it says nothing before the activation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Object {
    /// They move.
    #[default]
    Moving,
    /// They were stopped while opening.
    StoppedOpening,
    /// They were stopped while closing.
    StoppedClosing,
    /// They are where they were sent.
    Arrived,
}

/// What is wrong with a gripper (gFLT).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, thiserror::Error)]
pub enum GripperFault {
    /// Nothing.
    #[default]
    #[error("nothing is wrong")]
    None,
    /// The activation has to end first.
    #[error("the activation has to end first")]
    Delayed,
    /// It has to be activated first.
    #[error("it has to be activated first")]
    NotActive,
    /// It is too hot: above 85 °C, until it is below 80 °C.
    #[error("it is too hot: let it cool down")]
    Hot,
    /// It had heard nothing for a second.
    #[error("it had heard nothing for a second")]
    Silence,
    /// Its supply is too low. It has to be activated again.
    #[error("its supply is too low: check it, then activate again")]
    Voltage,
    /// An emergency release is under way.
    #[error("an emergency release is under way")]
    Releasing,
    /// It failed inside. It has to be activated again.
    #[error("it failed inside: activate again")]
    Internal,
    /// It found no ends. It has to be activated again.
    #[error("the activation failed: take away what is in the fingers' path, then activate again")]
    Activation,
    /// Its current was too high. It has to be activated again.
    #[error("its current was too high: activate again")]
    Current,
    /// An emergency release is over. It has to be activated again.
    #[error("an emergency release is over: activate again")]
    Released,
    /// A code that the manual does not have.
    #[error("fault {0:#x}")]
    Other(u8),
}

/// Faults and their codes. [manual, §4.4]
const FAULTS: [(GripperFault, u8); 11] = [
    (GripperFault::None, 0x0),
    (GripperFault::Delayed, 0x5),
    (GripperFault::NotActive, 0x7),
    (GripperFault::Hot, 0x8),
    (GripperFault::Silence, 0x9),
    (GripperFault::Voltage, 0xA),
    (GripperFault::Releasing, 0xB),
    (GripperFault::Internal, 0xC),
    (GripperFault::Activation, 0xD),
    (GripperFault::Current, 0xE),
    (GripperFault::Released, 0xF),
];

impl GripperFault {
    fn code(self) -> u8 {
        match self {
            Self::Other(code) => code,
            fault => FAULTS.iter().find(|(known, _)| *known == fault).map_or(0, |(_, code)| *code),
        }
    }

    fn from_code(code: u8) -> Self {
        FAULTS
            .iter()
            .find(|(_, known)| *known == code)
            .map_or(Self::Other(code), |(fault, _)| *fault)
    }
}

/// What a gripper does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status {
    /// Whether its command says that it is active (gACT).
    pub is_active: bool,
    /// Whether its command says that it goes (gGTO).
    pub goes: bool,
    /// How far the activation is (gSTA).
    pub activation: Activation,
    /// What the fingers found (gOBJ).
    pub object: Object,
    /// What is wrong (gFLT).
    pub fault: GripperFault,
    /// Position that it was sent to (gPR). [count]
    pub goal: u8,
    /// Position of the fingers (gPO). [count]
    pub position: u8,
    /// Current of the motor (gCU). [10 mA]
    pub current: u8,
}

impl Status {
    /// As words from [`STATUS_ADDRESS`] on.
    pub fn to_words(self) -> [u16; 3] {
        let activation = match self.activation {
            Activation::Reset => 0,
            Activation::Activating => 1,
            Activation::Reserved => 2,
            Activation::Ready => 3,
        };
        let object = match self.object {
            Object::Moving => 0,
            Object::StoppedOpening => 1,
            Object::StoppedClosing => 2,
            Object::Arrived => 3,
        };
        let bits =
            u8::from(self.is_active) | u8::from(self.goes) << 3 | activation << 4 | object << 6;
        [
            u16::from_be_bytes([bits, 0]),
            u16::from_be_bytes([self.fault.code(), self.goal]),
            u16::from_be_bytes([self.position, self.current]),
        ]
    }

    /// From words at [`STATUS_ADDRESS`]; bits that mean nothing are ignored.
    pub fn from_words(words: [u16; 3]) -> Self {
        let [bits, _] = words[0].to_be_bytes();
        let [fault, goal] = words[1].to_be_bytes();
        let [position, current] = words[2].to_be_bytes();
        Self {
            is_active: bits & 1 != 0,
            goes: bits & 1 << 3 != 0,
            activation: match bits >> 4 & 3 {
                0 => Activation::Reset,
                1 => Activation::Activating,
                2 => Activation::Reserved,
                _ => Activation::Ready,
            },
            object: match bits >> 6 {
                0 => Object::Moving,
                1 => Object::StoppedOpening,
                2 => Object::StoppedClosing,
                _ => Object::Arrived,
            },
            fault: GripperFault::from_code(fault & 0x0F),
            goal,
            position,
            current,
        }
    }

    /// Current of the motor. [A]
    pub fn current_a(&self) -> f64 {
        f64::from(self.current) * 0.01
    }
}
