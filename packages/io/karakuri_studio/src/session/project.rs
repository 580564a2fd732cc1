//! The open document: its file, its history, and the scene that it makes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_files::{LoadError, read_text, root_element, write_atomic};
use karakuri_model::yaml::read_tree;
use karakuri_motion::{Document, Op, Performer, Problem, RobotReference, file};
use karakuri_physics::World;
use karakuri_simulation::LoadedScene;

use super::folder::{Folder, relative_path};
use super::history::{History, Step};
use super::journal::Journal;
use super::patch::same_scene;
use super::scene::{self, Models};
use crate::assets::{Assets, hash};
use crate::pose::Poser;
use crate::stage::describe;
use crate::wire::{Code, DocumentPatch, FileState, Stage, WireError};

/// Why a file does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is not there, or may not be read.
    #[error("cannot open {}: {error}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The file is outside the folder that is to be opened.
    #[error("{} is not in {}; name a folder around it with `--folder`", file.display(), folder.display())]
    Outside {
        /// Path of the file.
        file: PathBuf,
        /// Folder that was named.
        folder: PathBuf,
    },
    /// The file is neither a robot nor motions nor a scene.
    #[error("{} is neither a URDF nor motions nor a scene; motions begin with `karakuri_motion: 1`, scenes have `robots` or `bodies`", path.display())]
    Unknown {
        /// Path of the file.
        path: PathBuf,
    },
    /// The motions are wrong.
    #[error(transparent)]
    Motions(#[from] karakuri_motion::file::FileError),
    /// The robot or the scene is wrong.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// What was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Urdf,
    Motion,
    Scene,
}

/// The open document.
#[derive(Debug)]
pub(super) struct Project {
    kind: Kind,
    /// File that is saved; `None`: not yet.
    pub(super) path: Option<PathBuf>,
    /// The document.
    pub(super) document: Document,
    /// Number of its version.
    pub(super) rev: u32,
    pub(super) history: History,
    pub(super) drag: Option<Drag>,
    pub(super) journal: Journal,
    /// The document as it is on disk, and the file's text.
    saved: Saved,
    models: Models,
    pub(super) scene: LoadedScene,
    pub(super) stage: Stage,
    pub(super) poser: Option<Poser>,
    /// The robot, as motions need it.
    pub(super) performer: Option<Arc<Performer>>,
    /// SHA-256 of the robot.
    pub(super) model_key: String,
}

#[derive(Debug)]
struct Saved {
    document: Document,
    /// Text of the file; `None`: there is none.
    text: Option<String>,
}

/// A drag: the document while the pointer is down.
#[derive(Debug)]
pub(super) struct Drag {
    pub(super) by: String,
    pub(super) label: String,
    /// The document as it is shown.
    pub(super) shown: Document,
    /// The last update.
    pub(super) ops: Vec<Op>,
}

/// What a commit did beside changing the document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effect {
    /// Whether robots or bodies are others now.
    pub(super) stage: bool,
}

impl Project {
    /// Opens a file.
    pub(super) fn open(
        path: &Path,
        config: Option<&Path>,
        folder: &Folder,
        assets: &Assets,
    ) -> Result<Self, OpenError> {
        let unreadable = |error| OpenError::Unreadable { path: path.to_owned(), error };
        let opened = path.canonicalize().map_err(unreadable)?;
        let text = read_text(&opened)?;
        let name = path.display().to_string();
        let (kind, document) = read(&name, &opened, &text, config, folder)?;
        let path = (kind != Kind::Urdf).then(|| opened.clone());
        let base = base_folder(path.as_deref(), folder);
        let mut models = Models::default();
        let scene = scene::load(&document, &base, &mut models)?;
        scene.world().map_err(LoadError::from)?;
        let stage = describe(&scene, assets, 1);
        let Robot { poser, performer, model_key } = Robot::of(&scene);
        let journal = Journal::beside(&opened, &text);
        let saved =
            Saved { document: document.clone(), text: (kind != Kind::Urdf).then_some(text) };
        Ok(Self {
            kind,
            path,
            document,
            rev: 1,
            history: History::default(),
            drag: None,
            journal,
            saved,
            models,
            scene,
            stage,
            poser,
            performer,
            model_key,
        })
    }

