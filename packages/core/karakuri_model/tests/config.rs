//! Robot YAML: the documented file loads, wrong ones name line, key and remedy.

use std::fmt::Write as _;

use approx::assert_relative_eq;
use karakuri_model::{
    Asset, AssetError, Assets, Base, Bellows, Diagnostics, Loaded, NoAssets, SensorKind, Source,
    VacuumGenerator, load,
};

/// A two-link arm and a coupler that ends where the finger's end is.
const URDF: &str = r#"<robot name="r">
<link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="tip"/>
<joint name="ja" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
<joint name="jb" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
<joint name="jt" type="fixed"><parent link="b"/><child link="tip"/><origin xyz="1 0 0"/></joint>
</robot>"#;

fn read(yaml: &str) -> Result<Loaded, Diagnostics> {
    load(&Source::urdf("r.urdf", URDF).with_config("r.yaml", yaml), &mut NoAssets)
}

#[test]
fn without_groups_all_driven_joints_are_one_and_the_hand_another() {
    let named = |yaml: &str| {
        let model = read(yaml).unwrap().model;
        let joints = |ids: &[karakuri_model::BodyId]| {
            ids.iter().map(|id| model.joints[id.0].name.clone()).collect::<Vec<_>>().join(" ")
        };
        model.groups.iter().map(|g| (g.name.clone(), joints(&g.joints))).collect::<Vec<_>>()
    };
    let group = |name: &str, joints: &str| (name.to_owned(), joints.to_owned());
    let both = "drives: {ja: {stiffness: 10}, jb: {stiffness: 10}}\n";
    assert_eq!(named(both), [group("all", "ja jb")]);
    assert_eq!(named("drives: {jb: {stiffness: 10}}"), [group("all", "jb")]);
    assert_eq!(named("base: fixed"), []);
    let hand = "end_effector: {kind: k, tool: tip, joints: [jb], sensors: [], parameters: {}}";
    assert_eq!(named(&format!("{both}{hand}")), [group("all", "ja"), group("hand", "jb")]);
    assert_eq!(named(&format!("{both}groups: {{arm: [jb]}}")), [group("arm", "jb")]);
}

#[test]
fn every_key_reaches_the_model() {
    let yaml = "
base: fixed
base_pose: {xyz: [0, 0, 2]}
groups: {arm: [ja, jb]}
drives:
  ja: &d {stiffness: 10, damping: 1, armature: 0.1, friction: 0.2, viscous: 0.3, back_emf: 0.4, effort: 4, velocity: 6}
  jb: *d
loops:
  l: {link_a: base, link_b: tip, type: hinge, axis: [0, 1, 0], frame: {xyz: [2, 0, 0]}}
sensors: {f: {type: contact_wrench, link: tip}}
end_effector: {kind: k, tool: tip, joints: [jb], sensors: [f], parameters: {w: 0.1}}
postures: {home: {ja: 0.5}}
collision:
  ignore: [[base, b]]
  touch: [[base, tip]]
  materials: {a: {friction: 0.3, restitution: 0.1}}
";
    let Loaded { model, warnings } = read(yaml).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let Base::Fixed(pose) = model.base else { panic!("{:?}", model.base) };
    assert_relative_eq!(pose.translation.z, 2.0);
    let joint = &model.joints[1];
    let drive = joint.drive.unwrap();
    let read = [drive.stiffness, drive.damping, joint.armature, joint.friction, joint.damping];
    for (read, written) in read.into_iter().zip([10.0, 1.0, 0.1, 0.2, 0.7]) {
        assert_relative_eq!(read, written);
    }
    assert_relative_eq!(joint.back_emf, 0.4);
    assert_eq!((joint.limits.effort, joint.limits.velocity, joint.limits.upper), (4.0, 6.0, 1.0));
    let l = &model.loops[0];
    assert_eq!(l.locked, [true, true, false, true, true, true]);
    assert_eq!((l.body_a, l.body_b), (None, Some(karakuri_model::BodyId(1))));
    // The hinge turns about y: z of both joint frames. On B it sits at the tip, in A at the world's (2, 0, 2).
    assert_relative_eq!(l.pose_in_b.rotation.column(2)[1], 1.0, epsilon = 1e-15);
    assert_relative_eq!(l.pose_in_b.translation.x, 1.0, epsilon = 1e-15);
    assert_relative_eq!(l.pose_in_a.translation.z, 2.0, epsilon = 1e-15);
    assert_eq!(model.sensors[0].kind, SensorKind::ContactWrench);
    assert_eq!(model.end_effector.as_ref().unwrap().parameters, [("w".to_owned(), 0.1)]);
    assert_eq!(model.postures[0].positions, [(karakuri_model::BodyId(0), 0.5)]);
    assert_eq!((model.collisions[0].friction, model.collisions[0].restitution), (0.3, 0.1));
    assert_eq!((model.ignored_pairs.len(), model.touching_pairs.len()), (1, 1));
    assert_eq!(model.groups[0].joints.len(), 2);
}

