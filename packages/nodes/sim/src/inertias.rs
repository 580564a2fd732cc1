//! The service that changes masses and inertias.

use karakuri_model::BodyId;
use karakuri_physics::{ObjectId, Owner, RobotId};
use karakuri_ros::msg::karakuri_msgs::srv::SetInertia;
use karakuri_ros::{Node, RosError};
use karakuri_spatial::{Matrix3, Vector3};

use crate::answer::{at, outcome};
use crate::simulation::Sim;

/// Offers the service.
pub(crate) fn offer(node: &mut Node<Sim>) -> Result<(), RosError> {
    node.service::<SetInertia::Service>("~/set_inertia", |sim, request| {
        let (success, message) = outcome(set(sim, request));
        SetInertia::Response { success, message }
    })
}

fn set(sim: &mut Sim, request: &SetInertia::Request) -> Result<(), String> {
    let moments = match request.inertia[..] {
        [] => None,
        [xx, yy, zz, xy, xz, yz] => Some(Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)),
        _ => return Err("`inertia` needs six numbers, ixx iyy izz ixy ixz iyz, or none".to_owned()),
    };
    let center = match request.center_of_mass[..] {
        [] => None,
        [x, y, z] => Some(Vector3::new(x, y, z)),
        _ => return Err("`center_of_mass` needs three numbers, x y z, or none".to_owned()),
    };
    // A NaN is passed on, to be refused.
    let mass = (request.mass >= 0.0 || request.mass.is_nan()).then_some(request.mass);
    let change = Change { mass, moments, center };
    match sim.world()?.find_part(&request.body).map_err(at("body"))? {
        Owner::Ground => Err("the ground has no mass; name a link or an object".to_owned()),
        Owner::Body(id) => change.of_object(sim, id),
        Owner::Link { robot, frame } => {
            let model = sim.world()?.robot(robot).model();
            let frame = &model.frames[frame.0];
            let Some(body) = frame.body else {
                return Err(format!(
                    "`{}` is fixed to the world; name a link that moves",
                    frame.name
                ));
            };
            let main = &model.bodies[body.0].name;
            if *main != frame.name {
                return Err(format!("`{}` is fixed to `{main}`; name that link", frame.name));
            }
            change.of_link(sim, robot, body)
        }
    }
}

/// What is given of an inertia.
#[derive(Debug, Clone, Copy)]
struct Change {
    /// Mass. [kg]
    mass: Option<f64>,
    /// Inertia about the centre of mass. [kg·m²] (3×3)
    moments: Option<Matrix3>,
    /// Centre of mass. [m] (3)
    center: Option<Vector3>,
}

impl Change {
    fn of_object(self, sim: &mut Sim, id: ObjectId) -> Result<(), String> {
        if self.center.is_some() {
            return Err("an object's centre of mass stays; leave `center_of_mass` empty".to_owned());
        }
        let world = sim.world()?;
        let before = world.body(id).description().mass;
        if let Some(mass) = self.mass {
            world.set_mass(id, mass).map_err(|e| e.to_string())?;
        }
        let Some(moments) = self.moments else { return Ok(()) };
        world.set_inertia(id, moments).map_err(|refused| {
            // All or nothing: the mass that was good goes back, which is good, too.
            let _back = world.set_mass(id, before);
            refused.to_string()
        })
    }

    fn of_link(self, sim: &mut Sim, robot: RobotId, body: BodyId) -> Result<(), String> {
        let world = sim.world()?;
        let mut inertia = world.robot(robot).model().bodies[body.0].inertia;
        if let Some(mass) = self.mass {
            inertia = inertia.at_mass(mass);
        }
        inertia.about_com = self.moments.unwrap_or(inertia.about_com);
        inertia.com = self.center.unwrap_or(inertia.com);
        world.set_link_inertia(robot, body, inertia).map_err(|e| e.to_string())
    }
}
