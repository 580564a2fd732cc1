//! Parameters of changes of tools.

use karakuri_grasp::tool_change::ToolChangeSettings;

karakuri_ros::parameters! {
    /// Parameters of changes of tools.
    pub struct ToolChangeParameters {
        pub weigh: bool = ToolChangeSettings::default().weigh, "Whether the wrist must feel the weight of the tool.", read_only();
        speed: f64 = ToolChangeSettings::default().speed, "Speed of the flange between the places. [m/s]", range(0.01..=5.0);
        acceleration: f64 = ToolChangeSettings::default().acceleration, "Acceleration of the flange. [m/s²]", range(0.01..=50.0);
        lift: f64 = ToolChangeSettings::default().lift, "Height above a place at which the vertical motions begin and end. [m]", range(0.01..=1.0);
    }
}

impl ToolChangeParameters {
    /// How the arm moves.
    pub fn settings(&self) -> ToolChangeSettings {
        ToolChangeSettings {
            speed: self.speed.get(),
            acceleration: self.acceleration.get(),
            lift: self.lift.get(),
            weigh: self.weigh.get(),
        }
    }
}
