//! Random robots, states and comparisons for the tests of this crate.

use karakuri_dynamics::{difference, integrate};
use karakuri_model::{Base, Model};
use karakuri_spatial::Force;
use karakuri_testkit::{Kind, Random, random_position, random_tree};

/// A tree of 1 to 12 links under a fixed or floating base, with every kind of joint.
pub(crate) fn any_tree(seed: u64) -> (Model, Random) {
    let mut random = Random::new(seed);
    let base = match random.below(2) {
        0 => Base::Fixed(random.pose(1.0)),
        _ => Base::Floating,
    };
    let mut model = random_tree(random.bits(), 1 + random.below(12), base, Kind::ALL);
    while model.nv == 0 {
        model = random_tree(random.bits(), 3, base, Kind::ALL);
    }
    (model, random)
}

pub(crate) fn position(model: &Model, random: &mut Random) -> Vec<f64> {
    random_position(model, random)
}

/// Numbers between `-half` and `half`. (n)
pub(crate) fn list(random: &mut Random, n: usize, half: f64) -> Vec<f64> {
    (0..n).map(|_| random.uniform(-half, half)).collect()
}

/// A wrench on every body.
pub(crate) fn forces(model: &Model, random: &mut Random) -> Vec<Force> {
    model.bodies.iter().map(|_| Force::new(random.vector(1.0), random.vector(5.0))).collect()
}

/// `q ⊕ v dt`.
pub(crate) fn moved(model: &Model, q: &[f64], v: &[f64], dt: f64) -> Vec<f64> {
    let mut out = vec![f64::NAN; model.nq];
    integrate(model, q, v, dt, &mut out);
    out
}

/// `q1 ⊖ q0`.
pub(crate) fn from_to(model: &Model, q0: &[f64], q1: &[f64]) -> Vec<f64> {
    let mut dv = vec![f64::NAN; model.nv];
    difference(model, q0, q1, &mut dv);
    dv
}

/// Largest difference, relative to the largest entry (or to 1 when all are small).
pub(crate) fn relative_error(
    a: impl IntoIterator<Item = f64>,
    b: impl IntoIterator<Item = f64>,
) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) = (a.into_iter().collect(), b.into_iter().collect());
    assert_eq!(a.len(), b.len(), "lengths");
    let (mut worst, mut scale) = (0.0_f64, 1.0_f64);
    for (x, y) in a.iter().zip(&b) {
        assert!(x.is_finite() && y.is_finite(), "{x} against {y}");
        worst = worst.max((x - y).abs());
        scale = scale.max(x.abs()).max(y.abs());
    }
    worst / scale
}
