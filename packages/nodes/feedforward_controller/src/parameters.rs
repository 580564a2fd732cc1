//! Parameters of the node.

use karakuri_control::FeedforwardSettings;
use karakuri_control::joint_trajectory::GroupSettings;
use karakuri_model::Model;
use karakuri_ros::{Node, Parameter, RosError};
use karakuri_settings::{ControlParameters, tool_link};

/// All parameters of the node.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) wrench_links: Parameter<Vec<String>>,
    pub(crate) control: ControlParameters,
    pub(crate) own: OwnParameters,
}

karakuri_ros::parameters! {
    /// Parameters of the node alone.
    pub(crate) struct OwnParameters {
        pub(crate) lockstep_sources: Vec<String> = Vec::new(), "Topics among `<group>/joint_trajectory` and `target_wrench/<link>` that lockstep waits for.", read_only();
        pub(crate) lockstep_timeout: f64 = 10.0, "Silence of a lockstep source, in wall time, until it is not waited for any more. [s]", range(0.001..=3600.0);
        pub(crate) action_monitor_rate: f64 = 20.0, "Rate of the actions' feedback. [Hz]", range(0.1..=1000.0);
    }
}

impl Parameters {
    pub(crate) fn declare<S: 'static>(node: &mut Node<S>, model: &Model) -> Result<Self, RosError> {
        Ok(Self {
            control: ControlParameters::declare(node, model)?,
            wrench_links: node
                .parameter("wrench_links", vec![tool_link(model).to_owned()])
                .describe("Links that may exert forces: `target_wrench/<link>`; what a contact sensor on the link feels is fed back.")
                .read_only()
                .declare()?,
            own: OwnParameters::declare(node)?,
        })
    }

    /// Settings of the controller of a model.
    pub(crate) fn feedforward(&self, model: &Model) -> FeedforwardSettings {
        self.control.feedforward_of(model)
    }

    pub(crate) fn apply_to_group(&self, settings: &mut GroupSettings) {
        self.control.constraints().apply(settings);
    }
}
