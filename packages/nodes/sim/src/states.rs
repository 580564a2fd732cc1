//! Published state of the world: objects, contacts, markers, statistics.

use karakuri_model::{Geometry, Shape};
use karakuri_physics::{Owner, RobotId, World};
use karakuri_ros::msg::builtin_interfaces::msg::{Duration, Time as Stamp};
use karakuri_ros::msg::geometry_msgs::msg::{Point, Vector3 as Vector3Message};
use karakuri_ros::msg::karakuri_msgs::msg::{ContactPoint, Contacts, ObjectState, ObjectStates};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_msgs::msg::{ColorRGBA, Header};
use karakuri_ros::msg::visualization_msgs::msg::{Marker, MarkerArray};
use karakuri_ros::{IntoMessage, Node, Publisher, RosError, qos};
use karakuri_simulation::SimulatedWorld;
use karakuri_spatial::Pose;

use crate::backend::Backend;

/// Length of a marker arrow per newton. [m/N]
const ARROW_SCALE: f64 = 0.005;

/// Publishers of the world's state.
#[derive(Debug)]
pub(crate) struct WorldTopics {
    objects: Publisher<ObjectStates>,
    object_markers: Publisher<MarkerArray>,
    contacts: Publisher<Contacts>,
    contact_markers: Publisher<MarkerArray>,
    spawned_joints: Publisher<JointState>,
    shown_contacts: usize,
}

impl WorldTopics {
    /// Topics in `namespace`, which does not end in a slash.
    pub(crate) fn new<S: 'static>(node: &mut Node<S>, namespace: &str) -> Result<Self, RosError> {
        let name = |topic: &str| format!("{namespace}/{topic}");
        Ok(Self {
            objects: node.publisher(&name("objects"), qos::state())?,
            object_markers: node.publisher(&name("object_markers"), qos::state())?,
            contacts: node.publisher(&name("contacts"), qos::state())?,
            contact_markers: node.publisher(&name("contact_markers"), qos::state())?,
            spawned_joints: node.publisher("~/spawned_joint_states", qos::state())?,
            shown_contacts: 0,
        })
    }

    /// Publishes a sample; robots from the `n_scene`th on were spawned.
    pub(crate) fn publish(&mut self, io: &Backend, n_scene: usize, stamp: &Stamp) {
        let Some(world) = io.world() else { return };
        let spawned = || world.robot_ids().filter(|id| id.0 >= n_scene);
        let header = Header { stamp: stamp.clone(), frame_id: "world".to_owned() };
        let mut objects = object_states(world, &header);
        objects.objects.extend(io.simulated().into_iter().flat_map(docked_tools));
        self.objects.publish(&objects);
        if self.object_markers.n_subscribers() > 0 {
            let mut markers = object_markers(world, &header);
            markers.markers.extend(spawned().flat_map(|id| robot_markers(world, id, &header)));
            self.object_markers.publish(&markers);
        }
        if spawned().next().is_some() {
            self.spawned_joints.publish(&spawned_joints(world, spawned(), &header));
        }
        let contacts = contacts(world, &header);
        if self.contact_markers.n_subscribers() > 0 {
            self.contact_markers.publish(&contact_markers(&contacts, self.shown_contacts));
            self.shown_contacts = contacts.contacts.len();
        }
        self.contacts.publish(&contacts);
    }
}

fn object_states(world: &World, header: &Header) -> ObjectStates {
    let objects = world
        .body_ids()
        .map(|id| {
            let body = world.body(id);
            let description = body.description();
            let (middle, size) = description.shape.bounds();
            let pose = body.shape_pose() * Pose::from_translation(middle);
            // The velocity is that of the centre of mass.
            let mut twist = body.velocity();
            twist.linear += twist.angular.cross(&(pose.translation - body.pose().translation));
            ObjectState {
                name: description.name.clone(),
                pose: pose.to_message(),
                twist: twist.to_message(),
                mass: description.mass,
                size: size.to_message(),
                shape: description.shape.kind().to_owned(),
            }
        })
        .collect();
    ObjectStates { header: header.clone(), objects }
}

/// Tools in the dock, as boxes: they stand in the way of arms as bodies do.
fn docked_tools(simulated: &SimulatedWorld) -> impl Iterator<Item = ObjectState> {
    simulated.docked_tools().map(|tool| ObjectState {
        name: tool.name.to_owned(),
        pose: tool.pose.to_message(),
        size: tool.size.to_message(),
        shape: "box".to_owned(),
        ..ObjectState::default()
    })
}

/// States of the joints with one degree of freedom of spawned robots, each name below its robot's.
fn spawned_joints(
    world: &World,
    robots: impl Iterator<Item = RobotId>,
    header: &Header,
) -> JointState {
    let mut message = JointState { header: header.clone(), ..JointState::default() };
    for id in robots {
        let robot = world.robot(id);
        for joint in robot.model().joints.iter().filter(|j| j.kind.single().is_some()) {
            message.name.push(format!("{}/{}", robot.name(), joint.name));
            message.position.push(robot.q()[joint.q_start]);
            message.velocity.push(robot.v()[joint.v_start]);
            message.effort.push(robot.motor_effort(joint.v_start));
        }
    }
    message
}

