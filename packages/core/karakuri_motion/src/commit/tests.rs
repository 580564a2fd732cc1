//! Operations, their inverses, and what they refuse.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::file::write;
use crate::gamepad::GamepadBinding;
use crate::motion::{Ease, Key, Marker, Motion, Scene, Support, Track};
use crate::op::EntryList;
use crate::pose::Pose;

fn pose(joint: &str, value: f64) -> Pose {
    Pose { joints: [(joint.to_owned(), value)].into_iter().collect(), ..Pose::default() }
}

fn scene(pose: &str, time: f64) -> Scene {
    Scene { pose: Some(pose.to_owned()), time, ..Scene::default() }
}

fn document() -> Document {
    let mut document = Document::default();
    for (name, value) in [("stand", 0.1), ("bow", 0.7), ("spare", 0.2)] {
        document.poses.insert(name.to_owned(), pose("knee", value));
    }
    let greet = Motion {
        scenes: vec![scene("stand", 0.5), scene("bow", 1.0), scene("stand", 1.0)],
        ..Motion::default()
    };
    document.motions.insert("greet".to_owned(), Arc::new(greet));
    document
}

fn refused(document: &mut Document, ops: &[Op]) -> String {
    let before = document.clone();
    let problem = document.commit(ops).unwrap_err();
    assert_eq!(write(document), write(&before));
    problem.to_string()
}

#[test]
fn a_list_is_done_entirely_or_not_at_all() {
    let mut document = document();
    let ops = [
        Op::RenamePose { name: "stand".into(), to: "upright".into() },
        Op::RemoveScene { motion: "greet".into(), index: 9 },
    ];
    let said = refused(&mut document, &ops);
    assert_eq!(
        said,
        "motions.greet.scenes[9]: there is no motions.greet.scenes[9]; write an index from 0 to 2"
    );
}

#[test]
fn what_would_contradict_the_rest_is_refused() {
    let mut document = document();
    let name = || "stand".to_owned();
    let said = refused(&mut document, &[Op::RemovePose { name: name() }]);
    assert!(said.contains("there is no pose `stand`"), "{said}");
    let said = refused(&mut document, &[Op::RenamePose { name: name(), to: "bow".into() }]);
    assert_eq!(said, "poses.bow: `bow` is taken; choose another name");
    let joints = [("knee".to_owned(), Some(f64::NAN))].into_iter().collect();
    let said = refused(&mut document, &[Op::SetPoseJoints { name: name(), joints }]);
    assert!(said.contains("NaN is no number"), "{said}");
    let key = |t| Key { t, y: 1.0, ease: Ease::Linear };
    let (motion, joint) = ("greet".to_owned(), "knee".to_owned());
    let said = refused(
        &mut document,
        &[Op::PutKey { motion: motion.clone(), joint: joint.clone(), key: key(f64::NAN) }],
    );
    assert!(said.contains("cannot be at NaN s"), "{said}");
    let put = |t| Op::PutKey { motion: motion.clone(), joint: joint.clone(), key: key(t) };
    document.commit(&[put(1.0), put(2.0)]).unwrap();
    let said =
        refused(&mut document, &[Op::MoveKey { motion: motion.clone(), joint, t: 1.0, to: 2.0 }]);
    assert!(said.contains("there is a key at 2 s already"), "{said}");
}

#[test]
fn a_pose_is_renamed_wherever_it_is_used() {
    let mut document = document();
    let undo =
        document.commit(&[Op::RenamePose { name: "stand".into(), to: "upright".into() }]).unwrap();
    assert_eq!(document.motions["greet"].scenes[2].pose.as_deref(), Some("upright"));
    assert_eq!(document.poses.keys().next().unwrap(), "upright");
    document.commit(&undo).unwrap();
    assert_eq!(write(&document), write(&super::tests::document()));
}

