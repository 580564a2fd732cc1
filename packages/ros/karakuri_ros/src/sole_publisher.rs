//! Topics that one node publishes, and a warning where another does so, too.

use std::time::Duration;

use crate::{Node, Throttle, direct::SharedNode, warn};

/// Time after which a log repeats the same warning.
const REPEAT: Duration = Duration::from_secs(30);

/// Topic that must have one publisher, whichever node that is.
pub struct SolePublisher {
    node: SharedNode,
    topic: String,
}

impl std::fmt::Debug for SolePublisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SolePublisher").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl SolePublisher {
    /// Description of the publishers, if there are several.
    fn rivals(&self) -> Option<String> {
        let publishers = self.node.lock().get_publishers_info_by_topic(&self.topic, false).ok()?;
        if publishers.len() < 2 {
            return None;
        }
        // A publisher may be discovered before the node that it belongs to; the next look knows its name.
        if publishers.iter().any(|p| p.node_name.contains("_NODE_NAME_UNKNOWN_")) {
            return None;
        }
        let names: Vec<String> = publishers
            .iter()
            .map(|p| format!("{}/{}", p.node_namespace.trim_end_matches('/'), p.node_name))
            .collect();
        Some(format!(
            "`{}` has {} publishers ({}): stop all but one, or give each robot a namespace (one that was killed is listed for 20 s)",
            self.topic,
            names.len(),
            names.join(", ")
        ))
    }
}

/// Watch for rivals on topics that must have one publisher, with throttled warnings.
#[derive(Debug)]
pub struct RivalWatch {
    warned: Throttle,
}

impl Default for RivalWatch {
    fn default() -> Self {
        Self { warned: Throttle::new(REPEAT) }
    }
}

impl RivalWatch {
    /// Description of the publishers of the first topic that has several. It asks for the whole graph, so call it rarely.
    pub fn look<'a>(&self, topics: impl IntoIterator<Item = &'a SolePublisher>) -> Option<String> {
        let rivals = topics.into_iter().find_map(SolePublisher::rivals)?;
        if self.warned.ready() {
            warn!("{rivals}");
        }
        Some(rivals)
    }
}

impl<S: 'static> Node<S> {
    /// Topic to watch for rivals, by a relative or an absolute name.
    pub fn sole_publisher(&self, topic: &str) -> SolePublisher {
        let space = self.full_name().rsplit_once('/').map_or("", |(space, _)| space);
        let topic =
            if topic.starts_with('/') { topic.to_owned() } else { format!("{space}/{topic}") };
        SolePublisher { node: self.inner.clone(), topic }
    }
}
