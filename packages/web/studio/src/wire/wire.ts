// Made from the messages of packages/io/karakuri_studio/src/wire by
// `KARAKURI_WRITE=1 cargo test -p karakuri_studio typescript`: change them there.

export const PROTOCOL = "karakuri.studio.v1";

export const MESSAGE_LIMIT = 16777216;

export const FRAME_HEADER = 16;

/** A request: an operation and its number. */
export type Request = { id: number, rev?: number } & Operation;

/** An answer to a request. */
export type Reply = { id: number, ok: true, rev: number, result: unknown } | { id: number | null, error: WireError };

/**
 * What a button does once, when it is pressed.
 */
export type Action = "stop" | "play" | "preview";

/**
 * Unit of a document's angles.
 */
export type AngleUnit = "rad" | "deg";

/**
 * Balance along a motion, a number a row.
 */
export type BalanceCurves = { 
/**
 * Centre of mass. [m] (n × 3)
 */
com: Array<[number, number, number]>, 
/**
 * Zero moment point on the floor; `None` in flight. [m] (n × 2)
 */
zmp: Array<[number, number] | null>, 
/**
 * Margin of the centre of mass. [m] (n)
 */
static_margin: Array<number | null>, 
/**
 * Margin of the zero moment point. [m] (n)
 */
margin: Array<number | null>, 
/**
 * Support polygons, each with the index of the first row that it holds for.
 */
polygons: Array<[number, Array<[number, number]>]>, };

/**
 * How a track goes with the scenes.
 */
export type Blend = "replace" | "add";

/**
 * Boards that keep motions, and what became of the last upload.
 */
export type BoardState = { 
/**
 * Serial port of the boards.
 */
device: string, 
/**
 * Whether a motion is on its way to them.
 */
busy: boolean, 
/**
 * Whether the last upload failed.
 */
failed: boolean, 
/**
 * What became of the last upload; empty before the first.
 */
text: string, 
/**
 * What was rounded or clipped of the motion on its way.
 */
report: Array<Finding>, };

/**
 * A sampled motion.
 */
export type ClipReport = { 
/**
 * Rows at `/clip/<hash>`.
 */
hash: string, 
/**
 * Number of rows; the last one is at the end of the motion.
 */
n_rows: number, 
/**
 * Time between rows. [s]
 */
dt: number, 
/**
 * Duration of the motion. [s]
 */
duration: number, 
/**
 * End of each scene. [s]
 */
scene_ends: Array<number>, 
/**
 * Balance and checks.
 */
balance: BalanceCurves, 
/**
 * What is wrong, the first of each kind and scene.
 */
findings: Array<Verdict>, };

/**
 * Which motion to sample.
 */
export type ClipRequest = { 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Rows a second; one a frame of the motion if not given. [Hz]
 */
rate?: number | null, 
/**
 * Whether to check it and to follow its balance, which takes longer; yes if not given.
 */
checks?: boolean | null, };

/**
 * Why a request was refused; the page words it by its code.
 */
export type Code = "malformed" | "unknown_operation" | "unauthorized" | "no_lease" | "conflict" | "file_changed" | "limit" | "not_found" | "forbidden" | "state" | "invalid" | "failed";

/**
 * A cone on a link.
 */
export type Cone = { 
/**
 * Link whose x axis is the cone's axis.
 */
link: string, 
/**
 * Half its opening. [the document's angle]
 */
angle: number, };

/**
 * Poses and motions of a robot, with what a studio keeps beside them. Angles are in [`Units::angle`], lengths in metres,
 * times in seconds: numbers stay as the user wrote them, and are converted where a model is at hand.
 */
export type Document = { 
/**
 * Version of the format, [`VERSION`].
 */
karakuri_motion: number, 
/**
 * The robot that moves.
 */
robot: RobotReference, 
/**
 * Units of the numbers.
 */
units: Units, 
/**
 * Poses by name, in the order of the file.
 */
poses: { [key in string]: Pose }, 
/**
 * Motions by name, in the order of the file; shared, so that a copy of the document is cheap.
 */
motions: { [key in string]: Motion }, 
/**
 * Bodies and connections around the robot.
 */
scene: PhysicsScene, 
/**
 * Values of parameters that the user has kept, such as `drives.l_knee_pitch.stiffness`.
 */
parameters: { [name: string]: number | boolean | string }, 
/**
 * Panels of the user.
 */
panels: Array<Panel>, 
/**
 * Scripts by name: their text.
 */
scripts: { [key in string]: string }, 
/**
 * What a gamepad moves.
 */
gamepad: Array<GamepadBinding>, 
/**
 * Joints that mirror each other; `None`: those that the robot's axes say.
 */
mirror: Mirror | null, };

/**
 * Parts of a document, whole where they are given.
 */
export type DocumentPatch = { 
/**
 * The robot.
 */
robot?: RobotReference, 
/**
 * Units.
 */
units?: Units, 
/**
 * All poses, if one of them changed.
 */
poses: { [name: string]: Pose }, 
/**
 * Names of all motions in order, if that changed.
 */
motion_order?: Array<string>, 
/**
 * Motions that changed or are new.
 */
motions: { [name: string]: Motion }, 
/**
 * Bodies and connections.
 */
scene?: PhysicsScene, 
/**
 * Parameters.
 */
parameters: { [name: string]: number | boolean | string }, 
/**
 * Panels.
 */
panels?: Array<Panel>, 
/**
 * Scripts.
 */
scripts: { [name: string]: string }, 
/**
 * All that a gamepad moves, if it changed.
 */
gamepad?: Array<GamepadBinding>, 
/**
 * Mirror table; `null`: the one that the robot's axes say.
 */
mirror: Mirror | null, };

/**
 * Interpolation over the interval that ends at a key.
 */
