//! Changes of a motion planner's scene: objects that come, move and go, and the one that a hand holds.
//!
//! A planner keeps its own scene. [`SceneChanges`] compares what is seen with what the planner was sent, and says what is to be sent next: an
//! object that moved by less than [`MOVED`] is where it was, and moves are sent at most every [`MOVE_PERIOD`]. What a hand holds moves
//! with its tool, by the planner's own kinematics, until it is let go.
//!
//! Units: m, s; poses in the planner's frame.

use std::collections::BTreeMap;

use karakuri_model::{FrameId, Model};
use karakuri_spatial::{Pose, Time, Vector3};

/// Motion of an object's corners that is sent. [m]
pub const MOVED: f64 = 1e-3;
/// Least time from one set of moves to the next. [s]
pub const MOVE_PERIOD: f64 = 0.1;
/// Time for which a hand must hold, or not hold, before an object is attached or detached. [s]
const SETTLED: f64 = 0.1;
/// Room around an object's box in which the tool of a hand that holds it is. [m]
const REACH: f64 = 0.01;

/// Object that is seen.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneObject {
    /// Name, one of a kind.
    pub name: String,
    /// Name of its shape, as its source says.
    pub shape: String,
    /// Pose of the middle of its box.
    pub pose: Pose,
    /// Edges of its box. [m] (3)
    pub size: Vector3,
}

impl SceneObject {
    /// Whether a point is within its box, or near it.
    fn reaches(&self, point: &Vector3) -> bool {
        let p = self.pose.inverse().transform_point(point);
        (0..3).all(|k| p[k].abs() <= 0.5 * self.size[k] + REACH)
    }

    /// Largest motion of its box's corners to another pose. [m]
    fn motion_to(&self, pose: &Pose) -> f64 {
        let shift = (pose.translation - self.pose.translation).norm();
        // ‖R − S‖ of two rotations bounds how far it turns a unit vector.
        shift + (pose.rotation - self.pose.rotation).norm() * 0.5 * self.size.norm()
    }
}

/// Change of the planner's scene.
#[derive(Debug, Clone, PartialEq)]
pub enum SceneChange {
    /// Adds an object, or replaces the one of its name.
    Add(SceneObject),
    /// Moves an object.
    Move(SceneObject),
    /// Removes an object.
    Remove(String),
    /// Attaches an object to the tool.
    Attach(String),
    /// Detaches an object from the tool; it stays where it is.
    Detach(String),
}

/// What the planner was sent, and what is to be sent next.
#[derive(Debug, Clone, Default)]
pub struct SceneChanges {
    sent: BTreeMap<String, SceneObject>,
    attached: Option<String>,
    /// Whether the hand holds, and since when.
    holds: Option<(bool, Time)>,
    /// When moves were sent last.
    moved: Option<Time>,
}

impl SceneChanges {
    /// Changes to send for what is seen at a time. `tool` is the place of the tool [m] (3) where the hand holds something.
    pub fn observe(
        &mut self,
        objects: &[SceneObject],
        tool: Option<&Vector3>,
        now: Time,
    ) -> Vec<SceneChange> {
        let mut changes = Vec::new();
        let gone = |name: &String| !objects.iter().any(|object| object.name == *name);
        self.let_go(tool.is_some(), now, &mut changes, gone);
        let lost: Vec<String> = self.sent.keys().filter(|name| gone(name)).cloned().collect();
        for name in lost {
            self.sent.remove(&name);
            changes.push(SceneChange::Remove(name));
        }
        if let Some(place) = tool.filter(|_| self.is_settled(now) && self.attached.is_none()) {
            // Of those that the planner has: it attaches before it adds.
            let known = objects.iter().filter(|object| self.sent.contains_key(&object.name));
            self.attached = nearest(known, place);
            changes.extend(self.attached.clone().map(SceneChange::Attach));
        }
        let may_move = self.moved.is_none_or(|last| now.seconds_since(last) >= MOVE_PERIOD);
        for object in objects.iter().filter(|object| self.attached.as_ref() != Some(&object.name)) {
            match self.sent.get(&object.name) {
                Some(sent) if sent.size == object.size && sent.shape == object.shape => {
                    if !may_move || sent.motion_to(&object.pose) <= MOVED {
                        continue;
                    }
                    self.moved = Some(now);
                    changes.push(SceneChange::Move(object.clone()));
                }
                _ => changes.push(SceneChange::Add(object.clone())),
            }
            self.sent.insert(object.name.clone(), object.clone());
        }
        changes
    }

    /// Forgets what was sent: the planner was restarted.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Detaches what is held no longer, or is gone.
    fn let_go(
        &mut self,
        holds: bool,
        now: Time,
        changes: &mut Vec<SceneChange>,
        gone: impl Fn(&String) -> bool,
    ) {
        // A clock that jumped back begins the wait again.
        if self.holds.is_none_or(|(before, since)| before != holds || now < since) {
            self.holds = Some((holds, now));
        }
        let is_open = !holds && self.is_settled(now);
        if let Some(name) = self.attached.take_if(|name| is_open || gone(name)) {
            changes.push(SceneChange::Detach(name.clone()));
            // It may be anywhere now.
            self.moved = None;
        }
        if self.moved.is_some_and(|last| now < last) {
            self.moved = None;
        }
    }

    fn is_settled(&self, now: Time) -> bool {
        self.holds.is_some_and(|(_, since)| now.seconds_since(since) >= SETTLED)
    }
}

