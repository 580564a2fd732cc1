use serde_json::json;

use super::*;
use crate::scene::SceneObject;

/// Camera 1.2 m above a table, looking down, its x to the world's −y and its y to the world's −x.
fn view() -> View {
    let rotation =
        Pose::from_xyz_rpy([0.0; 3], [std::f64::consts::PI, 0.0, -std::f64::consts::FRAC_PI_2]);
    View {
        size: [1280, 960],
        focal_length: [1000.0, 1000.0],
        principal_point: [640.0, 480.0],
        camera_in_world: Pose { translation: Vector3::new(0.5, 0.0, 1.95), ..rotation },
        table_z: 0.75,
        snap_radius: 0.05,
    }
}

/// Where a published point [y, x] in units of the picture is on the table: by similar triangles.
fn on_table([y, x]: [f64; 2]) -> [f64; 2] {
    let (right, down) = ((x / 1000.0 - 0.5) * 1280.0, (y / 1000.0 - 0.5) * 960.0);
    [0.5 - 1.2 * down / 1000.0, -1.2 * right / 1000.0]
}

fn object(name: &str, point: [f64; 2]) -> SceneObject {
    let [x, y] = on_table(point);
    SceneObject {
        name: name.to_owned(),
        shape: "box",
        position_m: [x, y, 0.775],
        size_m: [0.05; 3],
        yaw_rad: 0.0,
        mass_kg: None,
        is_fixed: false,
    }
}

/// Block and bowl of the published example.
fn scene() -> Scene {
    let objects = vec![object("block", [727.0, 659.0]), object("bowl", [389.0, 252.0])];
    Scene { objects, is_busy: false }
}

fn move_to(x: i32, y: i32, high: bool) -> Translation {
    view().translate("move", &json!({"x": x, "y": y, "high": high}), &scene()).unwrap()
}

fn point(translation: &Translation) -> [f64; 2] {
    let Arguments::Move(Move { x_m, y_m, .. }) = translation.arguments else { panic!("no move") };
    [x_m, y_m]
}

#[test]
fn published_points_are_where_geometry_says() {
    for (units, picture) in [([159, 427], [727.0, 659.0]), ([-248, 89], [389.0, 252.0])] {
        let translation = move_to(units[0], units[1], true);
        let (found, expected) = (point(&translation), on_table(picture));
        let error = (found[0] - expected[0]).hypot(found[1] - expected[1]);
        assert!(error < 1e-12, "{units:?}: {found:?}, expected {expected:?}");
        assert_eq!(translation.object, None);
    }
}

#[test]
fn published_runs_go_to_the_same_objects() {
    for (name, runs) in [
        ("block", [[159, 427], [163, 427], [160, 440]]),
        ("bowl", [[-247, 89], [-248, 90], [-250, 60]]),
    ] {
        for [x, y] in runs {
            let translation = move_to(x, y, false);
            assert_eq!(translation.object.as_deref(), Some(name), "{x}, {y}");
            let object = scene().objects.into_iter().find(|object| object.name == name).unwrap();
            assert_eq!(point(&translation)[..], object.position_m[..2]);
        }
    }
    // A bowl's radius further nothing is near.
    assert_eq!(move_to(-250, 0, false).object, None);
}

#[test]
fn two_near_objects_are_ambiguous_for_low_moves_only() {
    let mut scene = scene();
    scene.objects.push(object("block_2", [740.0, 680.0]));
    let call = |high| view().translate("move", &json!({"x": 163, "y": 427, "high": high}), &scene);
    assert_eq!(call(false).unwrap_err().code, Code::AmbiguousObject);
    assert_eq!(call(true).unwrap().object, None);
}

#[test]
fn the_other_functions_are_verbs() {
    let view = view();
    let opened = view.translate("setGripperState", &json!({"opened": true}), &scene()).unwrap();
    assert_eq!(opened.arguments.canonical(), r#"{"opened":true}"#);
    let home = view.translate("returnToOrigin", &json!({}), &scene()).unwrap();
    assert_eq!(home.arguments, Arguments::Home(Home {}));
}

#[test]
fn wrong_calls_are_refused() {
    let code = |function: &str, arguments: Value| {
        view().translate(function, &arguments, &scene()).unwrap_err().code
    };
    for arguments in [
        json!({"x": 501, "y": 0, "high": true}),
        json!({"x": 0, "y": -301, "high": true}),
        json!({"x": 0.5, "y": 0, "high": true}),
        json!({"x": "0", "y": 0, "high": true}),
        json!({"x": 0, "y": 0, "high": 1}),
        json!({"x": 0, "y": 0}),
        json!({"x": 0, "y": 0, "high": true, "z": 1}),
        json!([0, 0, true]),
    ] {
        assert_eq!(code("move", arguments.clone()), Code::BadArgument, "{arguments}");
    }
    assert_eq!(code("publish", json!({})), Code::BadArgument);
    assert_eq!(code("returnToOrigin", json!({"x": 0})), Code::BadArgument);
}

#[test]
fn a_point_above_the_horizon_is_nowhere() {
    let mut view = view();
    // Level: the middle of the picture is the horizon.
    view.camera_in_world.rotation =
        Pose::from_xyz_rpy([0.0; 3], [-std::f64::consts::FRAC_PI_2, 0.0, 0.0]).rotation;
    let call = |y: i32| view.translate("move", &json!({"x": 0, "y": y, "high": true}), &scene());
    assert_eq!(call(0).unwrap_err().code, Code::BadArgument);
    assert_eq!(call(200).unwrap_err().code, Code::BadArgument);
    assert!(call(300).is_ok());
}