#[test]
fn a_mesh_is_made_convex_as_asked() {
    let wrong = |yaml| read(yaml).unwrap_err().to_string();
    assert!(
        wrong("collision: {convex: {nowhere: hull}}").contains("link `nowhere` does not exist")
    );
    let text = wrong("collision: {convex: {nowhere: split}}");
    assert!(
        text.contains("unknown convex shape `split`") && text.contains("hull or decompose"),
        "{text}"
    );
    let text = wrong("collision: {convex: {nowhere: {convex: decompose, tolerance: 2}}}");
    assert!(text.contains("convex.nowhere.tolerance: 2 is out of range"), "{text}");
    let text = wrong("collision: {convex: {nowhere: {convex: hull, tolerance: 0.01}}}");
    assert!(text.contains("a convex hull has no tolerance"), "{text}");
}

#[test]
fn a_robot_may_pass_through_itself() {
    let ignored = |yaml| read(yaml).unwrap().model.ignored_pairs.len();
    assert_eq!(ignored("collision: {self: true}"), 0);
    assert_eq!(ignored("collision: {self: false}"), 1, "one pair of two links with shapes");
}

#[test]
fn comments_alone_are_a_robot_without_additions() {
    for yaml in ["", "# nothing\n", "---\n", "drives:\n"] {
        assert!(read(yaml).is_ok(), "{yaml:?}");
    }
}

/// `(file, line, what the message holds, what the remedy holds)`
type Expected = (usize, &'static str, &'static str);

