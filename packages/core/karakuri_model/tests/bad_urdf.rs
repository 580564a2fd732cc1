//! Messy and wrong URDFs: each ends in one clear text that names the place and the remedy, and none panics.

use std::fmt::Write as _;

use karakuri_model::{Base, Diagnostics, Loaded, NoAssets, Source, decode_text, load};
use proptest::prelude::*;

/// A sound two-link arm, one element a line.
const GOOD: &str = r#"<robot name="arm">
<link name="base"/>
<link name="upper">
<inertial><origin xyz="0 0 0.1"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><cylinder radius="0.1" length="0.3"/></geometry></collision>
</link>
<link name="lower"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute">
<parent link="base"/><child link="upper"/>
<origin xyz="0 0 0.2" rpy="0 0 0"/>
<axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="10" velocity="2"/>
</joint>
<joint name="elbow" type="continuous">
<parent link="upper"/><child link="lower"/>
<axis xyz="0 1 0"/>
<limit effort="10" velocity="2"/>
</joint>
</robot>
"#;

fn read(text: &str) -> Result<Loaded, Diagnostics> {
    load(&Source::urdf("arm.urdf", text), &mut NoAssets)
}

#[test]
fn the_good_one_is_good() {
    let loaded = read(GOOD).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert_eq!((loaded.model.nv, loaded.model.mass().to_bits()), (2, 3.0_f64.to_bits()));
}

/// What is replaced in [`GOOD`], by what, and what is said: line, message, remedy.
type Case = (&'static str, &'static str, usize, &'static str, &'static str);

/// The first case that goes wrong, and how.
fn check(cases: &[Case], is_error: bool) -> Result<(), String> {
    for &(old, new, line, message, remedy) in cases {
        assert!(GOOD.contains(old), "the case is out of date: {old}");
        let problems = match (read(&GOOD.replacen(old, new, 1)), is_error) {
            (Ok(loaded), false) => loaded.warnings,
            (Err(problems), true) => problems.0,
            (Ok(loaded), true) => return Err(format!("{new}: loaded with {:?}", loaded.warnings)),
            (Err(problems), false) => return Err(format!("{new}: {problems}")),
        };
        assert_eq!(problems.len(), 1, "one clear text for {new}: {problems:#?}");
        let text = problems[0].to_string();
        let kind = if is_error { "error" } else { "warning" };
        assert!(text.starts_with(&format!("arm.urdf:{line}: {kind}: ")), "{new}\n{text}");
        assert!(problems[0].message.contains(message), "{new}\n{text}");
        assert!(problems[0].remedy.contains(remedy), "{new}\n{text}");
        assert!(!text.contains('\n') && text.len() < 400, "{text}");
    }
    Ok(())
}

