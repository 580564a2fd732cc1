//! Friction laws, section 4.

use karakuri_physics::{Integrator, ObjectId, Owner, World};
use karakuri_spatial::{Motion, Vector3};

use crate::support::*;

const G: f64 = 9.81;
/// Friction coefficients, as parts of the least that holds.
const AROUND_THE_LIMIT: [f64; 8] = [0.6, 0.8, 0.95, 0.99, 1.01, 1.05, 1.25, 1.6];

/// A low box on the ground, pair friction `mu`, with gravity at a slope.
fn on_ground(dt: f64, mu: f64, slope: f64) -> (World, ObjectId) {
    let mut w = world(dt, [G * slope.sin(), 0.0, -G * slope.cos()], Integrator::Default);
    w.add_ground(mu, 0.0);
    let mut block = cuboid("block", [0.2, 0.2, 0.05], 2.0, at(0.0, 0.0, 0.025));
    block.friction = mu;
    let id = w.add_body(block).unwrap();
    (w, id)
}

#[test]
fn the_cone_is_round() {
    let mut w = scene("friction_cone");
    let starts: Vec<_> = w.body_ids().map(|id| (id, w.body(id).pose().translation)).collect();
    run(&mut w, 0.3);
    let mut lines = [Vec::new(), Vec::new()];
    for (id, start) in starts {
        let name = w.body(id).description().name.clone();
        let (what, azimuth) = name.split_once('_').unwrap();
        let azimuth: f64 = azimuth.parse().unwrap();
        let angle = azimuth.to_radians();
        let moved = (w.body(id).pose().translation - start).xy();
        lines[usize::from(what == "slides")].push((azimuth, moved.norm()));
        if what == "slides" {
            let off = moved.y.atan2(moved.x) - angle;
            let expected = 0.5 * 0.001 * 0.5 * G * 0.3 * 0.3;
            assert!(off.abs() < 0.05_f64.to_radians(), "{azimuth}°: turned by {off} rad");
            assert!((moved.norm() / expected - 1.0).abs() < 0.05, "{azimuth}°: {moved}");
        } else {
            assert!(moved.norm() < 1e-8, "{azimuth}°: creeps by {} m", moved.norm());
        }
    }
    for (line, points) in ["pushed with 0.999 μmg", "pushed with 1.001 μmg"].into_iter().zip(lines)
    {
        plot("friction_cone", line, &points);
    }
}

#[test]
fn a_slope_holds_or_slides() {
    let slope = 20.0_f64.to_radians();
    let mut w = scene("slope");
    let ids: Vec<ObjectId> = w.body_ids().collect();
    run(&mut w, 1.0);
    let speeds: Vec<f64> = ids.iter().map(|&id| w.body(id).velocity().linear.x).collect();
    run(&mut w, 9.0);
    let mut points = Vec::new();
    for (&id, v) in ids.iter().zip(speeds) {
        let name = w.body(id).description().name.clone();
        let ratio: f64 = name.strip_prefix("box_").unwrap().parse().unwrap();
        let x = w.body(id).pose().translation.x;
        points.push((ratio, x.abs()));
        if ratio > 1.0 {
            assert!(x.abs() <= 1e-8, "μ = {ratio} tan α: creeps by {x} m");
        } else {
            let a = G * (slope.sin() - ratio * slope.tan() * slope.cos());
            assert!((v / a - 1.0).abs() < 1e-6, "μ = {ratio} tan α: {v} m/s instead of {a}");
        }
    }
    plot("slope", "karakuri", &points);
}

#[test]
fn the_stopping_distance_is_the_same_in_all_directions() {
    let mut w = scene("stopping");
    let ids: Vec<ObjectId> = w.body_ids().collect();
    let starts: Vec<_> = ids.iter().map(|&id| w.body(id).pose().translation).collect();
    run(&mut w, 1.5);
    let mut points = Vec::new();
    for ((id, start), degrees) in ids.into_iter().zip(starts).zip([0.0_f64, 30.0, 45.0]) {
        let angle = degrees.to_radians();
        let p = w.body(id).pose();
        let moved = p.translation - start;
        let expected = 9.0 / (2.0 * 0.3 * G);
        let distance = moved.xy().norm();
        points.push((degrees, distance / expected));
        assert!((distance / expected - 1.0).abs() < 2e-3, "{degrees}°: {distance} m of {expected}");
        let off = moved.y.atan2(moved.x) - angle;
        assert!(off.abs() < 1e-6, "{degrees}°: leaves its line by {off} rad");
        assert!((p.rotation[(1, 0)]).abs() < 1e-6, "{degrees}°: yaws");
    }
    plot("stopping", "karakuri, h = 1 ms", &points);
}

