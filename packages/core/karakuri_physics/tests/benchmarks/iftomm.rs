//! IFToMM multibody library (González, Dopico, Lugrís, Cuadrado 2006), section 3.

use karakuri_model::{Base, JointSpec, LinkSpec, LoopFrames, LoopSpec, ModelBuilder};
use karakuri_physics::{Integrator, RobotId, World, loop_gap};
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
