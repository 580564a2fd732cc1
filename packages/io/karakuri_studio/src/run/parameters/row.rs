//! A number as the list of parameters shows it.

/// Largest gain, effort, inertia and friction.
pub(super) const LARGEST: f64 = 1e9;

/// Range of what has no sign.
pub(super) const FROM_ZERO: Range = Range { least: 0.0, most: LARGEST };

/// Least and largest value that is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Range {
    /// As far down as up.
    pub(super) const fn within(most: f64) -> Self {
        Self { least: -most, most }
    }

    /// From zero.
    pub(super) const fn up_to(most: f64) -> Self {
        Self { least: 0.0, most }
    }
}

/// A number of a world: its place there, and what users see of it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::run) struct Row<P> {
    /// Name, as `khr1.drives.l_knee_pitch.stiffness`.
    pub(in crate::run) name: String,
    pub(super) place: P,
    pub(super) unit: &'static str,
    pub(super) range: Range,
    pub(super) text: &'static str,
}

impl<P> Row<P> {
    /// The row of what has this name.
    pub(super) fn of(self, owner: &str) -> Self {
        Self { name: format!("{owner}.{}", self.name), ..self }
    }

    /// The row with its place among others.
    pub(super) fn at<Q>(self, place: impl FnOnce(P) -> Q) -> Row<Q> {
        let Self { name, place: own, unit, range, text } = self;
        Row { name, place: place(own), unit, range, text }
    }
}
