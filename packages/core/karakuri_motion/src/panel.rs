//! Panels of the user: data only, drawn by the studio.

use serde::{Deserialize, Serialize};

/// A panel of widgets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Panel {
    /// Title; shown as text.
    pub title: String,
    /// Widgets from top to bottom.
    pub widgets: Vec<Widget>,
}

/// A widget: exactly one of `slider`, `plot`, `button`, `cone`, `text`, and what goes with it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Widget {
    /// Name of the parameter or joint that a slider sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub slider: Option<String>,
    /// Names of the quantities that a plot draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub plot: Option<Vec<String>>,
    /// Name of what a button does, such as `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub button: Option<String>,
    /// A cone on a link, such as an angle of view.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub cone: Option<Cone>,
    /// Text to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub text: Option<String>,
    /// Label; `None`: the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub label: Option<String>,
    /// Least value of a slider. [its parameter's unit]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub min: Option<f64>,
    /// Largest value of a slider. [its parameter's unit]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub max: Option<f64>,
    /// Step of a slider. [its parameter's unit]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub step: Option<f64>,
}

impl Widget {
    /// Number of the kinds that the widget names; 1 in a document that is right.
    pub(crate) fn kinds(&self) -> usize {
        // Not an enum, whose files would need a tag: `{slider: head_yaw}` is what people write.
        [
            self.slider.is_some(),
            self.plot.is_some(),
            self.button.is_some(),
            self.cone.is_some(),
            self.text.is_some(),
        ]
        .into_iter()
        .filter(|is_there| *is_there)
        .count()
    }
}

/// A cone on a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Link whose x axis is the cone's axis.
    pub link: String,
    /// Half its opening. [the document's angle]
    pub angle: f64,
}
