//! Check of the ZMP of a standing robot against its soles.

use super::biped::Biped;
use super::settings::{SettingError, WalkSettings, within};
use super::side::Side;

/// Names of the coordinates of `zmp_in_sole`.
pub(super) const NAMES: [&str; 2] = ["zmp_in_sole[0]", "zmp_in_sole[1]"];

/// Refuses a ZMP at rest that is in none of the soles.
pub(super) fn check_zmp(biped: &Biped, settings: &WalkSettings) -> Result<(), SettingError> {
    let ranges = sole(biped);
    for ((name, value), (low, high)) in NAMES.into_iter().zip(settings.zmp_in_sole).zip(ranges) {
        let range = format!("from {low:.4} to {high:.4} m, within the soles");
        within(name, value, low..=high, range)?;
    }
    Ok(())
}

/// Part that both soles have in common, forward and outward. [m] (2)
pub(super) fn sole(biped: &Biped) -> [(f64, f64); 2] {
    let outward = |side: Side| {
        let [from, to] = biped.legs[side.index()].outline.y;
        if side == Side::Left { [from, to] } else { [-to, -from] }
    };
    let common = |[a, b]: [[f64; 2]; 2]| (a[0].max(b[0]), a[1].min(b[1]));
    [common(biped.legs.each_ref().map(|leg| leg.outline.x)), common(Side::BOTH.map(outward))]
}
