//! Parameters of the controller.

use std::collections::BTreeMap;

use karakuri_control::inverse_dynamics::METHODS;
use karakuri_control::joint_trajectory::Constraints;
use karakuri_control::{FeedforwardSettings, ForceSettings, Gains, Payload};
use karakuri_model::Model;
use karakuri_ros::{Declares, Parameter, RosError};
use karakuri_spatial::Vector3;

/// Parameters of the controller of a robot.
#[derive(Debug)]
pub struct ControlParameters {
    payload: PayloadParameters,
    /// Gains of the commanded joints, by name.
    gains: Vec<(String, GainParameters)>,
    general: GeneralParameters,
}

karakuri_ros::parameters! {
    /// Parameters that do not depend on the robot.
    struct GeneralParameters [constraints: ConstraintParameters] {
        force_gain ["force_feedback.gain"]: f64 = 0.0, "Feedback of the force along the target: what is wrong with it shrinks to 1/(1 + gain); 0 is off. [-]", range(0.0..=100.0);
        force_time_constant ["force_feedback.time_constant"]: f64 = 0.02, "Filter of the force feedback; above gain times the delay from command to reading. [s]", range(0.0..=10.0);
        command_timeout: f64 = 0.2, "Silence of a target wrench, in samples' time, until it fades, over as long again. [s]", range(0.001..=3600.0);
        method: String = "recursive".to_owned(), "Inverse dynamics.", validate(&METHODS.join(", "), |v: &String| check_method(v));
        gravity: f64 = -FeedforwardSettings::default().gravity.z, "Gravity where the robot works, downwards. [m/s²]", range(0.0..=100.0);
        feedforward_scale: f64 = 1.0, "Share of the feed-forward that is applied. [-]", range(0.0..=1.0);
        friction_compensation: bool = true, "Add the joints' dry friction to the feed-forward.";
        friction_speed: f64 = 0.01, "Below this speed dry friction is compensated in proportion. [rad/s or m/s]", range(1e-6..=10.0);
        effort_rate: f64 = 80.0, "Fastest change of a joint's effort, as a share of its limit. [1/s]", range(1.0..=1e6);
        state_timeout: f64 = 0.5, "Gap between two samples after which all goals are aborted; 0 is never. [s]", range(0.0..=3600.0);
    }
}

fn check_method(value: &str) -> Result<(), String> {
    if METHODS.contains(&value) {
        return Ok(());
    }
    Err(format!("`{value}` is no method; there are: {}", METHODS.join(", ")))
}

/// Payload of a link: the link, the mass and its centre.
#[derive(Debug)]
struct PayloadParameters {
    link: Parameter<String>,
    mass: Parameter<f64>,
    com: Parameter<Vec<f64>>,
}

/// Gains of the feedback of one joint.
#[derive(Debug)]
struct GainParameters {
    p: Parameter<f64>,
    i: Parameter<f64>,
    d: Parameter<f64>,
    i_clamp: Parameter<f64>,
}

impl PayloadParameters {
    fn declare<N: Declares>(node: &mut N, model: &Model) -> Result<Self, RosError> {
        let moving = model.frames.iter().filter(|f| f.body.is_some());
        let links: Vec<String> = moving.map(|f| f.name.clone()).collect();
        Ok(Self {
            link: node
                .parameter("payload.link", tool_link(model).to_owned())
                .describe("Link that carries the payload.")
                .validate("a link that moves", move |link: &String| {
                    if links.contains(link) {
                        return Ok(());
                    }
                    Err(format!("`{link}` is no link that moves; there are: {}", links.join(", ")))
                })
                .declare()?,
            mass: node
                .parameter("payload.mass", 0.0)
                .describe(
                    "Mass of the payload, a point; the feed-forward knows of it at once. [kg]",
                )
                .range(0.0..=1000.0)
                .declare()?,
            com: node
                .parameter("payload.com", vec![0.0; 3])
                .describe("Centre of mass of the payload in the link's frame. [m] (3)")
                .validate("3 finite numbers", |com: &Vec<f64>| {
                    if com.len() == 3 && com.iter().all(|x| x.is_finite()) {
                        return Ok(());
                    }
                    Err(format!("got {com:?}, want three finite numbers: x, y, z in metres"))
                })
                .declare()?,
        })
    }

    fn get(&self) -> Option<Payload> {
        let (link, mass, com) = (self.link.get(), self.mass.get(), self.com.get());
        (mass > 0.0).then(|| Payload { link, mass, com: Vector3::from_column_slice(&com) })
    }
}

impl GainParameters {
    fn declare<N: Declares>(node: &mut N, joint: &str) -> Result<Self, RosError> {
        let mut gain = |name: &str, meaning: &str| {
            node.parameter(&format!("gains.{joint}.{name}"), 0.0)
                .describe(meaning)
                .range(0.0..=1e6)
                .declare()
        };
        Ok(Self {
            p: gain(
                "p",
                "Feedback of the position, beside the drive's stiffness. [N·m/rad or N/m]",
            )?,
            i: gain(
                "i",
                "Feedback of the position's integral; 0 empties it. [N·m/(rad·s) or N/(m·s)]",
            )?,
            d: gain(
                "d",
                "Feedback of the velocity, beside the drive's damping. [N·m·s/rad or N·s/m]",
            )?,
            i_clamp: gain(
                "i_clamp",
                "Largest effort of the integral; 0 is the joint's limit. [N·m or N]",
            )?,
        })
    }