export type Ease = "hold" | "linear" | "smooth" | "minimum_jerk" | "natural" | "clamped" | "monotone" | "periodic" | { "bezier": [number, number, number, number] };

/**
 * Answer to what changes the document.
 */
export type Edited = { 
/**
 * Revision now.
 */
rev: number, };

/**
 * A list of the scene around the robot.
 */
export type EntryList = "settings" | "bodies" | "joints" | "springs";

/**
 * A robot at a pose, with its balance.
 */
export type Evaluated = { 
/**
 * Positions of all joints with one degree of freedom, mimic joints too. [rad or m]
 */
joints: Joints, 
/**
 * Pose of the root link.
 */
root: [number, number, number, number, number, number, number], 
/**
 * Poses of the bodies. (n bodies)
 */
bodies: Array<[number, number, number, number, number, number, number]>, 
/**
 * Centre of mass. [m] (3)
 */
com: [number, number, number], 
/**
 * Corners of the support polygon, counterclockwise. [m] (n × 2)
 */
polygon: Array<[number, number]>, 
/**
 * Distance of the centre of mass inside the polygon, negative outside; `None` where nothing supports it. [m]
 */
margin: number | null, 
/**
 * Height of the floor that the polygon is on. [m]
 */
floor: number, 
/**
 * The foot that lies off the floor where both stand. [m]
 */
support_error: number, };

/**
 * Events, by `ev`.
 */
export type Event = { "ev": "doc", 
/**
 * Revision of the document now.
 */
rev: number, 
/**
 * Client that changed it.
 */
by: string, 
/**
 * What changed, as undo says it.
 */
label: string, 
/**
 * Parts that changed, whole.
 */
patch: DocumentPatch, 
/**
 * What the next undo and redo would take back and make again; `None`: nothing.
 */
undo: string | null, 
/**
 * See `undo`.
 */
redo: string | null, } | { "ev": "drag", 
/**
 * Client that drags.
 */
by: string, 
/**
 * Parts that differ from the document, or differed until now, whole.
 */
patch: DocumentPatch, } | { "ev": "stage" } & Stage | { "ev": "file" } & FileState | { "ev": "lease" } & LeaseState | { "ev": "preview" } & PreviewState | { "ev": "run" } & RunState | { "ev": "param" } & Parameter | { "ev": "live" } & LiveState | { "ev": "board" } & BoardState | { "ev": "script" } & ScriptState | { "ev": "log", 
/**
 * Severity.
 */
level: Level, 
/**
 * Sentence.
 */
text: string, };

/**
 * Answer to `export`.
 */
export type Exported = { 
/**
 * Name for the file.
 */
name: string, 
/**
 * Content, in base64.
 */
data: string, 
/**
 * Remarks.
 */
report: Array<Finding>, };

/**
 * A file or folder.
 */
export type FileEntry = { 
/**
 * Name.
 */
name: string, 
/**
 * `folder`, `urdf`, `yaml` or `motion`.
 */
kind: string, };

/**
 * Files and folders that can be opened.
 */
export type FileList = { 
/**
 * Folder, relative to the opened one.
 */
folder: string, 
/**
 * Entries, folders first.
 */
entries: Array<FileEntry>, };

/**
 * The file of the document.
 */
export type FileState = { 
/**
 * Path relative to the opened folder; `None`: the document has no file yet.
 */
path: string | null, 
/**
 * What was opened: `urdf`, `motion` or `scene`.
 */
kind: string, 
/**
 * Whether the document differs from what was saved.
 */
changed: boolean, };

/**
 * A remark of an import or export.
 */
export type Finding = { 
/**
 * Line of the file, from 1; 0 where it has none.
 */
line: number, 
/**
 * What was rounded, clipped, guessed or left out.
 */
text: string, };

/**
 * An input of a gamepad and what it does as long as it is held: one of `axis` and `button`, and one of `joint`, `link`, `pose` and
 * `action`. Inputs have the numbers of the standard mapping of browsers (W3C Gamepad).
 */
export type GamepadBinding = { 
/**
 * Number of an axis.
 */
axis?: number, 
/**
 * Number of a button.
 */
button?: number, 
/**
 * Joint that moves at `speed`.
 */
joint?: string, 
/**
 * Link that moves along `direction` at `speed`, by inverse kinematics.
 */
link?: string, 
/**
 * Pose that all joints go to, each second `speed` of the way.
 */
pose?: string, 
/**
 * What a press does: `stop`, `play` or `preview`.
 */
action?: Action, 
/**
 * Direction of a link, in world axes. [-] (3)
 */
direction?: [number, number, number], 
/**
 * Speed where the input is pressed down; negative: the other way. [the document's angle/s, m/s or 1/s]
 */
speed?: number, 
/**
 * Part of an axis about its middle that counts as none. [-]
 */
dead_zone?: number, };

/**
 * Spring between a point of a part and a point in the world.
 */
export type Grab = { 
/**
 * Name of a body, or `robot/link`.
 */
part: string, 
/**
 * Point of the part, in its frame. [m] (3)
 */
point: [number, number, number], 
/**
 * Point to pull it to, in the world. [m] (3)
 */
to: [number, number, number], 
/**
 * Stiffness; one that moves the part's robot or body within 0.2 s if not given. [N/m]
 */
stiffness?: number | null, };

/**
 * Targets of links.
 */
export type IkGoal = { 
/**
 * Pose to start from.
 */
start: PoseRequest, 
/**
 * Links and their targets.
 */
targets: Array<IkTargetGoal>, 
/**
 * Joints that keep their position.
 */
locked: Array<string>, 
/**
 * Links that stay where they are: the other foot, say.
 */
held: Array<string>, 
/**
 * Point of the floor that the centre of mass is to be above. [m] (2)
 */
com?: [number, number] | null, 
/**
 * Whether the robot's root may move; without it, it stays where the pose has it.
 */
root_moves: boolean, };

