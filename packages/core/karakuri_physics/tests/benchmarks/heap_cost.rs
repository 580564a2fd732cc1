//! Cost of heaps of 50 to 5000 contacts that fall and land.

use karakuri_model::Shape;
use karakuri_physics::{BodyDescription, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};
use karakuri_testkit::{Random, cpu_seconds};

use crate::support::*;

/// Time from the drop on. [s]
const TIME: f64 = 1.0;
/// Bodies, heaps of so many, and runs of each, of which every step's fastest counts.
const SIZES: [[usize; 3]; 8] = [
    [25, 8, 4],
    [50, 8, 4],
    [100, 4, 4],
    [200, 2, 4],
    [400, 1, 4],
    [800, 1, 3],
    [1600, 1, 3],
    [1800, 1, 3],
];
/// Between neighbours before they fall. [m]
const SPACING: f64 = 0.16;
/// Largest cost of a contact over the least: the heaps' cost is linear within this. [-]
const LINEAR: f64 = 1.3;

/// As many balls as boxes, those of `pile200`, dropped into a walled square as wide as the heap is high.
fn heap(n: usize, seed: usize) -> World {
    let mut random = Random::new((n + 10_000 * seed) as u64);
    let mut world = World::new(WorldSettings::default());
    world.add_ground(0.6, 0.0);
    // 5 × 5 × 8 places for 200.
    let side = (n as f64 / 1.6).cbrt().round().max(2.0) as usize;
    let half = 0.5 * SPACING * side as f64 + 0.02;
    let height = SPACING * n.div_ceil(side * side) as f64 + 0.2;
    for (i, axis) in [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::y()].iter().enumerate() {
        let outer = Vector3::new(half + 0.1, half + 0.1, 0.5 * height);
        let size = 2.0 * (outer - outer.component_mul(&axis.abs()) + axis.abs() * 0.05);
        let place = axis * (half + 0.05) + Vector3::z() * (0.5 * height);
        let wall = BodyDescription {
            fixed: true,
            friction: 0.6,
            ..body(&format!("wall{i}"), Shape::Box { size }, 1.0, Pose::from_translation(place))
        };
        world.add_body(wall).unwrap();
    }
    for i in 0..n {
        let cell = [i % side, i / side % side, i / (side * side)].map(|k| k as f64);
        let middle = 0.5 * (side - 1) as f64;
        let p = Vector3::new(cell[0] - middle, cell[1] - middle, cell[2] + 0.62) * SPACING;
        let turn = UnitQuaternion::from_scaled_axis(random.vector(3.0));
        let (shape, mass) = if i % 2 == 0 {
            (Shape::Sphere { radius: 0.05 }, 0.5)
        } else {
            (Shape::Box { size: Vector3::new(0.1, 0.08, 0.12) }, 0.9)
        };
        let pose = Pose::from_quaternion(&turn, p + random.vector(0.005));
        let own = BodyDescription { friction: 0.6, ..body(&format!("body{i}"), shape, mass, pose) };
        world.add_body(own).unwrap();
    }
    world
}

/// What a step costs and does, on average.
#[derive(Debug, Clone, Copy)]
struct Cost {
    contacts: f64,
    /// CPU time. [µs]
    step: f64,
    iterations: f64,
    /// Part of the steps. [-]
    unsolved: f64,
    /// Deepest overlap. [m]
    deepest: f64,
}

fn cost([n, heaps, runs]: [usize; 3]) -> Cost {
    let (mut microseconds, mut steps) = (0.0, 0);
    let (mut contacts, mut iterations, mut unsolved, mut deepest) = (0, 0, 0, 0.0_f64);
    for seed in 0..heaps {
        let mut fastest = vec![f64::INFINITY; n_steps(&heap(n, seed), TIME)];
        for i in 0..runs {
            let mut world = heap(n, seed);
            for least in &mut fastest {
                let before = cpu_seconds();
                let outcome = world.step();
                *least = least.min(1e6 * (cpu_seconds() - before));
                if i > 0 {
                    continue;
                }
                assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{n}: {outcome:?}");
                unsolved += usize::from(matches!(outcome, StepOutcome::MaxIterations { .. }));
                let statistics = world.statistics();
                contacts += statistics.n_contacts;
                iterations += statistics.iterations;
                deepest = world.contacts().fold(deepest, |most, c| most.max(-c.gap));
            }
        }
        microseconds += fastest.iter().sum::<f64>();
        steps += fastest.len();
    }
    let mean = |sum: usize| sum as f64 / steps as f64;
    let step = microseconds / steps as f64;
    let (contacts, iterations, unsolved) = (mean(contacts), mean(iterations), mean(unsolved));
    Cost { contacts, step, iterations, unsolved, deepest }
}

fn show(n: usize, own: &Cost) {
    let Cost { contacts, step, iterations, unsolved, deepest } = own;
    println!(
        "8 heap of {n} bodies: {contacts:.0} contacts, {step:.0} µs a step, {:.2} µs a contact; {iterations:.1} iterations, {:.1} % of the steps unsolved, {:.2} mm deep",
        step / contacts,
        1e2 * unsolved,
        1e3 * deepest
    );
}

/// From the drop on, when all bodies hit, slide and roll, until most of them lie.
#[test]
#[ignore = "steps heaps of up to 1800 bodies, 5 min"]
fn cost_of_a_heap_is_linear() {
    let costs = SIZES.map(|size| {
        let own = cost(size);
        show(size[0], &own);
        own
    });
    plot("heap_cost", "karakuri, one thread", &costs.map(|own| (own.contacts, own.step)));
    let each = costs.iter().map(|own| own.step / own.contacts);
    let [least, largest] =
        each.fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], x| [a.min(x), b.max(x)]);
    println!("8 heaps: a contact costs {least:.2} to {largest:.2} µs");
    assert!(largest < LINEAR * least, "{largest} and {least} µs");
}
