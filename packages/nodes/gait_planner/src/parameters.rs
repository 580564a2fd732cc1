//! Parameters of the node.

use karakuri_settings::WalkParameters;

karakuri_ros::parameters! {
    /// All parameters but the gains.
    pub(crate) struct Parameters [pub(crate) walk: WalkParameters] {
        pub(crate) gait: String = String::new(), "Path of the gait file: the robot, and how it walks.", read_only();
        pub(crate) period: f64 = 0.002, "Time from a sample to the next, for which an answer holds. [s]", range(1e-4..=0.05), read_only();
        pub(crate) lockstep: bool = false, "Answer a sample only when its inertial reading is there too, and those of its feet: runs repeat bit by bit.";
        pub(crate) lockstep_sources: Vec<String> = Vec::new(), "Topics of std_msgs/Header that each answer waits for in lockstep, as that of a commander, which may cancel before.", read_only();
        pub(crate) frame: String = "world".to_owned(), "Frame in which the robot stood between its feet, looking along X, when it began.";
        pub(crate) state_timeout: f64 = 0.5, "Gap between two samples after which a walk is given up. [s]", range(0.001..=60.0);
        pub(crate) velocity_timeout: f64 = 0.5, "Silence of `cmd_vel` after which the robot stops. [s]", range(0.01..=60.0);
    }
}
