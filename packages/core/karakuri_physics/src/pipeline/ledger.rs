//! Energy of a world, and the ledger of its changes.

/// Energies of a world.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Energy {
    /// Kinetic energy of all that moves. [J]
    pub kinetic: f64,
    /// Potential energy of gravity, against the world's origin, and of springs. [J]
    pub potential: f64,
}

impl Energy {
    /// Sum of kinetic and potential energy. [J]
    pub fn total(self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Energy that came into a world, by cause; negative where it left.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Ledger {
    /// Change of the kinetic energy. [J]
    pub kinetic: f64,
    /// Change of the potential energy. [J]
    pub potential: f64,
    /// Drives, motors and prescribed joints. [J]
    pub servos: f64,
    /// Work of applied wrenches, and of changes of inertias, springs and gravity while the world runs. [J]
    pub external: f64,
    /// Contacts: friction and impacts. [J]
    pub contacts: f64,
    /// Limits of position and speed. [J]
    pub limits: f64,
    /// Dry friction of joints. [J]
    pub friction: f64,
    /// Dampers of joints and springs. [J]
    pub dampers: f64,
    /// Loops, mimic joints, attached joints and gears. [J]
    pub loops: f64,
    /// Undoing of penetrations, against gravity. [J]
    pub stabilisation: f64,
    /// Error of the integration in time. [J]
    pub integration: f64,
    /// Changes of velocity that no impulse accounts for. [J]
    pub unexplained: f64,
}

/// Scratch of a step's booking.
#[derive(Debug, Clone, Default)]
pub(crate) struct Booking {
    pub(crate) before: Energy,
    pub(crate) step: Ledger,
    /// `½(v + v')` of the world. (n)
    pub(crate) mean: Vec<f64>,
    pub(crate) total: Ledger,
}

/// The energy ledger, and the work that was done on the world.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkAccount {
    pub(crate) booking: Booking,
    /// Work of drives, motors, applied wrenches, running surfaces, and of changes from outside. [J]
    pub(crate) work_done: f64,
    /// Whether reactions of loops and couplings are recorded.
    pub(crate) records_reactions: bool,
}

impl Ledger {
    /// The causes by their names, without what the energies themselves changed by. [J] (10)
    pub fn causes(&self) -> [(&'static str, f64); 10] {
        [
            ("servos", self.servos),
            ("external", self.external),
            ("contacts", self.contacts),
            ("limits", self.limits),
            ("friction", self.friction),
            ("dampers", self.dampers),
            ("loops", self.loops),
            ("stabilisation", self.stabilisation),
            ("integration", self.integration),
            ("unexplained", self.unexplained),
        ]
    }

    /// Energy that came in by a cause, the integration's error apart. [J]
    pub(crate) fn booked(&self) -> f64 {
        // All but `integration`, which is what these leave of the change.
        self.servos
            + self.external
            + self.contacts
            + self.limits
            + self.friction
            + self.dampers
            + self.loops
            + self.stabilisation
            + self.unexplained
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            kinetic: self.kinetic + other.kinetic,
            potential: self.potential + other.potential,
            servos: self.servos + other.servos,
            external: self.external + other.external,
            contacts: self.contacts + other.contacts,
            limits: self.limits + other.limits,
            friction: self.friction + other.friction,
            dampers: self.dampers + other.dampers,
            loops: self.loops + other.loops,
            stabilisation: self.stabilisation + other.stabilisation,
            integration: self.integration + other.integration,
            unexplained: self.unexplained + other.unexplained,
        }
    }
}
