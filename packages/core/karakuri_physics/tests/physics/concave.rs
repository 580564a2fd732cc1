//! Bodies that are not convex, as convex parts of their mesh.

use std::sync::Arc;

use karakuri_model::{Convex, Mesh, Shape};
use karakuri_physics::{BodyDescription, World, WorldSettings};
use karakuri_spatial::{Matrix3, Pose, Vector3};

/// Height of the slot's ceiling above the centre of mass. [m]
const CEILING: f64 = 0.1 + 1.0 / 12.0;

/// A U upside down, 0.3 m × 0.1 m × 0.4 m, with a slot 0.1 m wide and 0.3 m deep.
fn hook() -> Shape {
    hook_of(1.0)
}

/// The same at another size. [-]
pub(crate) fn hook_of(scale: f64) -> Shape {
    let outline = [
        [-0.15, -0.2],
        [-0.05, -0.2],
        [-0.05, 0.1],
        [0.05, 0.1],
        [0.05, -0.2],
        [0.15, -0.2],
        [0.15, 0.2],
        [-0.15, 0.2],
    ];
    let at =
        |y: f64| outline.iter().map(move |&[x, z]| [x, y, z + CEILING - 0.1].map(|x| x * scale));
    let vertices = at(-0.05).chain(at(0.05)).collect();
    let front = [[0, 1, 2], [0, 2, 7], [2, 3, 7], [3, 6, 7], [3, 4, 5], [3, 5, 6]];
    let back = front.map(|[a, b, c]: [u32; 3]| [a + 8, c + 8, b + 8]);
    let sides = (0..8).flat_map(|i| {
        let j = (i + 1) % 8;
        [[i, j + 8, j], [i, i + 8, j + 8]]
    });
    let triangles = front.into_iter().chain(back).chain(sides).collect();
    let convex = Convex::Decompose { tolerance: None };
    Shape::Mesh(Arc::new(Mesh { path: "hook.obj".into(), vertices, triangles, convex }))
}

/// Its ceiling rests on the beam's top at 1 m, where voxels once cut it 11 mm too low and it leant by 7.8°.
#[test]
fn a_hook_hangs_upright_on_a_beam() {
    let mut w = World::new(WorldSettings { dt: 1e-3, ..WorldSettings::default() });
    let beam = Shape::Box { size: Vector3::new(0.08, 1.0, 0.1) };
    let fixed = BodyDescription {
        fixed: true,
        ..BodyDescription::new("beam", beam, 1.0, Pose::from_translation(Vector3::z() * 0.95))
    };
    w.add_body(fixed).unwrap();
    let start = Pose::from_translation(Vector3::new(0.005, 0.0, 1.002 - CEILING));
    let inertia = Some(Matrix3::from_diagonal(&Vector3::new(0.05, 0.06, 0.03)));
    let hook = BodyDescription { inertia, ..BodyDescription::new("hook", hook(), 3.0, start) };
    let hook = w.add_body(hook).unwrap();
    for _ in 0..2000 {
        w.step();
    }
    let pose = w.body(hook).pose();
    let lean = pose.rotation.column(2).xy().norm();
    let height = pose.translation.z + CEILING - 1.0;
    assert!(height.abs() < 1e-6, "its ceiling is {height} m above the beam");
    assert!(lean < 1e-6, "leans by {lean} rad");
}
