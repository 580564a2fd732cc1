//! Scenes from disk: the scene file, its robots, its meshes.

use std::path::Path;
use std::sync::Arc;

use karakuri_files::{
    FileAssets, LoadError, convex_cache, find_parts, load_robot, read_text, read_trace,
};
use karakuri_model::{
    Asset, AssetError, Assets, Diagnostic, Diagnostics, Loaded, Model, Place, Severity, Shape,
    decode_mesh,
};
use karakuri_physics::{
    MotionTable, PoseTable, Scene, SceneBody, SceneMotion, ScenePrescribed, SceneRobot, World,
};

/// Scene with all files that it names.
#[derive(Debug, Clone)]
pub struct LoadedScene {
    /// Scene whose meshes have their triangles.
    pub scene: Scene,
    /// Model of each robot, in the scene's order.
    pub models: Vec<Arc<Model>>,
    /// Problems that were ignored or repaired in the robots' files.
    pub warnings: Vec<Diagnostic>,
}

impl LoadedScene {
    /// World of the scene at time zero.
    ///
    /// # Errors
    /// When the scene does not fit its models; every problem.
    pub fn world(&self) -> Result<World, Diagnostics> {
        World::from_scene(&self.scene, &self.models)
    }

    /// URDF of a robot of the scene, which was read from `path`.
    ///
    /// # Errors
    /// When there is no such robot, or the file is gone.
    pub fn urdf(&self, robot: usize, path: &Path) -> Result<String, LoadError> {
        let place = Place::default();
        let missing =
            |message| Diagnostics(vec![error(&place, message, "look at the scene's robots")]);
        let described = self.scene.robots.get(robot);
        let described = described.ok_or_else(|| missing(format!("there is no robot {robot}")))?;
        let file = FileAssets::from_env().resolve(&described.urdf.to_string_lossy(), path);
        read_text(&file.map_err(|e| missing(e.to_string()))?)
    }
}

/// Reads a scene and the files it names, which are found relative to it or as `package://`. The error has every problem of all
/// of them at once.
///
/// # Errors
/// When a file cannot be read, or the scene or what it names is wrong; every problem.
pub fn load_scene(path: &Path) -> Result<LoadedScene, LoadError> {
    let text = read_text(path)?;
    fill_scene(Scene::parse(&text, &path.display().to_string())?, path)
}

/// Reads the files that a scene names, which are found relative to `path` or as `package://`.
///
/// # Errors
/// When a file that the scene names cannot be read or is wrong; every problem.
pub fn fill_scene(mut scene: Scene, path: &Path) -> Result<LoadedScene, LoadError> {
    let mut assets = FileAssets::from_env();
    let (mut models, mut problems) = (Vec::new(), Vec::new());
    for robot in &scene.robots {
        match read_robot(robot, path, &assets) {
            Ok(Loaded { model, warnings }) => {
                models.push(Arc::new(model));
                problems.extend(warnings);
            }
            Err(diagnostics) => problems.extend(diagnostics.0),
        }
    }
    for body in &mut scene.bodies {
        problems.extend(read_shape(body, path, &mut assets).unwrap_or_else(Some));
    }
    for prescribed in &mut scene.prescribed {
        problems.extend(read_motion(prescribed, path, &assets).err());
    }
    if problems.iter().any(|p| p.severity == Severity::Error) {
        return Err(Diagnostics(problems).into());
    }
    Ok(LoadedScene { scene, models, warnings: problems })
}

fn error(place: &Place, message: String, remedy: impl Into<String>) -> Diagnostic {
    let (place, remedy) = (place.clone(), remedy.into());
    Diagnostic { severity: Severity::Error, place, message, remedy }
}