/**
 * Answer to `ik`.
 */
export type IkReport = { 
/**
 * Whether every target is reached.
 */
reached: boolean, 
/**
 * Largest position error. [m]
 */
position_error: number, 
/**
 * Largest orientation error. [rad]
 */
orientation_error: number, 
/**
 * What is in the way: `OutOfReach`, `Limit`, `NothingMoves`, `Stuck`.
 */
obstacle: string | null, 
/**
 * Joint at its limit, where the obstacle is one.
 */
joint: string | null, 
/**
 * One sentence.
 */
text: string, 
/**
 * The pose that was found.
 */
pose: Evaluated, };

/**
 * Target of a link.
 */
export type IkTargetGoal = { 
/**
 * Name of the link.
 */
link: string, 
/**
 * Position of its origin in the world; free if not given. [m] (3)
 */
position?: [number, number, number] | null, 
/**
 * Orientation in the world, `x y z w`; free if not given. [-] (4)
 */
orientation?: [number, number, number, number] | null, 
/**
 * Whether only the link's z axis is to be vertical, as of a sole; in place of `orientation`.
 */
level: boolean, };

/**
 * Answer to `import`.
 */
export type Imported = { 
/**
 * Revision now.
 */
rev: number, 
/**
 * Names of the motions that are new.
 */
motions: Array<string>, 
/**
 * Remarks.
 */
report: Array<Finding>, };

/**
 * A joint with one degree of freedom.
 */
export type JointDescription = { 
/**
 * Name.
 */
name: string, 
/**
 * Index of the body that it carries.
 */
body: number, 
/**
 * Unit of its position: `rad` or `m`.
 */
unit: string, 
/**
 * Axis in the body's frame. [-] (3)
 */
axis: [number, number, number], 
/**
 * Lower limit; `None`: it has none. [rad or m]
 */
lower: number | null, 
/**
 * Upper limit. [rad or m]
 */
upper: number | null, 
/**
 * Largest speed. [rad/s or m/s]
 */
velocity: number | null, 
/**
 * Largest effort. [N·m or N]
 */
effort: number | null, 
/**
 * Position in the default posture. [rad or m]
 */
rest: number, 
/**
 * Leader, if it follows another joint.
 */
mimic: MimicDescription | null, };

/**
 * Joint and its position. [rad or m]
 */
export type Joints = { [joint: string]: number };

/**
 * A key of a track.
 */
export type Key = { 
/**
 * Time. [s]
 */
t: number, 
/**
 * Position, or what is added to it. [the document's angle or m]
 */
y: number, 
/**
 * Interpolation over the interval that ends here.
 */
ease: Ease, };

/**
 * The clients and which of them has the operator lease.
 */
export type LeaseState = { 
/**
 * Client that may change things; `None`: nobody.
 */
holder: string | null, 
/**
 * Client that asks for it, and gets it after 5 s unless the holder gives it before.
 */
asked_by: string | null, 
/**
 * All clients.
 */
clients: Array<Viewer>, };

/**
 * Severity of a log line.
 */
export type Level = "info" | "warning" | "error";

/**
 * A link.
 */
export type LinkDescription = { 
/**
 * Name.
 */
name: string, 
/**
 * Index of its body; `None`: it is part of the fixed base.
 */
body: number | null, 
/**
 * Pose in the body's frame, or in the world.
 */
pose: [number, number, number, number, number, number, number], 
/**
 * Whether no other link hangs on it: a hand, a foot, a head.
 */
is_tip: boolean, };

/**
 * How the robot is moved.
 */
export type LiveMode = "absent" | "watching" | "armed" | "following" | "moving" | "stopped";

/**
 * The robot.
 */
export type LiveState = { 
/**
 * How it is moved.
 */
mode: LiveMode, 
/**
 * Motion that it may play: its preview is `ok`.
 */
armed_for: string | null, 
/**
 * Why it stopped or refused; empty.
 */
text: string, 
/**
 * Why it follows no commands, as its driver says; empty.
 */
fault: string, 
/**
 * Age of the last measurement; `None`: there was none. [s]
 */
age: number | null, 
/**
 * Whether its positions are recorded.
 */
recording: boolean, };

/**
 * A named time.
 */
export type Marker = { 
/**
 * Time. [s]
 */
t: number, 
/**
 * Name of the marker.
 */
name: string, };

/**
 * A mesh: `/mesh/<hash>`, fine, and coarse for slow machines.
 */
export type MeshReference = { 
/**
 * Hash of the whole mesh.
 */
fine: string, 
/**
 * Number of its triangles.
 */
n_triangles: number, 
/**
 * Hash of a mesh with fewer triangles; the same where it has few.
 */
coarse: string, };

/**
 * Joint that follows another one.
 */
export type MimicDescription = { 
/**
 * Name of the leader.
 */
leader: string, 
/**
 * Factor of the leader's position. [-]
 */
multiplier: number, 
/**
 * Position where the leader is at zero. [rad or m]
 */
offset: number, };

/**
 * Mirror table of a robot, about its plane of symmetry.
 */
export type Mirror = { 
/**
 * Pairs of joints of left and right.
 */
pairs: Array<MirrorPair>, 
/**
 * Joints that are their own mirror image, and their sign.
 */
self: { [key in string]: number }, };

/**
 * Two joints that are each other's mirror image: the left one's name, the right one's, and the sign between them.
 */
export type MirrorPair = [string, string, number];

/**
 * A motion: scenes one after another, and tracks of single joints on top.
 */
