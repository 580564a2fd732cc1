//! arm6 at its table, and a gate with the envelope of that cell.

use karakuri_commands::{
    Answer, Command, Envelope, Forecast, Gate, Refusal, Rehearsed, Scene, SceneObject, Verb,
};
use serde_json::{Value, json};

pub(crate) fn envelope() -> Envelope {
    let file = "/../../../config/envelopes/table.yaml";
    Envelope::read((env!("CARGO_MANIFEST_DIR").to_owned() + file).as_ref()).unwrap()
}

pub(crate) fn object(name: &str, position_m: [f64; 3]) -> SceneObject {
    SceneObject {
        name: name.to_owned(),
        shape: "box",
        position_m,
        size_m: [0.05; 3],
        yaw_rad: 0.0,
        mass_kg: Some(0.2),
        is_fixed: false,
    }
}

pub(crate) fn scene() -> Scene {
    Scene { objects: vec![object("cube", [0.5, -0.2, 0.775])], is_busy: false }
}

pub(crate) fn check(gate: &mut Gate, verb: Verb, arguments: &Value) -> Result<Command, Refusal> {
    gate.check("local", verb, arguments, &scene(), 0.0)
}

pub(crate) fn forecast() -> Forecast {
    Forecast {
        copies: 16,
        failed: 0,
        margin: 0.5,
        contact_force_n: 12.0,
        duration_s: 8.0,
        probability: 0.76,
        holds: true,
        moved: vec!["cube_2".to_owned()],
        end_xyz_m: [0.4, 0.0, 0.9],
        end_yaw_rad: 0.0,
        end_spread_m: 0.001,
        commands: "c".to_owned(),
    }
}

/// A command of `local` that was rehearsed.
pub(crate) fn rehearsed(command: Command) -> Rehearsed {
    Rehearsed {
        number: 1,
        principal: "local".to_owned(),
        command,
        world: "w".to_owned(),
        build: "b".to_owned(),
        seed: 1,
    }
}

/// Answer to a pick of `local` that was rehearsed, at 0 s.
pub(crate) fn issue(gate: &mut Gate, byte: u8) -> Result<Answer, Refusal> {
    let command = check(gate, Verb::Pick, &json!({"object": "cube"}))?;
    gate.issue(rehearsed(command), forecast(), [byte; 16], 0.0)
}
