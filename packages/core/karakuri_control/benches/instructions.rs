//! Instructions a torque vector takes, counted by valgrind: a number that a busy machine does not disturb.
//!
//! Each case runs twice in a process of its own under callgrind; the difference leaves the calls alone. Fails when the scheme
//! takes more than it should: a motion less than the recursive algorithm, an update of `arm6` at most 1.5 times as much.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench says so")]

mod support;

use std::hint::black_box;
use std::process::Command;

use karakuri_control::inverse_dynamics::{Motion, method};
use karakuri_control::nodal::Nodes;
use karakuri_dynamics::{Data, rnea};
use karakuri_model::Model;
use support::{Plan, SAMPLES, robots};

const CASES: [&str; 5] = ["rnea", "recursive", "motion com", "motion point", "update nodal"];

/// Computes `rounds` times the torques of the whole motion.
fn run(case: &str, model: &Model, rounds: usize) {
    let nodes = if case == "motion point" { Nodes::Point } else { Nodes::Com };
    let plan = Plan::new(model, nodes);
    let driven = plan.scheme.mechanism.driven.clone();
    let mut data = Data::new(model);
    let mut tau = vec![0.0; model.nv];
    let mut by_method = |method_name: &str| {
        let mut method = method(method_name, model).unwrap();
        for i in 0..SAMPLES * rounds {
            let [q, v, vdot] = plan.sample(i % SAMPLES);
            method.efforts(model, &Motion { q, v, vdot, driven: &driven, external: &[] }, &mut tau);
        }
    };
    match case {
        "rnea" => {
            for i in 0..SAMPLES * rounds {
                let [q, v, vdot] = plan.sample(i % SAMPLES);
                black_box(rnea(model, &mut data, q, v, vdot, &[]));
            }
        }
        "recursive" => by_method("recursive"),
        "update nodal" => by_method("nodal"),
        _ => (0..rounds).for_each(|_| {
            black_box(plan.scheme.torques(&plan.target()).unwrap());
        }),
    }
}

/// Instructions of a process that runs the case, by callgrind's last line.
fn count(robot: &str, case: &str, rounds: usize) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--case", robot, case, &rounds.to_string()])
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find(|line| line.contains("Collected :")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, flag, robot, case, rounds] = &args[..]
        && flag == "--case"
    {
        let (_, model) = robots().into_iter().find(|(name, _)| name == robot).unwrap();
        return run(case, &model, rounds.parse().unwrap());
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("valgrind is not installed; without it nothing is counted");
        return;
    }
    println!(
        "instructions per torque vector, over rnea's, and over those of `recursive`, which closes loops"
    );
    for (robot, _) in robots() {
        let each =
            CASES.map(|case| (count(robot, case, 2) - count(robot, case, 1)) / SAMPLES as f64);
        for (case, n) in CASES.iter().zip(each) {
            println!("{robot:12} {case:16} {n:8.0} {:6.2} {:6.2}", n / each[0], n / each[1]);
        }
        let [rnea, recursive, motion, _, update] = each;
        assert!(motion < recursive, "{robot}: a motion takes more than the recursive algorithm");
        assert!(update < 1.5 * recursive, "{robot}: an update takes over 1.5 times as much");
        // A tree without loops and mimic joints: RNEA is all there is to do.
        assert!(robot != "ur5" || (motion < rnea && update < 1.5 * rnea), "{robot}: beside RNEA");
    }
}
