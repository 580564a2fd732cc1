//! Parameters of the node.

use karakuri_ros::RobotWithTool;

karakuri_ros::parameters! {
    /// All parameters of the node.
    pub(crate) struct Parameters [pub(crate) robot: RobotWithTool] {
        pub(crate) timeout: f64 = 5.0, "Wall time in which MoveIt must answer; it plans with the scene meanwhile. [s]", range(0.1..=600.0);
    }
}
