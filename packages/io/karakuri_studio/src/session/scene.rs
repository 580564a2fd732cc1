//! The document's scene as a scene of the physics.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_files::{FileAssets, LoadError, load_robot};
use karakuri_model::yaml::Node;
use karakuri_model::{Base, Diagnostics, Model};
use karakuri_motion::{Document, Performer, PhysicsScene, RobotReference};
use karakuri_physics::{Scene, SceneRobot};
use karakuri_simulation::{LoadedScene, fill_scene};
use serde_json::{Map, Value, json};

use crate::pose::Poser;

/// Lists of a scene file that the document has by name.
const LISTS: [&str; 3] = ["bodies", "joints", "springs"];
/// Keys that only scene files have at their top.
const SCENE_KEYS: [&str; 6] = ["robots", "bodies", "ground", "dt", "gravity", "materials"];

/// Whether a YAML file is a scene.
pub(super) fn is_scene(root: &Node) -> bool {
    SCENE_KEYS.iter().any(|key| root.get(key).is_some())
}

/// Models that are in memory, by their files and base.
#[derive(Debug, Default)]
pub(super) struct Models(BTreeMap<(PathBuf, Option<PathBuf>, String), Arc<Model>>);

impl Models {
    fn load(
        &mut self,
        urdf: PathBuf,
        config: Option<PathBuf>,
        base: Option<Base>,
    ) -> Result<Arc<Model>, LoadError> {
        let key = (urdf, config, format!("{base:?}"));
        if let Some(model) = self.0.get(&key) {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new(load_robot(&key.0, key.1.as_deref(), base)?.model);
        self.0.insert(key, Arc::clone(&model));
        Ok(model)
    }
}

/// The document's entries for the keys of a scene file.
pub(super) fn scene_of_file(root: &Node) -> Result<PhysicsScene, LoadError> {
    let mut keys: indexmap::IndexMap<String, Value> = root.to()?;
    let mut scene = PhysicsScene::default();
    for list in LISTS {
        let Some(Value::Array(items)) = keys.shift_remove(list) else { continue };
        let entries = match list {
            "bodies" => &mut scene.bodies,
            "joints" => &mut scene.joints,
            _ => &mut scene.springs,
        };
        for (i, mut item) in items.into_iter().enumerate() {
            let name = item.as_object_mut().and_then(|item| item.remove("name"));
            let name = name.and_then(|name| name.as_str().map(str::to_owned));
            entries.insert(name.unwrap_or_else(|| unnamed(list, i)), item);
        }
    }
    scene.settings = keys;
    Ok(scene)
}

fn unnamed(list: &str, index: usize) -> String {
    if list == "springs" { unnamed_spring(index) } else { format!("{list} {}", index + 1) }
}

/// Name of a spring that a scene file gives none.
pub(crate) fn unnamed_spring(index: usize) -> String {
    format!("spring {}", index + 1)
}

/// The keys of a scene file for the document's scene; `robots` and `ground` as it has them.
pub(super) fn file_of_scene(scene: &PhysicsScene) -> indexmap::IndexMap<String, Value> {
    let mut keys = scene.settings.clone();
    for (list, entries) in LISTS.into_iter().zip([&scene.bodies, &scene.joints, &scene.springs]) {
        if entries.is_empty() {
            continue;
        }
        let items = entries.iter().enumerate().map(|(i, (name, entry))| {
            let mut item = Map::new();
            // A spring that came without a name stays without.
            if list != "springs" || *name != unnamed_spring(i) {
                item.insert("name".to_owned(), json!(name));
            }
            item.extend(entry.as_object().cloned().unwrap_or_default());
            Value::Object(item)
        });
        keys.insert(list.to_owned(), items.collect());
    }
    keys
}

/// Loads the scene of a document whose file is, or would be, in `folder`.
pub(super) fn load(
    document: &Document,
    folder: &Path,
    models: &mut Models,
) -> Result<LoadedScene, LoadError> {
    let mut keys = file_of_scene(&document.scene);
    let named_in = folder.join("scene.yaml");
    let own = keys.get("robots").is_none();
    let mut own_model = None;
    if own {
        let found = own_robot(&document.robot, &named_in, models)?;
        if let Some(OwnRobot { model, keys: robot }) = found {
            keys.insert("robots".to_owned(), json!([robot]));
            own_model = Some(model);
        }
        keys.entry("ground".to_owned()).or_insert_with(|| json!({}));
    }
    let text = serde_json::to_string(&keys).map_err(|e| wrong(&e.to_string()))?;
    let mut scene = Scene::parse(&text, "scene")?;
    let robots = std::mem::take(&mut scene.robots);
    // Robots are read apart from the rest, to be kept from edit to edit.
    let mut filled = fill_scene(scene, &named_in)?;
    filled.models = if let Some(model) = own_model {
        vec![model]
    } else {
        let load = |robot| scene_robot(robot, &named_in, models);
        robots.iter().map(load).collect::<Result<_, _>>()?
    };
    filled.scene.robots = robots;
    Ok(filled)
}

/// The robot of a document, which is no scene file's.
struct OwnRobot {
    model: Arc<Model>,
    keys: Value,
}

fn own_robot(
    robot: &RobotReference,
    named_in: &Path,
    models: &mut Models,
) -> Result<Option<OwnRobot>, LoadError> {
    if robot.urdf.is_empty() {
        return Ok(None);
    }
    let urdf = find("robot.urdf", &robot.urdf, named_in)?;
    let config = robot.config.as_ref().map(|c| find("robot.config", c, named_in)).transpose()?;
    let model = models.load(urdf, config, None)?;
    let floating = matches!(model.base, Base::Floating);
    let name = if robot.model.is_empty() { model.name.clone() } else { robot.model.clone() };
    let mut keys = json!({
        "name": name,
        "urdf": robot.urdf,
        "base": if floating { "floating" } else { "fixed" },
    });
    // A floating robot begins on the floor, not in it.
    let pose = match model.base {
        Base::Fixed(pose) => pose,
        Base::Floating => Poser::new(&Arc::new(Performer::new(Arc::clone(&model)))).root_at_rest(),
    };
    keys["pose"] = json!({ "xyz": pose.translation.as_slice(), "rpy": pose.rpy() });
    Ok(Some(OwnRobot { model, keys }))
}

fn scene_robot(
    robot: &SceneRobot,
    named_in: &Path,
    models: &mut Models,
) -> Result<Arc<Model>, LoadError> {
    let what = |key: &str| format!("robot `{}`: {key}", robot.name);
    let urdf = find(&what("urdf"), &robot.urdf.to_string_lossy(), named_in)?;
    let config = robot.config.as_ref();
    let config =
        config.map(|c| find(&what("config"), &c.to_string_lossy(), named_in)).transpose()?;
    models.load(urdf, config, Some(robot.base()))
}

fn find(what: &str, uri: &str, named_in: &Path) -> Result<PathBuf, LoadError> {
    FileAssets::from_env()
        .resolve(uri, named_in)
        .map_err(|error| wrong(&format!("{what}: {error}; {}", error.remedy())))
}

fn wrong(text: &str) -> LoadError {
    let mut report = karakuri_model::Report::default();
    let (message, remedy) = text.split_once("; ").unwrap_or((text, "correct it"));
    let place = karakuri_model::Place::file("document");
    report.error_at(place, message.to_owned(), remedy);
    match report.finish::<()>(None) {
        Err(diagnostics) => diagnostics.into(),
        Ok(_) => Diagnostics(Vec::new()).into(),
    }
}