const WRONG: &[(&str, Expected)] = &[
    ("drivs: {}", (1, "unknown key drivs", "did you mean `drives`")),
    ("drives:\n  ja: {stifness: 1}", (2, "unknown key drives.ja.stifness", "`stiffness`")),
    (
        "drives:\n  ja: {stiffness: -1}",
        (2, "drives.ja.stiffness: -1 is out of range", "at least 0 [N·m/rad or N/m]"),
    ),
    (
        "drives:\n  ja: {limit_damping: 2}",
        (2, "joint `ja` has a limit_damping without a limit_stiffness", "write both"),
    ),
    ("drives:\n  ja: {stiffness: high}", (2, "expected a number, found `high`", "at least 0")),
    ("drives:\n  ja: {stiffness: .nan}", (2, "expected a number, found `.nan`", "at least 0")),
    ("drives:\n  ja: {stiffness: \"5\"}", (2, "expected a number", "at least 0")),
    ("drives:\n\n  jc: {stiffness: 1}", (3, "joint `jc` does not exist", "did you mean")),
    (
        "drives:\n  jt: {stiffness: 1}",
        (2, "joint `jt` does not have exactly one degree of freedom", "delete it"),
    ),
    ("drives: [ja]", (1, "drives: expected a mapping, found a list", "indented")),
    ("base: flying", (1, "unknown base `flying`", "fixed or floating")),
    ("base: floating\nbase_pose: {xyz: [0, 0, 1]}", (2, "no pose of its own", "delete it")),
    ("base_pose: {xyz: [0, 1]}", (1, "has 2 numbers, not 3", "[x, y, z] in m")),
    ("groups:\n  arm: [ja, jz]", (2, "group `arm`: joint `jz` does not exist", "did you mean")),
    ("groups:\n  arm: [ja]\n  b: [ja]", (3, "in group `arm` and in group `b`", "list it once")),
    ("groups:\n  arm: ja", (2, "expected a list, found `ja`", "[a, b, ...]")),
    (
        "sensors:\n  f: {type: contact, link: tip}",
        (2, "unknown sensor `contact`", "contact_wrench"),
    ),
    ("sensors:\n  f: {type: imu}", (2, "sensors.f.link is missing", "link:")),
    (
        "sensors:\n  f: {type: imu, link: top}",
        (2, "link `top` does not exist", "did you mean `tip`"),
    ),
    (
        "postures:\n  home: {ja: 2}",
        (2, "joint `ja` at 2 is outside its limits -1 to 1", "within the limits"),
    ),
    ("postures:\n  home: {jt: 0}", (2, "joint `jt` is fixed", "remove it")),
    ("end_effector: {kind: k, tool: tip}", (1, "end_effector.joints is missing", "joints: [")),
    (
        "end_effector: {kind: k, tool: tip, joints: [jb], sensors: [f]}",
        (1, "sensor `f` does not exist", "sensors:"),
    ),
    ("collision: {self: maybe}", (1, "unknown value `maybe`", "write true or false")),
    ("collision: {ignore: [[a]]}", (1, "a pair has two links", "[link_a, link_b]")),
    ("collision: {touch: [[a, zz]]}", (1, "link `zz` does not exist", "name a link")),
    ("collision: {touch: [[a]]}", (1, "a pair has two links", "[link_a, link_b]")),
    ("collision: {ignore: [[a, zz]]}", (1, "link `zz` does not exist", "name a link")),
    ("collision:\n  materials:\n    a: {friction: 11}", (3, "11 is out of range", "from 0 to 10")),
    (
        "loops:\n  l: {link_a: a, link_b: tip, type: hinge}",
        (2, "needs `frame_a` and `frame_b`", "root link"),
    ),
    (
        "loops:\n  l: {link_a: a, link_b: tip, type: screw, frame: {}}",
        (2, "unknown loop joint `screw`", "hinge"),
    ),
    (
        "loops:\n  l: {link_a: a, link_b: tip, type: ball, axis: [0,0,1], frame: {}}",
        (2, "a ball joint has none", "hinge"),
    ),
    (
        "loops:\n  l: {link_a: a, link_b: tip, type: hinge, axis: [0,0,0], frame: {}}",
        (2, "has no direction", "unit vector"),
    ),
    (
        "loops:\n  l: {link_a: b, link_b: tip, type: ball, frame: {}}",
        (2, "are one rigid body", "move against each other"),
    ),
    (
        "loops:\n  l: {link_a: a, link_b: tip, type: custom, locked: [zz], frame: {}}",
        (2, "unknown degree of freedom `zz`", "rx"),
    ),
    (
        "loops:\n  l: {link_a: base, link_b: tip, type: ball, posture: p, frame: {}}",
        (2, "posture `p` does not exist", "postures"),
    ),
    ("srdf: none.srdf", (1, "srdf: files are not read here", "with its files")),
    ("a: b: c", (1, "not readable as YAML", "indentation")),
    ("drives: {}\n---\ndrives: {}", (2, "a second document begins here", "delete `---`")),
    ("drives:\n  ja: {armature: 1, armature: 2}", (2, "armature is there twice", "delete one")),
];

