//! Convex objects on any of their faces: held by level pads, by three fingers and by cups, or refused before anything moves.

use core::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use karakuri_collision::Polyhedron;
use karakuri_grasp::pick_and_place::{
    Hull, ObjectShape, Part, PickAndPlaceGoal, PlanError, Profile, centered, moved, upright,
};
use karakuri_model::{Convex, Mesh, Shape};
use karakuri_spatial::{Pose, UnitQuaternion, Vector3};

use crate::cell::Cell;

/// A convex solid about its centre of mass.
struct Solid {
    vertices: Vec<Vector3>,
    hull: Arc<Hull>,
}

impl Solid {
    fn new(points: &[Vector3]) -> Self {
        let com = Polyhedron::around(points).unwrap().com;
        let vertices: Vec<_> = points.iter().map(|p| p - com).collect();
        let hull = Arc::new(Hull::around(&vertices).unwrap());
        Self { vertices, hull }
    }

    /// Prism or truncated pyramid on a regular polygon, with its axis up. [m]
    fn tapered(sides: u32, radii: [f64; 2], height: f64) -> Self {
        let corner = |i: u32, radius: f64, z: f64| {
            let (sin, cos) = (TAU * f64::from(i) / f64::from(sides)).sin_cos();
            Vector3::new(radius * cos, radius * sin, z)
        };
        let [base, top] = radii;
        let ring = |radius, z| (0..sides).map(move |i| corner(i, radius, z));
        Self::new(&ring(base, 0.0).chain(ring(top, height)).collect::<Vec<_>>())
    }

    /// A stone: points on an ellipsoid by a fixed seed.
    fn stone(seed: u64, n: usize, semi_axes: [f64; 3]) -> Self {
        let mut next = numbers(seed);
        let mut points = Vec::new();
        while points.len() < n {
            let p = Vector3::new(next(), next(), next());
            if (0.1..=1.0).contains(&p.norm()) {
                points.push(p.normalize().component_mul(&Vector3::from(semi_axes)));
            }
        }
        Self::new(&points)
    }

    /// A stone that was a block: each corner is cut off by another plane, by a fixed seed.
    fn cut(seed: u64, edges: [f64; 3]) -> Self {
        let mut next = numbers(seed);
        let half = Vector3::from(edges) * 0.5;
        let mut points = Vec::new();
        for corner in 0..8_u8 {
            let side = |axis: usize| if corner >> axis & 1 == 0 { -half[axis] } else { half[axis] };
            let whole = Vector3::new(side(0), side(1), side(2));
            for axis in 0..3 {
                let mut point = whole;
                point[axis] *= 0.65 + 0.25 * next();
                points.push(point);
            }
        }
        Self::new(&points)
    }

    /// The turn by which the face nearest to the centre of mass is below: there it rests as firmly as it may.
    fn on_its_nearest_face(&self) -> UnitQuaternion {
        let solid = Polyhedron::around(&self.vertices).unwrap();
        let distance = |i: &usize| solid.faces[*i].normal.dot(&solid.faces[*i].corners[0]);
        let faces = 0..solid.faces.len();
        let nearest = faces.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
        UnitQuaternion::rotation_between(&solid.faces[nearest].normal, &-Vector3::z()).unwrap()
    }

    fn shape(&self) -> Shape {
        let vertices = self.vertices.iter().map(|p| [p.x, p.y, p.z]).collect();
        let (path, triangles) = ("solid.stl".into(), vec![[0, 1, 2]]);
        Shape::Mesh(Arc::new(Mesh { path, vertices, triangles, convex: Convex::Hull }))
    }
}

/// `SplitMix64` between −1 and 1: equal seeds give equal solids.
fn numbers(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        2.0 * ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 1.0
    }
}

struct Task {
    shape: Shape,
    pick: Pose,
    place: Pose,
    goal: PickAndPlaceGoal,
}

/// From the table to the shelf, turned by half a radian; `rest` is the turn from its own axes by which it stands.
fn task(solid: &Solid, rest: UnitQuaternion, mass: f64, most: f64) -> Task {
    let at = |y: f64, top: f64, yaw: f64| {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw) * rest;
        let lowest = solid.vertices.iter().map(|p| (turn * p).z).fold(f64::INFINITY, f64::min);
        Pose::from_quaternion(&turn, Vector3::new(0.5, y, top - lowest))
    };
    let (pick, place) = (at(-0.2, 0.75, 0.3), at(0.2, 0.85, 0.8));
    let shape = ObjectShape::Hull(Arc::clone(&solid.hull));
    let from = centered(&shape, &pick);
    let object = upright(&shape, &from, &solid.hull.size()).unwrap();
    let to = moved(&object, &from, &centered(&shape, &place)).unwrap();
    let goal = PickAndPlaceGoal {
        part: Part::Whole,
        shape,
        profile: object.profile,
        size: object.size,
        mass,
        friction: 0.6,
        pick: object.pose,
        place: to,
        grip_force: if most > 50.0 { most } else { 10.0 },
        max_grip_force: most,
        approach_height: 0.12,
        grasps: Vec::new(),
    };
    Task { shape: solid.shape(), pick, place, goal }
}