#[test]
fn what_a_gamepad_moves_is_set_taken_back_and_renamed_with_its_pose() {
    let mut document = document();
    let to_pose =
        GamepadBinding { button: Some(0), pose: Some("stand".into()), ..Default::default() };
    let undo = document.commit(&[Op::SetGamepad { bindings: vec![to_pose.clone()] }]).unwrap();
    document.commit(&[Op::RenamePose { name: "stand".into(), to: "upright".into() }]).unwrap();
    assert_eq!(document.gamepad[0].pose.as_deref(), Some("upright"));
    let remove = [Op::RemovePose { name: "upright".into() }];
    assert!(refused(&mut document, &remove).contains("there is no pose `upright`"));
    let two = GamepadBinding { joint: Some("knee".into()), ..to_pose };
    let said = refused(&mut document, &[Op::SetGamepad { bindings: vec![two] }]);
    assert!(said.contains("an input does one thing, this one 2"), "{said}");
    document.commit(&undo).unwrap();
    assert!(document.gamepad.is_empty());
}

#[test]
fn joints_and_springs_go_and_come_with_their_body() {
    let mut document = document();
    let put =
        |list, name: &str, entry| Op::PutEntry { list, name: name.into(), entry, index: None };
    let ops = [
        put(EntryList::Bodies, "crate", json!({"mass": 1})),
        put(EntryList::Bodies, "post", json!({"fixed": true})),
        put(EntryList::Joints, "hinge", json!({"a": "crate", "b": "world"})),
        put(EntryList::Joints, "other", json!({"a": "post", "b": "world"})),
        put(EntryList::Springs, "coil", json!({"a": {"part": "post"}, "b": {"part": "crate"}})),
    ];
    document.commit(&ops).unwrap();
    let before = write(&document);
    let remove = Op::RemoveEntry { list: EntryList::Bodies, name: "crate".into(), alone: false };
    let undo = document.commit(&[remove]).unwrap();
    assert_eq!(document.scene.joints.keys().collect::<Vec<_>>(), ["other"]);
    assert!(document.scene.springs.is_empty());
    document.commit(&undo).unwrap();
    assert_eq!(write(&document), before);
}