const NUMBERS: &[Case] = &[
    ("value=\"2\"", "value=\"two\"", 4, "`two` is not a number", "value=\"0.1\""),
    ("value=\"2\"", "value=\"NaN\"", 4, "`NaN` is not finite", "finite numbers"),
    ("value=\"2\"", "value=\"1e999\"", 4, "is not finite", "finite numbers"),
    ("value=\"2\"", "value=\"-2\"", 4, "link `upper`: mass -2 kg is negative", "at least 0"),
    ("<mass value=\"2\"/>", "<mass/>", 4, "<mass> has no `value`", "in kg"),
    ("<mass value=\"2\"/>", "", 4, "<inertial> has no <mass>", "<mass value="),
    ("izz=\"0.01\"", "izz=\"-0.01\"", 4, "principal moment -1.000e-2 kg·m² is negative", "signs"),
    ("izz=\"0.01\"", "izz=\"0.1\"", 4, "exceeds the sum 4.0000e-2 of the other two", "kg·m²"),
    ("izz=\"0.01\"", "", 5, "<inertia> has no `izz`", "izz="),
    (
        "xyz=\"0 0 0.2\"",
        "xyz=\"0 0\"",
        11,
        "<origin xyz> has 2 numbers, not 3",
        "xyz=\"0.1 0.1 0.1\"",
    ),
    ("xyz=\"0 0 0.2\"", "xyz=\"0 0 0.2 1\"", 11, "has 4 numbers, not 3", "write 3 numbers"),
    (
        "xyz=\"0 0 0.2\"",
        "xyz=\"0,0,0.2\"",
        11,
        "`0,0,0.2` is not a number",
        "separate numbers by spaces",
    ),
    (
        "rpy=\"0 0 0\"",
        "rpy=\"0 0 0\" quat_xyzw=\"0 0 0 1\"",
        11,
        "both `rpy` and `quat_xyzw`",
        "one of them",
    ),
    ("radius=\"0.1\"", "radius=\"0\"", 6, "radius 0 is not above 0", "in m, above 0"),
    (
        "<cylinder radius=\"0.1\" length=\"0.3\"/>",
        "<box size=\"1 -1 1\"/>",
        6,
        "an edge is not above 0",
        "edge lengths in m",
    ),
    (
        "<cylinder radius=\"0.1\" length=\"0.3\"/>",
        "<mesh filename=\"a.stl\" scale=\"0 1 1\"/>",
        6,
        "flattens the mesh",
        "0.001 0.001 0.001",
    ),
    (
        "<cylinder radius=\"0.1\" length=\"0.3\"/>",
        "<mesh filename=\"a.stl\" scale=\"0.001\"/>",
        6,
        "has 1 numbers, not 3",
        "scale=\"0.1 0.1 0.1\"",
    ),
];

#[test]
fn wrong_numbers_are_errors() {
    check(NUMBERS, true).unwrap();
}

const JOINTS: &[Case] = &[
    (
        "<axis xyz=\"0 0 1\"/>",
        "<axis xyz=\"0 0 0\"/>",
        12,
        "axis (0 0 0) has no direction",
        "unit vector",
    ),
    (
        "lower=\"-1\" upper=\"1\"",
        "lower=\"1\" upper=\"-1\"",
        13,
        "lower limit 1 is above upper limit -1",
        "swap them",
    ),
    ("velocity=\"2\"", "velocity=\"-2\"", 13, "velocity limit -2 is negative", "magnitude"),
    (
        "<limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"2\"/>",
        "",
        9,
        "revolute joint `shoulder` has no <limit>",
        "type=\"continuous\"",
    ),
    ("type=\"revolute\"", "type=\"hinge\"", 9, "unknown type `hinge`", "use one of revolute"),
    (
        "type=\"revolute\"",
        "type=\"Revolut\"",
        9,
        "unknown type `Revolut`",
        "did you mean `revolute`",
    ),
    ("<parent link=\"base\"/>", "", 9, "joint `shoulder` has no <parent>", "<parent link="),
    ("<child link=\"upper\"/>", "<child/>", 10, "<child> has no `link`", "<child link="),
    (
        "parent link=\"base\"",
        "parent link=\"bse\"",
        9,
        "parent link `bse` does not exist",
        "did you mean `base`",
    ),
    (
        "<axis xyz=\"0 1 0\"/>",
        "<mimic joint=\"sholder\"/><axis xyz=\"0 1 0\"/>",
        17,
        "mimics joint `sholder`, which does not exist",
        "`shoulder`",
    ),
    (
        "<axis xyz=\"0 1 0\"/>",
        "<mimic joint=\"elbow\"/><axis xyz=\"0 1 0\"/>",
        17,
        "mimics itself: elbow -> elbow",
        "remove <mimic>",
    ),
    (
        "<axis xyz=\"0 1 0\"/>",
        "<dynamics damping=\"-1\"/><axis xyz=\"0 1 0\"/>",
        17,
        "viscous friction -1",
        "at least 0",
    ),
];

#[test]
fn wrong_joints_are_errors() {
    check(JOINTS, true).unwrap();
}

