//! IFToMM multibody library (González, Dopico, Lugrís, Cuadrado 2006), section 3.

use karakuri_model::{Base, Drive, JointSpec, LinkSpec, LoopFrames, LoopSpec, ModelBuilder};
use karakuri_physics::{Anchor, Integrator, RobotId, Spring, World, loop_gap};
use karakuri_spatial::{Pose, Vector3};

use crate::support::*;

const DOWN_Y: [f64; 3] = [0.0, -9.81, 0.0];

fn gap(w: &World, id: RobotId) -> f64 {
    loop_gap(w.robot(id).model(), w.robot(id).data())
}

/// A01: a point of 1 kg on a massless bar of 1 m.
#[test]
fn a01_simple_pendulum() {
    for (integrator, dt, allowed) in
        [(Integrator::Default, 1e-3, 1e-4), (Integrator::RungeKutta4, 1e-3, 1e-9)]
    {
        let mut w = world(dt, DOWN_Y, integrator);
        let builder = ModelBuilder::new("pendulum", Base::Fixed(Pose::IDENTITY))
            .link(base())
            .link(LinkSpec::new("bob", diagonal(1.0, [-1.0, 0.0, 0.0], [0.0; 3])))
            .joint(JointSpec::revolute("hinge", "base", "bob", Vector3::z()));
        let (id, _) = add(&mut w, builder);
        let initial = energy(&mut w);
        let mut drift: f64 = 0.0;
        for (time, expected) in [
            (5.0, [-0.94230543504398, -0.33475433841336]),
            (10.0, [-0.27508746257790, -0.96141920509862]),
        ] {
            while w.time() < time - 0.5 * dt {
                step(&mut w);
                drift = drift.max((energy(&mut w) - initial).abs());
            }
            let p = point(&w, id, "bob", [-1.0, 0.0, 0.0]);
            let error = (p.xy() - nalgebra::Vector2::from(expected)).norm();
            println!("A01 {}: off by {error:e} m at {time} s", integrator.name());
            assert!(error <= allowed, "off by {error:e} m at {time} s");
        }
        println!("A01 {}: energy within {drift:e} J", integrator.name());
        assert!(drift <= 5e-5, "{}: energy drifts by {drift:e} J", integrator.name());
    }
}

/// A02: `n` windows of rods of 1 m and 1 kg; pivots on the ground, tips joined by couplers.
fn windows(n: usize) -> ModelBuilder {
    let rod = |com: [f64; 3], long: usize| {
        let mut i = [1.0 / 12.0; 3];
        i[long] = 0.0;
        diagonal(1.0, com, i)
    };
    let mut builder = ModelBuilder::new("windows", Base::Fixed(Pose::IDENTITY)).link(base());
    for i in 0..=n {
        let name = format!("crank{i}");
        builder = builder.link(LinkSpec::new(&name, rod([0.0, 0.5, 0.0], 1))).joint(
            JointSpec::revolute(&format!("pivot{i}"), "base", &name, Vector3::z())
                .at(at(i as f64, 0.0, 0.0)),
        );
    }
    for i in 0..n {
        let (name, next) = (format!("coupler{i}"), format!("crank{}", i + 1));
        builder = builder
            .link(LinkSpec::new(&name, rod([0.5, 0.0, 0.0], 0)))
            .joint(
                JointSpec::revolute(&format!("tip{i}"), &format!("crank{i}"), &name, Vector3::z())
                    .at(at(0.0, 1.0, 0.0)),
            )
            .loop_joint(pin(&format!("close{i}"), (&name, [1.0, 0.0]), (&next, [0.0, 1.0])));
    }
    builder
}

/// A hinge about z that closes a loop in the plane.
fn pin(name: &str, a: (&str, [f64; 2]), b: (&str, [f64; 2])) -> LoopSpec {
    LoopSpec {
        name: name.into(),
        link_a: a.0.into(),
        link_b: b.0.into(),
        frames: LoopFrames::OnLinks { a: at(a.1[0], a.1[1], 0.0), b: at(b.1[0], b.1[1], 0.0) },
        locked: [false, false, false, true, true, false],
        posture: None,
    }
}

