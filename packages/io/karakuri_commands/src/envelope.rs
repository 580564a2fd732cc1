//! Envelope: the limits that a person has set, as a YAML file that no command changes.

mod file_guard;
mod values;
mod workspace;

pub use file_guard::{FileFacts, FileGuardError};
pub use values::OutOfRange;
pub use workspace::{Region, Workspace};

use std::collections::BTreeMap;
use std::path::Path;

use karakuri_files::{LoadError, read_yaml};
use serde::{Deserialize, Serialize};

use crate::canonical::{canonical, sha256};
use crate::interval::Interval;
use crate::name;
use crate::verb::Verb;

/// Coordinate beyond all that a robot reaches. [m]
const ANYWHERE: f64 = 1e3;
/// Value beyond all that a robot does: a speed, an acceleration, a force or a mass.
const ANY: f64 = 1e6;
/// Principal of whom the file does not have the name.
const ANYBODY: &str = "*";

/// Limits of all commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// Where the tool's centre may be.
    pub workspace_m: Workspace,
    /// Largest values.
    pub limits: Limits,
    /// Objects that may be taken.
    pub objects: Objects,
    /// What each principal may do; `*` is everybody else.
    #[serde(deserialize_with = "values::principals")]
    pub principals: BTreeMap<String, Principal>,
    /// Acts that need no approval.
    #[serde(default)]
    pub auto_act: AutoAct,
    /// How acts are rehearsed.
    #[serde(default)]
    pub rehearsal: RehearsalRules,
    /// Who may lift the envelope for a while.
    #[serde(default)]
    pub lift: Lift,
}

/// Largest values of an act.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Speed of the tool's centre. [m/s]
    #[serde(deserialize_with = "values::positive")]
    pub tool_speed_m_s: f64,
    /// Acceleration of the tool's centre. [m/s²]
    #[serde(deserialize_with = "values::positive", default = "values::acceleration")]
    pub tool_acceleration_m_s2: f64,
    /// Grip force of a finger, or of the vacuum over all cups. [N]
    #[serde(deserialize_with = "values::positive")]
    pub grip_force_n: f64,
    /// Mass of an object that is taken. [kg]
    #[serde(deserialize_with = "values::positive")]
    pub mass_kg: f64,
    /// Force of a contact in the rehearsal. [N]
    #[serde(deserialize_with = "values::positive")]
    pub contact_force_n: f64,
    /// Walking speed. [m/s]
    #[serde(deserialize_with = "values::positive", default = "values::walk_speed")]
    pub walk_speed_m_s: f64,
    /// Time of an act. [s]
    #[serde(deserialize_with = "values::positive", default = "values::duration")]
    pub duration_s: f64,
    /// Acts within any minute.
    #[serde(deserialize_with = "values::acts", default = "values::acts_per_minute")]
    pub acts_per_minute: u32,
}

/// Objects that may be taken, by patterns of their names: `*` stands for any characters, `?` for one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objects {
    /// Patterns of objects that may be taken.
    #[serde(deserialize_with = "values::patterns")]
    pub allow: Vec<String>,
    /// Patterns of objects that are neither taken nor put things on, even if allowed.
    #[serde(default, deserialize_with = "values::patterns")]
    pub deny: Vec<String>,
}

/// What a principal may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// Verbs.
    pub verbs: Vec<Verb>,
    /// Who approves of acts.
    #[serde(default)]
    pub approval: Approval,
}

/// Who approves of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Nobody.
    None,
    /// The client's user, asked by the client.
    Elicitation,
    /// A person at the robot, asked without the client.
    #[default]
    Operator,
}

/// Acts that need no approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoAct {
    /// Their verbs.
    pub verbs: Vec<Verb>,
    /// Least margin of their rehearsal. [-]
    #[serde(deserialize_with = "values::part")]
    pub min_margin: f64,
}

/// How acts are rehearsed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RehearsalRules {
    /// Number of copies, the nominal one among them.
    #[serde(deserialize_with = "values::copies")]
    pub copies: u32,
    /// Seed of the random copies.
    pub seed: u64,
    /// Least margin of all copies. [-]
    #[serde(deserialize_with = "values::part")]
    pub min_margin: f64,
    /// Time for which a ticket is valid. [s]
    #[serde(deserialize_with = "values::positive")]
    pub ttl_s: f64,
}

