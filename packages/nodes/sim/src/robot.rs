//! Topics of one robot.

use karakuri_hardware::RobotLayout;
use karakuri_model::{ATMOSPHERE, Base, Frame, FrameId, JointKind, Model};
use karakuri_robot_topics::{JointTopics, ODOM, transform};
use karakuri_ros::msg::builtin_interfaces::msg::Time as Stamp;
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::nav_msgs::msg::Odometry;
use karakuri_ros::msg::sensor_msgs::msg::{FluidPressure, Imu, JointState};
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::msg::tf2_msgs::msg::TFMessage;
use karakuri_ros::{IntoMessage, Node, Publisher, RosError, qos};
use karakuri_spatial::Motion;

use crate::backend::Backend;

/// Publishers and buffers of a robot.
#[derive(Debug)]
pub(crate) struct RobotTopics {
    /// Prefix of its topics.
    prefix: String,
    pub(crate) joints: JointTopics,
    sensors: SensorTopics,
    motors: Option<(Publisher<JointState>, JointState)>,
    odometry: Option<Publisher<Odometry>>,
    /// Links on joints that `joint_states` cannot express: balls, paths and the like.
    carried: Vec<FrameId>,
    transforms: Option<Publisher<TFMessage>>,
}

/// Publishers and messages of a robot's sensors.
#[derive(Debug, Default)]
struct SensorTopics {
    wrenches: Vec<(Publisher<WrenchStamped>, WrenchStamped)>,
    imus: Vec<(Publisher<Imu>, Imu)>,
    pressures: Vec<(Publisher<FluidPressure>, FluidPressure)>,
}

/// Links on joints of several degrees of freedom, or of a kind that no URDF has.
fn carried_otherwise(model: &Model) -> Vec<FrameId> {
    let frames = model.frames.iter().enumerate();
    let otherwise = |(i, frame): (usize, &Frame)| {
        let joint = model.joint(&frame.parent.as_ref()?.joint)?;
        let kind = &model.joints[joint.0].kind;
        let plain = matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
        (!plain).then_some(FrameId(i))
    };
    frames.filter_map(otherwise).collect()
}

/// Row-major covariance matrix with equal variances on its diagonal. (3×3)
fn diagonal(variance: f64) -> Vec<f64> {
    (0..9).map(|i| if i % 4 == 0 { variance } else { 0.0 }).collect()
}

/// Header with the link as its frame.
fn header(link: &str) -> Header {
    Header { frame_id: link.to_owned(), ..Header::default() }
}

impl SensorTopics {
    fn new<S: 'static>(
        node: &mut Node<S>,
        joints: &JointTopics,
        prefix: &str,
    ) -> Result<Self, RosError> {
        let layout = joints.layout();
        let header = |link: &str| header(&joints.frame(link));
        let mut wrenches = Vec::new();
        for sensor in &layout.wrenches {
            let publisher =
                node.publisher(&format!("{prefix}wrench/{}", sensor.name), qos::state())?;
            wrenches.push((
                publisher,
                WrenchStamped { header: header(&sensor.link), ..WrenchStamped::default() },
            ));
        }
        let mut imus = Vec::new();
        for sensor in &layout.imus {
            let publisher =
                node.publisher(&format!("{prefix}imu/{}", sensor.name), qos::state())?;
            imus.push((publisher, Imu { header: header(&sensor.link), ..Imu::default() }));
        }
        let mut pressures = Vec::new();
        for cup in &layout.cups {
            let message = FluidPressure { header: header(&cup.link), ..FluidPressure::default() };
            let topic = format!("{prefix}pressure/{}", cup.name);
            pressures.push((node.publisher(&topic, qos::state())?, message));
        }
        Ok(Self { wrenches, imus, pressures })
    }
}

