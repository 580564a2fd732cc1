//! Parameters of the node.

use karakuri_control::inverse_dynamics::METHODS;
use karakuri_control::joint_trajectory::GroupSettings;
use karakuri_control::{FeedforwardSettings, ForceSettings, Gains, Payload};
use karakuri_model::{BodyId, Model};
use karakuri_ros::{Node, Parameter, RosError};
use karakuri_spatial::Vector3;

use crate::node::ControllerNode;

/// All parameters.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) lockstep_sources: Parameter<Vec<String>>,
    pub(crate) command_timeout: Parameter<f64>,
    pub(crate) lockstep_timeout: Parameter<f64>,
    pub(crate) action_monitor_rate: Parameter<f64>,
    method: Parameter<String>,
    feedforward_scale: Parameter<f64>,
    friction_compensation: Parameter<bool>,
    friction_speed: Parameter<f64>,
    effort_rate: Parameter<f64>,
    pub(crate) wrench_links: Parameter<Vec<String>>,
    force_gain: Parameter<f64>,
    force_time_constant: Parameter<f64>,
    payload: PayloadParameters,
    gains: Vec<(BodyId, GainParameters)>,
    state_timeout: Parameter<f64>,
    constraints: ConstraintParameters,
}

/// What a link carries.
#[derive(Debug)]
struct PayloadParameters {
    link: Parameter<String>,
    mass: Parameter<f64>,
    com: Parameter<Vec<f64>>,
}

/// Feedback of one joint.
#[derive(Debug)]
struct GainParameters {
    p: Parameter<f64>,
    i: Parameter<f64>,
    d: Parameter<f64>,
    i_clamp: Parameter<f64>,
}

