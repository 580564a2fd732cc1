//! Mimic joints: chains are resolved to one leader each, circles are refused.

use std::collections::BTreeMap;

use super::ModelBuilder;
use crate::closest::closest;
use crate::diagnostic::{Report, Subject};
use crate::{Coupling, Model};

/// `q[follower] = multiplier · q[leader] + offset`, by joint index in the builder.
pub(super) struct ResolvedMimic {
    follower: usize,
    leader: usize,
    multiplier: f64,
    offset: f64,
}

impl ModelBuilder {
    /// Follows every chain of mimics to the joint that leads it.
    pub(super) fn resolve_couplings(&self, report: &mut Report) -> Vec<ResolvedMimic> {
        let index: BTreeMap<&str, usize> =
            // Reversed, so that of equal names the first one stays.
            self.joints.iter().enumerate().rev().map(|(i, j)| (j.name.as_str(), i)).collect();
        (0..self.joints.len())
            .filter(|&j| self.joints[j].mimic.is_some())
            .filter_map(|j| self.resolve(j, &index, report))
            .collect()
    }

    fn resolve(
        &self,
        follower: usize,
        index: &BTreeMap<&str, usize>,
        report: &mut Report,
    ) -> Option<ResolvedMimic> {
        let name = &self.joints[follower].name;
        let subject = Subject::Mimic(name.clone());
        if !self.has_one_dof(follower) {
            report.error(
                &subject,
                format!(
                    "joint `{name}` mimics another but does not have exactly one degree of freedom"
                ),
                "only revolute, continuous and prismatic joints can mimic; delete <mimic>",
            );
            return None;
        }
        let (mut leader, mut multiplier, mut offset) = (follower, 1.0, 0.0);
        let mut visited = vec![follower];
        // Chains are resolved here once: the algorithms know one leader for each follower.
        while let Some(mimic) = &self.joints[leader].mimic {
            let Some(&next) = index.get(mimic.leader.as_str()) else {
                // A broken link further along the chain is reported at its own joint.
                if leader == follower {
                    let names = index.keys().copied().filter(|n| n != name);
                    let remedy = closest(&mimic.leader, names)
                        .map_or("name an existing joint".to_owned(), |n| {
                            format!("did you mean `{n}`?")
                        });
                    report.error(
                        &subject,
                        format!(
                            "joint `{name}` mimics joint `{}`, which does not exist",
                            mimic.leader
                        ),
                        remedy,
                    );
                }
                return None;
            };
            // q = m₁ (m₂ q₂ + o₂) + o₁: the offset of a leader counts with the factors before it, so it is added first.
            offset += multiplier * mimic.offset;
            multiplier *= mimic.multiplier;
            // A circle fixes its joints at one position or contradicts itself; either way none of them leads.
            if visited.contains(&next) {
                let names: Vec<_> = visited.iter().map(|&j| self.joints[j].name.as_str()).collect();
                report.error(
                    &subject,
                    format!(
                        "joint `{name}` mimics itself: {} -> {}",
                        names.join(" -> "),
                        mimic.leader
                    ),
                    "remove <mimic> from the joint that leads",
                );
                return None;
            }
            visited.push(next);
            leader = next;
        }
        if !self.has_one_dof(leader) {
            report.error(
                &subject,
                format!(
                    "joint `{name}` mimics joint `{}`, which does not have exactly one degree of freedom",
                    self.joints[leader].name
                ),
                "follow a revolute, continuous or prismatic joint",
            );
            return None;
        }
        // The product of a long chain may overflow, though each of its factors is finite.
        if !multiplier.is_finite() || !offset.is_finite() {
            report.error(
                &subject,
                format!(
                    "joint `{name}`: mimic multiplier {multiplier} or offset {offset} is not finite"
                ),
                "write finite numbers",
            );
            return None;
        }
        Some(ResolvedMimic { follower, leader, multiplier, offset })
    }

    fn has_one_dof(&self, joint: usize) -> bool {
        self.joints[joint].kind.as_ref().is_some_and(|kind| kind.single().is_some())
    }

    /// Puts the couplings into the model.
    pub(super) fn apply_couplings(&self, model: &mut Model, resolved: &[ResolvedMimic]) {
        model.couplings = resolved
            .iter()
            .filter_map(|r| {
                Some(Coupling {
                    // By name, since the model has no fixed joints and another order.
                    follower: model.joint(&self.joints[r.follower].name)?,
                    leader: model.joint(&self.joints[r.leader].name)?,
                    multiplier: r.multiplier,
                    offset: r.offset,
                })
            })
            .collect();
    }
}
