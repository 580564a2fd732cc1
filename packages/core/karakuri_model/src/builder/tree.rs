//! The check that links and joints form one tree.

use crate::closest::closest;
use std::collections::{BTreeMap, BTreeSet};

use super::ModelBuilder;
use crate::diagnostic::{Report, Subject};

/// Links in depth-first order, parents before children.
pub(super) struct Tree {
    /// Each `(link, joint from its parent)`; the root's joint is `None`.
    pub(super) order: Vec<(usize, Option<usize>)>,
}

/// Joint from the parent of each link, and joints to its children.
type ParentJoints = Vec<Option<usize>>;
type ChildJoints = Vec<Vec<usize>>;

impl ModelBuilder {
    /// Checks that names are unique, ends exist, and one root reaches every link.
    pub(super) fn check_tree(&self, report: &mut Report) -> Option<Tree> {
        if self.links.is_empty() {
            report.error(
                &Subject::Robot,
                format!("robot `{}` has no links", self.name),
                "add at least one <link name=\"base_link\">",
            );
            return None;
        }
        let links = self.link_indices(report);
        self.check_joint_names(report);
        let (parents, children) = self.connect(&links, report)?;
        let root = self.find_root(&parents, &links, report)?;
        // Depth first: bodies of a limb stand together, and a subtree is a range.
        let order = depth_first(root, &children, self);
        if order.len() == self.links.len() {
            return Some(Tree { order });
        }
        // Every link but the root has a parent, so what is out of reach goes around in circles.
        let mut reached = vec![false; self.links.len()];
        for &(link, _) in &order {
            reached[link] = true;
        }
        self.report_cycle(&parents, &reached, report);
        None
    }

    fn link_indices(&self, report: &mut Report) -> BTreeMap<&str, usize> {
        let mut indices = BTreeMap::new();
        for (i, link) in self.links.iter().enumerate() {
            if let Some(first) = indices.insert(link.name.as_str(), i) {
                // The first one stays: joints cannot say which of two equal names they mean.
                indices.insert(link.name.as_str(), first);
                report.error(
                    &Subject::Link(link.name.clone()),
                    format!("link `{}` is defined twice", link.name),
                    "rename or delete one of them",
                );
            }
        }
        indices
    }

    fn check_joint_names(&self, report: &mut Report) {
        let mut seen = BTreeSet::new();
        for joint in &self.joints {
            if !seen.insert(joint.name.as_str()) {
                let subject = Subject::Joint(joint.name.clone());
                report.error(
                    &subject,
                    format!("joint `{}` is defined twice", joint.name),
                    "rename or delete one of them",
                );
            }
        }
    }

    /// Parent joint and child joints of every link; `None` if an end is unknown or a link has two parents.
    fn connect(
        &self,
        links: &BTreeMap<&str, usize>,
        report: &mut Report,
    ) -> Option<(ParentJoints, ChildJoints)> {
        let mut parents: Vec<Option<usize>> = vec![None; self.links.len()];
        let mut children = vec![Vec::new(); self.links.len()];
        let mut sound = true;
        for (j, joint) in self.joints.iter().enumerate() {
            let subject = Subject::Joint(joint.name.clone());
            for (role, link) in [("parent", &joint.parent), ("child", &joint.child)] {
                // All ends of all joints are asked for before giving up: one misspelled link is often named by several.
                if !links.contains_key(link.as_str()) {
                    sound = false;
                    let remedy = closest(link, links.keys().copied()).map_or_else(
                        || format!("add <link name=\"{link}\"/>"),
                        |known| format!("did you mean `{known}`? else add <link name=\"{link}\"/>"),
                    );
                    report.error(
                        &subject,
                        format!("joint `{}`: {role} link `{link}` does not exist", joint.name),
                        remedy,
                    );
                }
            }
            let (Some(&parent), Some(&child)) =
                (links.get(joint.parent.as_str()), links.get(joint.child.as_str()))
            else {
                continue;
            };
            if parent == child {
                sound = false;
                report.error(
                    &subject,
                    format!("joint `{}` connects link `{}` to itself", joint.name, joint.child),
                    "name two different links in <parent> and <child>",
                );
            } else if let Some(other) = parents[child] {
                sound = false;
                report.error(
                    &subject,
                    format!(
                        "link `{}` has two parents: joints `{}` and `{}`",
                        joint.child, self.joints[other].name, joint.name
                    ),
                    "a URDF is a tree: remove one, and close the loop under `loops:` in the robot YAML",
                );
            } else {
                parents[child] = Some(j);
                children[parent].push(j);
            }
        }
        sound.then_some((parents, children))
    }