/// Who may lift the envelope, and for how long. Asked for at the robot, by no verb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lift {
    /// Names of people or roles.
    pub who: Vec<String>,
    /// Time after which the envelope holds again. [s]
    #[serde(deserialize_with = "values::positive")]
    pub for_s: f64,
}

impl Default for AutoAct {
    fn default() -> Self {
        Self { verbs: Vec::new(), min_margin: 1.0 }
    }
}

impl Default for RehearsalRules {
    fn default() -> Self {
        Self { copies: 16, seed: 1, min_margin: 0.2, ttl_s: 60.0 }
    }
}

impl Default for Lift {
    fn default() -> Self {
        Self { who: Vec::new(), for_s: 300.0 }
    }
}

impl Envelope {
    /// Reads an envelope file.
    ///
    /// # Errors
    /// When the file cannot be read, has an unknown key, lacks one, or has a value out of range, with line and key.
    pub fn read(path: &Path) -> Result<Self, LoadError> {
        read_yaml(path)
    }

    /// SHA-256 of the content, in hexadecimal digits: comments, order of keys and defaults that are written out do not change it.
    pub fn hash(&self) -> String {
        sha256(canonical(self).as_bytes())
    }

    /// Rules of a principal: its own, else those of everybody.
    pub fn principal(&self, principal: &str) -> Option<&Principal> {
        let own = self.principals.get(principal).filter(|_| principal != ANYBODY);
        own.or_else(|| self.principals.get(ANYBODY))
    }

    /// Whether a principal may use a verb. Anybody may stop; whoever may have something rehearsed may act on it.
    pub fn allows(&self, principal: &str, verb: Verb) -> bool {
        let verbs = self.principal(principal).map_or(&[][..], |principal| &principal.verbs);
        match verb {
            Verb::Stop => true,
            Verb::Act => verbs.iter().any(|verb| verb.is_rehearsed()),
            verb => verbs.contains(&verb),
        }
    }

    /// Who has to approve of an act that was rehearsed with this margin [-].
    pub fn approval(&self, principal: &str, verb: Verb, margin: f64) -> Approval {
        let AutoAct { verbs, min_margin } = &self.auto_act;
        if verbs.contains(&verb) && margin >= *min_margin {
            return Approval::None;
        }
        self.principal(principal).map_or(Approval::Operator, |principal| principal.approval)
    }

    /// Whether an object may be taken.
    pub fn allows_object(&self, name: &str) -> bool {
        self.objects.allow.iter().any(|pattern| name::matches(pattern, name))
            && !self.denies_object(name)
    }

    /// Whether an object may not even be put things on.
    pub fn denies_object(&self, name: &str) -> bool {
        self.objects.deny.iter().any(|pattern| name::matches(pattern, name))
    }

    /// The envelope while it is lifted: everywhere, of any number and any object. What each principal may do, who approves, and how acts are rehearsed
    /// stays, and so do the time and the rate of acts.
    #[must_use]
    pub(crate) fn lifted(&self) -> Self {
        let bounds = Region { lower: [-ANYWHERE; 3], upper: [ANYWHERE; 3] };
        Self {
            workspace_m: Workspace { bounds, keep_out: Vec::new() },
            limits: Limits {
                tool_speed_m_s: ANY,
                tool_acceleration_m_s2: ANY,
                grip_force_n: ANY,
                mass_kg: ANY,
                contact_force_n: ANY,
                walk_speed_m_s: ANY,
                ..self.limits
            },
            objects: Objects { allow: vec!["*".to_owned()], deny: Vec::new() },
            ..self.clone()
        }
    }

    /// Range of an argument, where the envelope limits it.
    pub(crate) fn range(&self, argument: &str) -> Option<Interval> {
        let axis = match argument {
            "x_m" => 0,
            "y_m" => 1,
            "z_m" => 2,
            "force_n" => return Some(Interval::positive(self.limits.grip_force_n)),
            _ => return None,
        };
        let Region { lower, upper } = self.workspace_m.bounds;
        Some(Interval::closed(lower[axis], upper[axis]))
    }
}

#[cfg(test)]
mod tests;
