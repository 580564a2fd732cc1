//! What a script can do: `s` of `fn step(s)`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use karakuri_physics::{Owner, Push, RobotId, World};
use karakuri_spatial::{Force, Vector3};
use rhai::{Array, Dynamic, Engine, EvalAltResult, Map};

/// Texts of a step that are kept: the last one.
const SAID: usize = 1000;
/// Quantities that a script may plot.
const PLOTS: usize = 32;

/// What all scripts of a run share: names of things.
#[derive(Debug, Default)]
pub(super) struct Shared {
    joints: BTreeMap<String, JointPlace>,
    /// Values of the run's parameters.
    pub(super) parameters: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Copy)]
struct JointPlace {
    robot: RobotId,
    q: usize,
    dof: usize,
}

/// A script's view of the world during one call.
#[derive(Debug, Clone)]
pub(super) struct Interface(Arc<Mutex<Call>>);

#[derive(Debug)]
struct Call {
    shared: Shared,
    time: f64,
    dt: f64,
    /// Position and velocity of joints; poses of bodies and links.
    world: World,
    targets: Vec<(JointPlace, f64)>,
    pushes: Vec<Push>,
    plots: Vec<(String, f64)>,
    said: Option<String>,
    random: u64,
}

/// What a call did.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) shared: Shared,
    pub(super) plots: Vec<(String, f64)>,
    pub(super) said: Option<String>,
    pub(super) random: u64,
}

impl Shared {
    pub(super) fn new(world: &World) -> Self {
        let mut shared = Self::default();
        for robot in world.robot_ids() {
            let view = world.robot(robot);
            for joint in view.model().joints.iter().filter(|j| j.kind.single().is_some()) {
                let place = JointPlace { robot, q: joint.q_start, dof: joint.v_start };
                shared.joints.insert(format!("{}/{}", view.name(), joint.name), place);
                // The short name of the first robot that has it.
                shared.joints.entry(joint.name.clone()).or_insert(place);
            }
        }
        shared
    }
}

type Failure = Box<EvalAltResult>;

fn fail<T>(text: String) -> Result<T, Failure> {
    Err(text.into())
}

impl Interface {
    /// A view for one call. The world itself is lent: it comes back by [`Self::finish`].
    pub(super) fn new(shared: Shared, world: &mut World, random: u64) -> Self {
        let (time, dt) = (world.time(), world.settings().dt);
        let world =
            std::mem::replace(world, World::new(karakuri_physics::WorldSettings::default()));
        Self(Arc::new(Mutex::new(Call {
            shared,
            time,
            dt,
            world,
            targets: Vec::new(),
            pushes: Vec::new(),
            plots: Vec::new(),
            said: None,
            random,
        })))
    }

    fn call(&self) -> MutexGuard<'_, Call> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what the call asked for, and gives the world back.
    pub(super) fn finish(self, world: &mut World) -> Done {
        let mut call = self.call();
        let empty = World::new(karakuri_physics::WorldSettings::default());
        *world = std::mem::replace(&mut call.world, empty);
        for (place, value) in std::mem::take(&mut call.targets) {
            world.drive_mut(place.robot).position[place.dof] = value;
        }
        for push in std::mem::take(&mut call.pushes) {
            // Checked when it was asked for.
            let _added = world.add_push(push);
        }
        Done {
            shared: std::mem::take(&mut call.shared),
            plots: std::mem::take(&mut call.plots),
            said: call.said.take(),
            random: call.random,
        }
    }

    /// Gives the world back as it was lent.
    pub(super) fn give_back(self, world: &mut World) -> Shared {
        let mut call = self.call();
        call.targets.clear();
        call.pushes.clear();
        drop(call);
        self.finish(world).shared
    }

    fn joint(&self, name: &str) -> Result<JointPlace, Failure> {
        match self.call().shared.joints.get(name) {
            Some(place) => Ok(*place),
            None => fail(format!("there is no joint `{name}`")),
        }
    }

    fn position(&mut self, name: &str) -> Result<f64, Failure> {
        let place = self.joint(name)?;
        Ok(self.call().world.robot(place.robot).q()[place.q])
    }

    fn velocity(&mut self, name: &str) -> Result<f64, Failure> {
        let place = self.joint(name)?;
        Ok(self.call().world.robot(place.robot).v()[place.dof])
    }

    fn effort(&mut self, name: &str) -> Result<f64, Failure> {
        let place = self.joint(name)?;
        Ok(self.call().world.robot(place.robot).efforts()[place.dof])
    }

