//! Parameters of the node.

use karakuri_hardware::PacingSettings;
use karakuri_ros::RobotFiles;

karakuri_ros::parameters! {
    /// All parameters of the node; the live ones are read again after each change.
    pub(crate) struct Parameters [pub(crate) robot: RobotFiles] {
        pub(crate) hardware: String = String::new(), "Path of a hardware file, or the name of one in `hardware_folder`, or a bus: its servos are then 1, 2, 3 ... in the order of the joints.", read_only();
        pub(crate) hardware_folder: String = "config/hardware".to_owned(), "Folder of hardware files that are named without a path.", read_only();
        pub(crate) device: String = String::new(), "Port of the bus, best one of /dev/serial/by-id; empty: the hardware file's.", read_only();
        command_timeout: f64 = 0.2, "Time without a command after which the robot holds its place, and its hand what it grips; 0 is never. [s]", range(0.0..=3600.0);
    }
}

impl Parameters {
    /// Real time: nobody is waited for.
    pub(crate) fn pacing(&self) -> PacingSettings {
        PacingSettings {
            lockstep: false,
            real_time_factor: 1.0,
            command_timeout: self.command_timeout.get(),
            lockstep_timeout: 0.0,
        }
    }
}
