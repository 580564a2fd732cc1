//! Planning while `khr1` walks: the next two steps again, and a step as the engine plans it, one at a time with its look-ahead.
//! Processor time, which must be below 2 ms for two steps on an idle machine; and instructions, which a busy one does not disturb: fails
//! where two steps take over 15.5 million.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench says so")]

#[path = "../tests/robots/mod.rs"]
mod robots;

use criterion::{BatchSize, Criterion};
use karakuri_gait::planner::{
    Footstep, Generator, Samples, Side, Timeline, TimelineStart, Velocity, WalkCommand, WalkEngine,
};
use karakuri_testkit::{CpuTime, can_count_instructions, instructions};

/// Of a plan of two steps: a tenth above what they take.
const MOST_INSTRUCTIONS: f64 = 15.5e6;

/// Walking at full speed, a step about to be planned.
fn walking() -> WalkEngine {
    let mut engine = robots::khr1();
    engine.command(WalkCommand::Velocity(Velocity { forward: 0.08, ..Velocity::default() }));
    while engine.steps() < 6 {
        engine.advance(0.01, None);
    }
    while engine.sample().index + 2 < engine.generator().next_index() {
        engine.advance(0.01, None);
    }
    engine
}

/// The next steps from where the walk is, and the samples of the first `n` of them.
fn steps(engine: &WalkEngine, n: usize) -> (Generator, Timeline, usize) {
    let generator = engine.generator().clone();
    let settings = &generator.settings;
    let velocity = Velocity { forward: 0.08, ..Velocity::default() };
    let (mut feet, start) = (engine.feet(), engine.generator().next_index());
    let left_leads = feet[0].position[0] > feet[1].position[0];
    let mut side = if left_leads { Side::Right } else { Side::Left };
    let footsteps: Vec<Footstep> = (0..n + 4)
        .map(|_| {
            let step = velocity.footstep(side, &feet[side.other().index()], settings);
            feet[side.index()] = step.to;
            side = side.other();
            step
        })
        .collect();
    let zmp = engine.sample().zmp_reference;
    let at = TimelineStart { index: start, feet: engine.feet(), zmp, from_rest: false };
    let timeline = Timeline::new(settings, &at, &footsteps, false);
    let mut end = start;
    for _ in 0..n {
        end = timeline.end_of_step(end);
    }
    let samples = usize::try_from(end - start).unwrap_or(0);
    (generator, timeline, samples)
}

fn plan(criterion: &mut Criterion<CpuTime>) {
    let engine = walking();
    for (name, n) in [("plan/next_step", 1), ("plan/next_two_steps", 2)] {
        let (generator, timeline, samples) = steps(&engine, n);
        criterion.bench_function(name, |bencher| {
            bencher.iter_batched_ref(
                || generator.clone(),
                |generator| generator.plan(&timeline, samples, &mut Samples::default()).unwrap(),
                BatchSize::SmallInput,
            );
        });
    }
    criterion.bench_function("advance/step_begins", |bencher| {
        bencher.iter_batched_ref(
            || engine.clone(),
            |engine| {
                for _ in 0..3 {
                    engine.advance(0.01, None);
                }
            },
            BatchSize::SmallInput,
        );
    });
}

/// Plans the next two steps so often.
fn plan_two_steps(times: usize) {
    let (generator, timeline, samples) = steps(&walking(), 2);
    for _ in 0..times {
        generator.clone().plan(&timeline, samples, &mut Samples::default()).unwrap();
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, times] = &args[..]
        && flag == "--times"
    {
        return plan_two_steps(times.parse().unwrap());
    }
    let mut criterion = Criterion::default().with_measurement(CpuTime).configure_from_args();
    plan(&mut criterion);
    criterion.final_summary();
    if !can_count_instructions() {
        println!("valgrind is not installed; without it no instructions are counted");
        return;
    }
    let count = |times: &str| instructions(&["--times", times]);
    let n = count("2") - count("1");
    println!("plan/next_two_steps: {:.1} million instructions", 1e-6 * n);
    assert!(n < MOST_INSTRUCTIONS, "a plan of two steps takes {n} instructions");
}
