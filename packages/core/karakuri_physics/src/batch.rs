//! Many copies of one world, gone through together over the cores: parameter studies, controller tuning, what-if.
//!
//! Every copy is a world of its own on one thread at a time, taken from a queue by whoever is free; results come in the
//! order of the copies. So each copy's bits are those of the same world stepped alone, on any number of threads.

use std::sync::Mutex;

use crate::{StepOutcome, World, WorldSettings};

/// Copies of a world and the number of threads to share them.
///
/// ```
/// use karakuri_physics::{Batch, World, WorldSettings};
/// use karakuri_spatial::Vector3;
///
/// let world = World::new(WorldSettings::default());
/// let mut batch = Batch::new(&world, 3, 2);
/// for (i, world) in batch.worlds_mut().iter_mut().enumerate() {
///     let gravity = Vector3::z() * -(i as f64);
///     world.set_settings(WorldSettings { gravity, ..*world.settings() });
/// }
/// let times = batch.run(|_, world| {
///     for _ in 0..10 {
///         world.step();
///     }
///     world.time()
/// });
/// assert_eq!(times, [0.01; 3]);
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    worlds: Vec<World>,
    threads: usize,
}

impl Batch {
    /// `copies` of a world on `threads` threads, the caller's among them. Islands of a copy are solved on its thread.
    pub fn new(world: &World, copies: usize, threads: usize) -> Self {
        let mut one = world.clone();
        // The copies fill the cores already; with one thread each, a copy's bits are also those of the world alone.
        one.set_settings(WorldSettings { threads: 1, ..*world.settings() });
        Self { worlds: vec![one; copies], threads }
    }

    /// All copies of the world.
    pub fn worlds(&self) -> &[World] {
        &self.worlds
    }

    /// All copies of the world, to be changed one by one.
    pub fn worlds_mut(&mut self) -> &mut [World] {
        &mut self.worlds
    }

    /// Advances every copy by one time step. For many steps, [`Self::run`] starts its threads once.
    pub fn step(&mut self) -> Vec<StepOutcome> {
        self.run(|_, world| world.step())
    }

    /// Calls `f` with every copy and its index; results in the order of the copies.
    ///
    /// # Panics
    /// When `f` does.
    pub fn run<T: Send>(&mut self, f: impl Fn(usize, &mut World) -> T + Sync) -> Vec<T> {
        // The caller's thread works too, and a thread without a copy would only be started.
        let helpers = self.threads.min(self.worlds.len()).saturating_sub(1);
        let mut results: Vec<Option<T>> = self.worlds.iter().map(|_| None).collect();
        let queue = Mutex::new(self.worlds.iter_mut().zip(&mut results).enumerate());
        // The lock is held while the next copy is taken, not while it is worked on.
        let next = || queue.lock().ok()?.next();
        let work = || {
            while let Some((i, (world, result))) = next() {
                *result = Some(f(i, world));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                let builder = std::thread::Builder::new().name("karakuri_batch".to_owned());
                // A system that gives no thread leaves the copies to those there are.
                if builder.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        results.into_iter().flatten().collect()
    }
}
