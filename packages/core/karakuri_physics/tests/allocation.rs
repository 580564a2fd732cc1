//! A warm world steps without allocating.

mod problems;
mod worlds;

use std::sync::Arc;

use karakuri_model::{Base, Shape};
use karakuri_physics::solver::{Ladder, SOLVERS};
use karakuri_physics::{
    BodyDescription, Integrator, Owner, SolverSettings, Surface, World, WorldSettings,
};
use karakuri_spatial::{Pose, Vector3};
use karakuri_testkit::{CountingHeap, Kind, heap_requests, random_tree};

#[global_allocator]
static HEAP: CountingHeap = CountingHeap;

#[test]
fn a_warm_step_allocates_nothing() {
    let mut world = World::new(WorldSettings::default());
    world.add_ground(0.5, 0.0);
    let shapes = [
        Shape::Box { size: Vector3::repeat(0.1) },
        Shape::Sphere { radius: 0.05 },
        Shape::Cylinder { radius: 0.05, length: 0.1 },
        Shape::Capsule { radius: 0.03, length: 0.1 },
        Shape::Box { size: Vector3::new(0.3, 0.3, 0.05) },
    ];
    for (i, shape) in shapes.into_iter().enumerate() {
        let description = BodyDescription::new(
            format!("body{i}"),
            shape,
            1.0,
            Pose::from_translation(Vector3::new(0.01 * i as f64, 0.0, 0.1 + 0.12 * i as f64)),
        );
        world.add_body(description).unwrap();
    }
    let surface = Surface {
        dynamic_friction: 0.4,
        rolling: 1e-3,
        spinning: 2e-3,
        ..Surface::plain(0.5, 0.0)
    };
    let material = world.add_material("felt", surface).unwrap();
    world.set_material(Owner::Ground, material);
    for _ in 0..2000 {
        world.step();
    }
    let before = heap_requests();
    for _ in 0..200 {
        world.step();
    }
    let allocated = heap_requests() - before;
    assert!(world.statistics().n_contacts > 4, "{:?}", world.statistics());
    assert_eq!(
        allocated,
        0,
        "allocations in 200 steps with {} contacts",
        world.statistics().n_contacts
    );
}

/// Robots with limits, drives, motors and loops among bodies, all tied: steps allocate where a crowd is larger than ever, no other.
#[test]
fn a_warm_crowd_allocates_nothing() {
    for seed in 0..3 {
        let mut world = worlds::tied_crowd(seed);
        let saved = world.snapshot();
        for _ in 0..150 {
            world.step();
        }
        world.restore_states(&saved);
        let mut allocated = Vec::new();
        for step in 0..120 {
            let before = heap_requests();
            world.step();
            // The first steps after a restore are cold: what was copied has no room to spare.
            if step > 10 && heap_requests() != before {
                allocated.push(step);
            }
        }
        // The crowd goes other ways than the first time: more than ever may be near each other once.
        assert!(allocated.len() <= 2, "crowd of seed {seed}: allocations in steps {allocated:?}");
        assert!(world.statistics().n_contacts > 0, "{:?}", world.statistics());
    }
}

#[test]
fn no_integrator_allocates() {
    let model = Arc::new(random_tree(5, 8, Base::Floating, Kind::ALL));
    for integrator in Integrator::ALL {
        let mut world = World::new(WorldSettings { integrator, ..WorldSettings::default() });
        let q = model.neutral_position();
        let id = world.add_robot("robot", Arc::clone(&model), &q).unwrap();
        world.set_robot_state(id, &q, &vec![0.5; model.nv]).unwrap();
        world.step();
        let before = heap_requests();
        for _ in 0..50 {
            world.step();
        }
        assert_eq!(heap_requests() - before, 0, "allocations of {}", integrator.name());
    }
}

#[test]
fn a_warm_solver_allocates_nothing() {
    for solver in SOLVERS {
        let problem = problems::random(3, 6, 14, 0.5);
        let settings = SolverSettings {
            method: solver.name,
            iterations: solver.iterations,
            tolerance: 1e-9,
            escalate: solver.level > 0,
            ..SolverSettings::default()
        };
        let (mut p, mut ladder) = (problem.clone(), Ladder::default());
        ladder.solve(&mut p, &settings);
        p.velocity.copy_from_slice(&problem.velocity);
        p.blocks.copy_from_slice(&problem.blocks);
        let before = heap_requests();
        ladder.solve(&mut p, &settings);
        let allocated = heap_requests() - before;
        assert_eq!(allocated, 0, "allocations of {}", solver.name);
    }
}