export type Motion = { 
/**
 * Period at which the motion is sampled for a robot. [s]
 */
frame: number, 
/**
 * Whether it begins again at its end.
 */
loop: boolean, 
/**
 * State at time zero.
 */
start: Start, 
/**
 * Scenes in their order.
 */
scenes: Array<Scene>, 
/**
 * Joint and its keys in absolute time.
 */
tracks: { [key in string]: Track }, 
/**
 * Named times.
 */
markers: Array<Marker>, };

/**
 * A change of a document, as JSON `{"op": "pose.put", "name": …}`.
 *
 * `put` replaces what has the name or the index, and adds where nothing has the name: at `index`, else at the end. Every operation
 * has an inverse made of operations, which [`Document::commit`](crate::Document::commit) returns.
 */
export type Op = { "op": "robot.set", 
/**
 * The robot.
 */
robot: RobotReference, } | { "op": "units.set", 
/**
 * The units.
 */
units: Units, } | { "op": "pose.put", 
/**
 * Name of the pose.
 */
name: string, 
/**
 * The pose.
 */
pose: Pose, 
/**
 * Place of a new pose.
 */
index: number | null, } | { "op": "pose.joints", 
/**
 * Name of the pose.
 */
name: string, 
/**
 * Joint and its position. [the document's angle or m]
 */
joints: { [key in string]: number | null }, } | { "op": "pose.remove", 
/**
 * Name of the pose.
 */
name: string, } | { "op": "pose.rename", 
/**
 * Name of the pose.
 */
name: string, 
/**
 * Its new name.
 */
to: string, } | { "op": "pose.move", 
/**
 * Name of the pose.
 */
name: string, 
/**
 * Its new place.
 */
index: number, } | { "op": "motion.put", 
/**
 * Name of the motion.
 */
name: string, 
/**
 * The motion.
 */
motion: Motion, 
/**
 * Place of a new motion.
 */
index: number | null, } | { "op": "motion.remove", 
/**
 * Name of the motion.
 */
name: string, } | { "op": "motion.rename", 
/**
 * Name of the motion.
 */
name: string, 
/**
 * Its new name.
 */
to: string, } | { "op": "motion.move", 
/**
 * Name of the motion.
 */
name: string, 
/**
 * Its new place.
 */
index: number, } | { "op": "motion.set", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Sampling period. [s]
 */
frame: number | null, 
/**
 * Whether it begins again at its end.
 */
loop: boolean | null, 
/**
 * State at time zero.
 */
start: Start | null, } | { "op": "scene.insert", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the scene.
 */
index: number, 
/**
 * The scene.
 */
scene: Scene, } | { "op": "scene.put", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the scene.
 */
index: number, 
/**
 * The scene.
 */
scene: Scene, } | { "op": "scene.joints", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the scene.
 */
index: number, 
/**
 * Joint and its position. [the document's angle or m]
 */
joints: { [key in string]: number | null }, } | { "op": "scene.remove", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the scene.
 */
index: number, } | { "op": "scene.move", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Its place.
 */
index: number, 
/**
 * Its new place.
 */
to: number, } | { "op": "support.set", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the scene.
 */
index: number, 
/**
 * The feet that stand.
 */
support: Support | null, } | { "op": "track.put", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Joint of the track.
 */
joint: string, 
/**
 * The track.
 */
track: Track, 
/**
 * Place of a new track.
 */
index: number | null, } | { "op": "track.remove", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Joint of the track.
 */
joint: string, } | { "op": "key.put", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Joint of the track.
 */
joint: string, 
/**
 * The key.
 */
key: Key, } | { "op": "key.remove", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Joint of the track.
 */
joint: string, 
/**
 * Time of the key. [s]
 */
t: number, } | { "op": "key.move", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Joint of the track.
 */
joint: string, 
/**
 * Time of the key. [s]
 */
t: number, 
/**
 * Its new time. [s]
 */
to: number, } | { "op": "marker.insert", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the marker.
 */
index: number, 
/**
 * The marker.
 */
marker: Marker, } | { "op": "marker.put", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the marker.
 */
index: number, 
/**
 * The marker.
 */
marker: Marker, } | { "op": "marker.remove", 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Place of the marker.
 */
index: number, } | { "op": "entry.put", 
/**
 * List of the entry.
 */
list: EntryList, 
/**
 * Name of the entry.
 */
name: string, 
/**
 * Its keys, as `docs/scenes.md` has them, without the name.
 */
entry: unknown, 
/**
 * Place of a new entry.
 */
index: number | null, } | { "op": "entry.remove", 
/**
 * List of the entry.
 */
list: EntryList, 
/**
 * Name of the entry.
 */
name: string, 
/**
 * Whether what names a body stays.
 */
alone: boolean, } | { "op": "param.set", 
/**
 * Name of the parameter.
 */
name: string, 
/**
 * Its value.
 */
value: number | boolean | string | null, 
/**
 * Place of a new value.
 */
index: number | null, } | { "op": "panel.insert", 
/**
 * Place of the panel.
 */
index: number, 
/**
 * The panel.
 */
panel: Panel, } | { "op": "panel.put", 
/**
 * Place of the panel.
 */
index: number, 
/**
 * The panel.
 */
panel: Panel, } | { "op": "panel.remove", 
/**
 * Place of the panel.
 */
index: number, } | { "op": "script.put", 
/**
 * Name of the script.
 */
name: string, 
/**
 * Its text.
 */
text: string, 
/**
 * Place of a new script.
 */
index: number | null, } | { "op": "script.remove", 
/**
 * Name of the script.
 */
name: string, } | { "op": "gamepad.set", 
/**
 * Inputs and what they do.
 */
bindings: Array<GamepadBinding>, } | { "op": "mirror.set", 
/**
 * The table.
 */
mirror: Mirror | null, };

