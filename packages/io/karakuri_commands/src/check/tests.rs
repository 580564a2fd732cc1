use serde_json::json;

use super::*;

fn envelope() -> Envelope {
    let file = "/../../../config/envelopes/table.yaml";
    Envelope::read((env!("CARGO_MANIFEST_DIR").to_owned() + file).as_ref()).unwrap()
}

fn object(name: &str, [x, y, z]: [f64; 3]) -> SceneObject {
    SceneObject {
        name: name.to_owned(),
        shape: "box",
        position_m: [x, y, z],
        size_m: [0.05, 0.05, 0.05],
        yaw_rad: 0.0,
        mass_kg: Some(0.2),
        is_fixed: false,
    }
}

fn scene() -> Scene {
    let shelf = SceneObject {
        size_m: [0.24, 0.2, 0.1],
        is_fixed: true,
        mass_kg: None,
        ..object("shelf", [0.5, 0.2, 0.8])
    };
    Scene { objects: vec![object("cube", [0.5, -0.2, 0.775]), shelf], is_busy: false }
}

fn check_in(scene: &Scene, verb: Verb, value: &Value) -> Result<Option<String>, Code> {
    let context = Context { envelope: &envelope(), principal: "local", scene };
    check(&context, verb, value).map(|command| command.object).map_err(|refusal| refusal.code)
}

#[test]
fn the_first_objection_in_the_fixed_order_is_the_answer() {
    let mut busy = scene();
    busy.is_busy = true;
    busy.objects.push(object("cube", [0.3, 0.0, 0.775]));
    let envelope = envelope();
    let code = |principal, value: Value| {
        let context = Context { envelope: &envelope, principal, scene: &busy };
        check(&context, Verb::Pick, &value).map_err(|refusal| refusal.code)
    };
    let pick = |object: &str, force: f64| json!({"object": object, "force_n": force});
    // Each of these has the faults of those below it, too.
    assert_eq!(code("guest", json!({"object": "no cube", "force_n": 99})), Err(Code::BadArgument));
    assert_eq!(code("guest", pick("cube_9", 99.0)), Err(Code::NotAllowed));
    assert_eq!(code("local", pick("cube_9", 99.0)), Err(Code::OutsideEnvelope));
    assert_eq!(code("local", pick("cube_9", 9.0)), Err(Code::UnknownObject));
    assert_eq!(code("local", pick("cube", 9.0)), Err(Code::AmbiguousObject));
    busy.objects.pop();
    let context = Context { envelope: &envelope, principal: "local", scene: &busy };
    let refusal = check(&context, Verb::Pick, &pick("cube", 9.0)).unwrap_err();
    assert_eq!(refusal.code, Code::Busy);
    assert!(check(&context, Verb::Look, &json!({})).is_ok());
}

#[test]
fn an_object_is_found_by_its_name_or_below_a_point() {
    let mut scene = scene();
    let cube = Ok(Some("cube".to_owned()));
    assert_eq!(check_in(&scene, Verb::Pick, &json!({"object": "cube"})), cube);
    let at = |x: f64, y: f64| json!({"x_m": x, "y_m": y});
    assert_eq!(check_in(&scene, Verb::Pick, &at(0.524, -0.224)), cube);
    assert_eq!(check_in(&scene, Verb::Pick, &at(0.526, -0.2)), Err(Code::UnknownObject));
    // Turned by 45 degrees its corner is 35 mm away.
    scene.objects[0].yaw_rad = std::f64::consts::FRAC_PI_4;
    assert_eq!(check_in(&scene, Verb::Pick, &at(0.534, -0.2)), cube);
    assert_eq!(check_in(&scene, Verb::Pick, &at(0.52, -0.22)), Err(Code::UnknownObject));
    // A shelf is not taken, even if the envelope allows its name, and things are put on it.
    let mut envelope = envelope();
    envelope.objects.allow.push("shelf".to_owned());
    let context = Context { envelope: &envelope, principal: "local", scene: &scene };
    let shelf = check(&context, Verb::Pick, &json!({"object": "shelf"}));
    assert_eq!(shelf.unwrap_err().code, Code::UnknownObject);
    assert_eq!(check_in(&scene, Verb::Pick, &at(0.5, 0.35)), Err(Code::UnknownObject));
    assert_eq!(check_in(&scene, Verb::Place, &json!({"on": "shelf"})), Ok(Some("shelf".into())));
    scene.objects.push(object("cube_2", [0.5, -0.2, 0.825]));
    assert_eq!(check_in(&scene, Verb::Pick, &at(0.5, -0.2)), Err(Code::AmbiguousObject));
}

#[test]
fn objects_outside_of_the_envelope_are_not_taken() {
    let pick = |change: &dyn Fn(&mut SceneObject), name: &str| {
        let mut scene = scene();
        change(&mut scene.objects[0]);
        check_in(&scene, Verb::Pick, &json!({"object": name}))
    };
    assert!(pick(&|_| {}, "cube").is_ok());
    assert!(pick(&|cube| cube.mass_kg = Some(0.5), "cube").is_ok());
    assert_eq!(pick(&|cube| cube.mass_kg = Some(0.501), "cube"), Err(Code::OutsideEnvelope));
    assert_eq!(pick(&|cube| cube.mass_kg = Some(f64::NAN), "cube"), Err(Code::OutsideEnvelope));
    assert_eq!(pick(&|cube| cube.position_m[0] = 0.71, "cube"), Err(Code::OutsideEnvelope));
    assert_eq!(pick(&|cube| cube.name = "ball".to_owned(), "ball"), Err(Code::OutsideEnvelope));
    let denied = "cube_human";
    assert_eq!(pick(&|cube| cube.name = denied.to_owned(), denied), Err(Code::OutsideEnvelope));
    let on = json!({"on": "a_human"});
    assert_eq!(check_in(&scene(), Verb::Place, &on), Err(Code::OutsideEnvelope));
}
