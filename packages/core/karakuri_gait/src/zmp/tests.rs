//! The ZMP of random robots in random motion.

use karakuri_dynamics::{center_of_mass, forward_kinematics};
use karakuri_model::Base;
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

use super::*;
use crate::geometry::ConvexPolygon;

const KINDS: [Kind; 3] = [Kind::Revolute, Kind::Prismatic, Kind::Spherical];

fn robot(seed: u64) -> (Model, Random) {
    (random_tree(seed, 8, Base::Floating, &KINDS), Random::new(seed))
}

#[test]
fn at_rest_the_zmp_is_below_the_center_of_mass_under_any_gravity() {
    for seed in 0..20 {
        let (model, mut random) = robot(seed);
        let (q, still) = (random_position(&model, &mut random), vec![0.0; model.nv]);
        for gravity in [1.62, 9.81] {
            let mut data = Data::new(&model);
            data.gravity = Vector3::new(0.0, 0.0, -gravity);
            let motion = WholeBodyMotion { q: &q, v: &still, vdot: &still };
            let reaction = whole_body_zmp(&model, &mut data, &motion, -2.0);
            forward_kinematics(&model, &mut data, &q);
            let com = center_of_mass(&model, &data);
            let [x, y] = reaction.zmp;
            assert!((x - com.x).hypot(y - com.y) < 1e-9, "{seed}: {x} {y} below {com}");
            let weight = model.mass() * gravity;
            assert!((reaction.wrench.force.z - weight).abs() < 1e-9 * weight, "{seed}");
        }
    }
}

/// All links accelerated alike are one cart on its table: `p = c − z_c c̈/g`.
#[test]
fn a_robot_moved_as_one_is_the_cart_table() {
    let gravity = 1.62;
    for seed in 0..20 {
        let (model, mut random) = robot(seed);
        let (q, v) = (random_position(&model, &mut random), vec![0.0; model.nv]);
        let mut vdot = vec![0.0; model.nv];
        let [ax, ay] = [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)];
        vdot[..2].copy_from_slice(&[ax, ay]);
        let mut data = Data::new(&model);
        data.gravity = Vector3::new(0.0, 0.0, -gravity);
        let floor = -0.7;
        let motion = WholeBodyMotion { q: &q, v: &v, vdot: &vdot };
        let [x, y] = whole_body_zmp(&model, &mut data, &motion, floor).zmp;
        let com = center_of_mass(&model, &data);
        let lever = (com.z - floor) / gravity;
        let (cart_x, cart_y) = (com.x - lever * ax, com.y - lever * ay);
        assert!((x - cart_x).hypot(y - cart_y) < 1e-9, "{seed}: {x} {y}, {cart_x} {cart_y}");
    }
}

/// The moment of the floor's wrench about an edge of the support polygon, by the vertical force, is the ZMP's distance to that
/// edge: with the ZMP inside, it holds the robot against tipping over any edge; outside, it would have to pull at the floor.
#[test]
fn a_zmp_inside_the_support_polygon_tips_over_no_edge() {
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..60 {
        let (model, mut random) = robot(seed);
        let q = random_position(&model, &mut random);
        let v = random_vector(model.nv, &mut random);
        let vdot = random_vector(model.nv, &mut random);
        let motion = WholeBodyMotion { q: &q, v: &v, vdot: &vdot };
        let mut data = Data::new(&model);
        let FloorReaction { zmp, wrench } = whole_body_zmp(&model, &mut data, &motion, 0.0);
        assert!(wrench.force.z > 0.0, "{seed} is thrown up");
        let corner = |_| [random.uniform(-0.6, 0.6), random.uniform(-0.6, 0.6)];
        let polygon = ConvexPolygon::hull(&core::array::from_fn::<_, 6, _>(corner));
        let root = Vector3::new(q[0], q[1], q[2]);
        let n = polygon.corners.len();
        let least = (0..n).map(|i| {
            let [a, b] = [i, i + 1].map(|i| {
                let [x, y] = polygon.corners[i % n];
                Vector3::new(x, y, 0.0)
            });
            let about_a = wrench.moment + (root - a).cross(&wrench.force);
            about_a.dot(&(b - a).normalize()) / wrench.force.z
        });
        let least = least.fold(f64::INFINITY, f64::min);
        assert!((polygon.margin(zmp) - least).abs() < 1e-9, "{seed}: {least}");
        if least > 0.0 { inside += 1 } else { outside += 1 }
    }
    assert!(inside > 5 && outside > 5, "{inside} inside, {outside} outside");
}