/**
 * Operations, by `op`, with their `args`. Unknown keys of `args` are ignored.
 */
export type Operation = { "op": "hello", "args": { 
/**
 * Secret of the address that the server printed.
 */
token: string, 
/**
 * Language of the page, `en` or `ja`.
 */
lang?: string | null, 
/**
 * Name to show to others.
 */
name?: string | null, } } | { "op": "open", "args": { 
/**
 * Path relative to the opened folder.
 */
path: string, 
/**
 * Whether unsaved changes may be lost.
 */
discard: boolean, } } | { "op": "files", "args": { 
/**
 * Folder relative to the opened one; the opened one itself if not given.
 */
folder?: string | null, } } | { "op": "save", "args": { 
/**
 * Path relative to the opened folder; the present one if not given.
 */
path?: string | null, 
/**
 * Whether changes on disk may be overwritten.
 */
force: boolean, } } | { "op": "recover", "args": { 
/**
 * Whether it is taken up.
 */
accept: boolean, } } | { "op": "import", "args": { 
/**
 * Name of the file; its ending tells the format.
 */
name: string, 
/**
 * Content, in base64.
 */
data: string, 
/**
 * Rate of formats that have no time. [Hz]
 */
rate?: number | null, } } | { "op": "export", "args": { 
/**
 * Name of the format, as `own_csv`.
 */
format: string, 
/**
 * Name of the motion.
 */
motion: string, } } | { "op": "edit", "args": { 
/**
 * What is changed, in this order.
 */
ops: Array<Op>, 
/**
 * What undo says, as "move key".
 */
label?: string | null, } } | { "op": "undo", "args": Record<symbol, never> } | { "op": "redo", "args": Record<symbol, never> } | { "op": "begin", "args": { 
/**
 * What undo will say.
 */
label?: string | null, } } | { "op": "update", "args": { 
/**
 * Changes to the document as it was at `begin`.
 */
ops: Array<Op>, } } | { "op": "commit", "args": { 
/**
 * In place of the last `update`.
 */
ops?: Array<Op> | null, } } | { "op": "cancel", "args": Record<symbol, never> } | { "op": "evaluate", "args": PoseRequest } | { "op": "ik", "args": IkGoal } | { "op": "clip", "args": ClipRequest } | { "op": "preview", "args": { 
/**
 * Name of the motion.
 */
motion: string, } } | { "op": "preview.cancel", "args": Record<symbol, never> } | { "op": "run", "args": { 
/**
 * Motion that the robot plays meanwhile; it stands if not given.
 */
motion?: string | null, 
/**
 * Simulated time over wall time; 1 if not given, 0 as fast as it goes. [-]
 */
speed?: number | null, } } | { "op": "pause", "args": Record<symbol, never> } | { "op": "step", "args": { 
/**
 * Number of time steps; one if not given.
 */
steps?: number | null, } } | { "op": "stop", "args": Record<symbol, never> } | { "op": "param.get", "args": { 
/**
 * Beginning of the names; all if not given.
 */
prefix?: string | null, } } | { "op": "param.set", "args": { 
/**
 * Name of the parameter.
 */
name: string, 
/**
 * Value.
 */
value: ParameterValue, } } | { "op": "param.keep", "args": Record<symbol, never> } | { "op": "snapshot", "args": Record<symbol, never> } | { "op": "restore", "args": { 
/**
 * Number of a snapshot.
 */
id?: number | null, 
/**
 * Time to go back to. [s]
 */
time?: number | null, } } | { "op": "push", "args": { 
/**
 * Name of a body, or `robot/link`.
 */
part: string, 
/**
 * Force in world axes. [N] (3)
 */
force: [number, number, number], 
/**
 * Duration; 0.1 if not given. [s]
 */
duration?: number | null, } } | { "op": "grab", "args": Grab } | { "op": "release", "args": Record<symbol, never> } | { "op": "lease.take", "args": Record<symbol, never> } | { "op": "lease.give", "args": Record<symbol, never> } | { "op": "live.arm", "args": { 
/**
 * Motion whose preview is the ground for it.
 */
motion: string, 
/**
 * Whether to arm; disarms otherwise.
 */
on: boolean, } } | { "op": "live.follow", "args": { 
/**
 * Position of joints. [rad or m]
 */
joints: Joints, 
/**
 * Fraction of the joints' speed limits, in (0, 1]. [-]
 */
speed?: number | null, } } | { "op": "live.send", "args": { 
/**
 * Position of joints. [rad or m]
 */
joints: Joints, 
/**
 * Fraction of the joints' speed limits, in (0, 1]. [-]
 */
speed?: number | null, } } | { "op": "live.stop", "args": Record<symbol, never> } | { "op": "play", "args": { 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Speed of the motion's time, in (0, 1]. [-]
 */
speed?: number | null, } } | { "op": "live.record", "args": { 
/**
 * Whether to record.
 */
on: boolean, 
/**
 * Farthest that the motion may be from what was measured; 0.02 if not given. [rad or m]
 */
tolerance?: number | null, } } | { "op": "board.upload", "args": { 
/**
 * Name of the motion.
 */
motion: string, 
/**
 * Number that it gets in the boards, from 0 to 39; what they had under it is lost.
 */
number: number, } } | { "op": "record", "args": { 
/**
 * Whether to record.
 */
on: boolean, } } | { "op": "script.allow", "args": { 
/**
 * Name of the script.
 */
name: string, 
/**
 * SHA-256 of its text, as the client showed it to its user.
 */
hash: string, } } | { "op": "script.list", "args": Record<symbol, never> } | { "op": "ack", "args": { 
/**
 * Its number.
 */
seq: number, } } | { "op": "ping", "args": Record<symbol, never> };

/**
 * A panel of widgets.
 */