/// Markers of a robot's visuals; they expire soon after the robot is gone.
fn robot_markers(world: &World, id: RobotId, header: &Header) -> Vec<Marker> {
    let robot = world.robot(id);
    let shapes = robot.model().visuals.iter().enumerate();
    let marker = |(i, geometry): (usize, &Geometry)| {
        let carrier = geometry.body.map(|b| robot.data().pose_in_world[b.0]);
        let pose = carrier.unwrap_or(Pose::IDENTITY) * geometry.pose_in_body;
        let mut marker = shape_marker(&geometry.shape, geometry.color, &pose, header);
        robot.name().clone_into(&mut marker.ns);
        marker.id = i32::try_from(i).unwrap_or(i32::MAX);
        marker.lifetime = Duration { sec: 1, nanosec: 0 };
        marker
    };
    shapes.map(marker).collect()
}

fn object_markers(world: &World, header: &Header) -> MarkerArray {
    let markers = world.body_ids().map(|id| {
        let body = world.body(id);
        let description = body.description();
        let mut marker =
            shape_marker(&description.shape, description.color, &body.shape_pose(), header);
        "objects".clone_into(&mut marker.ns);
        marker.id = i32::try_from(id.0).unwrap_or(i32::MAX);
        marker
    });
    MarkerArray { markers: markers.collect() }
}

/// A shape at a pose in the world, without name.
fn shape_marker(shape: &Shape, [r, g, b, a]: [f32; 4], pose: &Pose, header: &Header) -> Marker {
    let mut marker = Marker {
        header: header.clone(),
        type_: marker_type(shape),
        pose: pose.to_message(),
        scale: shape.bounds().1.to_message(),
        color: ColorRGBA { r, g, b, a },
        ..Marker::default()
    };
    if let Shape::Mesh(mesh) = shape {
        marker.scale = Vector3Message { x: 1.0, y: 1.0, z: 1.0 };
        let corners = mesh.triangles.iter().flatten().map(|&i| mesh.vertices[i as usize]);
        marker.points = corners.map(|[x, y, z]| Point { x, y, z }).collect();
    }
    marker
}

/// The marker type nearest to a shape; a capsule is shown as a cylinder.
fn marker_type(shape: &Shape) -> i32 {
    match shape {
        Shape::Box { .. } => 1,
        // An ellipsoid is a sphere with a scale of its own along each axis.
        Shape::Sphere { .. } | Shape::Ellipsoid { .. } => 2,
        Shape::Cylinder { .. } | Shape::Capsule { .. } => 3,
        Shape::Mesh(_) => 11,
    }
}

fn contacts(world: &World, header: &Header) -> Contacts {
    let contacts = world
        .contacts()
        .map(|c| ContactPoint {
            body_a: owner_name(world, c.a),
            body_b: owner_name(world, c.b),
            position: c.position.to_message(),
            normal: c.normal.to_message(),
            force: c.force.to_message(),
            depth: -c.gap,
        })
        .collect();
    Contacts { header: header.clone(), contacts }
}

fn owner_name(world: &World, owner: Owner) -> String {
    match owner {
        Owner::Link { robot, frame } => {
            let robot = world.robot(robot);
            format!("{}/{}", robot.name(), robot.model().frames[frame.0].name)
        }
        Owner::Body(id) => world.body(id).description().name.clone(),
        Owner::Ground => "ground".to_owned(),
    }
}

/// Markers of the contact forces, an arrow each; arrows of contacts that are gone are deleted.
fn contact_markers(contacts: &Contacts, shown_before: usize) -> MarkerArray {
    let marker = |id: usize| Marker {
        header: contacts.header.clone(),
        ns: "contacts".to_owned(),
        id: i32::try_from(id).unwrap_or(i32::MAX),
        ..Marker::default()
    };
    let arrow = |(id, contact): (usize, &ContactPoint)| {
        let (p, f) = (&contact.position, &contact.force);
        let tip = Point {
            x: p.x + ARROW_SCALE * f.x,
            y: p.y + ARROW_SCALE * f.y,
            z: p.z + ARROW_SCALE * f.z,
        };
        Marker {
            points: vec![p.clone(), tip],
            scale: Vector3Message { x: 0.004, y: 0.008, z: 0.0 },
            color: ColorRGBA { r: 0.9, g: 0.2, b: 0.1, a: 1.0 },
            ..marker(id)
        }
    };
    let mut markers: Vec<Marker> = contacts.contacts.iter().enumerate().map(arrow).collect();
    markers.extend((markers.len()..shown_before).map(|id| Marker { action: 2, ..marker(id) }));
    MarkerArray { markers }
}