    /// Folder that names in the document are relative to.
    fn base(&self, folder: &Folder) -> PathBuf {
        base_folder(self.path.as_deref(), folder)
    }

    /// File that names in the document are relative to; it need not exist.
    pub(super) fn named_in(&self, folder: &Folder) -> PathBuf {
        self.base(folder).join("document.yaml")
    }

    /// State of the file.
    pub(super) fn file_state(&self, folder: &Folder) -> FileState {
        FileState {
            path: self.path.as_deref().map(|path| folder.name_of(path)),
            kind: match self.kind {
                Kind::Urdf => "urdf",
                Kind::Motion => "motion",
                Kind::Scene => "scene",
            }
            .to_owned(),
            changed: self.is_changed(),
        }
    }

    /// Whether it is a scene file, which has no poses and motions.
    pub(super) fn is_scene(&self) -> bool {
        self.kind == Kind::Scene
    }

    /// Whether the document differs from the file.
    pub(super) fn is_changed(&self) -> bool {
        !DocumentPatch::between(&self.saved.document, &self.document).is_empty()
    }

    /// Changes the document, all or nothing, and returns the operations that take it back.
    pub(super) fn apply(
        &mut self,
        ops: &[Op],
        folder: &Folder,
        assets: &Assets,
    ) -> Result<(Vec<Op>, Effect), WireError> {
        let mut document = self.document.clone();
        let inverse = document.commit(ops).map_err(|problem| refuse(&problem))?;
        let effect = self.show(&document, folder, assets)?;
        self.document = document;
        self.rev += 1;
        self.journal.add(ops, &self.document);
        Ok((inverse, effect))
    }

    /// As [`Self::apply`], as a step of history.
    pub(super) fn commit(
        &mut self,
        ops: &[Op],
        label: String,
        folder: &Folder,
        assets: &Assets,
    ) -> Result<Effect, WireError> {
        let (inverse, effect) = self.apply(ops, folder, assets)?;
        self.history.push(Step::new(label, inverse));
        Ok(effect)
    }

    /// Puts another document in the place of this one, without history.
    pub(super) fn adopt(
        &mut self,
        document: Document,
        folder: &Folder,
        assets: &Assets,
    ) -> Result<(), WireError> {
        self.show(&document, folder, assets)?;
        self.document = document;
        self.history = History::default();
        self.rev += 1;
        self.journal.add(&[], &self.document);
        Ok(())
    }

    /// Loads the scene of a document, if it is another one; the stage is left as it is where the scene is wrong.
    fn show(
        &mut self,
        document: &Document,
        folder: &Folder,
        assets: &Assets,
    ) -> Result<Effect, WireError> {
        if document.robot == self.document.robot && same_scene(document, &self.document) {
            return Ok(Effect::default());
        }
        let (scene, _) = self.checked_scene(document, folder)?;
        let stage = describe(&scene, assets, self.stage.number);
        if scene.models.first().map(Arc::as_ptr) != self.scene.models.first().map(Arc::as_ptr) {
            let Robot { poser, performer, model_key } = Robot::of(&scene);
            (self.poser, self.performer, self.model_key) = (poser, performer, model_key);
        }
        self.scene = scene;
        let differs = stage != self.stage;
        if differs {
            self.stage = Stage { number: self.stage.number.wrapping_add(1), ..stage };
        }
        Ok(Effect { stage: differs })
    }