export type Panel = { 
/**
 * Title; shown as text.
 */
title: string, 
/**
 * Widgets from top to bottom.
 */
widgets: Array<Widget>, };

/**
 * A parameter of the simulation.
 */
export type Parameter = { 
/**
 * Name, as `khr1.drives.l_knee_pitch.stiffness`.
 */
name: string, 
/**
 * Value now.
 */
value: ParameterValue, 
/**
 * Value of the document's scene, to which *reset* goes back.
 */
initial: ParameterValue, 
/**
 * Unit; empty for switches, words and ratios.
 */
unit: string, 
/**
 * Least value. [the unit]
 */
min: number | null, 
/**
 * Largest value. [the unit]
 */
max: number | null, 
/**
 * What it does.
 */
text: string, };

/**
 * Value of a parameter.
 */
export type ParameterValue = boolean | number | string;

/**
 * Contents of a scene file beside the robot; the keys of an entry are those of `docs/scenes.md`, in SI units.
 */
export type PhysicsScene = { 
/**
 * Settings of the world: `gravity`, `dt`, `solver`, `ground` and so on.
 */
settings: { [key: string]: unknown }, 
/**
 * Bodies by name.
 */
bodies: { [name: string]: { [key: string]: unknown } }, 
/**
 * Joints between things, by name.
 */
joints: { [name: string]: { [key: string]: unknown } }, 
/**
 * Springs between points of things, by name.
 */
springs: { [name: string]: { [key: string]: unknown } }, };

/**
 * Positions of some joints, on top of those of another pose.
 *
 * Read from `{from, root, joints: {…}}` as from the short form of files, in which joints stand beside `from`.
 */
export type Pose = { 
/**
 * The pose below this one.
 */
from: string | null, 
/**
 * Pose of the root link, for motions whose feet do not say it.
 */
root: RootPose | null, 
/**
 * Joint and its position. [the document's angle or m]
 */
joints: { [key in string]: number }, };

/**
 * Pose to be shown.
 */
export type PoseRequest = { 
/**
 * Pose of the document below the joints.
 */
pose?: string | null, 
/**
 * Motion of the document, at `time`, in place of a pose.
 */
motion?: string | null, 
/**
 * Time in the motion. [s]
 */
time?: number | null, 
/**
 * Joints on top. [rad or m]
 */
joints: Joints, 
/**
 * Pose of the root link; from the supporting foot if not given.
 */
root?: [number, number, number, number, number, number, number] | null, 
/**
 * The feet that stand; `auto` if not given.
 */
support?: Support | null, };

/**
 * Named posture.
 */
export type PostureDescription = { 
/**
 * Name, as `stand`.
 */
name: string, 
/**
 * Joint and position. [rad or m]
 */
joints: Joints, };

/**
 * Result of a preview.
 */
export type PreviewReport = { 
/**
 * Worst that happens.
 */
verdict: VerdictKind, 
/**
 * The first of each kind, in order of time.
 */
findings: Array<Verdict>, 
/**
 * Least margin of the zero moment point. [m]
 */
min_margin: number | null, 
/**
 * Joint, largest effort over its limit and largest speed over its limit. [-]
 */
peaks: Array<[string, number, number]>, 
/**
 * Digest of the final state: equal for equal input.
 */
digest: string, 
/**
 * SHA-256 of the input.
 */
key: string, 
/**
 * Rows at `/clip/<hash>`.
 */
clip: string, 
/**
 * Number of rows.
 */
n_rows: number, 
/**
 * Time between rows. [s]
 */
dt: number, 
/**
 * Physics steps a second of wall time; 0 where the result was known. [1/s]
 */
steps_per_second: number, 
/**
 * Whether the result was known.
 */
cached: boolean, };

/**
 * News of the preview.
 */
export type PreviewState = { 
/**
 * Number of the preview; 0: there was none.
 */
job: number, 
/**
 * Motion.
 */
motion: string, 
/**
 * Part that is done, 0 to 1. [-]
 */
progress: number, 
/**
 * Whether it was ended before its end.
 */
cancelled: boolean, 
/**
 * Why it failed; empty.
 */
error: string, 
/**
 * Result, at the end.
 */
report: PreviewReport | null, };

/**
 * A recording.
 */
export type Recording = { 
/**
 * Whether it goes on.
 */
on: boolean, 
/**
 * Number of rows.
 */
n_rows: number, 
/**
 * Table, in base64, at the end: `time_s` and a column a quantity.
 */
csv: string | null, };

/**
 * What is left of a session that was not saved.
 */
export type Recovery = { 
/**
 * Number of changes.
 */
edits: number, 
/**
 * Age of the last change. [s]
 */
age: number, };

/**
 * Result of each operation.
 */
export type Results = { hello: Welcome, open: Welcome, files: FileList, save: Saved, recover: Edited, import: Imported, export: Exported, edit: Edited, undo: Undone, redo: Undone, begin: Edited, update: Edited, commit: Edited, cancel: Edited, evaluate: Evaluated, ik: IkReport, clip: ClipReport, preview: PreviewState, "preview.cancel": PreviewState, run: RunState, pause: RunState, step: RunState, stop: RunState, "param.get": Array<Parameter>, "param.set": Parameter, "param.keep": Edited, snapshot: SnapshotReport, restore: SnapshotReport, push: RunState, grab: RunState, release: RunState, "lease.take": LeaseState, "lease.give": LeaseState, "live.arm": LiveState, "live.follow": LiveState, "live.send": LiveState, "live.stop": LiveState, play: LiveState, "live.record": Taught, "board.upload": BoardState, record: Recording, "script.allow": ScriptState, "script.list": Array<ScriptState>, };

/**
 * A robot.
 */
