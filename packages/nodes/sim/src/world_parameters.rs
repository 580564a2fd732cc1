//! Live settings of the physics, as parameters; their defaults are the scene's.

use karakuri_physics::{Integrator, Sleeping, World, WorldSettings};
use karakuri_ros::{Node, Parameter, RosError};
use karakuri_spatial::Vector3;

/// Largest acceleration of gravity that a parameter takes. [m/s²]
const LARGEST: f64 = 1e3;

/// The parameters of the world.
#[derive(Debug)]
pub(crate) struct WorldParameters {
    gravity: Parameter<Vec<f64>>,
    integrator: Parameter<String>,
    threads: Parameter<i64>,
    sleeping: Parameter<bool>,
    restitution_threshold: Parameter<f64>,
    penetration_slop: Parameter<f64>,
    penetration_rate: Parameter<f64>,
    penetration_step: Parameter<f64>,
    anchor_rate: Parameter<f64>,
    /// Policy of the scene for bodies at rest.
    when_at_rest: Sleeping,
}

impl WorldParameters {
    /// Declares the parameters; none without a simulated world.
    pub(crate) fn declare<S: 'static>(
        node: &mut Node<S>,
        world: Option<&World>,
    ) -> Result<Option<Self>, RosError> {
        let Some(scene) = world.map(|world| *world.settings()) else { return Ok(None) };
        let mut number = |name: &str, now: f64, most: f64, meaning: &str| {
            node.parameter(name, now).describe(meaning).range(0.0..=most).declare()
        };
        let restitution_threshold = number(
            "restitution_threshold",
            scene.restitution_threshold,
            LARGEST,
            "Impacts slower than this do not bounce. [m/s]",
        )?;
        let penetration_slop = number(
            "penetration.slop",
            scene.penetration_slop,
            1.0,
            "Penetration that is left alone. [m]",
        )?;
        let penetration_rate = number(
            "penetration.rate",
            scene.penetration_rate,
            1.0,
            "Part of a penetration that is undone a step. [-]",
        )?;
        let penetration_step = number(
            "penetration.step",
            scene.penetration_step,
            1.0,
            "Most that a penetration is undone a step. [m]",
        )?;
        let anchor_rate = number(
            "anchor_rate",
            scene.anchor_rate,
            1.0,
            "Part of the drift of a sticking contact that is undone a step. [-]",
        )?;
        let known = Integrator::ALL.map(|i| format!("`{}`", i.name())).join(", ");
        let rule = known.clone();
        Ok(Some(Self {
            gravity: node
                .parameter("gravity", scene.gravity.as_slice().to_vec())
                .describe("Gravitational acceleration, x y z. [m/s²]")
                .range(-LARGEST..=LARGEST)
                .validate("three numbers", |v: &Vec<f64>| match v.len() {
                    3 => Ok(()),
                    n => Err(format!("{n} numbers are no acceleration; give x, y and z")),
                })
                .declare()?,
            integrator: node
                .parameter("integrator", scene.integrator.name().to_owned())
                .describe("How free motion is integrated.")
                .validate(&rule, move |v: &String| match Integrator::find(v) {
                    Some(_) => Ok(()),
                    None => Err(format!("`{v}` is no integrator; write {known}")),
                })
                .declare()?,
            threads: node
                .parameter("threads", i64::try_from(scene.threads).unwrap_or(1))
                .describe("Threads that solve islands of contacts; the same bits for any number.")
                .range(1..=256)
                .declare()?,
            sleeping: node
                .parameter("sleeping", scene.sleeping.is_some())
                .describe("Whether free bodies at rest are left out of the step.")
                .declare()?,
            restitution_threshold,
            penetration_slop,
            penetration_rate,
            penetration_step,
            anchor_rate,
            when_at_rest: scene.sleeping.unwrap_or_default(),
        }))
    }

    /// Settings with those that the parameters override.
    pub(crate) fn over(&self, settings: WorldSettings) -> WorldSettings {
        let gravity = self.gravity.get();
        let integrator = Integrator::find(&self.integrator.get());
        WorldSettings {
            gravity: Vector3::from_column_slice(&gravity),
            integrator: integrator.unwrap_or(settings.integrator),
            threads: usize::try_from(self.threads.get()).unwrap_or(settings.threads),
            sleeping: self.sleeping.get().then_some(self.when_at_rest),
            restitution_threshold: self.restitution_threshold.get(),
            penetration_slop: self.penetration_slop.get(),
            penetration_rate: self.penetration_rate.get(),
            penetration_step: self.penetration_step.get(),
            anchor_rate: self.anchor_rate.get(),
            ..settings
        }
    }
}