impl PayloadParameters {
    fn declare(node: &mut Node<ControllerNode>, model: &Model) -> Result<Self, RosError> {
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
    fn declare(node: &mut Node<ControllerNode>, joint: &str) -> Result<Self, RosError> {
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

/// When a goal is missed, reached or refused.
#[derive(Debug)]
struct ConstraintParameters {
    path_tolerance: Parameter<f64>,
    goal_tolerance: Parameter<f64>,
    stopped_velocity_tolerance: Parameter<f64>,
    goal_time: Parameter<f64>,
    following_tolerance: Parameter<f64>,
    allow_partial_joints_goal: Parameter<bool>,
}

impl ConstraintParameters {
    fn declare(node: &mut Node<ControllerNode>) -> Result<Self, RosError> {
        Ok(Self {
            path_tolerance: node
                .parameter("constraints.trajectory", 0.0)
                .describe("Largest position error on the way, for every joint; 0 is not checked. [rad or m]")
                .range(0.0..=1000.0)
                .declare()?,
            goal_tolerance: node
                .parameter("constraints.goal", 0.0)
                .describe("Largest position error at the end, for every joint; 0 is not checked. [rad or m]")
                .range(0.0..=1000.0)
                .declare()?,
            stopped_velocity_tolerance: node
                .parameter("constraints.stopped_velocity_tolerance", 0.01)
                .describe("Largest speed at the end; 0 is not checked. [rad/s or m/s]")
                .range(0.0..=1000.0)
                .declare()?,
            goal_time: node
                .parameter("constraints.goal_time", 0.0)
                .describe("Time after the last point to come into tolerance; 0 waits for ever. [s]")
                .range(0.0..=3600.0)
                .declare()?,
            following_tolerance: node
                .parameter("constraints.following", 0.2)
                .describe("Position error beyond twice what saturates the drive at which a joint counts as blocked or moved by others: its group's goal is aborted and it holds where it is; 0 is not checked. [rad or m]")
                .range(0.0..=1000.0)
                .declare()?,
            allow_partial_joints_goal: node
                .parameter("allow_partial_joints_goal", false)
                .describe("Take goals for some joints of a group; the others hold.")
                .declare()?,
        })
    }

    fn apply(&self, settings: &mut GroupSettings) {
        for joint in &mut settings.joints {
            joint.path_tolerance.position = self.path_tolerance.get();
            joint.goal_tolerance.position = self.goal_tolerance.get();
        }
        settings.stopped_velocity_tolerance = self.stopped_velocity_tolerance.get();
        settings.following_tolerance = self.following_tolerance.get();
        settings.goal_time = self.goal_time.get();
        settings.allow_partial_joints_goal = self.allow_partial_joints_goal.get();
    }
}

/// The end effector's tool, or what the first group's last joint carries.
fn tool_link(model: &Model) -> &str {
    let last = || model.groups.first()?.joints.last().map(|b| model.bodies[b.0].name.as_str());
    match &model.end_effector {
        Some(hand) => &model.frames[hand.tool_frame.0].name,
        None => last().unwrap_or_default(),
    }
}

impl Parameters {
    pub(crate) fn declare(
        node: &mut Node<ControllerNode>,
        model: &Model,
    ) -> Result<Self, RosError> {
        let payload = PayloadParameters::declare(node, model)?;
        let commanded = model.groups.iter().flat_map(|g| &g.joints);
        let gains = commanded
            .map(|&id| Ok((id, GainParameters::declare(node, &model.joints[id.0].name)?)))
            .collect::<Result<_, RosError>>()?;
        Ok(Self {
            payload,
            gains,
            wrench_links: node
                .parameter("wrench_links", vec![tool_link(model).to_owned()])
                .describe("Links that may exert forces: `target_wrench/<link>`; what a contact sensor on the link feels is fed back.")
                .read_only()
                .declare()?,
            force_gain: node
                .parameter("force_feedback.gain", 0.0)
                .describe("Feedback of the force along the target: what is wrong with it shrinks to 1/(1 + gain); 0 is off. [-]")
                .range(0.0..=100.0)
                .declare()?,
            force_time_constant: node
                .parameter("force_feedback.time_constant", 0.02)
                .describe("Filter of the force feedback; above gain times the delay from command to reading. [s]")
                .range(0.0..=10.0)
                .declare()?,
            lockstep_sources: node
                .parameter("lockstep_sources", Vec::<String>::new())
                .describe("Topics among `<group>/joint_trajectory` and `target_wrench/<link>` that lockstep waits for.")
                .read_only()
                .declare()?,
            command_timeout: node
                .parameter("command_timeout", 0.2)
                .describe("Silence of a target wrench, in samples' time, until it fades, over as long again. [s]")
                .range(0.001..=3600.0)
                .declare()?,
            lockstep_timeout: node
                .parameter("lockstep_timeout", 10.0)
                .describe("Silence of a lockstep source, in wall time, until it is not waited for any more. [s]")
                .range(0.001..=3600.0)
                .declare()?,
            action_monitor_rate: node
                .parameter("action_monitor_rate", 20.0)
                .describe("Rate of the actions' feedback. [Hz]")
                .range(0.1..=1000.0)
                .declare()?,
            method: node
                .parameter("method", "recursive".to_owned())
                .describe("Inverse dynamics.")
                .validate(&METHODS.join(", "), |v: &String| {
                    if METHODS.contains(&v.as_str()) {
                        Ok(())
                    } else {
                        Err(format!("`{v}` is no method; there are: {}", METHODS.join(", ")))
                    }
                })
                .declare()?,
            feedforward_scale: node
                .parameter("feedforward_scale", 1.0)
                .describe("Share of the feed-forward that is applied. [-]")
                .range(0.0..=1.0)
                .declare()?,
            friction_compensation: node
                .parameter("friction_compensation", true)
                .describe("Add the joints' dry friction to the feed-forward.")
                .declare()?,
            friction_speed: node
                .parameter("friction_speed", 0.01)
                .describe("Below this speed dry friction is compensated in proportion. [rad/s or m/s]")
                .range(1e-6..=10.0)
                .declare()?,
            effort_rate: node
                .parameter("effort_rate", 80.0)
                .describe("Fastest change of a joint's effort, as a share of its limit. [1/s]")
                .range(1.0..=1e6)
                .declare()?,
            state_timeout: node
                .parameter("state_timeout", 0.5)
                .describe("Gap between two samples after which all goals are aborted; 0 is never. [s]")
                .range(0.0..=3600.0)
                .declare()?,
            constraints: ConstraintParameters::declare(node)?,
        })
    }

    /// What the controller shall do; `n_joints` of the model.
    pub(crate) fn feedforward(&self, n_joints: usize) -> FeedforwardSettings {
        let mut gains = vec![Gains::default(); n_joints];
        self.gains.iter().for_each(|(id, parameters)| gains[id.0] = parameters.get());
        FeedforwardSettings {
            method: self.method.get(),
            feedforward_scale: self.feedforward_scale.get(),
            friction_compensation: self.friction_compensation.get(),
            friction_speed: self.friction_speed.get(),
            effort_rate: self.effort_rate.get(),
            state_timeout: self.state_timeout.get(),
            payload: self.payload.get(),
            gains,
            force: ForceSettings {
                gain: self.force_gain.get(),
                time_constant: self.force_time_constant.get(),
                timeout: self.command_timeout.get(),
            },
        }
    }

    pub(crate) fn apply_to_group(&self, settings: &mut GroupSettings) {
        self.constraints.apply(settings);
    }
}
