//! Materials of a scene: surfaces by name, rules of mixing, pairs with numbers of their own.

use karakuri_model::yaml::{Fields, Node, Reader};
use karakuri_model::{Bumper, Place, Report};

use super::read::{FRICTION, RESTITUTION, choice, number};
use super::{Scene, refuse};
use crate::{MaterialId, Mix, Mixing, Surface, World};

/// Least and most of a length of rolling or spinning. [m]
const LENGTH: std::ops::RangeInclusive<f64> = 0.0..=10.0;
/// Keys of a surface.
const KEYS: [&str; 8] = [
    "friction",
    "dynamic_friction",
    "restitution",
    "rolling",
    "spinning",
    "soft_finger",
    "stiffness",
    "damping",
];
/// Least and most of the stiffness of a patch. [N/m]
// Far beyond any surface: what is outside is a mistake of units.
const STIFFNESS: std::ops::RangeInclusive<f64> = 1e-3..=1e12;
/// Least and most of the damping of a patch. [N·s/m]
const DAMPING: std::ops::RangeInclusive<f64> = 0.0..=1e12;

/// The numbers of a surface that a scene gives; `None` where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SceneSurface {
    /// Coulomb coefficient of sticking, and of sliding unless that is given. [-]
    pub friction: Option<f64>,
    /// Coulomb coefficient of sliding. [-]
    pub dynamic_friction: Option<f64>,
    /// Coefficient of restitution. [-]
    pub restitution: Option<f64>,
    /// Moment against rolling for a unit of normal force. [m]
    pub rolling: Option<f64>,
    /// Moment against spinning about the normal for a unit of normal force. [m]
    pub spinning: Option<f64>,
    /// Whether friction and spinning share one limit.
    pub soft_finger: Option<bool>,
    /// Spring and damper of a patch.
    pub bumper: Option<Bumper>,
}

/// A name of a material, and where it is written.
#[derive(Debug, Clone)]
pub struct MaterialName {
    /// Name of the material as written.
    pub name: String,
    /// Place where it is written.
    pub place: Place,
}

/// Materials of a scene.
#[derive(Debug, Clone, Default)]
pub struct SceneMaterials {
    /// Materials in the order of the file.
    pub named: Vec<(MaterialName, SceneSurface)>,
    /// Rules by which surfaces mix.
    pub mixing: Mixing,
    /// Pairs with numbers of their own, in place of the rules.
    pub pairs: Vec<([MaterialName; 2], SceneSurface)>,
}

impl SceneSurface {
    /// `base` with the numbers that are given.
    fn over(self, base: Surface) -> Surface {
        let friction = self.friction.unwrap_or(base.friction);
        // `friction` alone is both coefficients: the base's sliding one could exceed it.
        let sliding = self.dynamic_friction.or(self.friction);
        Surface {
            friction,
            dynamic_friction: sliding.unwrap_or(base.dynamic_friction),
            restitution: self.restitution.unwrap_or(base.restitution),
            rolling: self.rolling.unwrap_or(base.rolling),
            spinning: self.spinning.unwrap_or(base.spinning),
            soft_finger: self.soft_finger.unwrap_or(base.soft_finger),
            bumper: self.bumper.or(base.bumper),
        }
    }
}

impl SceneMaterials {
    /// Reads `materials`, `mixing` and `pairs`.
    pub(super) fn read(&mut self, reader: &mut Reader<'_>, fields: &Fields<'_>) {
        if let Some((node, path)) = fields.get("materials") {
            for (name, place, node, path) in reader.entries(node, &path) {
                let fields = reader.fields(node, &path, &KEYS);
                let name = MaterialName { name: name.to_owned(), place: place.clone() };
                self.named.push((name, read_surface(reader, &fields)));
            }
        }
        if let Some((node, path)) = fields.get("mixing") {
            self.read_mixing(reader, node, &path);
        }
        if let Some((node, path)) = fields.get("pairs") {
            for item in reader.list(node, &path) {
                let mut keys = vec!["between"];
                keys.extend(KEYS);
                let fields = reader.fields(item, &path, &keys);
                let Some((node, path)) = reader.required(&fields, "between", "[rubber, steel]")
                else {
                    continue;
                };
                let names: Vec<_> = reader
                    .list(node, &path)
                    .iter()
                    .filter_map(|name| read_name(reader, name, &path))
                    .collect();
                let Ok(names) = <[MaterialName; 2]>::try_from(names) else {
                    let message = format!("{path}: a pair has two materials");
                    reader.error(node, message, "write `between: [rubber, steel]`");
                    continue;
                };
                self.pairs.push((names, read_surface(reader, &fields)));
            }
        }
    }