#[test]
fn wrong_files_name_line_key_and_remedy() {
    for (yaml, (line, message, remedy)) in WRONG {
        let problems = read(yaml).expect_err(yaml);
        let errors: Vec<_> = problems.errors().collect();
        assert_eq!(errors.len(), 1, "one clear error for {yaml:?}: {problems}");
        let error = errors[0];
        assert_eq!(&*error.place.file, "r.yaml", "{yaml:?}: {error}");
        assert_eq!(error.place.line, *line, "{yaml:?}: {error}");
        assert!(error.message.contains(message), "{yaml:?}: {error}");
        assert!(error.remedy.contains(remedy), "{yaml:?}: {error}");
    }
}

#[test]
fn every_problem_of_both_files_comes_in_one_run() {
    let urdf = URDF.replace("0 0 1\"/>", "0 0 0\"/>");
    let yaml = "drives: {ja: {stiffness: -1}}\nsensors: {f: {type: x, link: y}}\n";
    let problems = load(&Source::urdf("r.urdf", &urdf).with_config("r.yaml", yaml), &mut NoAssets)
        .unwrap_err();
    let places: Vec<_> = problems.errors().map(|e| e.place.to_string()).collect();
    assert_eq!(places, ["r.urdf:7", "r.urdf:9", "r.yaml:1", "r.yaml:2"], "{problems}");
}

#[test]
fn an_open_loop_is_measured() {
    let yaml = "loops:\n  l: {link_a: base, link_b: tip, type: hinge, frame_a: {xyz: [2, 0, 0.003], rpy: [0.1, 0, 0]}, frame_b: {}}";
    let loaded = read(yaml).unwrap();
    let warning = loaded.warnings[0].to_string();
    assert!(warning.contains("gap 3.0000 mm, misalignment 5.730 deg"), "{warning}");
    assert!(warning.starts_with("r.yaml:2"), "{warning}");
}

#[test]
fn aliases_of_aliases_do_not_explode() {
    let mut yaml = String::from("a0: &a0 [x]\n");
    for i in 1..100 {
        let refs = vec![format!("*a{}", i - 1); 10].join(", ");
        writeln!(yaml, "a{i}: &a{i} [{refs}]").unwrap();
    }
    let problems = read(&yaml).unwrap_err();
    assert!(problems.to_string().contains("unknown key a0"), "{problems}");
    let deep = "[".repeat(100_000);
    assert!(read(&deep).is_err());
}

struct Srdf(&'static str);

impl Assets for Srdf {
    fn read(&mut self, uri: &str, named_in: &str) -> Result<Asset, AssetError> {
        assert_eq!((uri, named_in), ("r.srdf", "r.yaml"));
        Ok(Asset { path: "r.srdf".into(), bytes: self.0.into() })
    }
}

#[test]
fn an_srdf_adds_ignored_pairs() {
    let srdf = "<robot name=\"r\">\n<disable_collisions link1=\"a\" link2=\"tip\" reason=\"Never\"/>\n\
                <disable_collisions link1=\"a\" link2=\"gone\"/></robot>";
    let source = Source::urdf("r.urdf", URDF).with_config("r.yaml", "srdf: r.srdf");
    let loaded = load(&source, &mut Srdf(srdf)).unwrap();
    assert_eq!(loaded.model.ignored_pairs.len(), 1);
    assert!(loaded.warnings[0].to_string().starts_with("r.srdf:3: warning: link `gone`"));
}

#[test]
fn an_srdf_may_disable_all_contacts_of_a_link_but_some() {
    let load_with = |srdf: &'static str| {
        let source = Source::urdf("r.urdf", URDF).with_config("r.yaml", "srdf: r.srdf");
        load(&source, &mut Srdf(srdf))
    };
    let srdf = "<robot name=\"r\">\n<disable_default_collisions link=\"a\"/>\n\
                <enable_collisions link1=\"tip\" link2=\"a\"/></robot>";
    let model = load_with(srdf).unwrap().model;
    let name = |f: karakuri_model::FrameId| model.frames[f.0].name.as_str();
    let pairs: Vec<_> = model.ignored_pairs.iter().map(|&(a, b)| (name(a), name(b))).collect();
    assert_eq!(pairs, [("a", "base"), ("a", "b")]);
    let touching: Vec<_> = model.touching_pairs.iter().map(|&(a, b)| (name(a), name(b))).collect();
    assert_eq!(touching, [("tip", "a")]);
    for (srdf, words) in [
        (
            "<robot name=\"r\">\n\n<disable_collisions link1=\"a\"/></robot>",
            "r.srdf:3: error: <disable_collisions> has not both",
        ),
        (
            "<robot name=\"r\">\n<disable_default_collisions/></robot>",
            "r.srdf:2: error: <disable_default_collisions> has no `link`",
        ),
        ("<robot name=\"r\">\n<disable_collisions", "r.srdf:"),
    ] {
        let problems = load_with(srdf).unwrap_err().to_string();
        assert!(problems.contains(words), "{problems}");
    }
}