/// Largest drift of energy [J], largest gap [m], tip of the first crank after 5 s and 10 s.
fn swing(n: usize, dt: f64) -> (f64, f64, [Vector3; 2]) {
    let mut w = world(dt, DOWN_Y, Integrator::Default);
    let (id, model) = add(&mut w, windows(n));
    let mut rates = vec![0.0; model.nv];
    for i in 0..=n {
        rates[model.joints[model.joint(&format!("pivot{i}")).unwrap().0].v_start] = -1.0;
    }
    for i in 0..n {
        rates[model.joints[model.joint(&format!("tip{i}")).unwrap().0].v_start] = 1.0;
    }
    let q = w.robot(id).q().to_vec();
    w.set_robot_state(id, &q, &rates).unwrap();
    let initial = energy(&mut w);
    let (mut drift, mut open, mut tips) = (0.0_f64, 0.0_f64, [Vector3::zeros(); 2]);
    for (tip, time) in tips.iter_mut().zip([5.0, 10.0]) {
        while w.time() < time - 0.5 * dt {
            step(&mut w);
            drift = drift.max((energy(&mut w) - initial).abs());
            open = open.max(gap(&w, id));
            for i in 0..n {
                let q = joint(&w, id, &format!("tip{i}")) + joint(&w, id, &format!("pivot{i}"));
                assert!(q.abs() < 0.1, "coupler {i} leaves its branch at {} s: {q}", w.time());
            }
        }
        *tip = point(&w, id, "crank0", [0.0, 1.0, 0.0]);
    }
    (drift, open, tips)
}

fn check_windows(n: usize, dt: f64, expected: [[f64; 2]; 2], allowed: f64) {
    let kinetic = 0.5 * ((n + 1) as f64 / 3.0 + n as f64);
    let (drift, open, tips) = swing(n, dt);
    let errors = [0, 1].map(|i| (tips[i].xy() - nalgebra::Vector2::from(expected[i])).norm());
    println!(
        "A02, {n} windows, h = {dt}: energy {drift:e} of {kinetic} J, gap {open:e} m, {errors:?} m"
    );
    assert!(drift <= 0.05 * kinetic, "energy drifts by {drift:e} J");
    assert!(open <= 1e-9, "gap {open:e} m");
    assert!(errors[1] <= allowed, "{errors:?} m");
}

#[test]
fn a02_two_windows() {
    let expected = [[-0.8113104609996, -0.5846155453567], [0.3284581115331, 0.9445185383813]];
    check_windows(2, 1e-3, expected, 1e-3);
}

#[test]
fn a02_forty_windows() {
    let expected = [[f64::NAN; 2], [0.1805122266815, 0.9835727405833]];
    check_windows(40, 1e-2, expected, 0.05);
}

/// A04: five rods of 1 m and 1 kg, one redundant equation.
fn bricard() -> ModelBuilder {
    let corners: [[f64; 3]; 6] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let axes = [Vector3::y(), Vector3::z(), Vector3::x(), Vector3::y(), Vector3::z()];
    let mut builder = ModelBuilder::new("bricard", Base::Fixed(Pose::IDENTITY)).link(base());
    let mut parent = "base".to_owned();
    let mut before = Vector3::zeros();
    for i in 0..5 {
        let (here, next) = (Vector3::from(corners[i]), Vector3::from(corners[i + 1]));
        let along = next - here;
        let moments = along.map(|x| if x == 0.0 { 1.01 / 12.0 } else { 0.02 / 12.0 });
        let name = format!("rod{i}");
        builder = builder
            .link(LinkSpec::new(&name, diagonal(1.0, (along * 0.5).into(), moments.into())))
            .joint(
                JointSpec::revolute(&format!("joint{i}"), &parent, &name, axes[i])
                    .at(Pose::from_translation(here - before)),
            );
        (parent, before) = (name, here);
    }
    let end = Vector3::from(corners[5]);
    builder.loop_joint(LoopSpec {
        name: "close".into(),
        link_a: "base".into(),
        link_b: "rod4".into(),
        frames: LoopFrames::OnLinks {
            a: Pose::from_translation(end),
            b: Pose::from_translation(end - before),
        },
        locked: [false, true, true, true, true, true],
        posture: None,
    })
}

#[test]
fn a04_bricard() {
    let dt = 1e-3;
    let mut w = world(dt, DOWN_Y, Integrator::Default);
    let (id, _) = add(&mut w, bricard());
    let initial = energy(&mut w);
    let (mut drift, mut open) = (0.0_f64, 0.0_f64);
    for (time, expected) in [
        (1.0, [0.5105014611872, -1.6491675993948, 0.1401231145532]),
        (2.0, [-0.9693403447776, -1.2212468949563, 0.7542780107798]),
        (10.0, [f64::NAN; 3]),
    ] {
        while w.time() < time - 0.5 * dt {
            step(&mut w);
            drift = drift.max((energy(&mut w) - initial).abs());
            open = open.max(gap(&w, id));
        }
        let P3 = point(&w, id, "rod2", [0.0, 0.0, 1.0]);
        let error = (P3 - Vector3::from(expected)).norm();
        println!("A04: off by {error:e} m at {time} s, energy {drift:e} J, gap {open:e} m");
        assert!(error.is_nan() || error <= 1e-4, "off by {error:e} m at {time} s");
    }
    assert!(drift <= 1e-3, "energy drifts by {drift:e} J");
    assert!(open <= 1e-9, "gap {open:e} m");
}