    fn set_target(&mut self, name: &str, value: f64) -> Result<(), Failure> {
        let place = self.joint(name)?;
        if !value.is_finite() {
            return fail(format!("the target of `{name}` is no number"));
        }
        let mut call = self.call();
        let limits = call.world.robot(place.robot).joint_limits(place.dof);
        call.targets.push((place, value.clamp(limits.lower, limits.upper)));
        Ok(())
    }

    fn body(&mut self, name: &str) -> Result<Map, Failure> {
        let call = self.call();
        let part = call.world.find_part(name).map_err(|e| e.to_string())?;
        let (pose, velocity) = match part {
            Owner::Ground => return fail("`world` is everywhere".to_owned()),
            Owner::Body(id) => {
                let body = call.world.body(id);
                (body.shape_pose(), Some(body.velocity()))
            }
            Owner::Link { robot, frame } => {
                let robot = call.world.robot(robot);
                (karakuri_dynamics::frame_pose(robot.model(), robot.data(), frame), None)
            }
        };
        let list =
            |v: Vector3| Dynamic::from_array(v.iter().map(|x| Dynamic::from_float(*x)).collect());
        let mut map = Map::new();
        map.insert("position".into(), list(pose.translation));
        map.insert("rpy".into(), list(pose.rpy().into()));
        if let Some(velocity) = velocity {
            map.insert("velocity".into(), list(velocity.linear));
        }
        Ok(map)
    }

    #[expect(clippy::needless_pass_by_value, reason = "scripts pass values")]
    fn push(&mut self, name: &str, force: Array) -> Result<(), Failure> {
        let numbers: Vec<f64> = force.iter().filter_map(number).collect();
        let [x, y, z] = numbers[..] else {
            return fail("a force is three numbers, `[x, y, z]`".to_owned());
        };
        if ![x, y, z].iter().all(|x| x.is_finite()) {
            return fail(format!("the force on `{name}` is no number"));
        }
        let mut call = self.call();
        let part = call.world.find_part(name).map_err(|e| e.to_string())?;
        let (from, until) = (call.time, call.time + call.dt);
        let wrench = Force { moment: Vector3::zeros(), force: Vector3::new(x, y, z) };
        call.pushes.push(Push { part, point: Vector3::zeros(), wrench, from, until });
        Ok(())
    }

    fn parameter(&mut self, name: &str) -> Result<f64, Failure> {
        match self.call().shared.parameters.get(name) {
            Some(value) => Ok(*value),
            None => fail(format!("there is no parameter `{name}`")),
        }
    }

    fn plot(&mut self, name: &str, value: f64) -> Result<(), Failure> {
        let plots = &mut self.call().plots;
        if plots.len() >= PLOTS {
            return fail(format!("more than {PLOTS} quantities are plotted"));
        }
        plots.push((name.to_owned(), value));
        Ok(())
    }

    fn say(&mut self, text: &str) {
        self.call().said = Some(text.chars().take(SAID).collect());
    }

    /// Uniform in [0, 1), from the script's own seed (`SplitMix64`).
    fn random(&mut self) -> f64 {
        let mut call = self.call();
        call.random = call.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = call.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // The 53 bits of a double's mantissa.
        (z >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A number of a script: whole or not.
fn number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|i| i as f64))
}

/// Lets scripts use the interface.
pub(super) fn register(engine: &mut Engine) {
    engine
        .register_type_with_name::<Interface>("Simulation")
        .register_get("time", |s: &mut Interface| s.call().time)
        .register_get("dt", |s: &mut Interface| s.call().dt)
        .register_fn("q", Interface::position)
        .register_fn("v", Interface::velocity)
        .register_fn("tau", Interface::effort)
        .register_fn("set_target", Interface::set_target)
        .register_fn("set_target", |s: &mut Interface, name: &str, value: i64| {
            s.set_target(name, value as f64)
        })
        .register_fn("body", Interface::body)
        .register_fn("push", Interface::push)
        .register_fn("param", Interface::parameter)
        .register_fn("plot", Interface::plot)
        .register_fn("plot", |s: &mut Interface, name: &str, value: i64| s.plot(name, value as f64))
        .register_fn("say", Interface::say)
        .register_fn("say", |s: &mut Interface, value: Dynamic| s.say(&value.to_string()))
        .register_fn("random", Interface::random);
}