fn cell(robot: &str, task: &Task) -> Cell {
    Cell::new(robot, "start1", |body| {
        (body.shape, body.mass, body.friction) = (task.shape.clone(), task.goal.mass, 0.6);
        body.pose = task.pick;
    })
}

/// Carries it out; the object is at its place and stands as it stood.
fn places(robot: &str, task: &Task, what: &str) {
    let mut cell = cell(robot, task);
    cell.start(&task.goal).unwrap_or_else(|why| panic!("{what}: {why}"));
    let result = cell.run(|_| {});
    assert_eq!(result.failure, None, "{what}: {result:?}");
    for _ in 0..300 {
        cell.step();
    }
    let (end, place) = (cell.object(), task.place);
    let off = (end.translation - place.translation).norm();
    let turn = end.rotation * place.rotation.transpose();
    let angle = (0.5 * (turn.trace() - 1.0)).clamp(-1.0, 1.0).acos().to_degrees();
    println!("{robot} {what}: {:.2} mm, {angle:.2} degrees, {} retries", 1e3 * off, result.retries);
    assert!(off < 0.005 && angle < 3.0, "{what}: {:.2} mm, {angle:.2} degrees", 1e3 * off);
}

fn lying() -> UnitQuaternion {
    UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2)
}

fn standing() -> UnitQuaternion {
    UnitQuaternion::identity()
}

/// Of a hexagonal prism that lies on a side, by a twelfth of a turn about its axis first.
fn on_a_side() -> UnitQuaternion {
    lying() * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), TAU / 12.0)
}

#[test]
fn jaws_place_prisms_pyramids_and_stones() {
    // One side upright, the other one leans by 15.3 degrees.
    let section = [[0.0, 0.0], [0.045, 0.0], [0.03, 0.055], [0.0, 0.055]];
    let half =
        Solid::new(&section.map(|[y, z]| [0.0, 0.09].map(|x| Vector3::new(x, y, z))).concat());
    for (what, solid, rest) in [
        ("prism that stands", Solid::tapered(6, [0.025; 2], 0.06), standing()),
        ("prism that lies", Solid::tapered(6, [0.024; 2], 0.07), on_a_side()),
        ("gentle pyramid", Solid::tapered(4, [0.036, 0.028], 0.06), standing()),
        ("pyramid of 5.5 degrees", Solid::tapered(4, [0.036, 0.0278], 0.06), standing()),
        ("half a pyramid", half, standing()),
        ("gentle pyramid, point down", Solid::tapered(4, [0.028, 0.036], 0.06), standing()),
        ("stone with cut corners", Solid::cut(5, [0.05, 0.06, 0.045]), standing()),
        ("stone with cut corners, on its side", Solid::cut(6, [0.05, 0.06, 0.045]), lying()),
    ] {
        places("arm6", &task(&solid, rest, 0.2, 40.0), what);
    }
}

/// Fingers that lean touch upright sides along their upper edges, and such as lean alike along all of them.
#[test]
fn scissors_place_prisms_and_pyramids() {
    for (what, solid, rest, mass) in [
        ("prism that stands", Solid::tapered(6, [0.025; 2], 0.06), standing(), 0.3),
        ("prism that lies", Solid::tapered(6, [0.024; 2], 0.07), on_a_side(), 0.1),
        ("gentle pyramid", Solid::tapered(4, [0.036, 0.028], 0.06), standing(), 0.1),
        ("block with cut corners", Solid::cut(5, [0.04, 0.06, 0.04]), standing(), 0.1),
    ] {
        places("arm6_scissor", &task(&solid, rest, mass, 25.0), what);
    }
}

