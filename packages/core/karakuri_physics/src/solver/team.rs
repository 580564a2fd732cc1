//! Distribution of islands over threads.
//!
//! The calling thread solves the first islands in place. Every other thread has a problem of its own, with its own
//! scratch: its islands are copied there, solved, and their velocities and impulses copied back. An island's arithmetic
//! is the same wherever it is solved, so the bits do not depend on the number of threads, nor on who was first.
//! Which islands go together depends on their sizes only. Nothing is allocated once warm.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use super::ladder::{Ladder, solver};
use super::method::{Solution, SolverSettings};
use super::problem::{Block, Problem, Run};

/// Numbers in `J` from which more than one thread pays: about a hundred contacts of two bodies.
const WORTHWHILE: usize = 4000;

/// Threads that solve islands. No state: a copy starts its own when it needs them.
#[derive(Debug, Default)]
pub(crate) struct Team {
    seats: Vec<Seat>,
    /// Ends of the shares in the islands, ascending.
    ends: Vec<usize>,
    /// Solvers of the calling thread.
    ladder: Ladder,
}

impl Clone for Team {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// A thread and what it shares with the caller.
#[derive(Debug)]
struct Seat {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Desk {
    share: Mutex<Share>,
    turn: Condvar,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum State {
    #[default]
    Idle,
    Given,
    Dismissed,
}

/// Some of the islands, as a problem of their own.
#[derive(Debug, Default)]
struct Share {
    state: State,
    settings: SolverSettings,
    problem: Problem,
    ladder: Ladder,
    solution: Solution,
    /// The runs that its blocks touch, one after the other, ascending.
    origins: Vec<Origin>,
}

/// Place of a run of a share in the whole problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    /// First entry in the whole velocity.
    start: usize,
    len: usize,
    /// First entry in the share's velocity.
    here: usize,
}

impl Team {
    /// [`Ladder::solve`] on up to `threads` threads: the same bits.
    pub(crate) fn solve(
        &mut self,
        problem: &mut Problem,
        settings: &SolverSettings,
        threads: usize,
    ) -> Solution {
        let Some(asked) = solver(settings.method) else { return Solution::default() };
        problem.rows_of_step = problem.blocks.iter().map(Block::rows).sum();
        self.divide(problem, threads);
        // Threads pay from some islands on; the same solver runs either way.
        if self.ends.len() < 2 {
            return self.ladder.solve(problem, settings);
        }
        self.hire();
        // Given out before the caller begins: all work at the same time.
        for (i, seat) in self.seats.iter().enumerate().take(self.ends.len() - 1) {
            seat.give(problem, self.ends[i]..self.ends[i + 1], settings);
        }
        problem.save_free_velocity();
        let mut worst = self.ladder.solve_islands(problem, 0..self.ends[0], asked, settings);
        // Taken back in the order of the shares, so the worst solution is the same whoever was first.
        for i in 0..self.ends.len() - 1 {
            let islands = self.ends[i]..self.ends[i + 1];
            let taken = self.seats.get(i).and_then(|seat| seat.take(problem, islands.clone()));
            // Where there is no thread, or it fell, the caller does its work.
            let solution = taken
                .unwrap_or_else(|| self.ladder.solve_islands(problem, islands, asked, settings));
            worst = worst.max(solution);
        }
        // A poisoned lock is that of a thread that panicked: it gets no more work.
        self.seats.retain(|seat| !seat.desk.share.is_poisoned());
        worst
    }

    /// Cuts the islands into runs of about the same size, one a thread.
    fn divide(&mut self, problem: &Problem, threads: usize) {
        self.ends.clear();
        // By the length of `J`, which is the cost of an iteration, whatever the method.
        let total = problem.jacobian.len();
        if threads < 2 || total < WORTHWHILE {
            return;
        }
        let (mut done, mut first) = (0, 0);
        for (i, &end) in problem.island_ends.iter().enumerate() {
            let sides =
                problem.blocks[first..end].iter().flat_map(|b| b.sides.map(|s| s.len * b.rows()));
            done += sides.sum::<usize>();
            first = end;
            let last = i + 1 == problem.island_ends.len();
            // An island is never cut: its arithmetic is sequential.
            if last || done * threads >= total * (self.ends.len() + 1) {
                self.ends.push(i + 1);
            }
        }
    }

    /// Starts the threads that are missing; a system that gives none leaves the work to the caller.
    fn hire(&mut self) {
        // The caller is one of the threads.
        while self.seats.len() + 1 < self.ends.len() {
            let desk = Arc::new(Desk::default());
            let theirs = Arc::clone(&desk);
            let work = move || theirs.work();
            let builder = std::thread::Builder::new().name("karakuri_islands".to_owned());
            let Ok(thread) = builder.spawn(work) else { return };
            self.seats.push(Seat { desk, thread: Some(thread) });
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Ok(mut share) = self.desk.share.lock() {
            share.state = State::Dismissed;
        }
        self.desk.turn.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that fell has printed why, and its work was done again.
            thread.join().ok();
        }
    }
}

impl Seat {
    fn give(&self, problem: &Problem, islands: Range<usize>, settings: &SolverSettings) {
        let Ok(mut share) = self.desk.share.lock() else { return };
        share.settings = *settings;
        share.copy_in(problem, islands);
        share.state = State::Given;
        drop(share);
        self.desk.turn.notify_all();
    }

