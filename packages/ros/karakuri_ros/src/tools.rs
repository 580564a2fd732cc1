//! Robots whose tool changes: the robot of a node is the one with the tool that the topic `tool` names.

use std::time::Duration;

use karakuri_files::{Tool, Tools};

use crate::{
    Node, Restart, RosError, Setting, Throttle, info, msg::std_msgs::msg::String as Text, qos, warn,
};

/// Makes the settings by which a node has the robot of a tool.
type SettingsOf = Box<dyn Fn(&Tool) -> Vec<Setting>>;

/// What follows the topic `tool`.
struct Follower {
    tools: Tools,
    present: Vec<Setting>,
    settings: SettingsOf,
    restart: Restart,
    unknown: Throttle,
}

impl<S: 'static> Node<S> {
    /// Follows the topic `tool`: where it names a tool whose `settings` are not the `present` ones, the node starts again with them.
    ///
    /// # Errors
    /// When the middleware refuses the subscription.
    pub fn follow_tools(
        &mut self,
        tools: Tools,
        present: Vec<Setting>,
        settings: impl Fn(&Tool) -> Vec<Setting> + 'static,
    ) -> Result<(), RosError> {
        let follower = Follower {
            tools,
            present,
            settings: Box::new(settings),
            restart: self.restart(),
            unknown: Throttle::new(Duration::from_secs(10)),
        };
        self.subscribe("tool", qos::latched(), move |_, name: &Text| follower.hear(&name.data))
    }
}

impl Follower {
    fn hear(&self, name: &str) {
        let tool = match self.tools.get(name) {
            Ok(tool) => tool,
            Err(error) => {
                if self.unknown.ready() {
                    warn!("topic `tool`: {error}; this robot stays");
                }
                return;
            }
        };
        let settings = (self.settings)(tool);
        if settings != self.present {
            info!("`{name}` is on the flange: starting again with its robot");
            self.restart.with(settings);
        }
    }
}