const TREES: &[Case] = &[
    (
        "<link name=\"base\"/>",
        "<link name=\"base\"/><link name=\"base\"/>",
        2,
        "link `base` is defined twice",
        "rename",
    ),
    ("name=\"elbow\"", "name=\"shoulder\"", 15, "joint `shoulder` is defined twice", "rename"),
    ("<link name=\"base\"/>", "<link/>\n<link name=\"base\"/>", 2, "<link> has no `name`", "name="),
    (
        "</robot>",
        "<link name=\"lost\"/>\n</robot>",
        20,
        "link `lost` has no parent",
        "<child> is `lost`",
    ),
    (
        "child link=\"lower\"",
        "child link=\"upper\"",
        15,
        "connects link `upper` to itself",
        "two different links",
    ),
    (
        "parent link=\"base\"",
        "parent link=\"lower\"",
        15,
        "links form a circle: lower -> upper -> lower",
        "`loops:`",
    ),
    (
        "</robot>",
        "<joint name=\"j\" type=\"fixed\"><parent link=\"base\"/><child link=\"lower\"/></joint></robot>",
        20,
        "link `lower` has two parents: joints `elbow` and `j`",
        "`loops:`",
    ),
    (
        "<inertial><mass value=\"1\"/><inertia ixx=\"0.01\" iyy=\"0.01\" izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>",
        "",
        8,
        "joint `elbow` moves link `lower`, which has no mass",
        "or make the joint fixed",
    ),
    (
        "<inertia ixx=\"0.01\" iyy=\"0.01\" izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>",
        "<inertia ixx=\"0\" iyy=\"0\" izz=\"0\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>",
        8,
        "which has no rotational inertia",
        "a positive <inertia>",
    ),
    (
        "<geometry><cylinder radius=\"0.1\" length=\"0.3\"/></geometry>",
        "",
        6,
        "<collision> has no <geometry>",
        "add one",
    ),
    (
        "<geometry><cylinder radius=\"0.1\" length=\"0.3\"/></geometry>",
        "<geometry/>",
        6,
        "<geometry> is empty",
        "<cylinder>",
    ),
    (
        "<cylinder radius",
        "<cilinder radius",
        6,
        "unknown shape <cilinder>",
        "did you mean <cylinder>",
    ),
];

#[test]
fn wrong_trees_are_errors() {
    check(TREES, true).unwrap();
}

#[test]
fn what_is_no_urdf_is_said() {
    let deep = format!("<robot name=\"a\">{}", "<a>".repeat(200_000));
    let laughs = "<?xml version=\"1.0\"?><!DOCTYPE r [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><robot name=\"&b;\"/>";
    let cases: &[(&str, usize, &str, &str)] = &[
        ("", 0, "the file is empty", "name another file"),
        (" \n\n", 0, "the file is empty", "name another file"),
        ("solid cube", 1, "not XML: it does not start with `<`", "name a URDF file"),
        (
            "<robot name=\"a\">\n<link name=\"b\">\n</robot>",
            3,
            "not well-formed XML",
            "close <link> before </robot>",
        ),
        ("<robot name=\"a\">\n<link name=\"b\"/>\n", 2, "not well-formed XML", "missing end tags"),
        ("<robot name=\"a\" name=\"b\"/>", 1, "not well-formed XML", "keep one `name`"),
        ("<robot name=\"&hand;\"/>", 1, "not well-formed XML", "&amp;hand;"),
        ("<sdf version=\"1.7\"/>", 1, "the root element is <sdf>", "SDFormat"),
        ("<mujoco/>", 1, "the root element is <mujoco>", "MJCF"),
        ("<html/>", 1, "the root element is <html>, not <robot>", "<robot name="),
        ("<robot name=\"a\"/>", 1, "robot `a` has no links", "<link name="),
        (
            "<robot name=\"a\" xmlns:xacro=\"http://ros.org/wiki/xacro\">\n<xacro:include filename=\"b\"/></robot>",
            2,
            "xacro is not expanded: <xacro:include>",
            "xacro arm.urdf",
        ),
        (
            "<robot name=\"a\">\n<xacro:leg/></robot>",
            2,
            "xacro is not expanded: <xacro:leg>",
            "pip install xacro",
        ),
        (
            "<robot name=\"a\">\n<link name=\"${prefix}base\"/></robot>",
            2,
            "xacro is not expanded: `${prefix}base`",
            "xacro arm.urdf",
        ),
        (&deep, 1, "not well-formed XML", ""),
        (laughs, 1, "not well-formed XML", "<!DOCTYPE"),
    ];
    for (text, line, message, remedy) in cases {
        let problems = read(text).unwrap_err().0;
        let start: String = text.chars().take(60).collect();
        assert_eq!(problems.len(), 1, "{start}: {problems:#?}");
        assert_eq!(problems[0].place.line, *line, "{start}: {}", problems[0]);
        assert!(problems[0].message.contains(message), "{start}: {}", problems[0]);
        assert!(problems[0].remedy.contains(remedy), "{start}: {}", problems[0]);
    }
}