export type RobotDescription = { 
/**
 * Name in the scene.
 */
name: string, 
/**
 * Mass. [kg]
 */
mass: number, 
/**
 * Whether the root link is free.
 */
floating: boolean, 
/**
 * Bodies, parents first; a frame has their poses in this order.
 */
bodies: Array<string>, 
/**
 * Joints with one degree of freedom, base to tip.
 */
joints: Array<JointDescription>, 
/**
 * Links that IK can hold on to.
 */
links: Array<LinkDescription>, 
/**
 * Shapes to draw.
 */
visuals: Array<Visual>, 
/**
 * Postures of the robot's YAML file.
 */
postures: Array<PostureDescription>, 
/**
 * The soles' links, left and right, if it has two feet.
 */
feet: Array<string>, 
/**
 * Poses of the bodies in the default posture. (n bodies)
 */
bodies_at_rest: Array<[number, number, number, number, number, number, number]>, };

/**
 * The robot of a document.
 */
export type RobotReference = { 
/**
 * Name of the robot.
 */
model: string, 
/**
 * URDF file: relative to the document, or `package://`.
 */
urdf: string, 
/**
 * Robot YAML, likewise.
 */
config: string | null, };

/**
 * Pose of a root link.
 */
export type RootPose = { 
/**
 * Position of its origin in the world. [m] (3)
 */
xyz: [number, number, number], 
/**
 * Fixed-axis roll, pitch, yaw. [the document's angle] (3)
 */
rpy: [number, number, number], };

/**
 * Phase of the simulation.
 */
export type RunPhase = "stopped" | "running" | "paused";

/**
 * The simulation.
 */
export type RunState = { 
/**
 * Phase.
 */
phase: RunPhase, 
/**
 * Simulated time. [s]
 */
time: number, 
/**
 * Simulated time over wall time that it aims at; 0: as fast as it goes. [-]
 */
speed: number, 
/**
 * Motion that the robot plays.
 */
motion: string | null, 
/**
 * Digest of the state.
 */
digest: string, 
/**
 * Names of the parameters that differ from the document's scene.
 */
changed: Array<string>, 
/**
 * Whether the document's scene or motion has changed since the start.
 */
stale: boolean, 
/**
 * Snapshots that `restore` knows: number and time.
 */
snapshots: Array<SnapshotReport>, 
/**
 * Why it ended by itself; empty.
 */
error: string, 
/**
 * Names of the quantities of plot frames.
 */
plots: Array<string>, };

/**
 * Answer to `save`.
 */
export type Saved = { 
/**
 * Path that was written, relative to the opened folder.
 */
path: string, 
/**
 * Revision that was written.
 */
rev: number, };

/**
 * A scene: a pose, or another motion, and the time to it.
 */
export type Scene = { 
/**
 * Pose at the end of the scene.
 */
pose: string | null, 
/**
 * Motion that the scene plays, in place of a pose.
 */
motion: string | null, 
/**
 * Whether left and right are exchanged.
 */
mirror: boolean, 
/**
 * Number of times that the motion is played.
 */
repeat: number, 
/**
 * Time from the previous scene; of a scene with a motion, time before it begins. [s]
 */
time: number, 
/**
 * Interpolation over the interval that ends with this scene.
 */
ease: Ease, 
/**
 * The feet that stand from the previous scene until this one; `None`: as before.
 */
support: Support | null, 
/**
 * Positions of joints on top of the pose. [the document's angle or m]
 */
joints: { [key in string]: number }, 
/**
 * Pose of the root link at the end of the scene, on top of the pose's.
 */
root: RootPose | null, 
/**
 * Note of the user.
 */
note: string, };

/**
 * A script.
 */
export type ScriptState = { 
/**
 * Name.
 */
name: string, 
/**
 * SHA-256 of its text.
 */
hash: string, 
/**
 * Whether it may run.
 */
allowed: boolean, 
/**
 * Why it has stopped, or cannot run; empty.
 */
error: string, 
/**
 * Line of the error, from 1; 0 where there is none.
 */
line: number, 
/**
 * What it said last.
 */
said: string, };

/**
 * A shape. Cylinders and capsules are along z; capsules have half-balls beyond their length.
 */
export type ShapeDescription = { "kind": "box", 
/**
 * Full edges. [m] (3)
 */
size: [number, number, number], } | { "kind": "sphere", 
/**
 * Radius. [m]
 */
radius: number, } | { "kind": "cylinder", 
/**
 * Radius. [m]
 */
radius: number, 
/**
 * Full length. [m]
 */
length: number, } | { "kind": "capsule", 
/**
 * Radius. [m]
 */
radius: number, 
/**
 * Length of the cylindrical part. [m]
 */
length: number, } | { "kind": "ellipsoid", 
/**
 * Half of each axis. [m] (3)
 */
semi_axes: [number, number, number], } | { "kind": "mesh" } & MeshReference;

/**
 * A remembered state.
 */
export type SnapshotReport = { 
/**
 * Number.
 */
id: number, 
/**
 * Simulated time. [s]
 */
time: number, 
/**
 * Digest of the state.
 */
digest: string, 
/**
 * Whether a user asked for it; the others are kept once a second.
 */
asked: boolean, };

/**
 * Everything that is drawn. The bodies of state frames are those of the robots, robot by robot in this order, and then the
 * objects; the joints are those of the robots, robot by robot.
 */
export type Stage = { 
/**
 * Grows with each change: frames name the stage that they are of.
 */
number: number, 
/**
 * Robots.
 */
robots: Array<RobotDescription>, 
/**
 * Bodies of the scene that are no robots.
 */
objects: Array<StageObject>, 
/**
 * Whether there is a ground plane at height 0.
 */
ground: boolean, 
/**
 * Bodies of a frame: 7 numbers each.
 */
n_bodies: number, 
/**
 * Joints of a frame: 3 numbers each.
 */
n_joints: number, };

