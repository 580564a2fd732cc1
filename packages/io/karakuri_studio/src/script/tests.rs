use karakuri_physics::{World, WorldSettings};

use super::*;

fn run(text: &str, steps: usize) -> Scripts {
    let (name, text) = ("wave".to_owned(), text.to_owned());
    let mut scripts = Scripts::new([(&name, &text)].into_iter());
    let mut world = World::new(WorldSettings::default());
    scripts.start(&mut world);
    for _ in 0..steps {
        scripts.step(&mut world);
        world.step();
    }
    scripts
}

#[test]
fn a_script_remembers_and_plots() {
    let text = "fn start(s) { this.n = 0; }\nfn step(s) { this.n += 1; s.plot(\"n\", this.n); s.plot(\"t\", s.time); }";
    let scripts = run(text, 10);
    assert_eq!(scripts.states()[0].error, "");
    let plots: Vec<(&str, f64)> = scripts.plots().collect();
    assert_eq!(plots[0], ("n", 10.0));
    assert!(plots[1].0 == "t" && (plots[1].1 - 0.009).abs() < 1e-12, "{plots:?}");
}

#[test]
fn random_numbers_are_repeatable() {
    let text = "fn step(s) { s.plot(\"x\", s.random()); }";
    let last = |n| run(text, n).plots().next().map(|(_, x)| x).unwrap();
    assert_eq!(last(5).to_bits(), last(5).to_bits());
    assert_ne!(last(5).to_bits(), last(6).to_bits());
    assert!((0.0..1.0).contains(&last(5)));
}

#[test]
fn what_is_wrong_stops_the_script_with_its_line() {
    let cases = [
        ("fn step(s) {\n  loop { }\n}", 2, "more than 100000 operations"),
        ("fn step(s) {\n  f(1);\n}\nfn f(x) {\n  f(x)\n}", 5, "more than 32 deep"),
        ("fn step(s) {\n  let a = \"x\";\n  for i in 0..40 { a += a; }\n}", 3, "too large"),
        ("fn step(s) {\n  let a = [];\n  loop { a.push(a); }\n}", 3, ""),
        ("fn step(s) {\n\n  s.q(\"elbow\");\n}", 3, "there is no joint `elbow`"),
        ("fn step(s) {\n  s.plot(\"x\", y);\n}", 2, "Variable not found: y"),
        ("fn step(s) {\n  eval(\"1\");\n}", 2, "eval"),
        ("fn step(s) {\n  if {\n}", 2, ""),
    ];
    for (text, line, says) in cases {
        let state = run(text, 3).states().remove(0);
        assert!(!state.error.is_empty() && state.error.contains(says), "{text}: {}", state.error);
        assert_eq!(state.line, line, "{text}: {}", state.error);
    }
}

#[test]
fn nothing_outside_is_within_reach() {
    for text in
        ["import \"x\" as x;", "fn step(s) { open(\"/etc/passwd\") }", "fn step(s) { timestamp() }"]
    {
        let stopped = problem(text).is_some() || !run(text, 1).states()[0].error.is_empty();
        assert!(stopped, "{text}");
    }
}