const MESSY: &[Case] = &[
    (
        "<axis xyz=\"0 0 1\"/>",
        "<axis xyz=\"0 0 2\"/>",
        12,
        "axis has length 2.0000, not 1",
        "taken as \"0.000000 0.000000 1.000000\"",
    ),
    ("<axis xyz=\"0 0 1\"/>", "", 9, "joint `shoulder` has no <axis>", "x is taken"),
    (
        "<limit effort=\"10\"",
        "<limit lower=\"-1\" upper=\"1\" effort=\"10\"",
        18,
        "continuous joint `elbow` has `lower` and `upper`",
        "type=\"revolute\"",
    ),
    ("effort=\"10\"", "effort=\"0\"", 13, "effort limit is 0", "taken as none"),
    ("velocity=\"2\"", "", 13, "has no `velocity`", "taken as none"),
    ("lower=\"-1\" upper=\"1\"", "", 13, "cannot move: lower = upper = 0", "widen"),
    ("<robot name=\"arm\">", "<robot>", 1, "the robot has no name", "<robot name="),
    (
        "<link name=\"base\"/>",
        "<lnk name=\"base2\"/><link name=\"base\"/>",
        2,
        "unknown element <lnk> in <robot>",
        "did you mean <link>",
    ),
    (
        "</joint>",
        "<limits/></joint>",
        14,
        "unknown element <limits> in <joint>",
        "did you mean <limit>",
    ),
    (
        "<cylinder radius=\"0.1\" length=\"0.3\"/>",
        "<mesh filename=\"a.stl\"/>",
        6,
        "mesh `a.stl`: files are not read here",
        "left out",
    ),
    (
        "<collision>",
        "<visual><geometry><sphere radius=\"1\"/></geometry><material name=\"red\"/></visual><collision>",
        6,
        "material `red` is not defined",
        "rgba",
    ),
    (
        "<collision>",
        "<visual><geometry><sphere radius=\"1\"/></geometry><material name=\"\"><color rgba=\"255 0 0 1\"/></material></visual><collision>",
        6,
        "is outside 0 to 1",
        "from 0 to 1",
    ),
];

#[test]
fn messy_files_load_with_a_warning() {
    check(MESSY, false).unwrap();
}

