//! Servo of the Springhead article, its figure 6: section 6.

use karakuri_model::FrameId;
use karakuri_physics::{
    Bushing, JointDescription, Owner, RobotId, SolverSettings, World, WorldSettings,
};
use karakuri_spatial::Pose;

use crate::support::*;

/// The scene's servos, by their stiffness.
fn servo(w: &World, K: f64) -> RobotId {
    w.find_robot(&format!("servo_{K}")).unwrap()
}

/// The angles of the table and of the implicit law itself, to 1e-9.
#[test]
fn figure_6_of_the_springhead_article() {
    let table = [
        (2.0, 1.0, [1.353456, 1.004128, 0.602086, -0.074652, -0.168531]),
        (20.0, 10.0, [1.320342, 1.062305, 0.841773, 0.519366, 0.150737]),
        (200.0, 100.0, [1.310340, 1.087226, 0.901625, 0.619591, 0.242086]),
    ];
    for (K, D, expected) in table {
        let mut w = scene("servo");
        let id = servo(&w, K);
        let mut points = vec![(0.0, joint(&w, id, "hinge"))];
        let (I, h, mut theta, mut omega): (f64, f64, f64, f64) =
            (0.25, 0.1, std::f64::consts::FRAC_PI_2, 0.0);
        for i in 1..=100 {
            step(&mut w);
            let gravity = -9.8 * 0.5 * theta.sin();
            omega = (I * omega + h * (gravity - K * theta)) / (I + h * D + h * h * K);
            theta += h * omega;
            let q = joint(&w, id, "hinge");
            if w.time() < 3.05 {
                points.push((w.time(), q));
            }
            assert!((q - theta).abs() <= 1e-9, "K = {K}, step {i}: {q} instead of {theta}");
            assert!(q.abs() <= std::f64::consts::FRAC_PI_2, "K = {K}, step {i}: {q}");
            if let Some(at) = [1, 2, 3, 5, 10].iter().position(|&n| n == i) {
                assert!((q - expected[at]).abs() <= 5e-7, "K = {K}, step {i}: {q}");
            }
        }
        plot("servo", &format!("K = {K}, D = {D}"), &points);
        assert!(joint(&w, id, "hinge").abs() < 0.05, "K = {K} decays");
    }
}

#[test]
fn any_stiffness_is_stable() {
    for exponent in 0..=9 {
        let K = 10_f64.powi(exponent);
        for D in [0.0, 0.1 * K, 10.0 * K] {
            let mut w = scene("servo");
            let id = servo(&w, 2.0);
            let drives = w.drive_mut(id);
            (drives.stiffness[0], drives.damping[0]) = (K, D);
            for _ in 0..100 {
                step(&mut w);
                let q = joint(&w, id, "hinge");
                assert!(q.abs() <= 1.0001 * std::f64::consts::FRAC_PI_2, "K = {K}, D = {D}: {q}");
            }
        }
    }
}

/// The same figure as the article has it: the servo is a row among the constraints, solved by the teaching solver.
#[test]
fn figure_6_by_rows_of_the_teaching_solver() {
    for (K, D) in [(2.0, 1.0), (20.0, 10.0), (200.0, 100.0)] {
        let mut w = scene("servo");
        let solver = SolverSettings {
            method: "projected_gauss_seidel",
            iterations: 200,
            tolerance: 1e-12,
            escalate: false,
            ..SolverSettings::default()
        };
        w.set_settings(WorldSettings { solver, ..*w.settings() });
        let id = servo(&w, K);
        let start = w.robot(id).q().to_vec();
        w.drive_mut(id).enabled[0] = false;
        // The spring about the hinge's axis rests where the pendulum hangs.
        w.set_robot_state(id, &[0.0], &[0.0]).unwrap();
        let link = w.robot(id).model().frames.iter().rposition(|f| f.body.is_some()).unwrap();
        let mut bushing = Bushing::default();
        let axis = w.robot(id).data().subspace[0].angular.iamax();
        (bushing.stiffness[axis], bushing.damping[axis]) = (K, D);
        let joint_of_row = JointDescription {
            a: Owner::Ground,
            b: Owner::Link { robot: id, frame: FrameId(link) },
            pose_in_a: Pose::IDENTITY,
            locked: [false; 6],
            bushing: Some(bushing),
            strength: None,
        };
        w.attach_joint("servo", joint_of_row).unwrap();
        w.set_robot_state(id, &start, &[0.0]).unwrap();
        let (I, h, mut theta, mut omega): (f64, f64, f64, f64) = (0.25, 0.1, start[0], 0.0);
        for i in 1..=100 {
            w.step();
            let gravity = -9.8 * 0.5 * theta.sin();
            omega = (I * omega + h * (gravity - K * theta)) / (I + h * D + h * h * K);
            theta += h * omega;
            let q = joint(&w, id, "hinge");
            assert!((q - theta).abs() <= 1e-9, "K = {K}, step {i}: {q} instead of {theta}");
        }
        assert_eq!(w.statistics().level, 0);
    }
}
