//! Parameters of the node.

use karakuri_grasp::tool_change::ToolChangeSettings;

karakuri_ros::parameters! {
    /// All parameters of the node.
    pub(crate) struct Parameters {
        pub(crate) tools: String = String::new(), "Path of the tools file.", read_only();
        pub(crate) changer: String = "sim/set_tool".to_owned(), "Service that couples tools and lets them go.", read_only();
        pub(crate) weigh: bool = ToolChangeSettings::default().weigh, "Whether the wrist must feel the weight of the tool.", read_only();
        speed: f64 = ToolChangeSettings::default().speed, "Speed of the flange between the places. [m/s]", range(0.01..=5.0);
        acceleration: f64 = ToolChangeSettings::default().acceleration, "Acceleration of the flange. [m/s²]", range(0.01..=50.0);
        lift: f64 = ToolChangeSettings::default().lift, "Height above a place at which the vertical motions begin and end. [m]", range(0.01..=1.0);
    }
}

impl Parameters {
    pub(crate) fn settings(&self) -> ToolChangeSettings {
        ToolChangeSettings {
            speed: self.speed.get(),
            acceleration: self.acceleration.get(),
            lift: self.lift.get(),
            weigh: self.weigh.get(),
        }
    }
}
