//! Page under construction, and the gaits that it is about.

use std::path::Path;

use anyhow::{Result, anyhow};
use karakuri_files::{Plot, read_yaml};
use karakuri_gait::compensation::{BodyData, SteadyGait, SteadySpec, TransientSpec};

use super::super::files::GaitFile;

/// Page under construction: text for each placeholder, figures by name.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) figures: Vec<(&'static str, Plot)>,
    /// Figures that are drawn, SVG.
    pub(super) drawings: Vec<(&'static str, String)>,
}

impl Page {
    pub(super) fn fill(&mut self, placeholder: &str, text: &str) {
        self.text = self.text.replace(&format!("{{{placeholder}}}"), text.trim_end());
    }
}

/// Gaits of the study.
pub(super) struct Gaits {
    pub(super) body: BodyData,
    pub(super) h2: SteadyGait,
    pub(super) h9: SteadySpec,
    /// Starts of the march.
    pub(super) starts: Vec<Vec<f64>>,
    pub(super) start: TransientSpec,
    pub(super) smoothed_start: TransientSpec,
    pub(super) stop: TransientSpec,
}

impl Gaits {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let file = |name: &str| -> Result<GaitFile> { Ok(read_yaml(&folder.join(name))?) };
        let steady = |file: &GaitFile, name: &str| {
            file.steady.clone().ok_or_else(|| anyhow!("{name}: there is no `steady`"))
        };
        let transient = |name: &str| {
            let missing = || anyhow!("{name}: there is no `transient`");
            file(name)?.transient.ok_or_else(missing)
        };
        let h9 = file("h9.yaml")?;
        Ok(Self {
            body: BodyData::default(),
            h2: SteadyGait::new(&steady(&file("h2.yaml")?, "h2.yaml")?)?,
            h9: steady(&h9, "h9.yaml")?,
            starts: h9.starts,
            start: transient("ah2_start.yaml")?,
            smoothed_start: transient("ah9_start.yaml")?,
            stop: transient("h2_stop.yaml")?,
        })
    }
}