    /// Waits for the thread and takes its solution; none if it fell.
    fn take(&self, problem: &mut Problem, islands: Range<usize>) -> Option<Solution> {
        let share = self.desk.wait(State::Idle)?;
        share.copy_out(problem, islands);
        Some(share.solution)
    }
}

impl Desk {
    /// The share, when it is in a state other than the one that belongs to the other side.
    fn wait(&self, awaited: State) -> Option<MutexGuard<'_, Share>> {
        let mut share = self.share.lock().ok()?;
        // A spurious wake-up, or one meant for the other side, goes back to waiting.
        while share.state != awaited && share.state != State::Dismissed {
            share = self.turn.wait(share).ok()?;
        }
        Some(share)
    }

    fn work(&self) {
        while let Some(mut share) = self.wait(State::Given)
            && share.state != State::Dismissed
        {
            let share = &mut *share;
            // Under the lock: until the state changes the caller looks at nothing here.
            share.solution = share.ladder.solve(&mut share.problem, &share.settings);
            share.state = State::Idle;
            self.turn.notify_all();
        }
    }
}

/// Blocks of some islands.
fn blocks_of(problem: &Problem, islands: &Range<usize>) -> Range<usize> {
    let end = |island: usize| if island == 0 { 0 } else { problem.island_ends[island - 1] };
    end(islands.start)..end(islands.end)
}

impl Share {
    fn copy_in(&mut self, from: &Problem, islands: Range<usize>) {
        let to = &mut self.problem;
        let blocks = &from.blocks[blocks_of(from, &islands)];
        self.origins.clear();
        let sides = blocks.iter().flat_map(|b| b.sides).filter(|s| s.len > 0);
        self.origins.extend(sides.map(|s| Origin { start: s.start, len: s.len, here: 0 }));
        // Sorted by start, as `runs` of a problem are.
        self.origins.sort_unstable();
        self.origins.dedup();
        to.velocity.clear();
        to.start_velocity.clear();
        to.is_driven.clear();
        to.rows_of_step = from.rows_of_step;
        let of_robots = self.origins.iter().filter(|origin| origin.start < from.first_of_bodies);
        to.first_of_bodies = of_robots.map(|origin| origin.len).sum();
        to.runs.clear();
        to.inertia.clear();
        for origin in &mut self.origins {
            let Origin { start, len, .. } = *origin;
            origin.here = to.velocity.len();
            to.velocity.extend_from_slice(&from.velocity[start..start + len]);
            let at_start = from.start_velocity.get(start..start + len);
            to.start_velocity.extend_from_slice(at_start.unwrap_or_default());
            let is_driven = from.is_driven.get(start..start + len);
            to.is_driven.extend_from_slice(is_driven.unwrap_or_default());
            if let Ok(at) = from.runs.binary_search_by_key(&start, |run| run.start) {
                let whole = from.runs[at].offset;
                to.runs.push(Run { start: origin.here, len, offset: to.inertia.len() });
                to.inertia.extend_from_slice(&from.inertia[whole..whole + len * len]);
            }
        }
        to.jacobian.clear();
        to.response.clear();
        to.blocks.clear();
        for block in blocks {
            let mut block = *block;
            let rows = block.rows();
            for side in block.sides.iter_mut().filter(|s| s.len > 0) {
                let matrix = side.offset..side.offset + rows * side.len;
                side.offset = to.jacobian.len();
                to.jacobian.extend_from_slice(&from.jacobian[matrix.clone()]);
                to.response.extend_from_slice(&from.response[matrix]);
                let run = self.origins.partition_point(|run| run.start < side.start);
                side.start = self.origins[run].here;
            }
            to.blocks.push(block);
        }
        let first = blocks_of(from, &islands).start;
        to.island_ends.clear();
        to.island_ends.extend(from.island_ends[islands].iter().map(|end| end - first));
    }

    fn copy_out(&self, to: &mut Problem, islands: Range<usize>) {
        let blocks = blocks_of(to, &islands);
        for (theirs, own) in to.blocks[blocks].iter_mut().zip(&self.problem.blocks) {
            (theirs.impulse, theirs.unsettled) = (own.impulse, own.unsettled);
        }
        for &Origin { start, len, here } in &self.origins {
            to.velocity[start..start + len]
                .copy_from_slice(&self.problem.velocity[here..here + len]);
        }
    }
}