    fn find_root(
        &self,
        parents: &[Option<usize>],
        links: &BTreeMap<&str, usize>,
        report: &mut Report,
    ) -> Option<usize> {
        // A duplicate is reported already.
        let is_first = |i: usize| links.get(self.links[i].name.as_str()) == Some(&i);
        let roots: Vec<usize> =
            (0..parents.len()).filter(|&i| parents[i].is_none() && is_first(i)).collect();
        match roots[..] {
            [root] => Some(root),
            // No link without a parent: all of them go around.
            [] => {
                self.report_cycle(parents, &vec![false; parents.len()], report);
                None
            }
            [first, ..] => {
                // A joint that could not be read leaves its child without a parent; that is reported where the joint is.
                if !self.all_joints {
                    return None;
                }
                for &other in &roots[1..] {
                    let name = &self.links[other].name;
                    report.error(
                        &Subject::Link(name.clone()),
                        format!(
                            "link `{name}` has no parent, but neither has `{}`: a robot has one root",
                            self.links[first].name
                        ),
                        format!("add a joint whose <child> is `{name}`, or delete the link"),
                    );
                }
                None
            }
        }
    }

    /// Names one circle among the links that were not reached.
    fn report_cycle(&self, parents: &[Option<usize>], reached: &[bool], report: &mut Report) {
        let Some(start) = reached.iter().position(|&r| !r) else { return };
        let parent_of = |link: usize| {
            let joint = parents[link]?;
            self.links.iter().position(|l| l.name == self.joints[joint].parent)
        };
        // Going up from any unreached link ends in the circle after at most as many steps as there are links.
        let mut link = start;
        for _ in 0..parents.len() {
            link = parent_of(link).unwrap_or(link);
        }
        // Once around, upwards; reversed below, so that the sentence reads from parent to child.
        let mut names = vec![self.links[link].name.as_str()];
        let mut next = parent_of(link).unwrap_or(link);
        // The second condition only bounds the walk; a circle comes back to its start.
        while next != link && names.len() < parents.len() {
            names.push(self.links[next].name.as_str());
            next = parent_of(next).unwrap_or(link);
        }
        let joint = parents[link].map(|j| self.joints[j].name.clone()).unwrap_or_default();
        names.push(self.links[link].name.as_str());
        names.reverse();
        report.error(
            &Subject::Joint(joint),
            format!("links form a circle: {}", names.join(" -> ")),
            "a URDF is a tree: remove one joint, and close the loop under `loops:` in the robot YAML",
        );
    }
}

fn depth_first(
    root: usize,
    children: &[Vec<usize>],
    builder: &ModelBuilder,
) -> Vec<(usize, Option<usize>)> {
    let index: BTreeMap<&str, usize> =
        builder.links.iter().enumerate().rev().map(|(i, l)| (l.name.as_str(), i)).collect();
    let mut order = Vec::with_capacity(builder.links.len());
    let mut stack = vec![(root, None)];
    while let Some((link, joint)) = stack.pop() {
        order.push((link, joint));
        // Reversed, so that children come in the order of the file.
        stack.extend(
            children[link]
                .iter()
                .rev()
                .filter_map(|&j| Some((*index.get(builder.joints[j].child.as_str())?, Some(j)))),
        );
    }
    order
}
