//! Suction cups of a robot, and the generators that evacuate them.

use karakuri_spatial::Pose;

use crate::FrameId;

/// Pressure of the atmosphere, above which no vacuum goes. [Pa]
pub const ATMOSPHERE: f64 = 101_325.0;

/// Cups on one vacuum generator.
#[derive(Debug, Clone, PartialEq)]
pub struct SuctionUnit<Link = FrameId> {
    /// Name of the generator, by which it is commanded.
    pub name: String,
    /// What makes the vacuum.
    pub generator: VacuumGenerator,
    /// Volume of the manifold. [m³]
    pub volume: f64,
    /// Flow that is blown in to let go; 0 for none. [m³/s]
    pub blow_off: f64,
    /// The cups.
    pub cups: Vec<SuctionCup<Link>>,
}

/// What makes a vacuum. Flows are volumes at the atmosphere's pressure.
#[derive(Debug, Clone, PartialEq)]
pub enum VacuumGenerator {
    /// A pump whose flow falls in proportion: `q₀ (1 − u/u_max)`. A pump of constant volume flow has `u_max` = the atmosphere.
    Pump {
        /// Flow `q₀` without a vacuum. [m³/s]
        free_flow: f64,
        /// Largest vacuum `u_max`. [Pa]
        largest: f64,
    },
    /// Vacuum and flow of a data sheet, as of an ejector, straight in between: vacuum rises from 0, flow falls to 0. [Pa, m³/s]
    Table(Vec<[f64; 2]>),
}

/// A cup, as a data sheet describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SuctionCup<Link = FrameId> {
    /// Name of the cup.
    pub name: String,
    /// Link that carries the lip.
    pub link: Link,
    /// Frame of the lip on the link, where no force deflects it: its origin is the lip's centre, its z axis points out of the cup.
    pub lip: Pose,
    /// Effective area: force over vacuum, which makers state smaller than the lip's circle, or equal to it. [m²]
    pub area: f64,
    /// Radius of the ring on which the lip rests. [m]
    pub radius: f64,
    /// Coefficient of friction of lip and goods. [-]
    pub friction: f64,
    /// Least radius of balls and cylinders that it seals on, at least `radius`. [m]
    pub least_radius: f64,
    /// Width of the lip, across which air leaks. [m]
    pub lip_width: f64,
    /// Height of the gaps that the surface of goods leaves below the lip. [m]
    pub roughness: f64,
    /// Volume of cup, bellows and hose. [m³]
    pub volume: f64,
    /// Flow through its line over the difference of vacuums. [m³/(s·Pa)]
    pub conductance: f64,
    /// Whether a check valve keeps air from the manifold out; it opens for a blow-off.
    pub has_check_valve: bool,
    /// Bellows between link and lip; `None`: the lip is rigid on its link.
    pub bellows: Option<Bellows>,
}

/// Bellows between a cup's fitting and its lip. Damper and spring of each of the six degrees of freedom are in parallel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bellows {
    /// Stiffness along the axis. [N/m]
    pub axial: f64,
    /// Stiffness across the axis. [N/m]
    pub lateral: f64,
    /// Stiffness against tilting. [N·m/rad]
    pub tilt: f64,
    /// Stiffness against turning about the axis. [N·m/rad]
    pub torsion: f64,
    /// Damping over stiffness, the same in all degrees of freedom. [s]
    pub damping: f64,
    /// Shortening at the stop. [m]
    pub stroke: f64,
}

impl<Link> SuctionCup<Link> {
    /// The cup on a link that is named otherwise.
    pub(crate) fn on<Other>(&self, link: Other) -> SuctionCup<Other> {
        let Self { area, radius, friction, least_radius, lip_width, roughness, .. } = *self;
        let Self { volume, conductance, has_check_valve, lip, bellows, .. } = *self;
        SuctionCup {
            name: self.name.clone(),
            link,
            lip,
            area,
            radius,
            friction,
            least_radius,
            lip_width,
            roughness,
            volume,
            conductance,
            has_check_valve,
            bellows,
        }
    }
}