    fn get(&self) -> Gains {
        let Self { p, i, d, i_clamp } = self;
        Gains { p: p.get(), i: i.get(), d: d.get(), i_clamp: i_clamp.get() }
    }
}

karakuri_ros::parameters! {
    /// Tolerances by which a goal is missed, reached or refused.
    struct ConstraintParameters {
        path_tolerance ["constraints.trajectory"]: f64 = Constraints::default().path_tolerance, "Largest position error on the way, for every joint; 0 is not checked. [rad or m]", range(0.0..=1000.0);
        goal_tolerance ["constraints.goal"]: f64 = Constraints::default().goal_tolerance, "Largest position error at the end, for every joint; 0 is not checked. [rad or m]", range(0.0..=1000.0);
        stopped_velocity_tolerance ["constraints.stopped_velocity_tolerance"]: f64 = Constraints::default().stopped_velocity_tolerance, "Largest speed at the end; 0 is not checked. [rad/s or m/s]", range(0.0..=1000.0);
        goal_time ["constraints.goal_time"]: f64 = Constraints::default().goal_time, "Time after the last point to come into tolerance; 0 waits for ever. [s]", range(0.0..=3600.0);
        following_tolerance ["constraints.following"]: f64 = Constraints::default().following_tolerance, "Position error beyond twice what saturates the drive at which a joint counts as blocked or moved by others: its group's goal is aborted and it holds where it is; 0 is not checked. [rad or m]", range(0.0..=1000.0);
        allow_partial_joints_goal: bool = Constraints::default().allow_partial_joints_goal, "Take goals for some joints of a group; the others hold.";
    }
}

impl ConstraintParameters {
    fn get(&self) -> Constraints {
        Constraints {
            path_tolerance: self.path_tolerance.get(),
            goal_tolerance: self.goal_tolerance.get(),
            stopped_velocity_tolerance: self.stopped_velocity_tolerance.get(),
            goal_time: self.goal_time.get(),
            following_tolerance: self.following_tolerance.get(),
            allow_partial_joints_goal: self.allow_partial_joints_goal.get(),
        }
    }
}

/// Link of the end effector's tool, or else the link that the first group's last joint carries.
pub fn tool_link(model: &Model) -> &str {
    let last = || model.groups.first()?.joints.last().map(|b| model.bodies[b.0].name.as_str());
    match &model.end_effector {
        Some(hand) => &model.frames[hand.tool_frame.0].name,
        None => last().unwrap_or_default(),
    }
}

impl ControlParameters {
    /// Declares the parameters of a robot's controller.
    ///
    /// # Errors
    /// When a given value does not fit its parameter, or a name is declared already.
    pub fn declare<N: Declares>(node: &mut N, model: &Model) -> Result<Self, RosError> {
        let payload = PayloadParameters::declare(node, model)?;
        let commanded = model.groups.iter().flat_map(|g| &g.joints);
        let names = commanded.map(|id| &model.joints[id.0].name);
        let gains = names
            .map(|name| Ok((name.clone(), GainParameters::declare(node, name)?)))
            .collect::<Result<_, RosError>>()?;
        Ok(Self { payload, gains, general: GeneralParameters::declare(node)? })
    }

    /// Settings of the controller, without gains.
    pub fn feedforward(&self) -> FeedforwardSettings {
        let general = &self.general;
        FeedforwardSettings {
            method: general.method.get(),
            gravity: Vector3::new(0.0, 0.0, -general.gravity.get()),
            feedforward_scale: general.feedforward_scale.get(),
            friction_compensation: general.friction_compensation.get(),
            friction_speed: general.friction_speed.get(),
            effort_rate: general.effort_rate.get(),
            state_timeout: general.state_timeout.get(),
            payload: self.payload.get(),
            gains: Vec::new(),
            force: ForceSettings {
                gain: general.force_gain.get(),
                time_constant: general.force_time_constant.get(),
                timeout: general.command_timeout.get(),
            },
        }
    }

    /// Gains of the feedback by the names of joints; of those that have any.
    pub fn gains(&self) -> BTreeMap<String, Gains> {
        let gains = self.gains.iter().map(|(joint, gains)| (joint.clone(), gains.get()));
        gains.filter(|(_, gains)| *gains != Gains::default()).collect()
    }

    /// Settings of the controller of a model, with its gains.
    pub fn feedforward_of(&self, model: &Model) -> FeedforwardSettings {
        let named = self.gains();
        let gains = |name: &String| named.get(name).copied().unwrap_or_default();
        let gains = model.joints.iter().map(|joint| gains(&joint.name)).collect();
        FeedforwardSettings { gains, ..self.feedforward() }
    }

    /// Tolerances of goals.
    pub fn constraints(&self) -> Constraints {
        self.general.constraints.get()
    }

    /// Gap between two samples after which all goals are aborted; 0 is never. [s]
    pub fn state_timeout(&self) -> f64 {
        self.general.state_timeout.get()
    }
}
