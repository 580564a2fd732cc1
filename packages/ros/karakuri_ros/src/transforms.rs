//! Frames and their poses, as `/tf_static` and `/tf` give them.
//!
//! Each frame hangs on one parent. The pose of one frame in another is found through their common ancestor, with the
//! newest transforms; there is no history.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use karakuri_spatial::Pose;

use crate::{FromMessage, Node, RosError, msg::tf2_msgs::msg::TFMessage, qos};

/// Longest chain of frames; a longer one is a cycle.
const LONGEST_CHAIN: usize = 1000;

/// Newest transform of every frame. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Transforms {
    /// Parent of each child, and its pose in the parent.
    frames: Rc<RefCell<BTreeMap<String, (String, Pose)>>>,
}

impl Transforms {
    fn take(&self, message: &TFMessage) {
        let mut frames = self.frames.borrow_mut();
        for transform in &message.transforms {
            if let Some(pose) = Pose::from_message(&transform.transform) {
                let parent = transform.header.frame_id.clone();
                frames.insert(transform.child_frame_id.clone(), (parent, pose));
            }
        }
    }

    /// Whether no transform has come yet.
    pub fn is_empty(&self) -> bool {
        self.frames.borrow().is_empty()
    }

    /// Frames from `name` up to its root, each with the pose of `name` in it.
    fn chain(&self, name: &str) -> Vec<(String, Pose)> {
        let frames = self.frames.borrow();
        let mut chain = vec![(name.to_owned(), Pose::IDENTITY)];
        while let Some((last, pose)) = chain.last()
            && let Some((parent, in_parent)) = frames.get(last)
            && chain.len() < LONGEST_CHAIN
        {
            let next = (parent.clone(), *in_parent * *pose);
            chain.push(next);
        }
        chain
    }

    /// Pose of frame `of` in frame `target`; `None` where nothing connects them.
    pub fn pose(&self, target: &str, of: &str) -> Option<Pose> {
        let (above_target, above_of) = (self.chain(target), self.chain(of));
        above_of.iter().find_map(|(frame, of_in_it)| {
            let (_, target_in_it) = above_target.iter().find(|(name, _)| name == frame)?;
            Some(target_in_it.inverse() * *of_in_it)
        })
    }
}

impl<S: 'static> Node<S> {
    /// Follows `/tf` and `/tf_static`.
    ///
    /// # Errors
    /// When the middleware refuses a subscription.
    pub fn transforms(&mut self) -> Result<Transforms, RosError> {
        let transforms = Transforms::default();
        for (topic, qos) in [("/tf", qos::tf()), ("/tf_static", qos::latched_many())] {
            let transforms = transforms.clone();
            self.subscribe::<TFMessage>(topic, qos, move |_, message| transforms.take(message))?;
        }
        Ok(transforms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karakuri_spatial::Vector3;

    #[test]
    fn poses_are_found_through_the_common_ancestor() {
        let transforms = Transforms::default();
        let at = |x: f64, y: f64| Pose::from_translation(Vector3::new(x, y, 0.0));
        for (child, parent, pose) in [
            ("base", "world", at(1.0, 0.0)),
            ("tool", "base", at(0.0, 2.0)),
            ("cube", "world", at(5.0, 5.0)),
        ] {
            transforms.frames.borrow_mut().insert(child.to_owned(), (parent.to_owned(), pose));
        }
        let found = transforms.pose("tool", "cube").map(|p| p.translation);
        assert_eq!(found, Some(Vector3::new(4.0, 3.0, 0.0)));
        assert_eq!(transforms.pose("tool", "tool"), Some(Pose::IDENTITY));
        assert_eq!(transforms.pose("tool", "moon"), None);
    }
}
