//! Parameters of the node.

use karakuri_settings::ToolChangeParameters;

karakuri_ros::parameters! {
    /// All parameters of the node.
    pub(crate) struct Parameters [pub(crate) change: ToolChangeParameters] {
        pub(crate) tools: String = String::new(), "Path of the tools file.", read_only();
        pub(crate) changer: String = "sim/set_tool".to_owned(), "Service that couples tools and lets them go.", read_only();
    }
}
