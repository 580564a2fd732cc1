//! Parameters of the node.

use karakuri_ros::RobotParameters;
use karakuri_settings::HandParameters;

karakuri_ros::parameters! {
    /// All parameters of the node.
    pub(crate) struct Parameters [pub(crate) robot: RobotParameters, pub(crate) hand: HandParameters] {
        pub(crate) sensor_timeout: f64 = 0.2, "Age of a force reading above which no goal is taken. [s]", range(0.001..=60.0);
        pub(crate) lockstep_sources: Vec<String> = Vec::new(), "Topics of std_msgs/Header that each answer waits for in lockstep, as that of a commander, which may cancel before.", read_only();
    }
}