/// A frame with a wheel on a fixed joint and one on a floating joint.
const WHEELS: &str = r#"<robot name="wheels"><link name="frame"/>
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="left" type="continuous"><parent link="frame"/><child link="a"/><axis xyz="0 0 1"/></joint>
  <joint name="right" type="floating"><parent link="frame"/><child link="b"/></joint>
</robot>"#;

#[test]
fn joints_become_what_a_urdf_cannot_say() {
    let load = |text: &str| {
        let source = Source::urdf("wheels.urdf", WHEELS).with_config("wheels.yaml", text);
        karakuri_model::load(&source, &mut NoAssets)
    };
    let model =
        load("joints:\n  right: {type: ball, axis: [0, 2, 0], swing: 0.4, twist: [-0.1, 0.2]}\n")
            .unwrap()
            .model;
    assert_eq!((model.nq, model.nv), (5, 4));
    let cone = model.joints[1].cone.unwrap();
    assert_eq!((cone.axis.y, cone.swing, cone.twist), (1.0, 0.4, (-0.1, 0.2)));
    let text = "joints:\n  right: {type: path, points: [[0, 0, 0], [0, 3, 4]]}\n\
                drives:\n  right: {stiffness: 10, effort: 2}\n";
    let model = load(text).unwrap().model;
    let track = &model.joints[1];
    assert_eq!((track.kind.name(), model.nq, track.limits.lower), ("path", 2, 0.0));
    assert!((track.limits.upper - 5.0).abs() < 1e-14 && track.drive.is_some());
    let text = "joints:\n  right: {type: screw, pitch: 0.002}\n\
                gears:\n  g: {follower: right, leader: left, ratio: -3, offset: 0.5}\n";
    let coupling = load(text).unwrap().model.couplings[0];
    assert_eq!((coupling.follower.0, coupling.multiplier, coupling.offset), (1, -3.0, 0.5));
    for (text, words) in [
        ("joints:\n  middle: {type: ball}", "joints: joint `middle` does not exist"),
        ("joints:\n  right: {type: bal}", "joints.right.type: there is no joint of type `bal`"),
        ("joints:\n  right: {swing: 1}", "joints.right.type is missing"),
        ("joints:\n  right: {type: ball, swing: 4}", "joints.right.swing: 4 is out of range"),
        ("joints:\n  right: {type: ball, twist: [1, 0]}", "joints.right.twist: is no interval"),
        ("joints:\n  right: {type: ball, axis: [0, 0, 0]}", "joints.right.axis: has no direction"),
        ("joints:\n  right: {type: screw}", "joints.right.pitch is missing"),
        ("joints:\n  right: {type: path, points: [[0, 0, 0]]}", "a path has 1 points"),
        (
            "joints:\n  right: {type: path, points: [[0, 0, 0], [0, 0, 1]], up: [0, 0, 1]}",
            "the path runs along `up`",
        ),
        (
            "gears:\n  g: {follower: right, leader: left, ratio: 1}",
            "does not have exactly one degree of freedom",
        ),
        ("gears:\n  g: {follower: x, leader: left, ratio: 1}", "gears.g: joint `x` does not exist"),
        ("gears:\n  g: {follower: left, leader: right}", "gears.g.ratio is missing"),
    ] {
        let error = load(text).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("wheels"), "{text}\n{error}");
    }
}

