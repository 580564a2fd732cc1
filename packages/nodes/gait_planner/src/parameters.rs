//! Parameters of the node.

use karakuri_gait::planner::{LandingSettings, StabilizerSettings};
use karakuri_ros::{Node, Parameter, RosError};

use crate::node::GaitPlanner;

/// All parameters; the gains are read at every tick.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) gait: Parameter<String>,
    pub(crate) period: Parameter<f64>,
    pub(crate) lockstep: Parameter<bool>,
    pub(crate) frame: Parameter<String>,
    pub(crate) start_tolerance: Parameter<f64>,
    pub(crate) state_timeout: Parameter<f64>,
    pub(crate) velocity_timeout: Parameter<f64>,
    dcm: Parameter<f64>,
    rate: Parameter<f64>,
    ankle: Parameter<f64>,
    landing_tilt: Parameter<f64>,
    landing_seek: Parameter<f64>,
}

impl Parameters {
    pub(crate) fn declare(node: &mut Node<GaitPlanner>) -> Result<Self, RosError> {
        Ok(Self {
            gait: node
                .parameter("gait", String::new())
                .describe("Path of the gait file: the robot, and how it walks.")
                .read_only()
                .declare()?,
            period: node
                .parameter("period", 0.002)
                .describe("Time from a sample to the next, for which an answer holds. [s]")
                .range(1e-4..=0.05)
                .declare()?,
            lockstep: node
                .parameter("lockstep", false)
                .describe("Answer a sample only when its inertial reading is there too, and those of its feet: runs repeat bit by bit.")
                .declare()?,
            frame: node
                .parameter("frame", "world".to_owned())
                .describe("Frame in which the robot stood between its feet, looking along X, when it began.")
                .declare()?,
            start_tolerance: node
                .parameter("start_tolerance", 0.1)
                .describe("Distance of every joint from the gait's standing posture up to which it is taken over. [rad or m]")
                .range(0.0..=10.0)
                .declare()?,
            state_timeout: node
                .parameter("state_timeout", 0.2)
                .describe("Gap between two samples after which a walk is given up. [s]")
                .range(0.001..=60.0)
                .declare()?,
            velocity_timeout: node
                .parameter("velocity_timeout", 0.5)
                .describe("Silence of `cmd_vel` after which the robot stops. [s]")
                .range(0.01..=60.0)
                .declare()?,
            dcm: node
                .parameter("stabilizer.dcm", -1.0)
                .describe("How much further than the divergent component of motion the ZMP goes; negative: the gait file's. [-]")
                .range(-1.0..=20.0)
                .declare()?,
            rate: node
                .parameter("stabilizer.rate", -1.0)
                .describe("Moment against the rate of the lean, by weight and height; negative: the gait file's. [-]")
                .range(-1.0..=20.0)
                .declare()?,
            ankle: node
                .parameter("stabilizer.ankle", -1.0)
                .describe("Part of the wanted moment that the ankles get, 0 is off; negative: the gait file's. [-]")
                .range(-1.0..=1.0)
                .declare()?,
            landing_tilt: node
                .parameter("stabilizer.landing.tilt", -1.0)
                .describe("Rate at which a sole that feels the floor turns, by moment, 0 is off; negative: the gait file's. [-]")
                .range(-1.0..=10.0)
                .declare()?,
            landing_seek: node
                .parameter("stabilizer.landing.seek", -1.0)
                .describe("How fast a foot goes down to a floor that is lower than planned, by natural frequency and height of the centre of mass, 0 is off; negative: the gait file's. [-]")
                .range(-1.0..=10.0)
                .declare()?,
        })
    }

    /// The gains in force.
    pub(crate) fn gains(&self, file: &StabilizerSettings) -> StabilizerSettings {
        let or = |own: f64, file: f64| if own < 0.0 { file } else { own };
        StabilizerSettings {
            dcm: or(self.dcm.get(), file.dcm),
            rate: or(self.rate.get(), file.rate),
            ankle: or(self.ankle.get(), file.ankle),
            landing: LandingSettings {
                tilt: or(self.landing_tilt.get(), file.landing.tilt),
                seek: or(self.landing_seek.get(), file.landing.seek),
                ..file.landing
            },
            ..*file
        }
    }
}
