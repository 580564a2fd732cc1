//! Cost of heaps of 50 to 5000 contacts that fall and land.

use karakuri_model::Shape;
use karakuri_physics::{BodyDescription, StepOutcome, World, WorldSettings};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};
use karakuri_testkit::{Random, cpu_seconds};

use crate::support::*;

/// Time from the drop on. [s]
const TIME: f64 = 1.0;
/// Bodies, and heaps of so many.
const SIZES: [[usize; 2]; 8] =
    [[25, 8], [50, 8], [100, 4], [200, 2], [400, 1], [800, 1], [1600, 1], [1800, 1]];
/// Runs of all sizes in turn, as the machine is faster at one time than at another; of every step the fastest counts.
const RUNS: usize = 4;
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

/// Steps of the heaps of one size.
#[derive(Debug, Default)]
struct Steps {
    /// Least CPU time of each over the runs. [µs]
    fastest: Vec<f64>,
    /// Sums over the steps of a run.
    contacts: usize,
    iterations: usize,
    unsolved: usize,
    /// Deepest overlap. [m]
    deepest: f64,
}

impl Steps {
    /// One run of each heap.
    fn run(&mut self, [n, heaps]: [usize; 2]) {
        let is_first = self.fastest.is_empty();
        let mut step = 0;
        for seed in 0..heaps {
            let mut world = heap(n, seed);
            for _ in 0..n_steps(&world, TIME) {
                let before = cpu_seconds();
                let outcome = world.step();
                let time = 1e6 * (cpu_seconds() - before);
                if is_first {
                    self.fastest.push(time);
                    self.note(&world, outcome);
                } else {
                    self.fastest[step] = time.min(self.fastest[step]);
                }
                step += 1;
            }
        }
    }

    fn note(&mut self, world: &World, outcome: StepOutcome) {
        assert!(!matches!(outcome, StepOutcome::NonFinite(_)), "{outcome:?}");
        self.unsolved += usize::from(matches!(outcome, StepOutcome::MaxIterations { .. }));
        let statistics = world.statistics();
        self.contacts += statistics.n_contacts;
        self.iterations += statistics.iterations;
        self.deepest = world.contacts().fold(self.deepest, |most, c| most.max(-c.gap));
    }

    /// Mean number of contacts, and mean time of a step. [µs]
    fn point(&self) -> (f64, f64) {
        (self.mean(self.contacts), self.fastest.iter().sum::<f64>() / self.fastest.len() as f64)
    }

    fn mean(&self, sum: usize) -> f64 {
        sum as f64 / self.fastest.len() as f64
    }

    /// Prints what a step costs and does, on average; time for each contact. [µs]
    fn show(&self, bodies: usize) -> f64 {
        let (contacts, step) = self.point();
        let each = step / contacts;
        println!(
            "8 heap of {bodies} bodies: {contacts:.0} contacts, {step:.0} µs a step, {each:.2} µs a contact; {:.1} iterations, {:.1} % of the steps unsolved, {:.2} mm deep",
            self.mean(self.iterations),
            1e2 * self.mean(self.unsolved),
            1e3 * self.deepest
        );
        each
    }
}

/// From the drop on, when all bodies hit, slide and roll, until most of them lie.
#[test]
#[ignore = "steps heaps of up to 1800 bodies, 3 min"]
fn cost_of_a_heap_is_linear() {
    let mut of_sizes: [Steps; SIZES.len()] = std::array::from_fn(|_| Steps::default());
    for _ in 0..RUNS {
        for (steps, size) in of_sizes.iter_mut().zip(SIZES) {
            steps.run(size);
        }
    }
    let each = std::array::from_fn::<_, { SIZES.len() }, _>(|i| of_sizes[i].show(SIZES[i][0]));
    plot("heap_cost", "karakuri, one thread", &of_sizes.each_ref().map(Steps::point));
    let [least, largest] =
        each.iter().fold([f64::INFINITY, 0.0], |[a, b]: [f64; 2], x| [a.min(*x), b.max(*x)]);
    println!("8 heaps: a contact costs {least:.2} to {largest:.2} µs");
    assert!(largest < LINEAR * least, "{largest} and {least} µs");
}