#[test]
fn a_ball_slides_then_rolls() {
    let (mu, v0, R): (f64, f64, f64) = (0.3, 2.0, 0.1);
    let mut w = scene("ball");
    let id = w.find_body("ball").unwrap();
    let momentum = |w: &World| {
        let v = w.body(id).velocity();
        v.linear.x * R + 0.4 * R * R * v.angular.y
    };
    let L = momentum(&w);
    let rolls = 2.0 * v0 / (7.0 * mu * G);
    let mut lines = [Vec::new(), Vec::new()];
    let mut look = |w: &World| {
        let v = w.body(id).velocity();
        lines[0].push((w.time(), v.linear.x));
        lines[1].push((w.time(), R * v.angular.y));
    };
    watch(&mut w, rolls, 0.01, &mut look);
    let x = w.body(id).pose().translation.x;
    assert!((x - 12.0 * v0 * v0 / (49.0 * mu * G)).abs() < 1e-3, "rolls after {x} m");
    watch(&mut w, 0.2, 0.01, &mut look);
    for (name, points) in ["of the middle", "of spin, R ω"].into_iter().zip(&lines) {
        plot("ball", name, points);
    }
    run(&mut w, 0.8);
    let v = w.body(id).velocity();
    assert!((v.linear.x - 5.0 * v0 / 7.0).abs() < 1e-6, "{v:?}");
    assert!((v.linear.x - R * v.angular.y).abs() < 1e-8, "slips: {v:?}");
    let error = momentum(&w) / L - 1.0;
    println!(
        "4 ball slides, then rolls: momentum about the ground line moves by {:e}",
        error.abs()
    );
    assert!(error.abs() < 1e-11, "momentum about the ground line: {error:e}");
}

#[test]
fn a_ball_on_a_slope_rolls_iff_friction_suffices() {
    let slope = 30.0_f64.to_radians();
    let mut points = Vec::new();
    for ratio in AROUND_THE_LIMIT {
        let rolls = ratio > 1.0;
        let mu = ratio * 2.0 / 7.0 * slope.tan();
        let mut w = world(1e-3, [G * slope.sin(), 0.0, -G * slope.cos()], Integrator::Default);
        w.add_ground(mu, 0.0);
        let mut ball = sphere("ball", 0.1, 1.0, at(0.0, 0.0, 0.1));
        ball.friction = mu;
        let id = w.add_body(ball).unwrap();
        run(&mut w, 1.0);
        let v = w.body(id).velocity();
        let slip = v.linear.x - 0.1 * v.angular.y;
        let expected = if rolls { 0.0 } else { G * (slope.sin() - 3.5 * mu * slope.cos()) };
        assert!((slip - expected).abs() < 1e-6, "{ratio}: slips at {slip} instead of {expected}");
        points.push((ratio, slip.abs()));
    }
    plot("thresholds", "ball on a slope: slip after 1 s [m/s]", &points);
}

/// A body that slides does not rise: the gap does not grow with the speed.
#[test]
fn sliding_does_not_lift() {
    let (mut w, id) = on_ground(1e-3, 0.5, 0.0);
    w.set_body_state(
        id,
        at(0.0, 0.0, 0.025),
        Motion::new(Vector3::zeros(), Vector3::new(3.0, 0.0, 0.0)),
    )
    .unwrap();
    run(&mut w, 0.1);
    let (start, mut points) = (height(&w, id), Vec::new());
    watch(&mut w, 0.4, 0.01, |w| points.push((w.time(), (height(w, id) - start).abs())));
    plot("no_lift", "karakuri", &points[1..]);
    let rise = (height(&w, id) - start) / 0.4;
    println!("4 a sliding body: rises by {:e} m/s", rise.abs());
    assert!(rise.abs() <= 1e-9, "{rise} m/s");
}

/// The same under a convex law: on the ground `v_n ≥ μ |v_t| − φ/h` in place of `v_n ≥ −φ/h`, `v_t` the wall's. Largest rise
/// in a step [m/s] and the gap that is left [m].
fn convex_rise(mu: f64, sliding: f64, dt: f64, steps: usize) -> (f64, f64) {
    let (mut gap, mut v, mut most) = (0.0, 0.0_f64, 0.0_f64);
    for _ in 0..steps {
        v = (v - G * dt).max(mu * sliding - gap / dt);
        gap += dt * v;
        most = most.max(v);
    }
    (most, gap)
}

/// A wall pushes a box over the ground: it goes with the wall and stays on the ground. [Horak, Trinkle 2019, the third pair
/// test]
#[test]
fn a_wall_pushes_a_box_along_the_ground() {
    let (mu, sliding, weight) = (0.5, 0.5, 2.0 * G);
    for dt in [1e-3, 5e-3] {
        for (what, from_rest) in [("in motion", false), ("from rest", true)] {
            let mut w = scene_at("pushed_box", dt);
            let (wall, id) = (only_robot(&w), w.find_body("box").unwrap());
            let v = Vector3::x() * if from_rest { 0.0 } else { sliding };
            w.set_body_state(id, at(0.1, 0.0, 0.05), Motion::new(Vector3::zeros(), v)).unwrap();
            run(&mut w, 0.1);
            let (start, mut fastest) = (height(&w, id), 0.0_f64);
            for _ in 0..n_steps(&w, 0.9) {
                let before = height(&w, id);
                step(&mut w);
                fastest = fastest.max((height(&w, id) - before).abs() / dt);
            }
            let growth = (height(&w, id) - start).abs() / 0.9;
            let left = w.body(id).pose().translation.x - 0.1 - joint(&w, wall, "slide");
            let by =
                Owner::Link { robot: wall, frame: w.robot(wall).model().frame("wall").unwrap() };
            let pushed = w.pair_wrench(by, Owner::Body(id)).force;
            let (lift, gap) = convex_rise(mu, sliding, dt, n_steps(&w, 1.0));
            assert!((lift - mu * sliding).abs() < 1e-12 && (gap - dt * lift).abs() < 1e-12);
            println!(
                "4 pushed box {what}, h = {dt}: rises by {growth:e} m/s in 0.9 s, {fastest:e} m/s in a step; a convex law by {lift} m/s, {gap} m in all"
            );
            assert!(
                fastest <= 1e-9 && growth <= 1e-9,
                "{what}, h = {dt}: rises by {fastest:e} m/s"
            );
            assert!(left.abs() < 1e-6, "{what}, h = {dt}: {left} m from the wall");
            assert!((pushed.x / (mu * weight) - 1.0).abs() < 1e-6, "pushed with {pushed} N");
            assert!((w.body(id).velocity().linear.x - sliding).abs() < 1e-6, "goes with the wall");
        }
    }
}