/// A03: Andrews' squeezer. Angles as published; the reference at 0.03 s is the Bari test set's.
fn squeezer() -> ModelBuilder {
    let (mass, i) = (
        [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498],
        [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5],
    );
    let link = |name: &str, k: usize, com: [f64; 2]| {
        LinkSpec::new(
            name,
            diagonal(mass[k], [com[0], com[1], 0.0], [0.5 * i[k], 0.5 * i[k], i[k]]),
        )
    };
    let hinge = |name: &str, parent: &str, child: &str, x: f64, y: f64| {
        JointSpec::revolute(name, parent, child, Vector3::z()).at(at(x, y, 0.0))
    };
    let (rr, d, da, ss, e, ea) = (0.007, 0.028, 0.0115, 0.035, 0.02, 0.01421);
    let (zt, zf, fa, u) = (0.04, 0.02, 0.01421, 0.04);
    let driven = JointSpec {
        drive: Some(Drive { stiffness: 0.0, damping: 0.0 }),
        ..hinge("beta", "base", "OF", 0.0, 0.0)
    };
    // Axes at zero angle: OF along x, FE along −x, BE along −y, GA along x, EG along −y, HA along −y, EH along x.
    // Only the distance of the centres of BE, GA and HA from their pivots matters: there is no gravity.
    ModelBuilder::new("squeezer", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(link("OF", 0, [0.00092, 0.0]))
        .link(link("FE", 1, [-da, 0.0]))
        .link(link("BE", 2, [0.01043, -0.01874]))
        .link(link("GA", 4, [0.02308, 0.00916]))
        .link(link("EG", 3, [0.0, -(e - ea)]))
        .link(link("HA", 6, [0.00449, -0.01228]))
        .link(link("EH", 5, [zf - fa, 0.0]))
        .joint(driven)
        .joint(hinge("theta", "OF", "FE", rr, 0.0))
        .joint(hinge("gamma", "base", "BE", -0.03635, 0.03273))
        .joint(hinge("delta", "base", "GA", -0.06934, -0.00227))
        .joint(hinge("phi", "GA", "EG", zt, 0.0))
        .joint(hinge("epsilon", "base", "HA", -0.06934, -0.00227))
        .joint(hinge("omega", "HA", "EH", 0.0, -u))
        .loop_joint(pin("E_BE", ("FE", [-d, 0.0]), ("BE", [0.0, -ss])))
        .loop_joint(pin("E_EG", ("FE", [-d, 0.0]), ("EG", [0.0, -e])))
        .loop_joint(pin("E_EH", ("FE", [-d, 0.0]), ("EH", [zf, 0.0])))
}

#[test]
fn a03_squeezer() {
    let start = [
        ("beta", -0.0617138900142764),
        ("theta", 0.0),
        ("gamma", 0.455279819163070),
        ("phi", 0.222668390165886),
        ("delta", 0.487364979543843),
        ("omega", -0.222668390165886),
        ("epsilon", 1.23054744454982),
    ];
    let expected = [
        ("beta", 15.81077119904),
        ("theta", -15.75637105984),
        ("gamma", 0.04082224013073),
        ("phi", -0.5347301163226),
        ("delta", 0.5244099658805),
        ("omega", 0.5347301163226),
        ("epsilon", 1.048080741042),
    ];
    let dt = 5e-6;
    let mut w = world(dt, WEIGHTLESS, Integrator::Default);
    let (id, model) = add(&mut w, squeezer());
    set_joints(&mut w, id, &start.map(|(name, q)| (name, q, 0.0)));
    for (name, q) in start {
        assert!((joint(&w, id, name) - q).abs() < 1e-9, "{name} starts closed");
    }
    w.add_spring(Spring {
        a: Anchor::World(Vector3::new(0.014, 0.072, 0.0)),
        b: Anchor::Link(id, model.body("BE").unwrap(), Vector3::new(0.02, -0.018, 0.0)),
        stiffness: 4530.0,
        damping: 0.0,
        rest_length: 0.07785,
    })
    .unwrap();
    let beta = model.joints[model.joint("beta").unwrap().0].v_start;
    w.drive_mut(id).effort[beta] = 0.033;
    let (initial, mut drift, mut open) = (energy(&mut w), 0.0_f64, 0.0_f64);
    for i in 0..n_steps(&w, 0.05) {
        if i == n_steps(&w, 0.03) {
            let errors = expected.map(|(name, q)| (joint(&w, id, name) - q).abs());
            let largest = errors.iter().fold(0.0_f64, |a, b| a.max(*b));
            println!("A03, h = {dt}: off by {largest:e} rad at 0.03 s");
            assert!(largest < 1e-2, "{errors:?}");
        }
        step(&mut w);
        let work = 0.033 * (joint(&w, id, "beta") - start[0].1);
        drift = drift.max((energy(&mut w) - initial - work).abs());
        open = open.max(gap(&w, id));
    }
    println!("A03, h = {dt}: energy balance {drift:e} J, gap {open:e} m");
    assert!(drift < 1e-3, "energy balance {drift:e} J");
    assert!(open <= 1e-9, "gap {open:e} m");
}

/// A05: a stiff flyball governor; slider height. [m]
fn governor(dt: f64, times: &[f64]) -> Vec<f64> {
    let rod = |mass: f64| [mass * (0.01 * 0.01 + 1.0) / 12.0, mass * 2e-4 / 12.0];
    let [across, along] = rod(0.3);
    let cube = 3.0 * 0.02 / 12.0;
    let mut builder = ModelBuilder::new("governor", Base::Fixed(Pose::IDENTITY))
        .link(base())
        .link(LinkSpec::new("shaft", diagonal(0.3, [0.0, 0.0, 0.5], [across, across, along])))
        .link(LinkSpec::new("slider", diagonal(3.0, [0.0; 3], [cube; 3])))
        .joint(JointSpec::revolute("spin", "base", "shaft", Vector3::z()))
        .joint(JointSpec::prismatic("slide", "shaft", "slider", Vector3::z()));
    for (name, sign) in [("right", 1.0), ("left", -1.0)] {
        // The rod's uniform 0.3 kg and the ball's 5 kg at its tip, as one body.
        let (mass, com) = (5.3, (0.3 * 0.5 + 5.0) / 5.3);
        let steiner = 0.3 * (com - 0.5_f64).powi(2) + 5.0 * (1.0 - com).powi(2);
        let total =
            diagonal(mass, [sign * com, 0.0, 0.0], [along, across + steiner, across + steiner]);
        builder = builder.link(LinkSpec::new(name, total)).joint(
            JointSpec::revolute(&format!("hinge_{name}"), "shaft", name, Vector3::y()).at(at(
                0.05 * sign,
                0.0,
                1.0,
            )),
        );
    }
    let mut w = world(dt, EARTH, Integrator::Default);
    let (id, model) = add(&mut w, builder);
    let angle = std::f64::consts::FRAC_PI_6;
    set_joints(
        &mut w,
        id,
        &[
            ("spin", 0.0, std::f64::consts::TAU),
            ("slide", 0.5, 0.0),
            ("hinge_right", angle, 0.0),
            ("hinge_left", -angle, 0.0),
        ],
    );
    for (name, sign) in [("right", 1.0), ("left", -1.0)] {
        w.add_spring(Spring {
            a: Anchor::Link(id, model.body(name).unwrap(), Vector3::new(0.5 * sign, 0.0, 0.0)),
            b: Anchor::Link(id, model.body("slider").unwrap(), Vector3::new(0.05 * sign, 0.0, 0.0)),
            stiffness: 8e5,
            damping: 4e4,
            rest_length: 0.5,
        })
        .unwrap();
    }
    let mut heights = Vec::new();
    for time in times {
        while w.time() < time - 0.5 * dt {
            step(&mut w);
        }
        heights.push(joint(&w, id, "slide"));
    }
    heights
}

#[test]
fn a05_governor() {
    let reference = [
        (0.1, 0.5238364755696),
        (0.5, 0.7432494247863),
        (1.0, 0.5014209223796),
        (2.0, 0.5059092942967),
        (5.0, 0.5355631037216),
        (10.0, 0.6196229170613),
    ];
    let times = reference.map(|(t, _)| t);
    for (dt, allowed) in [(1e-3, 1e-3), (1e-2, 1e-3)] {
        let heights = governor(dt, &times);
        let errors: Vec<f64> =
            heights.iter().zip(reference).map(|(s, (_, expected))| (s - expected).abs()).collect();
        println!("A05, h = {dt}: off by {errors:?} m");
        assert!(errors.iter().all(|e| *e <= allowed), "h = {dt}: {errors:?} m");
    }
}