    /// The scene of a document and its world.
    fn checked_scene(
        &mut self,
        document: &Document,
        folder: &Folder,
    ) -> Result<(LoadedScene, World), WireError> {
        let base = self.base(folder);
        let scene =
            scene::load(document, &base, &mut self.models).map_err(|error| refuse_load(&error))?;
        let world = scene.world().map_err(|error| refuse_load(&error.into()))?;
        Ok((scene, world))
    }

    /// Shows a drag: checks operations against the document as it was when the drag began.
    pub(super) fn update_drag(&mut self, ops: Vec<Op>, folder: &Folder) -> Result<(), WireError> {
        let mut shown = self.document.clone();
        shown.commit(&ops).map_err(|problem| refuse(&problem))?;
        if !same_scene(&shown, &self.document) {
            self.checked_scene(&shown, folder)?;
        }
        if let Some(drag) = &mut self.drag {
            drag.shown = shown;
            drag.ops = ops;
        }
        Ok(())
    }

    /// Text of the file for the document; that of the file itself where the document is the same.
    fn text(&self) -> Result<String, WireError> {
        if let Some(text) = self.saved.text.as_ref().filter(|_| !self.is_changed()) {
            return Ok(text.clone());
        }
        match self.kind {
            Kind::Scene => serde_yaml::to_string(&scene::file_of_scene(&self.document.scene))
                .map_err(|e| WireError::new(Code::Failed, e.to_string(), "report this")),
            Kind::Urdf | Kind::Motion => Ok(file::write(&self.document)),
        }
    }

    /// Writes the document to its file, or another one.
    pub(super) fn save(
        &mut self,
        target: &Path,
        force: bool,
        folder: &Folder,
    ) -> Result<(), WireError> {
        let is_own = self.path.as_deref().is_some_and(|own| same_file(own, target));
        let on_disk = read_text(target).ok();
        let expected = if is_own { self.saved.text.as_ref() } else { None };
        if !force && target.exists() && on_disk.as_ref() != expected {
            let text =
                if is_own { "the file has changed on disk" } else { "the file is there already" };
            let hint = "save under another name, or overwrite it";
            return Err(WireError::new(Code::FileChanged, text, hint).at(folder.name_of(target)));
        }
        if target.extension().is_none_or(|e| e != "yaml" && e != "yml") {
            let hint = "write a name that ends with `.yaml`";
            return Err(WireError::new(Code::Invalid, "documents are YAML files", hint));
        }
        self.move_to(target, folder);
        if self.kind == Kind::Urdf {
            self.kind = Kind::Motion;
        }
        let text = self.text()?;
        write_atomic(target, text.as_bytes())
            .map_err(|error| WireError::from_text(Code::Failed, &error))?;
        self.path = Some(target.to_owned());
        self.saved = Saved { document: self.document.clone(), text: Some(text.clone()) };
        self.journal.restart(target, &text);
        Ok(())
    }

    /// Lets the document name its robot from another folder.
    fn move_to(&mut self, target: &Path, folder: &Folder) {
        let from = self.base(folder);
        let Some(to) = target.parent().and_then(|to| to.canonicalize().ok()) else { return };
        if from == to {
            return;
        }
        let moved = |name: &str| {
            let is_path =
                !name.is_empty() && !name.contains("://") && Path::new(name).is_relative();
            let path = is_path.then(|| from.join(name).canonicalize().ok()).flatten()?;
            Some(relative_path(&path, &to).to_string_lossy().into_owned())
        };
        let RobotReference { urdf, config, .. } = &mut self.document.robot;
        if let Some(name) = moved(urdf) {
            *urdf = name;
        }
        if let Some(name) = config.as_deref().and_then(moved) {
            *config = Some(name);
        }
    }

    /// SHA-256 of the document's part that a motion is simulated with.
    pub(super) fn scene_key(&self) -> String {
        let text = serde_json::to_vec(&(&self.document.scene, &self.document.robot));
        hash(&[&text.unwrap_or_default()])
    }
}

/// The first robot of a scene, in all its workspaces.
struct Robot {
    poser: Option<Poser>,
    performer: Option<Arc<Performer>>,
    model_key: String,
}