/// Stones whose faces are as they are: rigid pads hold few, and those are placed.
#[test]
fn stones_are_placed_or_refused() {
    let mut placed = 0;
    for seed in [112_u16, 115, 146, 184] {
        let share = f64::from(seed % 8) / 7.0;
        let semi_axes = [0.03 + 0.015 * share, 0.028, 0.02 + 0.012 * (1.0 - share)];
        let stone = Solid::stone(u64::from(seed), 10 + usize::from(seed % 5) * 4, semi_axes);
        let task = task(&stone, stone.on_its_nearest_face(), 0.05 + 0.4 * share, 40.0);
        match cell("arm6", &task).start(&task.goal) {
            Ok(()) => {
                places("arm6", &task, &format!("stone {seed}"));
                placed += 1;
            }
            Err(PlanError::NoGrip { why }) => println!("stone {seed}: {why}"),
            Err(other) => panic!("stone {seed}: {other}"),
        }
    }
    assert!(placed >= 2, "{placed} of 4 stones");
}

/// Spread about prisms of three, six and many sides, less about one of eight, else the thumb against two fingers on one face.
#[test]
fn three_fingers_place_prisms_and_pyramids() {
    for (what, solid, rest) in [
        ("triangular prism", Solid::tapered(3, [0.04; 2], 0.07), standing()),
        ("hexagonal prism", Solid::tapered(6, [0.03; 2], 0.06), standing()),
        ("prism of eight sides", Solid::tapered(8, [0.025; 2], 0.05), standing()),
        ("prism of 48 sides", Solid::tapered(48, [0.03; 2], 0.06), standing()),
        ("prism that lies, by its ends", Solid::tapered(6, [0.029; 2], 0.08), on_a_side()),
        ("pyramid of four sides", Solid::tapered(4, [0.045, 0.04], 0.06), standing()),
        ("steep pyramid of three sides", Solid::tapered(3, [0.06, 0.04], 0.06), standing()),
        ("block with cut corners", Solid::cut(5, [0.05, 0.08, 0.05]), standing()),
    ] {
        places("arm6_three_fingers", &task(&solid, rest, 0.2, 25.0), what);
    }
}

#[test]
fn cups_place_prisms_and_pyramids() {
    for (what, solid, rest) in [
        ("prism that stands", Solid::tapered(6, [0.04; 2], 0.05), standing()),
        ("prism that lies", Solid::tapered(6, [0.05; 2], 0.09), on_a_side()),
        ("steep pyramid", Solid::tapered(4, [0.08, 0.04], 0.04), standing()),
    ] {
        places("arm6_suction", &task(&solid, rest, 0.5, 69.0), what);
    }
    // All four lips of a pad, which need 106 mm.
    let plate = Solid::tapered(5, [0.1; 2], 0.03);
    places("arm6_suction4", &task(&plate, standing(), 0.8, 192.0), "plate of five sides");
}

#[test]
fn what_no_hand_holds_is_refused_before_anything_moves() {
    let narrow = Solid::tapered(6, [0.024; 2], 0.06);
    let steep = Solid::tapered(4, [0.05, 0.012], 0.05);
    let leaning = Solid::tapered(4, [0.036, 0.014], 0.06);
    let wide = Solid::tapered(6, [0.06; 2], 0.06);
    let broad = Solid::tapered(6, [0.08; 2], 0.06);
    let flat = Solid::tapered(6, [0.03; 2], 0.003);
    let stone = Solid::stone(5, 16, [0.035, 0.026, 0.024]);
    let rest = stone.on_its_nearest_face();
    for (robot, solid, rest, words) in [
        (
            "arm6",
            &steep,
            standing(),
            "they look up by 28.3 degrees where the pads touch them, and friction 0.6 holds up to 20.7",
        ),
        ("arm6", &leaning, standing(), "look up by 14.5 degrees with their lower ends"),
        ("arm6", &wide, standing(), "mm wide where it is narrow"),
        ("arm6", &flat, standing(), "nothing of it is between pads"),
        ("arm6_suction", &stone, rest, "the face that looks up leans by"),
        ("arm6_suction", &narrow, standing(), "do not fit on the face that looks up"),
        (
            "arm6_scissor",
            &steep,
            standing(),
            "they look up by 28.3 degrees where the pads touch them",
        ),
        ("arm6_three_fingers", &steep, standing(), "degrees off square to the tip's direction"),
        ("arm6_three_fingers", &broad, standing(), "mm wide between the tips"),
        ("arm6_three_fingers", &flat, standing(), "its sides offer no three places"),
    ] {
        let task = task(solid, rest, 0.3, if robot == "arm6_suction" { 69.0 } else { 25.0 });
        let mut cell = cell(robot, &task);
        let Err(refused) = cell.start(&task.goal) else { panic!("{robot} takes it: {words}") };
        let is_named = matches!(refused, PlanError::NoGrip { .. } | PlanError::Shape { .. });
        assert!(is_named && refused.to_string().contains(words), "{robot}: {refused}");
        assert!(matches!(task.goal.profile, Profile::Hull(_)) && !cell.machine().is_busy());
    }
}