/**
 * A body that is no robot.
 */
export type StageObject = { 
/**
 * Name.
 */
name: string, 
/**
 * Whether it stands still.
 */
fixed: boolean, 
/**
 * Mass. [kg]
 */
mass: number, 
/**
 * Shape in the body's frame.
 */
shape: ShapeDescription, 
/**
 * Red, green, blue, opacity, 0 to 1. (4)
 */
color: [number, number, number, number], 
/**
 * Pose at the start.
 */
pose: [number, number, number, number, number, number, number], };

/**
 * State at the beginning of a motion.
 */
export type Start = { 
/**
 * Pose at time zero; `None`: each joint begins where its first key has it.
 */
pose: string | null, 
/**
 * The feet that stand until a scene says otherwise.
 */
support: Support, 
/**
 * Pose of the robot on the floor: of the root link where nothing supports it, else of the point between the soles
 * that stand.
 */
root: RootPose, };

/**
 * The feet that stand still on the floor.
 */
export type Support = "left" | "right" | "both" | "none" | "auto";

/**
 * Answer to `live.record`.
 */
export type Taught = { 
/**
 * Whether the recording goes on.
 */
on: boolean, 
/**
 * The new motion, at the end.
 */
motion: string | null, 
/**
 * Number of samples.
 */
n_samples: number, 
/**
 * Number of keys.
 */
n_keys: number, };

/**
 * Keys of one joint in absolute time.
 */
export type Track = { 
/**
 * How the track goes with the scenes.
 */
blend: Blend, 
/**
 * Keys in ascending time.
 */
keys: Array<Key>, };

/**
 * Answer to `undo` and `redo`.
 */
export type Undone = { 
/**
 * Revision now.
 */
rev: number, 
/**
 * What was taken back or made again.
 */
label: string, };

/**
 * Units of a document's numbers.
 */
export type Units = { 
/**
 * Unit of angles.
 */
angle: AngleUnit, };

/**
 * What is wrong with a motion, and where first.
 */
export type Verdict = { 
/**
 * Kind.
 */
kind: VerdictKind, 
/**
 * First time. [s]
 */
time: number, 
/**
 * Index of the scene.
 */
scene: number | null, 
/**
 * Joint, link or foot; may be empty.
 */
what: string, 
/**
 * Value there. [SI]
 */
value: number, 
/**
 * Its limit. [SI]
 */
limit: number, };

/**
 * Kind of a verdict.
 */
export type VerdictKind = "ok" | "falls" | "limit" | "speed" | "torque" | "slip" | "collision" | "balance" | "torque_at_speed" | "impulse" | "static" | "sole";

/**
 * A client.
 */
export type Viewer = { 
/**
 * Name given by the server: `A`, `B`, ...
 */
client: string, 
/**
 * Name that it gave itself; may be empty.
 */
name: string, };

/**
 * A shape to draw.
 */
export type Visual = { 
/**
 * Index of the robot's body that it moves with; `None`: it stands still.
 */
body: number | null, 
/**
 * Pose in the body's frame, or in the world.
 */
pose: [number, number, number, number, number, number, number], 
/**
 * Shape in its own frame.
 */
shape: ShapeDescription, 
/**
 * Red, green, blue, opacity, 0 to 1, as on a screen. (4)
 */
color: [number, number, number, number], };

/**
 * Answer to `hello` and `open`: all that a page shows at first.
 */
export type Welcome = { 
/**
 * Name of the client, by which `by` in events is meant.
 */
client: string, 
/**
 * Version of the program.
 */
version: string, 
/**
 * Revision of the document.
 */
rev: number, 
/**
 * Document.
 */
document: Document, 
/**
 * Robots and bodies.
 */
stage: Stage, 
/**
 * File of the document.
 */
file: FileState, 
/**
 * What is left of a session that was not saved.
 */
recovery: Recovery | null, 
/**
 * Clients and the operator lease.
 */
lease: LeaseState, 
/**
 * The simulation.
 */
run: RunState, 
/**
 * The preview.
 */
preview: PreviewState, 
/**
 * The robot.
 */
live: LiveState, 
/**
 * Boards that motions can be uploaded to, if there are some.
 */
board: BoardState | null, 
/**
 * Scripts and whether they may run.
 */
scripts: Array<ScriptState>, 
/**
 * Formats that motions are written in.
 */
export_formats: Array<string>, 
/**
 * What the next undo and redo would take back and make again.
 */
undo: string | null, 
/**
 * See `undo`.
 */
redo: string | null, };

/**
 * A widget: exactly one of `slider`, `plot`, `button`, `cone`, `text`, and what goes with it.
 */
export type Widget = { 
/**
 * Name of the parameter or joint that a slider sets.
 */
slider?: string, 
/**
 * Names of the quantities that a plot draws.
 */
plot?: Array<string>, 
/**
 * Name of what a button does, such as `run`.
 */
button?: string, 
/**
 * A cone on a link, such as an angle of view.
 */
cone?: Cone, 
/**
 * Text to read.
 */
text?: string, 
/**
 * Label; `None`: the name.
 */
label?: string, 
/**
 * Least value of a slider. [its parameter's unit]
 */
min?: number, 
/**
 * Largest value of a slider. [its parameter's unit]
 */
max?: number, 
/**
 * Step of a slider. [its parameter's unit]
 */
step?: number, };

/**
 * A refused request.
 */
export type WireError = { 
/**
 * Why.
 */
code: Code, 
/**
 * What is wrong, in one sentence of English.
 */
text: string, 
/**
 * The place in the document, the file or the arguments; empty where the text says it.
 */
where: string, 
/**
 * What to do instead; may be empty.
 */
hint: string, };
