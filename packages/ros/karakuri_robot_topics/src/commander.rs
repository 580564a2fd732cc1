//! Loss and return of a commander, in words.

use karakuri_hardware::PacingEvent;
use karakuri_ros::{info, warn};

/// Tells what happened to the commander of `robot`.
pub fn report(event: &PacingEvent, robot: &str) {
    match event {
        PacingEvent::CommandsLost { silence, .. } => warn!(
            "robot `{robot}`: no joint_command for {silence:.3} s; it holds its place, and what it grips, until the controller returns"
        ),
        PacingEvent::CommandsBack { .. } => info!("robot `{robot}`: commands are back"),
    }
}