#[test]
fn sensors_have_noise() {
    let yaml = "sensors:\n  imu: {type: imu, link: tip, noise: {seed: 4, angular_velocity: {white: 0.01, walk: 0.1}}}\n  \
                f: {type: joint_wrench, link: tip, noise: {force: {bias: 2}}}\n  g: {type: imu, link: tip}\n";
    let model = read(yaml).unwrap().model;
    let noise = model.sensors[0].noise.unwrap();
    assert_eq!((noise.seed, noise.angular.white, noise.angular.walk), (4, 0.01, 0.1));
    assert!((model.sensors[1].noise.unwrap().linear.bias - 2.0).abs() < 1e-15);
    assert!(model.sensors[2].noise.is_none());
    for (noise, words) in [
        ("{force: {white: 1}}", "unknown key sensors.imu.noise.force"),
        ("{seed: 1.5}", "sensors.imu.noise.seed: expected a whole number"),
        ("{orientation: {white: -1}}", "sensors.imu.noise.orientation.white: -1 is out of range"),
    ] {
        let error = read(&format!("sensors:\n  imu: {{type: imu, link: tip, noise: {noise}}}\n"))
            .unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_flood_of_problems_is_cut_and_counted() {
    let yaml: String = (0..5_000).fold(String::new(), |mut text, i| {
        writeln!(text, "k{i}: 1").unwrap();
        text
    });
    let problems = read(&yaml).unwrap_err();
    assert_eq!(problems.0.len(), 101);
    let last = problems.0.last().unwrap();
    assert!(last.message.starts_with("4900 more problems"), "{last}");
    assert_eq!(problems.errors().count(), 101);
}

#[test]
fn suction_cups_are_on_links() {
    let yaml = "suction:\n  pump:\n    pump: {flow: 3.3e-4, vacuum: 85000}\n    cups:\n      \
                a: {link: tip, radius: 0.02, force: 60}\n      b: {link: tip, radius: 0.01, check_valve: true}\n  \
                jet:\n    ejector: [[0, 3e-4], [85000, 0]]\n    cups: {c: {link: tip, radius: 0.01, area: 2e-4}}\n";
    let model = read(yaml).unwrap().model;
    let [pump, jet] = &model.suctions[..] else { panic!("{:?}", model.suctions) };
    let [a, b] = &pump.cups[..] else { panic!("{pump:?}") };
    assert_eq!(pump.generator, VacuumGenerator::Pump { free_flow: 3.3e-4, largest: 85e3 });
    assert_eq!(jet.generator, VacuumGenerator::Table(vec![[0.0, 3e-4], [85e3, 0.0]]));
    assert_eq!(model.frames[a.link.0].name, "tip");
    // 60 N at 60 kPa; without a stated force, the circle of the lip.
    assert!((a.area - 1e-3).abs() < 1e-15 && (b.area - 1e-4 * std::f64::consts::PI).abs() < 1e-15);
    assert!((a.least_radius - 0.06).abs() < 1e-15 && !a.has_check_valve && b.has_check_valve);
}

/// What is left out is a ring of springs that are as stiff along every direction.
#[test]
fn bellows_are_those_of_a_ring_of_springs_unless_they_are_stated() {
    let cup = |bellows: &str| {
        let yaml = format!(
            "suction:\n  v:\n    pump: {{flow: 3.3e-4, vacuum: 85000}}\n    cups: {{a: {{link: tip, radius: 0.02{bellows}}}}}\n"
        );
        read(&yaml).unwrap().model.suctions[0].cups[0].bellows
    };
    assert_eq!(cup(""), None);
    let ring = cup(", bellows: {stiffness: 1000, stroke: 0.008}").unwrap();
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b} {ring:?}");
    near(ring.axial, 1000.0);
    near(ring.lateral, 1000.0);
    near(ring.tilt, 0.2);
    near(ring.torsion, 0.4);
    near(ring.stroke, 0.008);
    near(ring.damping, 3e-3);
    let all = ", bellows: {stiffness: 1, stroke: 0.1, lateral: 2, tilt: 3, torsion: 4, damping: 0}";
    let all = cup(all).unwrap();
    let known =
        Bellows { axial: 1.0, lateral: 2.0, tilt: 3.0, torsion: 4.0, damping: 0.0, stroke: 0.1 };
    assert_eq!(all, known);
}

#[test]
fn wrong_bellows_are_refused_in_place() {
    for (bellows, words) in [
        ("{stroke: 0.008}", "suction.v.cups.a.bellows.stiffness is missing"),
        ("{stiffness: 900}", "suction.v.cups.a.bellows.stroke is missing"),
        ("{stiffness: 0, stroke: 0.008}", "suction.v.cups.a.bellows.stiffness: 0 is out of range"),
        ("{stiffness: 900, stroke: -1}", "suction.v.cups.a.bellows.stroke: -1 is out of range"),
        ("{stiffness: 900, stroke: 0.008, tilt: soft}", "suction.v.cups.a.bellows.tilt"),
        ("{stiffness: 900, stroke: 0.008, damping: -1}", "bellows.damping: -1 is out of range"),
        (
            "{stiffness: 900, stroke: 0.008, length: 1}",
            "unknown key suction.v.cups.a.bellows.length",
        ),
    ] {
        let yaml = format!(
            "suction:\n  v:\n    pump: {{flow: 3.3e-4, vacuum: 85000}}\n    cups:\n      a: {{link: tip, radius: 0.02, bellows: {bellows}}}\n"
        );
        let error = read(&yaml).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(".yaml:5"), "{bellows}\n{error}");
    }
}