/// Name of the object about a place [m] (3) whose middle is nearest to it.
fn nearest<'a>(objects: impl Iterator<Item = &'a SceneObject>, place: &Vector3) -> Option<String> {
    let distance = |object: &SceneObject| (object.pose.translation - place).norm();
    let about = objects.filter(|object| object.reaches(place));
    about.min_by(|a, b| distance(a).total_cmp(&distance(b))).map(|object| object.name.clone())
}

/// Links that may touch what a hand holds: those from the one on that the last joint of the arm, the first group, carries.
pub fn touch_links(model: &Model) -> Vec<FrameId> {
    let last = model.groups.first().and_then(|arm| arm.joints.last());
    let carried = last.and_then(|&joint| model.link_of(joint));
    carried.map_or_else(Vec::new, |link| model.links_from(link))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, x: f64) -> SceneObject {
        SceneObject {
            name: name.to_owned(),
            shape: "box".to_owned(),
            pose: Pose::from_translation(Vector3::new(x, 0.0, 0.0)),
            size: Vector3::new(0.04, 0.04, 0.1),
        }
    }

    fn at(seconds: f64) -> Time {
        Time::ZERO.plus_seconds(seconds)
    }

    #[test]
    fn what_comes_is_added_once_and_what_goes_is_removed() {
        let mut scene = SceneChanges::default();
        let (a, b) = (object("a", 0.0), object("b", 1.0));
        let both = [a.clone(), b.clone()];
        assert_eq!(scene.observe(&both, None, at(0.0)), both.clone().map(SceneChange::Add));
        assert_eq!(scene.observe(&both, None, at(1.0)), []);
        let wider = SceneObject { size: Vector3::new(0.05, 0.04, 0.1), ..a };
        let seen = [wider.clone()];
        let expected = [SceneChange::Remove("b".to_owned()), SceneChange::Add(wider)];
        assert_eq!(scene.observe(&seen, None, at(2.0)), expected);
        scene.forget();
        assert_eq!(
            scene.observe(core::slice::from_ref(&b), None, at(3.0)),
            [SceneChange::Add(b.clone())]
        );
    }

    #[test]
    fn moves_are_those_that_can_be_seen_and_at_most_ten_a_second() {
        let mut scene = SceneChanges::default();
        let place = |x: f64| [object("a", x)];
        scene.observe(&place(0.0), None, at(0.0));
        assert_eq!(scene.observe(&place(0.9e-3), None, at(1.0)), []);
        let moved = |x: f64| vec![SceneChange::Move(object("a", x))];
        assert_eq!(scene.observe(&place(1.1e-3), None, at(2.0)), moved(1.1e-3));
        // Against what was sent: slow ones count too, but not before their time.
        assert_eq!(scene.observe(&place(5e-3), None, at(2.05)), []);
        assert_eq!(scene.observe(&place(5e-3), None, at(2.101)), moved(5e-3));
        // Half a degree moves the corners of this box by less than a millimetre, two by more.
        let turned = |angle: f64| {
            let turn = karakuri_spatial::UnitQuaternion::from_euler_angles(0.0, 0.0, angle);
            [SceneObject {
                pose: Pose::from_quaternion(&turn, Vector3::new(5e-3, 0.0, 0.0)),
                ..object("a", 0.0)
            }]
        };
        assert_eq!(scene.observe(&turned(5e-3), None, at(3.0)), []);
        assert_eq!(scene.observe(&turned(35e-3), None, at(3.0)).len(), 1);
    }

    #[test]
    fn what_is_held_is_attached_until_it_is_let_go() {
        let mut scene = SceneChanges::default();
        let tool = Vector3::new(1.0, 0.0, 0.055);
        let (cube, held) = ([object("a", 0.0), object("b", 1.0)], Some(&tool));
        scene.observe(&cube, None, at(0.0));
        // A hand that has just closed may open again.
        assert_eq!(scene.observe(&cube, held, at(0.2)), []);
        let attached = [SceneChange::Attach("b".to_owned())];
        assert_eq!(scene.observe(&cube, held, at(0.31)), attached);
        // What moves with the tool is not sent, nor is an opening that lasts for a sample.
        let carried = [object("a", 0.0), object("b", 2.0)];
        assert_eq!(scene.observe(&carried, held, at(0.5)), []);
        assert_eq!(scene.observe(&carried, None, at(0.6)), []);
        assert_eq!(scene.observe(&carried, held, at(0.65)), []);
        assert_eq!(scene.observe(&carried, None, at(1.0)), []);
        let expected = [SceneChange::Detach("b".to_owned()), SceneChange::Move(object("b", 2.0))];
        assert_eq!(scene.observe(&carried, None, at(1.11)), expected);
    }

    #[test]
    fn a_hand_that_holds_nothing_known_attaches_nothing() {
        let mut scene = SceneChanges::default();
        let far = Vector3::new(0.0, 0.0, 0.08);
        for seconds in [0.0, 1.0] {
            let changes = scene.observe(&[object("a", 0.0)], Some(&far), at(seconds));
            assert!(!changes.iter().any(|change| matches!(change, SceneChange::Attach(_))));
        }
    }

    #[test]
    fn an_object_that_vanishes_from_the_hand_is_detached_and_removed() {
        let mut scene = SceneChanges::default();
        let tool = Vector3::zeros();
        for seconds in [0.0, 0.2] {
            scene.observe(&[object("a", 0.0)], Some(&tool), at(seconds));
        }
        let name = || "a".to_owned();
        let expected = [SceneChange::Detach(name()), SceneChange::Remove(name())];
        assert_eq!(scene.observe(&[], Some(&tool), at(0.3)), expected);
    }
}
