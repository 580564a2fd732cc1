//! Islands on any number of threads: the same bits, and no allocation once warm. One test, since the allocator counts
//! all threads.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

mod worlds;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use karakuri_model::Shape;
use karakuri_physics::{BodyDescription, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Motion, Pose, Vector3};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator is unsafe by its trait; it only counts and passes on")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// 25 towers of 2 to 6 boxes, pushed so that they lean on friction.
fn towers(threads: usize) -> World {
    let mut world = World::new(WorldSettings { threads, ..WorldSettings::default() });
    world.add_ground(0.6, 0.0);
    for tower in 0..25 {
        for floor in 0..2 + tower % 5 {
            let (x, y) = (0.3 * f64::from(tower % 5), 0.3 * f64::from(tower / 5));
            let position = Vector3::new(x, y, 0.05 + 0.1 * f64::from(floor));
            let description = BodyDescription {
                velocity: Motion::new(Vector3::zeros(), Vector3::x() * 0.2 * f64::from(tower % 3)),
                friction: 0.6,
                ..BodyDescription::new(
                    format!("box{tower}_{floor}"),
                    Shape::Box { size: Vector3::repeat(0.1) },
                    1.0 + f64::from(floor),
                    Pose::from_translation(position),
                )
            };
            world.add_body(description).unwrap();
        }
    }
    world
}

/// Steps all worlds, which must have the same bits; the allocations of those on several threads.
fn step_alike(serial: &mut World, others: &mut [World], step: usize) -> usize {
    let outcome = serial.step();
    assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for world in others {
        let threads = world.settings().threads;
        assert_eq!(world.step(), outcome, "step {step}, {threads} threads");
        assert_eq!(world.state_hash(), serial.state_hash(), "step {step}, {threads} threads");
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_warm_ones_allocate_nothing() {
    let mut serial = towers(1);
    let mut others = [2, 3, 4, 8].map(towers);
    for step in 0..300 {
        step_alike(&mut serial, &mut others, step);
    }
    // Boxes begin to fall, and ask for more memory than they did so far. The second time all is warm: every thread has the same islands.
    let start = serial.snapshot();
    for round in 0..2 {
        for world in others.iter_mut().chain([&mut serial]) {
            world.restore_states(&start);
        }
        for step in 300..400 {
            let allocated = step_alike(&mut serial, &mut others, step);
            assert!(round == 0 || allocated == 0, "{allocated} allocations in step {step}");
        }
    }
    assert!(serial.statistics().n_islands == 25, "{:?}", serial.statistics());
    threads_change_nothing_in_crowds();
    // A copy starts threads of its own, and a restored world keeps its own.
    let world = &mut others[2];
    let saved = world.snapshot();
    let mut copy = world.clone();
    world.step();
    world.restore(&saved);
    assert_eq!(world.step(), copy.step());
    assert_eq!(world.state_hash(), copy.state_hash());
}

/// Crowds of robots and bodies, tied to each other, side by side: islands of joints, limits, motors and loops.
fn threads_change_nothing_in_crowds() {
    for seed in 0..2 {
        let mut worlds = [1, 2, 4, 8].map(|threads| {
            let mut world = worlds::tied_crowd(seed);
            world.set_settings(WorldSettings { threads, ..*world.settings() });
            world
        });
        for step in 0..25 {
            let outcomes = worlds.each_mut().map(|world| (world.step(), world.state_hash()));
            let serial = outcomes[0];
            assert!(
                outcomes.iter().all(|t| *t == serial),
                "crowd {seed}, step {step}: {outcomes:?}"
            );
        }
    }
}
