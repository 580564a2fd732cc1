//! Parameters of a robot that walks, beside the gains of its stabiliser.

use karakuri_gait::planner::WalkerSettings;

karakuri_ros::parameters! {
    /// Parameters of a robot that walks.
    pub struct WalkParameters {
        pub use_imu: bool = true, "Follow the robot's inertial sensor; without, it walks without stabiliser.", read_only();
        start_tolerance: f64 = WalkerSettings::default().start_tolerance, "Distance of every joint from the gait's standing posture up to which it is taken over. [rad or m]", range(0.0..=10.0);
        following_tolerance: f64 = WalkerSettings::default().following_tolerance, "Distance of a joint from its target beyond which, for 0.5 s in all, a walk is given up; 0 is not checked. [rad or m]", range(0.0..=10.0);
    }
}

impl WalkParameters {
    /// Tolerances of the robot's joints.
    pub fn walker(&self) -> WalkerSettings {
        WalkerSettings {
            start_tolerance: self.start_tolerance.get(),
            following_tolerance: self.following_tolerance.get(),
        }
    }
}
