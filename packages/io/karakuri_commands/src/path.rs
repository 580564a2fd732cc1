//! Check of a planned path of the tool: its ends may be inside of the workspace and its middle not.

use crate::envelope::Envelope;
use crate::refusal::{Code, Refusal};

/// Part by which a computed speed may be above the limit: of rounding.
const ROUNDING: f64 = 1e-9;

/// Sample of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolSample {
    /// Time from the start. [s]
    pub time_s: f64,
    /// Position of the tool's centre in the world. [m] (3)
    pub position_m: [f64; 3],
}

impl Envelope {
    /// Checks that all samples of a path, and the straight lines between them, are in the workspace, and that no line is faster
    /// than the tool may be.
    ///
    /// # Errors
    /// `OUTSIDE_ENVELOPE` with the time of the first sample that is outside or too fast.
    pub fn check_path(&self, path: &[ToolSample]) -> Result<(), Refusal> {
        let outside = |hint, sample: &ToolSample| {
            Err(Refusal::new(Code::OutsideEnvelope, hint).of("path", sample.time_s))
        };
        let Some(first) = path.first() else {
            let hint = "sample the path: nothing is known of one without samples";
            return Err(Refusal::new(Code::OutsideEnvelope, hint));
        };
        if !self.workspace_m.contains(first.position_m) {
            return outside("choose an aim whose path stays in the workspace", first);
        }
        let most = self.limits.tool_speed_m_s;
        for pair in path.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            if !self.workspace_m.contains_segment(from.position_m, to.position_m) {
                return outside("choose an aim whose path stays in the workspace", &to);
            }
            let time = to.time_s - from.time_s;
            // Written so that what is no number is too fast.
            let way = distance(from.position_m, to.position_m);
            let is_slow = way <= most * time * (1.0 + ROUNDING);
            if !is_slow {
                let refusal = outside("move the tool more slowly", &to);
                return refusal.map_err(|refusal| refusal.within(format!("[0, {most}] m/s")));
            }
        }
        Ok(())
    }
}

impl Envelope {
    /// Checks that all places of a walk are in the workspace, whatever their height.
    ///
    /// # Errors
    /// `OUTSIDE_ENVELOPE` with the time of the first sample that is outside.
    pub fn check_walk(&self, path: &[ToolSample]) -> Result<(), Refusal> {
        let is_outside = |sample: &&ToolSample| {
            let [x, y, _] = sample.position_m;
            !self.workspace_m.contains_place(x, y)
        };
        path.iter().find(is_outside).map_or(Ok(()), |sample| {
            let hint = "choose a place whose way stays in the workspace";
            Err(Refusal::new(Code::OutsideEnvelope, hint).of("path", sample.time_s))
        })
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