#[test]
fn files_that_urdfdom_reads_load_in_silence() {
    let unusual = [
        format!("\u{feff}\n\n<?xml version=\"1.0\"?>\n<!-- arm -->{GOOD}"),
        GOOD.replace('\n', "\r\n"),
        GOOD.replace(
            "<link name=\"base\"/>",
            "<link name=\"base\"/><gazebo reference=\"base\"><a b=\"$(arg c)\"/></gazebo>",
        ),
        GOOD.replace("<robot ", "<robot xmlns=\"http://www.ros.org\" ")
            .replace(" xmlns=\"http://www.ros.org\"", ""),
        GOOD.replace("0 0 0.2", " 0\t0\n0.2 "),
        GOOD.replace("value=\"2\"", "value=\" +2.0e0 \""),
        GOOD.replace("</robot>", "<transmission name=\"t\"><type>x</type></transmission></robot>"),
        // Reordered elements, and one joint that names links defined below it.
        GOOD.replace("<link name=\"base\"/>", "")
            .replace("</robot>", "<link name=\"base\"/></robot>"),
    ];
    for text in unusual {
        let loaded = read(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert!(loaded.warnings.is_empty(), "{text}\n{:?}", loaded.warnings);
        assert_eq!(loaded.model.mass().to_bits(), 3.0_f64.to_bits());
    }
    // tinyxml2 knows no namespaces: prefixes need no declaration, and places stay right after one is declared.
    let prefixed = GOOD.replace("</robot>", "<sensor:camera/>\n<link name=\"lost\"/>\n</robot>");
    let problems = read(&prefixed).unwrap_err();
    assert!(problems.to_string().contains("arm.urdf:21: error: link `lost`"), "{problems}");
}

#[test]
fn bytes_become_text_whatever_wrote_them() {
    let utf16 = |bom: [u8; 2], unit: fn(u16) -> [u8; 2]| {
        bom.into_iter().chain(GOOD.encode_utf16().flat_map(unit)).collect::<Vec<u8>>()
    };
    for bytes in [
        GOOD.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", GOOD.as_bytes()].concat(),
        utf16([0xff, 0xfe], u16::to_le_bytes),
        utf16([0xfe, 0xff], u16::to_be_bytes),
    ] {
        assert_eq!(decode_text("a", &bytes).unwrap(), GOOD);
    }
    let problems = decode_text("a.urdf", b"<robot>\n\xff\xff").unwrap_err().to_string();
    assert!(problems.starts_with("a.urdf:2: error: not text"), "{problems}");
}

#[test]
fn every_problem_comes_in_one_run_in_the_order_of_the_file() {
    let text = GOOD
        .replace("value=\"2\"", "value=\"x\"")
        .replace("<axis xyz=\"0 0 1\"/>", "<axis xyz=\"0 0 0\"/>")
        .replace("lower=\"-1\" upper=\"1\"", "lower=\"2\" upper=\"1\"")
        .replace("child link=\"lower\"", "child link=\"lowr\"");
    let lines: Vec<_> = read(&text).unwrap_err().errors().map(|e| e.place.line).collect();
    assert_eq!(lines, [4, 12, 13, 15]);
}

#[test]
fn mimic_chains_lead_to_one_leader() {
    let mut text = String::from("<robot name=\"m\"><link name=\"l0\"/>");
    for i in 1..=3 {
        let mimic = if i < 3 {
            format!("<mimic joint=\"j{}\" multiplier=\"2\" offset=\"0.5\"/>", i + 1)
        } else {
            String::new()
        };
        write!(
            text,
            "<link name=\"l{i}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>\
             </inertial></link><joint name=\"j{i}\" type=\"prismatic\"><parent link=\"l{}\"/><child link=\"l{i}\"/><axis xyz=\"1 0 0\"/>\
             <limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"/>{mimic}</joint>",
            i - 1
        )
        .unwrap();
    }
    text += "</robot>";
    let model = read(&text).unwrap().model;
    let c = model.couplings.iter().find(|c| c.follower == model.joint("j1").unwrap()).unwrap();
    // j1 = 2 j2 + 0.5 = 2 (2 j3 + 0.5) + 0.5
    assert_eq!((c.leader, c.multiplier, c.offset), (model.joint("j3").unwrap(), 4.0, 1.5));
}

#[test]
fn a_floating_base_takes_the_root_link() {
    let text = GOOD.replace("<link name=\"base\"/>", "<link name=\"base\"><inertial><mass value=\"4\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>");
    let source = Source::urdf("arm.urdf", &text).with_base(Base::Floating);
    let model = load(&source, &mut NoAssets).unwrap().model;
    assert_eq!((model.nq, model.nv, model.joints[0].name.as_str()), (9, 8, "floating_base"));
    let clash = text.replace("shoulder", "floating_base");
    let loaded = load(&Source::urdf("a", &clash).with_base(Base::Floating), &mut NoAssets).unwrap();
    assert_eq!(loaded.model.joints[0].name, "floating_base_");
    assert!(loaded.model.joint("floating_base").is_some());
    let warning = loaded.warnings[0].to_string();
    assert!(warning.contains("the floating base is `floating_base_`"), "{warning}");
    // A fixed joint, as of many quadrupeds, is no joint of the model.
    let fixed = clash.replacen("type=\"revolute\"", "type=\"fixed\"", 1);
    let model = load(&Source::urdf("a", &fixed).with_base(Base::Floating), &mut NoAssets);
    assert!(model.is_ok());
}

/// As in the URDFs of iCub (rounding) and `TIAGo` (covers of 1 mg on a body of many).
#[test]
fn moments_that_are_negative_by_a_rounding_or_of_a_cover_are_kept_with_a_warning() {
    let robot = |moving: &str, cover: &str| {
        format!(
            "<robot name=\"r\"><link name=\"base\"/><link name=\"arm\"><inertial><mass value=\"1\"/>{moving}</inertial></link>\
             <link name=\"cover\"><inertial><mass value=\"1e-6\"/>{cover}</inertial></link>\
             <joint name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/><axis xyz=\"0 0 1\"/></joint>\
             <joint name=\"k\" type=\"fixed\"><parent link=\"arm\"/><child link=\"cover\"/></joint></robot>"
        )
    };
    let inertia = |xx: &str, yy: &str, zz: &str, xy: &str| {
        format!(
            "<inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\" ixy=\"{xy}\" ixz=\"0\" iyz=\"0\"/>"
        )
    };
    let (good, zero) = (inertia("0.1", "0.1", "0.1", "0"), inertia("0", "0", "0", "0"));
    let cover = inertia("1e-8", "1e-8", "1e-8", "4e-8");
    let loaded = read(&robot(&good, &cover)).unwrap();
    assert!(loaded.warnings[0].to_string().contains("-3.000e-8 kg·m² is negative"));
    assert!(loaded.warnings[0].to_string().contains("sound as a whole"));
    let rounding = inertia("0", "0", "0", "2.4e-35");
    let loaded = read(&robot(&good, &rounding)).unwrap();
    assert!(loaded.warnings[0].to_string().contains("is negative"), "{:?}", loaded.warnings);
    // iCub's ankles miss the triangle inequality by 1.4e-20 kg·m².
    let triangle = inertia("1e-12", "1e-12", "2.00001e-12", "0");
    let loaded = read(&robot(&triangle, &zero)).unwrap();
    assert!(
        loaded.warnings.iter().any(|w| w.to_string().contains("`arm`")),
        "{:?}",
        loaded.warnings
    );
    let error = read(&robot(&inertia("1e-9", "1e-9", "2.1e-8", "0"), &zero)).unwrap_err();
    assert!(error.to_string().contains("exceeds the sum"), "{error}");
    let error = read(&robot(&inertia("0.1", "0.1", "-0.01", "0"), &zero)).unwrap_err();
    assert!(error.to_string().contains("signs of ixy"), "{error}");
}

#[test]
fn long_files_load() {
    let mut text = String::from("<robot name=\"long\"><link name=\"l0\"/>");
    for i in 1..3000 {
        write!(text, "<link name=\"l{i}\"/><joint name=\"j{i}\" type=\"fixed\"><parent link=\"l{}\"/><child link=\"l{i}\"/></joint>", i - 1).unwrap();
    }
    assert_eq!(read(&(text + "</robot>")).unwrap().model.frames.len(), 3000);
}

/// Words that break files in interesting ways.
const SPLICES: &[&str] = &[
    "",
    "<",
    ">",
    "\"",
    "/>",
    "</",
    "&",
    "&#0;",
    "nan",
    "-1",
    "1e400",
    "${a}",
    "<!--",
    "<![CDATA[",
    "xmlns:a=\"b\"",
    "a:b",
    "<link name=\"upper\"/>",
    "\u{feff}",
    "é",
    "\0",
    "<joint/>",
    "type=\"floating\"",
    "<mimic joint=\"elbow\"/>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever is cut out or put in, the loader answers.
    #[test]
    fn mutated_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, 0..SPLICES.len()), 1..6),
        floating in any::<bool>(),
    ) {
        let mut text: Vec<char> = GOOD.chars().collect();
        for (index, cut, splice) in edits {
            let at = index.index(text.len().max(1)).min(text.len());
            let end = (at + cut).min(text.len());
            text.splice(at..end, SPLICES[splice].chars());
        }
        let text: String = text.into_iter().collect();
        let base = if floating { Base::Floating } else { Base::Fixed(karakuri_spatial::Pose::IDENTITY) };
        if let Err(problems) = load(&Source::urdf("f", &text).with_base(base), &mut NoAssets) {
            prop_assert!(problems.errors().count() > 0);
        }
    }

    /// Any bytes are text or not, and any text is a robot YAML or not.
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = decode_text("f", &bytes) {
            drop(load(&Source::urdf("f", GOOD).with_config("c", &text), &mut NoAssets));
            drop(read(&text));
        }
    }

    /// The documented robot YAML, damaged.
    #[test]
    fn mutated_configs_never_panic(at in any::<prop::sample::Index>(), cut in 0..30_usize, splice in "[-:{}\\[\\]&*!|>'\"%@`#, \\n\\ta-z0-9]{0,6}") {
        let doc = include_str!("../../../../docs/robot-yaml.md");
        let yaml: Vec<char> = doc.split("```").nth(1).unwrap().trim_start_matches("yaml").chars().collect();
        let at = at.index(yaml.len());
        let end = (at + cut).min(yaml.len());
        let text: String = yaml[..at].iter().collect::<String>() + &splice + &yaml[end..].iter().collect::<String>();
        drop(load(&Source::urdf("f", GOOD).with_config("c", &text), &mut NoAssets));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "it is the time that is tested")]