    fn read_mixing(&mut self, reader: &mut Reader<'_>, node: &Node, path: &str) {
        let fields = reader.fields(node, path, &["friction", "restitution", "rolling", "spinning"]);
        let mixing = &mut self.mixing;
        for (key, rule) in [
            ("friction", &mut mixing.friction),
            ("restitution", &mut mixing.restitution),
            ("rolling", &mut mixing.rolling),
            ("spinning", &mut mixing.spinning),
        ] {
            let Some((node, path)) = fields.get(key) else { continue };
            let Some(name) = reader.text(node, &path) else { continue };
            if let Some(found) = Mix::find(name) {
                *rule = found;
            } else {
                let remedy = format!("write one of {}", Mix::ALL.map(Mix::name).join(", "));
                reader.error(node, format!("{path}: there is no rule `{name}`"), &remedy);
            }
        }
    }

    /// Makes materials and pairs those of a world.
    fn hand_over(&self, world: &mut World, report: &mut Report) {
        for (material, surface) in &self.named {
            // Over a surface of zeros: what a material leaves out it does not have.
            let surface = surface.over(Surface::default());
            if let Err(error) = world.add_material(&material.name, surface) {
                refuse(&error, &material.place, report);
            }
        }
        for ([a, b], surface) in &self.pairs {
            let (Some(one), Some(other)) = (find(world, a, report), find(world, b, report)) else {
                continue;
            };
            // Over the mixture: a pair may change one number, and keep the others.
            let surface = surface.over(world.pair(one, other));
            if let Err(error) = world.set_pair(one, other, surface) {
                refuse(&error, &a.place, report);
            }
        }
    }
}

impl World {
    /// Gives the world the scene's materials, and its things theirs.
    pub(super) fn coat(&mut self, scene: &Scene, report: &mut Report) {
        scene.materials.hand_over(self, report);
        let ground = scene.ground_material.iter().map(|name| ("world".to_owned(), name));
        let bodies = scene
            .bodies
            .iter()
            .filter_map(|body| Some((body.description.name.clone(), body.material.as_ref()?)));
        let links = scene.robots.iter().flat_map(|robot| {
            let of = |(link, name)| (format!("{}/{link}", robot.name), name);
            robot.materials.iter().map(|(link, name)| (link, name)).map(of)
        });
        let parts: Vec<_> = ground.chain(bodies).chain(links).collect();
        for (part, name) in parts {
            let Some(material) = find(self, name, report) else { continue };
            // A robot or body that is not there is reported already; a link is not.
            let there =
                part.split_once('/').is_none_or(|(robot, _)| self.find_robot(robot).is_some());
            match self.find_part(&part) {
                Ok(part) => self.set_material(part, material),
                Err(error) if there && part.contains('/') => {
                    refuse(&error, &name.place, report);
                }
                Err(_) => {}
            }
        }
    }
}

fn find(world: &World, name: &MaterialName, report: &mut Report) -> Option<MaterialId> {
    let found = world.find_material(&name.name);
    if found.is_none() {
        let message = format!("there is no material `{}`", name.name);
        let known = world.material_names().collect::<Vec<_>>().join(", ");
        let remedy = if known.is_empty() {
            "describe it under `materials`".to_owned()
        } else {
            format!("describe it under `materials`, or write one of {known}")
        };
        report.error_at(name.place.clone(), message, remedy);
    }
    found
}

fn read_surface(reader: &mut Reader<'_>, fields: &Fields<'_>) -> SceneSurface {
    SceneSurface {
        friction: number(reader, fields, "friction", &FRICTION, "-"),
        dynamic_friction: number(reader, fields, "dynamic_friction", &FRICTION, "-"),
        restitution: number(reader, fields, "restitution", &RESTITUTION, "-"),
        rolling: number(reader, fields, "rolling", &LENGTH, "m"),
        spinning: number(reader, fields, "spinning", &LENGTH, "m"),
        soft_finger: choice(reader, fields, "soft_finger", [("true", true), ("false", false)]),
        bumper: read_bumper(reader, fields),
    }
}

fn read_bumper(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Bumper> {
    let damping = number(reader, fields, "damping", &DAMPING, "N·s/m");
    let stiffness = number(reader, fields, "stiffness", &STIFFNESS, "N/m");
    // A damper alone is no bumper: a rigid surface has no motion to damp.
    if let (Some((node, path)), None) = (fields.get("damping"), fields.get("stiffness")) {
        reader.error(
            node,
            format!("{path}: a rigid surface has no damper"),
            "give `stiffness`, too",
        );
    }
    Some(Bumper { stiffness: stiffness?, damping: damping.unwrap_or(0.0) })
}

/// The name of a material.
pub(super) fn read_name(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<MaterialName> {
    let name = reader.text(node, path)?.to_owned();
    Some(MaterialName { name, place: node.place.clone() })
}

/// The key `material`, which stands for friction and restitution.
pub(super) fn read_material(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<MaterialName> {
    let (node, path) = fields.get("material")?;
    for key in ["friction", "restitution"] {
        if let Some((node, other)) = fields.get(key) {
            let message = format!("{other}: the material has its own");
            reader.error(node, message, &format!("leave out `{key}` or `material`"));
        }
    }
    read_name(reader, node, &path)
}
