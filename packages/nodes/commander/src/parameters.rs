//! Parameters of the node.

karakuri_ros::parameters! {
    /// All parameters of the node.
    pub(crate) struct Parameters {
        pub(crate) scene: String = String::new(), "Path of the scene that `sim` was started with.", read_only();
        pub(crate) gait: String = String::new(), "Path of the gait file that `gait_planner` was started with; empty: the robot does not walk.", read_only();
        pub(crate) tools: String = String::new(), "Path of the tools file that `tool_changer` was started with, where `lockstep` is false; empty: the robot keeps its tool.", read_only();
        pub(crate) envelope: String = String::new(), "Path of the limits that a person has set: a file that this user cannot write, as after `chmod 0444`.", read_only();
        pub(crate) audit: String = "karakuri-audit.jsonl".to_owned(), "Path of the audit log; it goes on where it ended.", read_only();
        pub(crate) principal: String = "local".to_owned(), "Principal of the envelope as which clients of ROS are served.", read_only();
        pub(crate) lockstep: bool = true, "The nodes answer in lockstep: an act is what was rehearsed, to the bit. Without, as with a real robot, it stays in the band of all copies.", read_only();
        pub(crate) period: f64 = 0.002, "Time between two samples of the robot. [s]", range(1e-4..=1.0), read_only();
        pub(crate) view: String = String::new(), "Path of the camera whose picture function calls of language models are about; empty: none are taken.", read_only();
        pub(crate) http: String = String::new(), "Address at which clients of the Model Context Protocol are served, as 127.0.0.1:8788; loopback only, port 0 takes any that is free; empty: none.", read_only();
        pub(crate) tokens: Vec<String> = Vec::new(), "NAME=TOKEN of each principal that is let in by `http`; empty: whoever is on this machine, as `local`.", read_only();
        pub(crate) approval_time: f64 = 60.0, "For how long a person may think about the question of a client of `http`. [s]", range(1.0..=3600.0), read_only();
    }
}
