//! `WalkEngine::advance` allocates nothing once warm: walking, pushed, turning, stopping. Every request to the heap is counted.
#![expect(clippy::unwrap_used, reason = "a test")]

mod robots;

use karakuri_gait::planner::*;
use karakuri_spatial::{UnitQuaternion, Vector3};
use karakuri_testkit::{CountingHeap, heap_requests};

use robots::khr1;

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

/// As planned, but for the trunk, which is tipped to the left now and then: steps are adjusted. Returns the requests to the heap, and how
/// far the feet were apart. [m]
fn walk(engine: &mut WalkEngine, samples: usize) -> (usize, f64) {
    let mut apart = 0.0_f64;
    let (mut q, mut v) = (engine.targets().position.clone(), engine.targets().velocity.clone());
    let before = heap_requests();
    for k in 0..samples {
        q.copy_from_slice(&engine.targets().position);
        v.copy_from_slice(&engine.targets().velocity);
        let tipped = if k % 150 < 20 { -0.12 } else { 0.0 };
        let measured = Measured {
            q: &q,
            v: &v,
            orientation: UnitQuaternion::from_euler_angles(tipped, 0.0, 0.0),
            angular_velocity: Vector3::zeros(),
            feet: None,
        };
        engine.advance(0.01, Some(&measured));
        let [left, right] = engine.feet();
        apart = apart.max(left.position[1] - right.position[1]);
    }
    (heap_requests() - before, apart)
}

#[test]
fn nothing_allocates_once_warm() {
    let forward = Velocity { forward: 0.06, ..Velocity::default() };
    let turning = Velocity { turn: 0.1, ..forward };
    let mut engine = khr1();
    // Each command allocates what it may, and each round begins from standing.
    for round in 0..2 {
        let (mut requests, mut apart) = (0, 0.0_f64);
        for command in
            [WalkCommand::Velocity(forward), WalkCommand::Velocity(turning), WalkCommand::Stop]
        {
            engine.command(command);
            let (more, widest) = walk(&mut engine, 800);
            requests += more;
            apart = apart.max(widest);
            engine.take_clips();
        }
        assert_eq!(engine.state(), WalkState::Standing);
        assert!(apart > 0.055, "no step was adjusted: {apart}");
        assert!(round == 0 || requests == 0, "{requests} requests in round {round}");
    }
}