#[test]
fn operations_are_json_with_a_name() {
    let text =
        r#"{"op":"scene.joints","motion":"greet","index":1,"joints":{"knee":0.3,"hip":null}}"#;
    let op: Op = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&op).unwrap(), text);
    assert!(serde_json::from_str::<Op>(r#"{"op":"pose.remove","name":"a","extra":1}"#).is_err());
    assert!(serde_json::from_str::<Op>(r#"{"op":"pose.explode","name":"a"}"#).is_err());
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["stand", "bow", "spare", "greet", "wave", "knee", "hip", "box"])
        .prop_map(str::to_owned)
}

fn any_scene() -> impl Strategy<Value = Scene> {
    (name(), -0.1..2.0_f64, prop::option::of(name())).prop_map(|(pose, time, motion)| {
        let pose = motion.is_none().then_some(pose);
        Scene { pose, motion, time, ..Scene::default() }
    })
}

fn on_motions() -> impl Strategy<Value = Op> {
    let index = || 0..5_usize;
    let key = || {
        (0.0..3.0_f64, -1.0..1.0_f64).prop_map(|(t, y)| {
            // Times that meet again
            Key { t: (t * 4.0).round() / 4.0, y, ease: Ease::Natural }
        })
    };
    prop_oneof![
        (index(), any_scene()).prop_map(|(index, scene)| Op::InsertScene {
            motion: "greet".into(),
            index,
            scene
        }),
        (index(), any_scene()).prop_map(|(index, scene)| Op::PutScene {
            motion: "greet".into(),
            index,
            scene
        }),
        index().prop_map(|index| Op::RemoveScene { motion: "greet".into(), index }),
        (index(), index()).prop_map(|(index, to)| Op::MoveScene {
            motion: "greet".into(),
            index,
            to
        }),
        index().prop_map(|index| Op::SetSupport {
            motion: "greet".into(),
            index,
            support: Some(Support::Left)
        }),
        (index(), name(), prop::option::of(-1.0..1.0_f64)).prop_map(|(index, joint, value)| {
            Op::SetSceneJoints {
                motion: "greet".into(),
                index,
                joints: [(joint, value)].into_iter().collect(),
            }
        }),
        (name(), key()).prop_map(|(joint, key)| Op::PutKey { motion: "greet".into(), joint, key }),
        (name(), key()).prop_map(|(joint, key)| Op::RemoveKey {
            motion: "greet".into(),
            joint,
            t: key.t
        }),
        (name(), key(), key()).prop_map(|(joint, a, b)| Op::MoveKey {
            motion: "greet".into(),
            joint,
            t: a.t,
            to: b.t
        }),
        (name(), key()).prop_map(|(joint, key)| Op::PutTrack {
            motion: "greet".into(),
            joint,
            index: Some(0),
            track: Track { keys: vec![key], ..Track::default() }
        }),
        name().prop_map(|joint| Op::RemoveTrack { motion: "greet".into(), joint }),
        (index(), 0.0..2.0_f64).prop_map(|(index, t)| Op::InsertMarker {
            motion: "greet".into(),
            index,
            marker: Marker { t, name: "m".into() }
        }),
        index().prop_map(|index| Op::RemoveMarker { motion: "greet".into(), index }),
        (prop::option::of(0.0..0.2_f64), prop::option::of(any::<bool>())).prop_map(
            |(frame, is_loop)| {
                Op::SetMotion { motion: "greet".into(), frame, is_loop, start: None }
            }
        ),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let index = || prop::option::of(0..4_usize);
    prop_oneof![
        3 => on_motions(),
        1 => (name(), -1.0..1.0_f64, index()).prop_map(|(name, value, index)| Op::PutPose { name, pose: pose("hip", value), index }),
        1 => (name(), name(), prop::option::of(-1.0..1.0_f64)).prop_map(|(name, joint, value)| {
            Op::SetPoseJoints { name, joints: [(joint, value)].into_iter().collect() }
        }),
        1 => name().prop_map(|name| Op::RemovePose { name }),
        1 => (name(), name()).prop_map(|(name, to)| Op::RenamePose { name, to }),
        1 => (name(), 0..4_usize).prop_map(|(name, index)| Op::MovePose { name, index }),
        1 => (name(), name()).prop_map(|(name, to)| Op::RenameMotion { name, to }),
        1 => (name(), index()).prop_map(|(name, index)| Op::PutMotion { name, motion: Motion::default(), index }),
        1 => name().prop_map(|name| Op::RemoveMotion { name }),
        1 => (name(), index()).prop_map(|(name, index)| Op::PutEntry { list: EntryList::Bodies, name, entry: json!({"mass": 2.5}), index }),
        1 => (name(), name()).prop_map(|(name, part)| Op::PutEntry { list: EntryList::Joints, name, entry: json!({"a": part}), index: None }),
        1 => name().prop_map(|name| Op::RemoveEntry { list: EntryList::Bodies, name, alone: false }),
        1 => (name(), prop::option::of(0..9_i32)).prop_map(|(name, value)| Op::SetParameter { name, value: value.map(Into::into), index: None }),
        1 => (name(), ".{0,20}").prop_map(|(name, text)| Op::PutScript { name, text, index: None }),
        1 => name().prop_map(|name| Op::RemoveScript { name }),
    ]
}

proptest! {
    /// Undone in their order backwards, edits leave the bytes of the file as they were.
    #[test]
    fn undo_brings_the_bytes_back(lists in prop::collection::vec(prop::collection::vec(op(), 1..4), 1..50)) {
        let mut document = document();
        let mut history = Vec::new();
        for ops in &lists {
            let before = write(&document);
            if let Ok(undo) = document.commit(ops) {
                history.push((before, undo));
            } else {
                prop_assert_eq!(write(&document), before);
            }
            prop_assert!(document.check().is_empty());
        }
        while let Some((before, undo)) = history.pop() {
            let after = write(&document);
            let redo = document.commit(&undo).unwrap();
            prop_assert_eq!(&write(&document), &before);
            let undo = document.commit(&redo).unwrap();
            prop_assert_eq!(&write(&document), &after);
            document.commit(&undo).unwrap();
        }
    }
}
