//! Distances, times and counts of a pick and place that no task changes, each beside the others that it must fit.

use karakuri_control::joint_trajectory::JointTolerance;
use karakuri_control::trajectory::JointTrajectory;

/// Distance from its place at which a placed object counts as slipped. [m]
// Twice what the demonstration allows a cube that was placed well: farther off it was moved on the way.
pub(super) const PLACE_TOLERANCE: f64 = 0.01;
/// Height above its place at which the object is released. [m]
// Not 0, at which errors of the arm of either sign would press the object into its support.
pub(super) const PLACE_CLEARANCE: f64 = 0.0005;
/// Finger force in free motion above which it is a collision. [N]
// Above the force with which one finger alone may push while the hand closes, 3 N.
pub(super) const COLLISION_FORCE: f64 = 5.0;
/// Error of a joint that is slow against its trajectory above which it is a collision. [rad]
const PATH_TOLERANCE: f64 = 0.04;
/// Time by which a joint may follow its trajectory late. [s]
// On a loaded computer without lockstep commands came up to 13 ms late.
const LATENESS: f64 = 0.02;
/// Distance of the hand's motion back from a collision. [m]
// More than the hand's clearance and `SAFETY_DISTANCE` together: what was touched from inside the open hand is free again.
pub(super) const BACK_UP: f64 = 0.02;
/// Distance that the robot keeps from known objects. [m]
// A quarter of the hand's clearance, so an open hand still fits over an object whose neighbour stands close.
pub(super) const SAFETY_DISTANCE: f64 = 0.003;
/// Distance from known objects at which the open hand has room about the object and about its place. [m]
// Three times what it must keep. Half and double of it were not tried.
pub(super) const ROOM: f64 = 0.01;
/// Error of a joint at its goal up to which it has arrived. [rad]
// A tenth of the path's: at its goal a joint has settled.
pub(super) const POSITION_TOLERANCE: f64 = 0.004;
/// Speed of a joint up to which it has arrived. [rad/s]
// A hand 0.5 m from the joint then moves by 10 mm/s. Half and double of it were not tried.
pub(super) const VELOCITY_TOLERANCE: f64 = 0.02;
/// Time for which the grip must be firm before the lift. [s]
// Four times `SLIP_TIME`, so a grip that is about to be lost is not lifted; a mean over it is what is weighed.
pub(super) const VERIFY_TIME: f64 = 0.2;
/// Height at which the object is weighed. [m]
// Clear of the support by more than the arm's error at rest, and little more: what slips out falls no deeper, at 0.6 m/s.
pub(super) const WEIGH_HEIGHT: f64 = 0.02;
/// Relative difference of measured and stated weight that is tolerated. [-]
// Wider than the change of a load that shows slip: a weight is stated by people, a load is compared with itself.
pub(super) const WEIGHT_TOLERANCE: f64 = 0.15;
/// Time after which a grip weaker than half is lost. [s]
// An object in free fall goes 12 mm in it; the filter of the forces lags by 4 ms.
pub(super) const SLIP_TIME: f64 = 0.05;
/// Factor by which the force grows when the object slips. [-]
pub(super) const RAISE_FACTOR: f64 = 1.3;
/// Number of harder grips before the object has `SLIPPED`.
// Together 1.3³, 2.2 times the first force.
pub(super) const REGRIPS: u32 = 3;
/// Time of one finger alone touching after which the hand moves to the middle. [s]
// Three times `SLIP_TIME`, so a finger that bounces once on the object is not taken for a missing one.
pub(super) const ONE_SIDED_TIME: f64 = 0.15;
/// Largest motion of the hand to the middle. [m]
// More than the hand's clearance: beyond that the object would have been hit from above.
pub(super) const CENTRING_REACH: f64 = 0.016;
/// Largest number of such motions in a run.
// Together 80 mm: an object that still touches one finger alone has moved along with it.
pub(super) const CENTRINGS: u32 = 5;
/// Time for which the fingers must be free before the retreat. [s]
// 25 time constants of the filter of the forces, so it is the fingers that are free, not their last reading.
pub(super) const RELEASE_TIME: f64 = 0.1;
/// Time after which a hand that is not free shakes, once. [s]
// Ten times `RELEASE_TIME`. Half and double of it were not tried.
pub(super) const RELEASE_TIMEOUT: f64 = 1.0;
/// Amplitude of the shake. [m]
// That of `SAFETY_DISTANCE`: the hand that shakes meets no neighbour.
pub(super) const SHAKE: f64 = 0.003;
/// Number of searches for an object that was not at its place.
pub(super) const RESCANS: u32 = 1;
/// Time of a search. [s]
// Some ten messages of an object's pose at 50 Hz: one that is lost or late does not matter.
pub(super) const LOOK_TIME: f64 = 0.2;
/// Distance from its expected place within which an object is found. [m]
pub(super) const LOOK_RADIUS: f64 = 0.1;
/// Time that a stage may take beyond its planned time. [s]
// Longer than all waits of a stage together, of which `RELEASE_TIMEOUT` is the longest; it ends what nothing else does.
pub(super) const STAGE_TIMEOUT: f64 = 4.0;
/// Time for which the joints must be slow until an arm that brakes is at rest. [s]
// Joints pass zero speed while they swing out.
pub(super) const REST_TIME: f64 = 0.05;
/// Gap between measurements after which the robot is lost. [s]
// That of the arm's controller, which ends its goals after the same silence.
pub(super) const ROBOT_TIMEOUT: f64 = 0.5;

/// Errors of joints against a trajectory of the arm above which it is a collision, for whoever follows it: those of slow joints, and more where a joint is fast, as commands may
/// come late.
pub fn path_tolerances(trajectory: &JointTrajectory) -> Vec<JointTolerance> {
    let fastest = |joint: usize| {
        let speeds = trajectory.points.iter().filter_map(|point| point.velocities.get(joint));
        speeds.fold(0.0, |fastest: f64, speed| fastest.max(speed.abs()))
    };
    let joints = trajectory.joints.iter().enumerate();
    joints
        .map(|(joint, name)| JointTolerance {
            name: name.clone(),
            position: PATH_TOLERANCE + LATENESS * fastest(joint),
            ..JointTolerance::default()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use karakuri_control::trajectory::TrajectoryPoint;

    use super::*;

    #[test]
    fn a_fast_joint_may_be_late() {
        let point = |velocities: &[f64]| TrajectoryPoint {
            velocities: velocities.to_vec(),
            ..TrajectoryPoint::default()
        };
        let trajectory = JointTrajectory {
            joints: ["slow", "fast"].map(str::to_owned).to_vec(),
            points: vec![point(&[0.0, 0.5]), point(&[0.0, -3.0]), point(&[])],
            ..JointTrajectory::default()
        };
        let tolerances: Vec<_> = path_tolerances(&trajectory).iter().map(|t| t.position).collect();
        assert_eq!(tolerances, [0.04, 0.1]);
    }
}
