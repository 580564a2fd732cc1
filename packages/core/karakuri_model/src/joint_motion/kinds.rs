//! The registry of joints that a robot YAML can name.

use super::{Reshaped, ball, path, screw};
use crate::yaml::{Node, Reader};

type ReadKind = fn(&mut Reader<'_>, &Node, &str) -> Option<Reshaped>;

/// The kinds that a robot YAML can name under `joints: <joint>: {type: ...}`.
pub(crate) const KINDS: [(&str, ReadKind); 3] =
    [("ball", ball::read), ("path", path::read), ("screw", screw::read)];