/// A box tips at atan(w/h) and slides at atan μ, whichever is first.
#[test]
fn a_box_tips_or_slides() {
    let mut lines = [Vec::new(), Vec::new()];
    for (mu, width, tips) in [(0.5_f64, 0.08_f64, true), (0.3, 0.08, false)] {
        let tall = 0.2;
        let critical = if tips { (width / tall).atan() } else { mu.atan() };
        for factor in [0.8, 0.95, 0.99, 1.01, 1.05, 1.2] {
            let moves = factor > 1.0;
            let slope: f64 = critical * factor;
            let mut w = world(1e-3, [G * slope.sin(), 0.0, -G * slope.cos()], Integrator::Default);
            w.add_ground(mu, 0.0);
            let mut block = cuboid("block", [width, 0.1, tall], 1.0, at(0.0, 0.0, 0.1));
            block.friction = mu;
            let id = w.add_body(block).unwrap();
            run(&mut w, 1.0);
            let pose = w.body(id).pose();
            let tilt = pose.rotation[(0, 2)].abs();
            let slid = pose.translation.x.abs();
            match (moves, tips) {
                (false, _) => assert!(tilt < 1e-6 && slid < 1e-6, "μ = {mu}: {tilt} rad, {slid} m"),
                (true, true) => assert!(tilt > 1e-2, "μ = {mu}: does not tip, {tilt} rad"),
                (true, false) => {
                    assert!(slid > 1e-3 && tilt < 1e-6, "μ = {mu}: {slid} m, {tilt} rad");
                }
            }
            let moved = if tips { tilt } else { slid };
            lines[usize::from(tips)].push((critical.tan() / slope.tan(), moved));
        }
    }
    plot("thresholds", "box on a slope: slides in 1 s [m]", &lines[0]);
    plot("thresholds", "tall box on a slope: sine of its tilt", &lines[1]);
}

/// A ball wedged between two on the ground, its line of centres at θ from the vertical: the friction that each bottom ball
/// needs is the same above and below, so all hold iff μ ≥ tan(θ/2), with half the weight as normal force. [Horak,
/// Trinkle 2019, a pair test; the limit is that of statics]
#[test]
fn a_ball_wedges_between_two() {
    let (theta, R): (f64, f64) = (40.0_f64.to_radians(), 0.1);
    let mut points = Vec::new();
    for factor in AROUND_THE_LIMIT {
        let holds = factor > 1.0;
        let mu = factor * (0.5 * theta).tan();
        let mut w = world(1e-3, EARTH, Integrator::Default);
        w.add_ground(mu, 0.0);
        let (x, z) = (2.0 * R * theta.sin(), R + 2.0 * R * theta.cos());
        let places = [("left", -x, R, 1.0), ("right", x, R, 1.0), ("wedge", 0.0, z, 2.0)];
        let ids = places.map(|(name, x, z, mass)| {
            let mut ball = sphere(name, R, mass, at(x, 0.0, z));
            ball.friction = mu;
            w.add_body(ball).unwrap()
        });
        run(&mut w, 0.5);
        let sunk = z - height(&w, ids[2]);
        println!("wedge at {factor} of tan(θ/2): sinks by {sunk:e} m in 0.5 s");
        if holds {
            assert!(sunk.abs() < 1e-8, "sinks by {sunk:e} m");
            let F = w.pair_wrench(Owner::Body(ids[0]), Owner::Body(ids[2])).force;
            let along = Vector3::new(theta.sin(), 0.0, theta.cos());
            let (normal, friction) = (F.dot(&along), (F - along * F.dot(&along)).norm());
            assert!((normal / G - 1.0).abs() < 1e-6, "{normal} N");
            assert!((friction / (G * (0.5 * theta).tan()) - 1.0).abs() < 1e-6, "{friction} N");
        } else {
            assert!(sunk > 1e-4, "holds: {sunk:e} m");
        }
        points.push((factor, sunk.abs()));
    }
    plot("thresholds", "wedged ball: sinks in 0.5 s [m]", &points);
}