#[test]
fn wrong_suction_cups_are_refused_in_place() {
    let pump = "pump: {flow: 3.3e-4, vacuum: 85000}";
    let cup = "a: {link: tip, radius: 0.02}";
    for (unit, words) in [
        (format!("{{cups: {{{cup}}}}}"), "suction.v: needs a `pump` or an `ejector`"),
        (format!("{{{pump}}}"), "suction.v.cups is missing"),
        (format!("{{{pump}, cups: {{}}}}"), "suction `v`: it has no cup"),
        (format!("{{{pump}, cups: {{a: {{link: tip}}}}}}"), "suction.v.cups.a.radius is missing"),
        (
            format!("{{{pump}, cups: {{a: {{link: top, radius: 1e-2}}}}}}"),
            "cup `a`: link `top` does not exist",
        ),
        (
            format!("{{{pump}, cups: {{a: {{link: tip, radius: 1e-2, area: 1e-4, force: 6}}}}}}"),
            "suction.v.cups.a.force: the area says the same",
        ),
        (
            format!("{{{pump}, cups: {{a: {{link: tip, radius: 0.02, least_radius: 0.01}}}}}}"),
            "least_radius 0.01 m is below the lip's 0.02 m",
        ),
        (format!("{{ejector: [[0, 1e-4]], cups: {{{cup}}}}}"), "suction.v.ejector: needs two rows"),
        (
            format!("{{ejector: [[0, 1e-4], [5e4, 2e-4]], cups: {{{cup}}}}}"),
            "vacuum must rise and flow must not",
        ),
        (
            format!("{{{pump}, blow_off: -1, cups: {{{cup}}}}}"),
            "suction.v.blow_off: -1 is out of range",
        ),
    ] {
        let error = read(&format!("suction:\n  v: {unit}\n")).unwrap_err().to_string();
        assert!(error.contains(words), "{unit}\n{error}");
    }
    let twice = format!("suction:\n  ja: {{{pump}, cups: {{{cup}}}}}\n");
    assert!(read(&twice).unwrap_err().to_string().contains("there is a joint of this name"));
}