fn elements_deep_in_each_other_take_the_time_of_as_many_side_by_side() {
    let robot = |inside: &str| format!("<robot name=\"r\"><link name=\"a\"/>{inside}</robot>");
    let n = 100_000;
    let deep = robot(&("<gazebo>".repeat(n) + &"</gazebo>".repeat(n)));
    let start = std::time::Instant::now();
    assert_eq!(read(&deep).unwrap().warnings, []);
    // It was 24 s.
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
    // What is in a block for others is theirs, what follows it is not.
    let inside = |x: &str| robot(&format!("<gazebo><a b=\"$(c)\"/></gazebo><link name=\"{x}\"/>"));
    assert!(!read(&inside("b")).unwrap_err().to_string().contains("xacro"));
    assert!(read(&inside("$(d)")).unwrap_err().to_string().contains("`$(d)` here and in 0 more"));
}

#[test]
fn a_robot_whose_matrices_have_no_room_is_refused() {
    let mut text = "<robot name=\"r\"><link name=\"l0\"/>\n".to_owned();
    for i in 1..=5001 {
        let (link, joint) = (format!("<link name=\"l{i}\"/>"), format!("<joint name=\"j{i}\""));
        let ends = format!("<parent link=\"l{}\"/><child link=\"l{i}\"/>", i - 1);
        writeln!(text, "{link}{joint} type=\"continuous\">{ends}</joint>").unwrap();
    }
    text += "</robot>";
    // Of the joints, each gives a warning for want of an axis; they do not hide the error.
    let problems = read(&text).unwrap_err().to_string();
    assert!(problems.contains("5001 degrees of freedom; 5000 at most"), "{problems}");
    assert!(problems.contains("4902 more problems are not listed"), "{problems}");
}
