//! Suction cups of a scene: `suctions`.

use karakuri_model::yaml::{Node, Reader};
use karakuri_model::{Place, Report};
use karakuri_spatial::Pose;

use super::read::{GAIN, number, read_pose, required_number};
use super::ties::{ScenePart, note, read_name, required_part};
use crate::{SuctionDescription, World};

/// Opening of a lip at which its seal is lost, where a scene does not tell: that of a small bellows. [m]
const FLEXION: f64 = 1e-3;

/// A suction cup of a scene, as [`World::attach_suction`] takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneSuction {
    /// Name, by which it can be taken off.
    pub name: String,
    /// What carries the lip.
    pub cup: ScenePart,
    /// What it holds.
    pub object: ScenePart,
    /// Frame of the lip on the cup, z at the object.
    pub pose_in_cup: Pose,
    /// Radius of the ring on which the lip rests. [m]
    pub radius: f64,
    /// Coefficient of friction of lip and surface. [-]
    pub friction: f64,
    /// Opening above which the seal is lost. [m]
    pub flexion: f64,
    /// Force of the vacuum. [N]
    pub force: f64,
    /// Place where it is written.
    pub place: Place,
}

pub(super) fn read_suction(
    reader: &mut Reader<'_>,
    node: &Node,
    path: &str,
) -> Option<SceneSuction> {
    let keys = ["name", "cup", "object", "pose", "radius", "friction", "flexion", "force"];
    let fields = reader.fields(node, path, &keys);
    let name = read_name(reader, &fields, "cup");
    let (cup, object) =
        (required_part(reader, &fields, "cup"), required_part(reader, &fields, "object"));
    let pose_in_cup = read_pose(reader, &fields);
    let radius = required_number(reader, &fields, "radius", &GAIN, "m", "0.019");
    let friction = required_number(reader, &fields, "friction", &GAIN, "-", "0.5");
    let flexion = number(reader, &fields, "flexion", &GAIN, "m").unwrap_or(FLEXION);
    let force = required_number(reader, &fields, "force", &GAIN, "N", "69");
    Some(SceneSuction {
        name: name?,
        cup: cup?,
        object: object?,
        pose_in_cup,
        radius: radius?,
        friction: friction?,
        flexion,
        force: force?,
        place: node.place.clone(),
    })
}

impl World {
    /// Seals a scene's cups, with their vacuum.
    pub(super) fn seal(&mut self, suctions: &[SceneSuction], report: &mut Report) {
        for suction in suctions {
            let [Some(cup), Some(object)] =
                [&suction.cup, &suction.object].map(|part| self.scene_part(part, report))
            else {
                continue;
            };
            let SceneSuction { pose_in_cup, radius, friction, flexion, force, .. } = *suction;
            let description =
                SuctionDescription { cup, object, pose_in_cup, radius, friction, flexion };
            let attached = self.attach_suction(&suction.name, description);
            if let Some(id) = note(attached, &suction.place, report) {
                note(self.set_suction(id, force), &suction.place, report);
            }
        }
    }
}