impl RobotTopics {
    /// Topics below `prefix` (empty, or the robot's name and a slash); its frames are below it, too, after the node's own
    /// `frame_prefix`.
    pub(crate) fn new<S: 'static>(
        node: &mut Node<S>,
        layout: RobotLayout,
        prefix: &str,
        frame_prefix: &str,
    ) -> Result<Self, RosError> {
        let joints = JointTopics::new(node, layout, prefix, frame_prefix)?;
        let sensors = SensorTopics::new(node, &joints, prefix)?;
        let layout = joints.layout();
        let floating = matches!(layout.model.base, Base::Floating);
        let odometry =
            floating.then(|| node.publisher(&format!("{prefix}odom"), qos::state())).transpose()?;
        let carried = carried_otherwise(&layout.model);
        Ok(Self {
            prefix: prefix.to_owned(),
            sensors,
            motors: None,
            odometry,
            transforms: (floating || !carried.is_empty())
                .then(|| node.publisher("/tf", qos::state()))
                .transpose()?,
            carried,
            joints,
        })
    }

    /// Adds `motor_states`, if there are motors.
    pub(crate) fn with_motors<S: 'static>(
        mut self,
        node: &mut Node<S>,
        names: Vec<String>,
    ) -> Result<Self, RosError> {
        if !names.is_empty() {
            let topic = format!("{}motor_states", self.prefix);
            let publisher = node.publisher(&topic, qos::state())?;
            self.motors = Some((publisher, JointState { name: names, ..JointState::default() }));
        }
        Ok(self)
    }

    /// Publishes the motors: position and velocity of their joints, and each one's own effort.
    fn publish_motors(&mut self, io: &Backend, stamp: &Stamp) {
        let Some((publisher, message)) = &mut self.motors else { return };
        let Some(world) = io.world() else { return };
        let Some(id) = world.find_robot(&self.joints.layout().name) else { return };
        message.header.stamp = stamp.clone();
        for values in [&mut message.position, &mut message.velocity, &mut message.effort] {
            values.clear();
        }
        let robot = world.robot(id);
        for (motor, report) in world.motors(id) {
            let joint = &self.joints.layout().model.joints[motor.joint.0];
            message.position.push(robot.q()[joint.q_start]);
            message.velocity.push(robot.v()[joint.v_start]);
            message.effort.push(report.effort);
        }
        publisher.publish(message);
    }

    /// Name of the robot.
    pub(crate) fn name(&self) -> &str {
        &self.joints.layout().name
    }

    /// Keeps the topics for a robot of the same layout that took the place of one that is gone.
    pub(crate) fn take_over(&mut self, layout: RobotLayout) {
        self.carried = carried_otherwise(&layout.model);
        self.joints.set_layout(layout);
    }

    /// Goes on with another layout of the robot, with other joints beyond the arm and other sensors, which have no topics until
    /// [`Self::offer_sensors`].
    pub(crate) fn exchange(&mut self, layout: RobotLayout) {
        self.take_over(layout);
        self.sensors = SensorTopics::default();
    }

    /// Offers the topics of the present sensors.
    pub(crate) fn offer_sensors<S: 'static>(&mut self, node: &mut Node<S>) -> Result<(), RosError> {
        self.sensors = SensorTopics::new(node, &self.joints, &self.prefix)?;
        Ok(())
    }

    /// Prefix of its topics: empty, or its name and a slash.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Reads the present sample and publishes it, the joints last.
    pub(crate) fn publish(&mut self, io: &Backend, index: usize, stamp: &Stamp) {
        self.joints.read(io, index);
        let (state, layout) = (self.joints.state(), self.joints.layout());
        for ((publisher, message), wrench) in self.sensors.wrenches.iter_mut().zip(&state.wrenches)
        {
            message.header.stamp = stamp.clone();
            message.wrench = wrench.to_message();
            publisher.publish(message);
        }
        let dt = io.world().map(|world| world.settings().dt);
        let sensors = state.imus.iter().zip(&layout.imus);
        for ((publisher, message), (imu, sensor)) in self.sensors.imus.iter_mut().zip(sensors) {
            if let (Some(noise), Some(dt)) = (layout.model.sensors[sensor.index].noise, dt) {
                message.orientation_covariance = diagonal(noise.orientation.variance(dt));
                message.angular_velocity_covariance = diagonal(noise.angular.variance(dt));
                message.linear_acceleration_covariance = diagonal(noise.linear.variance(dt));
            }
            message.header.stamp = stamp.clone();
            message.orientation = imu.orientation.to_message();
            message.angular_velocity = imu.angular_velocity.to_message();
            message.linear_acceleration = imu.linear_acceleration.to_message();
            publisher.publish(message);
        }
        for ((publisher, message), vacuum) in self.sensors.pressures.iter_mut().zip(&state.vacuums)
        {
            message.header.stamp = stamp.clone();
            message.fluid_pressure = ATMOSPHERE - vacuum;
            publisher.publish(message);
        }
        self.publish_motors(io, stamp);
        self.joints.publish(stamp);
    }

    /// Publishes the ground truth of a floating base: pose in [`ODOM`], velocity in the root link's axes.
    pub(crate) fn publish_odometry(&self, stamp: &Stamp) {
        let (Some(publisher), Some((pose, velocity))) = (&self.odometry, &self.joints.state().base)
        else {
            return;
        };
        let mut message = Odometry {
            header: Header { stamp: stamp.clone(), frame_id: self.joints.frame(ODOM) },
            child_frame_id: self.joints.frame(&self.joints.layout().model.frames[0].name),
            ..Odometry::default()
        };
        message.pose.pose = pose.to_message();
        let rotation = pose.rotation;
        let in_link =
            Motion::new(rotation.tr_mul(&velocity.angular), rotation.tr_mul(&velocity.linear));
        message.twist.twist = in_link.to_message();
        publisher.publish(&message);
    }

    /// Publishes the pose of a floating root link, and of the links whose joints are not in `joint_states`.
    pub(crate) fn publish_transforms(&self, io: &Backend, stamp: &Stamp) {
        let Some(publisher) = &self.transforms else { return };
        let joints = &self.joints;
        let model = &joints.layout().model;
        let base = joints.state().base.as_ref();
        let (odom, root) = (joints.frame(ODOM), joints.frame(&model.frames[0].name));
        let base = base.map(|(pose, _)| transform(stamp, &odom, &root, pose));
        let mut transforms: Vec<_> = base.into_iter().collect();
        let robot =
            io.world().and_then(|w| Some(w.robot(w.find_robot(&self.joints.layout().name)?)));
        if let Some(robot) = robot {
            let place = |frame: &Frame| match frame.body {
                Some(body) => robot.data().pose_in_world[body.0] * frame.pose_in_body,
                None => frame.pose_in_body,
            };
            transforms.extend(self.carried.iter().filter_map(|id| {
                let child = &model.frames[id.0];
                let parent = &model.frames[child.parent.as_ref()?.frame.0];
                let pose = place(parent).inverse() * place(child);
                Some(transform(
                    stamp,
                    &joints.frame(&parent.name),
                    &joints.frame(&child.name),
                    &pose,
                ))
            }));
        }
        publisher.publish(&TFMessage { transforms });
    }
}