impl Robot {
    fn of(scene: &LoadedScene) -> Self {
        let model = scene.models.first();
        let performer = model.map(|model| Arc::new(Performer::new(Arc::clone(model))));
        Self {
            poser: performer.as_ref().map(Poser::new),
            performer,
            model_key: model
                .map(|model| hash(&[format!("{model:?}").as_bytes()]))
                .unwrap_or_default(),
        }
    }
}

fn base_folder(path: Option<&Path>, folder: &Folder) -> PathBuf {
    path.and_then(Path::parent).unwrap_or(folder.path()).to_owned()
}

fn same_file(a: &Path, b: &Path) -> bool {
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    canonical(a) == canonical(b)
}

fn read(
    name: &str,
    path: &Path,
    text: &str,
    config: Option<&Path>,
    folder: &Folder,
) -> Result<(Kind, Document), OpenError> {
    if root_element(text) == Some("robot") {
        return Ok((Kind::Urdf, of_robot(path, config, folder)?));
    }
    let tree = read_tree(name, text).map_err(LoadError::from)?;
    if tree.get(file::KEY).is_some() {
        return Ok((Kind::Motion, file::read(name, text)?));
    }
    if !scene::is_scene(&tree) {
        return Err(OpenError::Unknown { path: path.to_owned() });
    }
    Ok((Kind::Scene, Document { scene: scene::scene_of_file(&tree)?, ..Document::default() }))
}

/// An empty document of a robot.
fn of_robot(urdf: &Path, config: Option<&Path>, folder: &Folder) -> Result<Document, OpenError> {
    let found = config.map(Path::to_owned).or_else(|| config_of(urdf));
    let base = folder.path();
    let relative = |path: &Path| relative_path(path, base).to_string_lossy().into_owned();
    let config = match &found {
        Some(path) => {
            let unreadable = |error| OpenError::Unreadable { path: path.clone(), error };
            Some(relative(&path.canonicalize().map_err(unreadable)?))
        }
        None => None,
    };
    let model = urdf.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let robot = RobotReference { model: model.unwrap_or_default(), urdf: relative(urdf), config };
    Ok(Document { robot, ..Document::default() })
}

/// Robot YAML of a URDF by convention: `NAME.yaml` beside it, or `config/NAME.yaml` in a folder above.
fn config_of(urdf: &Path) -> Option<PathBuf> {
    let name = urdf.with_extension("yaml");
    let file = Path::new("config").join(name.file_name()?);
    let above = urdf.ancestors().skip(1).map(|folder| folder.join(&file));
    // Beside a URDF there may be motions of the same name.
    let is_robot = |path: &PathBuf| {
        let tree = read_text(path).ok().and_then(|text| read_tree("config", &text).ok());
        tree.is_some_and(|tree| tree.get(file::KEY).is_none() && !scene::is_scene(&tree))
    };
    std::iter::once(name.clone()).chain(above).find(|path| path.is_file() && is_robot(path))
}

/// A refused edit.
pub(super) fn refuse(problem: &Problem) -> WireError {
    let code = match problem.code {
        karakuri_motion::Code::Missing => Code::NotFound,
        karakuri_motion::Code::Range => Code::Limit,
        _ => Code::Invalid,
    };
    WireError::new(code, &problem.message, &problem.remedy).at(&problem.place)
}

/// A refused scene.
pub(super) fn refuse_load(error: &LoadError) -> WireError {
    WireError::from_text(Code::Invalid, &load_text(error)).at("scene")
}

/// First problem of a robot or scene, without its place in a text that nobody wrote.
fn load_text(error: &LoadError) -> String {
    match error {
        LoadError::Wrong(diagnostics) => diagnostics
            .errors()
            .next()
            .map(|d| format!("{}; {}", d.message, d.remedy))
            .unwrap_or_default(),
        other => other.to_string(),
    }
}