/// Reads the table of a prescribed motion: a column `time`, and for a joint the column that the scene names, for a body those
/// of its pose.
fn read_motion(
    prescribed: &mut ScenePrescribed,
    scene: &Path,
    assets: &FileAssets,
) -> Result<(), Diagnostic> {
    let (SceneMotion::JointFile { path, .. } | SceneMotion::BodyFile { path }) = &prescribed.motion
    else {
        return Ok(());
    };
    let wrong = |message: String, remedy: &str| error(&prescribed.place, message, remedy);
    let file = assets
        .resolve(&path.to_string_lossy(), scene)
        .map_err(|e| wrong(e.to_string(), "write a CSV file beside the scene"))?;
    let trace = read_trace(&file).map_err(|e| wrong(e.to_string(), "write a table of numbers"))?;
    let missing = |name: &str| {
        let known: Vec<&str> = trace.columns.iter().map(|c| c.name.as_str()).collect();
        let message = format!("{} has no column `{name}`", path.display());
        wrong(message, &format!("name one with `column`: {}", known.join(", ")))
    };
    let values = |name: &str| {
        let at = trace.columns.iter().position(|c| c.name == name)?;
        Some(trace.rows.iter().map(|row| row[at]).collect::<Vec<f64>>())
    };
    let times = values("time").ok_or_else(|| missing("time"))?;
    let table = |values: Vec<f64>| {
        MotionTable::new(times.clone(), values, None).map_err(|problem| {
            let (what, remedy) = problem.split_once("; ").unwrap_or((problem, "correct it"));
            wrong(format!("{}: {what}", path.display()), remedy)
        })
    };
    let motion = if let SceneMotion::JointFile { column, .. } = &prescribed.motion {
        SceneMotion::Joint(table(values(column).ok_or_else(|| missing(column))?)?)
    } else {
        let mut poses = PoseTable::default();
        for (place, name) in poses.0.iter_mut().zip(["x", "y", "z", "roll", "pitch", "yaw"]) {
            *place = values(name).map(&table).transpose()?;
        }
        if poses.0.iter().all(Option::is_none) {
            return Err(missing("x"));
        }
        SceneMotion::Body(Box::new(poses))
    };
    prescribed.motion = motion;
    Ok(())
}

fn read_robot(
    robot: &SceneRobot,
    scene: &Path,
    assets: &FileAssets,
) -> Result<Loaded, Diagnostics> {
    let not_found = |what: &str, e: &AssetError| {
        let message = format!("robot `{}`: {what}: {e}", robot.name);
        Diagnostics(vec![error(&robot.place, message, e.remedy())])
    };
    let find = |what: &str, file: &Path| {
        assets.resolve(&file.to_string_lossy(), scene).map_err(|e| not_found(what, &e))
    };
    let urdf = find("urdf", &robot.urdf)?;
    let config = robot.config.as_deref().map(|file| find("config", file)).transpose()?;
    load_robot(&urdf, config.as_deref(), Some(robot.base())).map_err(|e| match e {
        LoadError::Wrong(diagnostics) => diagnostics,
        other => {
            let message = format!("robot `{}`: {other}", robot.name);
            Diagnostics(vec![error(&robot.place, message, "name a readable file")])
        }
    })
}

/// Reads the triangles of a mesh body; every failure is an error, as a body needs its shape. A warning gives the distance of
/// convex parts from the mesh.
fn read_shape(
    body: &mut SceneBody,
    scene: &Path,
    assets: &mut FileAssets,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let Shape::Mesh(mesh) = &body.description.shape else { return Ok(None) };
    if mesh.path.as_os_str().is_empty() {
        // A cone or a height field is in the scene itself.
        return Ok(None);
    }
    let convex = mesh.convex.clone();
    let (name, uri) = (&body.description.name, mesh.path.to_string_lossy());
    let asset: Asset = assets
        .read(&uri, &scene.to_string_lossy())
        .map_err(|e| error(&body.place, format!("body `{name}`: {e}"), e.remedy()))?;
    let mut mesh = decode_mesh(&asset).map_err(|e| {
        let message = format!("body `{name}`: mesh `{uri}`: {e}");
        error(&body.place, message, "export it again as STL, OBJ or DAE")
    })?;
    mesh.convex = convex;
    let mut mesh = Arc::new(mesh);
    let mut warning = None;
    if !body.description.fixed {
        let found = find_parts(&mut mesh, convex_cache().as_deref()).map_err(|e| {
            let message = format!("body `{name}`: mesh `{uri}`: {e}");
            error(&body.place, message, "write `convex: hull`, or mend the mesh")
        })?;
        warning = found.map(|found| {
            let [message, remedy] = found.warning();
            let message = format!("body `{name}`: mesh `{uri}` {message}");
            let (severity, place) = (Severity::Warning, body.place.clone());
            Diagnostic { severity, place, message, remedy }
        });
    }
    body.description.shape = Shape::Mesh(mesh);
    Ok(warning)
}
