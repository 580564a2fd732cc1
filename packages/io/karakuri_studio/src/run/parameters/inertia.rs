//! The numbers of an inertia: mass, and moments about the centre of mass.

use karakuri_spatial::{Inertia, Matrix3};

use super::row::{FROM_ZERO, LARGEST, Range, Row};

/// Relative difference of moments of inertia that is a rounding. [-]
pub(super) const ROUNDING: f64 = 1e-12;

/// A number of an inertia.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum InertiaNumber {
    Mass,
    /// Row and column of a moment or product.
    Moment(usize, usize),
}

/// Moments and products: key, row and column.
const MOMENTS: [(&str, usize, usize); 6] =
    [("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2)];

/// Rows of an inertia whose mass is at least so much. [kg]
pub(super) fn rows(least_mass: f64) -> impl Iterator<Item = Row<InertiaNumber>> {
    let mass = Row {
        name: "mass".to_owned(),
        place: InertiaNumber::Mass,
        unit: "kg",
        range: Range { least: least_mass, most: LARGEST },
        text: "Mass; the inertia changes with it. Its energy jumps.",
    };
    let moments = MOMENTS.map(|(key, i, j)| Row {
        name: key.to_owned(),
        place: InertiaNumber::Moment(i, j),
        unit: "kg·m²",
        range: if i == j { FROM_ZERO } else { Range::within(LARGEST) },
        text: if i == j {
            "Moment of inertia about the centre of mass."
        } else {
            "Product of inertia about the centre of mass, `∫ −x y dm`."
        },
    });
    std::iter::once(mass).chain(moments)
}

impl InertiaNumber {
    pub(super) fn is_moment(self) -> bool {
        matches!(self, Self::Moment(..))
    }

    pub(super) fn get(self, mass: f64, moments: &Matrix3) -> f64 {
        match self {
            Self::Mass => mass,
            Self::Moment(i, j) => moments[(i, j)],
        }
    }

    /// Puts a moment where it belongs, a product in both places.
    pub(super) fn put_moment(self, moments: &mut Matrix3, value: f64) {
        if let Self::Moment(i, j) = self {
            (moments[(i, j)], moments[(j, i)]) = (value, value);
        }
    }
}

/// An inertia at another mass, as that of the same shape filled otherwise. Moments that are those of `original` at the
/// present mass are made from it, so that a mass that goes back gives the same bits.
pub(super) fn at_mass(inertia: &Inertia, original: &Inertia, mass: f64) -> Inertia {
    let own = original.at_mass(inertia.mass).about_com;
    let follows = (own - inertia.about_com).norm() <= ROUNDING * own.norm();
    let about_com = (if follows { original } else { inertia }).at_mass(mass).about_com;
    Inertia { mass, about_com, ..*inertia }
}
