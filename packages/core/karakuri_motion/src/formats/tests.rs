//! Files of other programs: read, written, broken.

#![expect(clippy::float_cmp, reason = "what is read is what was written")]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::document::{AngleUnit, Document, Units};
use crate::motion::{Ease, Motion, Scene};
use crate::robot::Performer;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn khr1() -> Arc<Performer> {
    let config = root().join("config/khr1.yaml");
    let urdf = root().join("urdf/khr1/khr1.urdf");
    let loaded = karakuri_files::load_robot(&urdf, Some(&config), None).unwrap();
    Arc::new(Performer::new(Arc::new(loaded.model)))
}

/// Channels, homes and senses of `config/hardware/khr1.yaml`.
fn servos() -> Vec<Servo> {
    let servo = |joint: &str, channel, zero_deg, reversed| Servo {
        joint: joint.to_owned(),
        channel,
        zero_deg,
        reversed,
    };
    vec![
        servo("l_shoulder_pitch", 1, 5.0, true),
        servo("head_yaw", 6, 90.0, true),
        servo("l_hip_pitch", 14, 115.0, false),
        servo("l_knee_pitch", 15, 115.0, true),
        servo("r_hip_pitch", 20, 65.0, true),
        servo("r_knee_pitch", 21, 65.0, false),
    ]
}

fn greet() -> Document {
    let path = root().join("config/motions/khr1_greet.yaml");
    crate::file::read("greet.yaml", &karakuri_files::read_text(&path).unwrap()).unwrap()
}

fn with<T>(performer: &Performer, run: impl FnOnce(&FormatOptions<'_>) -> T) -> T {
    let servos = servos();
    run(&FormatOptions {
        performer,
        unit: AngleUnit::Deg,
        frames_per_second: 50.0,
        servos: &servos,
    })
}

/// The motion of a file, in degrees, as a document.
fn document(import: Import) -> (Document, String) {
    let mut document = Document { units: Units { angle: AngleUnit::Deg }, ..Document::default() };
    let ops = import.ops(&document);
    document.commit(&ops).unwrap();
    let name = document.motions.keys().next().unwrap().clone();
    (document, name)
}

/// Exported and imported again, a motion is where it was at every sample, and exported again it is the same file.
#[test]
fn exported_and_imported_a_motion_is_the_same() {
    let performer = khr1();
    let mut first = Performance::new(&greet(), "greet", &performer).unwrap();
    for (format, ending, tolerance) in [
        (Format::Csv, "csv", 1e-12),
        (Format::EditorCsv, "csv", 1e-12),
        (Format::Webots, "motion", 1e-12),
        (Format::Seq, "seq", 1e-12),
        (Format::Trajectory, "json", 1e-12),
    ] {
        let name = format!("greet.{ending}");
        let file =
            with(&performer, |options| export(format, "greet", &mut first, options)).unwrap();
        assert_eq!(Format::guess(&name, &file.text), Some(format), "{}", &file.text[..80]);
        assert!(!file.notes.is_empty());
        let import =
            with(&performer, |options| import(format, &name, &file.text, options)).unwrap();
        let (document, name) = document(import);
        let mut second = Performance::new(&document, &name, &performer).unwrap();
        assert!((second.duration() - first.duration()).abs() < 0.021, "{format:?}");
        let motion = &document.motions[&name];
        let mut t = 0.0;
        for scene in &motion.scenes {
            t += scene.time;
            for id in performer.joints() {
                let (a, b) = (first.joint(id, t).position, second.joint(id, t).position);
                // Times of rows are kept to a nanosecond.
                assert!((a - b).abs() < tolerance + 1e-8, "{format:?} at {t}: {a}, {b}");
            }
        }
        if format == Format::Csv {
            let again = with(&performer, |options| export(format, "greet", &mut second, options));
            assert_eq!(again.unwrap().text.lines().count(), file.text.lines().count());
            let (a, b) = (first.state(1.2), second.state(1.2));
            assert!(
                a.q.iter().zip(&b.q).all(|(a, b)| (a - b).abs() < 1e-9),
                "the root link's path"
            );
        }
    }
}

/// A table as owners have it: the second board's home, whole degrees from home, a speed code.
#[test]
fn a_table_of_khr1_counts_from_home() {
    let performer = khr1();
    let row = |channel: usize, value: &str, other: usize, more: &str| {
        let mut cells = vec![""; 24];
        (cells[channel - 1], cells[other - 1]) = (value, more);
        cells.join(",")
    };
    let text = format!(
        "NO,NAME,SPEED,CH\r\n0,home,4,{}\r\n1,bow,5,{}\r\n",
        row(14, "0", 15, "0"),
        row(14, "-30", 4, "7")
    );
    let import =
        with(&performer, |options| import(Format::Khr1Csv, "bow.csv", &text, options)).unwrap();
    let said: Vec<&str> = import.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(said.iter().any(|note| note.contains("channel 4 turns no joint")), "{said:?}");
    let scenes = &import.motion.scenes;
    assert!((scenes[1].joints["l_hip_pitch"] + 30.0).abs() < 1e-9);
    // 30 degrees at 150 degrees a second
    assert!((scenes[1].time - 0.2).abs() < 1e-9);
    assert_eq!(scenes[1].note, "bow");
    let (document, name) = document(import);
    let mut performance = Performance::new(&document, &name, &performer).unwrap();
    let file =
        with(&performer, |options| export(Format::Khr1Csv, "bow", &mut performance, options))
            .unwrap();
    let last: Vec<&str> = file.text.lines().last().unwrap().split(',').collect();
    assert_eq!((last[2], last[3 + 13]), ("5", "-30"));
    assert_eq!(Format::guess("bow.csv", &file.text), Some(Format::Khr1Csv));
}

#[test]
fn positions_of_the_boards_are_bytes() {
    let performer = khr1();
    let text = "positions:\n  - {speed: 4, degrees: {14: 115, 15: 105}}\n  - {speed: 5, degrees: {14: 85}}\n";
    assert_eq!(Format::guess("bow.yaml", text), Some(Format::Khr1Yaml));
    let read = |text: &str| {
        with(&performer, |options| import(Format::Khr1Yaml, "bow.yaml", text, options))
    };
    let scenes = read(text).unwrap().motion.scenes;
    assert!((scenes[0].joints["l_knee_pitch"] - 10.0).abs() < 1e-9, "{:?}", scenes[0]);
    assert!((scenes[1].joints["l_hip_pitch"] + 30.0).abs() < 1e-9 && scenes[1].joints.len() == 1);
    let said = read("positions:\n  - {degrees: {25: 1}}\n").unwrap_err().to_string();
    assert!(said.contains("channel 25; write one from 1 to 24"), "{said}");
}

/// Counted from the servos' own zero they are what the table has from home.
#[test]
fn positions_are_written_as_bytes_of_the_same_table() {
    let performer = khr1();
    let mut performance = Performance::new(&greet(), "greet", &performer).unwrap();
    let mut written = |format| {
        let file = with(&performer, |options| export(format, "greet", &mut performance, options));
        let text = file.unwrap().text;
        assert_eq!(Format::guess("greet.yaml", &text).is_some(), format == Format::Khr1Yaml);
        with(&performer, |options| import(format, "greet", &text, options)).unwrap().motion
    };
    let [table, bytes] = [written(Format::Khr1Csv), written(Format::Khr1Yaml)];
    assert_eq!(table.scenes.len(), bytes.scenes.len());
    let mut farthest: f64 = 0.0;
    for (a, b) in table.scenes.iter().zip(&bytes.scenes) {
        assert!((a.time - b.time).abs() < 1e-9, "{a:?} {b:?}");
        for (joint, position) in &a.joints {
            assert!((position - b.joints[joint]).abs() < 1e-9, "{joint}: {a:?} {b:?}");
            farthest = farthest.max(position.abs());
        }
    }
    assert!(farthest > 10.0, "{farthest} degrees");
}

#[test]
fn writing_for_the_boards_says_what_is_rounded_and_clipped() {
    let performer = khr1();
    let mut document = greet();
    document.poses["bow"].joints.insert("l_shoulder_pitch".into(), 60.4);
    let mut performance = Performance::new(&document, "greet", &performer).unwrap();
    let file =
        with(&performer, |options| export(Format::Khr1Csv, "greet", &mut performance, options))
            .unwrap();
    let said: Vec<&str> = file.notes.iter().map(|note| note.message.as_str()).collect();
    assert!(
        said.iter().any(|note| note.contains("would go to -60.4° from home; clipped to -5°")),
        "{said:?}"
    );
    assert!(said.iter().any(|note| note.starts_with("rounded to whole degrees")), "{said:?}");
}

#[test]
fn positions_of_heart_to_heart_follow_the_flow() {
    let performer = khr1();
    let prm = |time: u32, channel: usize, word: u32| {
        let mut words = [16384; 24];
        words[channel - 1] = word;
        let words: Vec<String> = words.iter().map(u32::to_string).collect();
        format!("{time},{}", words.join(","))
    };
    let text = format!(
        "[GraphicalEdit]\r\nType=0\r\nItems=3\r\nLinks=2\r\nStart=2\r\nName=x\r\n[Item0]\r\nName=down\r\nType=0\r\nPrm={}\r\n[Item1]\r\nName=unused\r\nPrm={}\r\n[Item2]\r\nName=up\r\nPrm={}\r\n[Link0]\r\nMain=1\r\nOrigin=2\r\nFinal=0\r\nPoint=0\r\n",
        prm(20, 6, 16384 + 128),
        prm(1, 6, 0),
        prm(10, 6, 16384),
    );
    assert_eq!(Format::guess("x.RCB", &text), Some(Format::Rcb));
    let import = with(&performer, |options| import(Format::Rcb, "x.RCB", &text, options)).unwrap();
    let scenes = &import.motion.scenes;
    assert_eq!((scenes.len(), scenes[0].note.as_str(), scenes[1].note.as_str()), (2, "up", "down"));
    // 128 counts are 45 degrees; 20 frames are 0.3 s.
    assert!((scenes[1].joints["head_yaw"] + 45.0).abs() < 1e-9, "{:?}", scenes[1]);
    assert!((scenes[1].time - 0.3).abs() < 1e-9);
}

#[test]
fn key_poses_of_choreonoid_are_read_with_their_root() {
    let performer = khr1();
    let text = "\
type: PoseSeq
name: x
refs:
  - time: 0
    refer: {type: Pose, name: a, joints: [0, 8], q: [0.1, -0.2]}
  - time: 0.5
    refer:
      type: Pose
      name: b
      joints: [0]
      q: [0.3]
      ikLinks: [{name: base_link, index: 0, isBaseLink: true, translation: [0, 0, 0.2], rotation: [1,0,0, 0,1,0, 0,0,1]}]
  - time: 1
    refer: a
";
    let import = with(&performer, |options| import(Format::Pseq, "x.pseq", text, options)).unwrap();
    let scenes = &import.motion.scenes;
    assert_eq!((scenes.len(), scenes[1].ease), (3, Ease::Natural));
    let first =
        performer.joints().next().map(|id| performer.model.joints[id.0].name.clone()).unwrap();
    assert!((scenes[2].joints[&first] - 0.1_f64.to_degrees()).abs() < 1e-12);
    assert_eq!(scenes[1].root.unwrap().xyz, [0.0, 0.0, 0.2]);
}

/// Plain tables of Choreonoid have tabs or runs of spaces between their numbers.
#[test]
fn tables_of_choreonoid_have_spaces_or_tabs() {
    let performer = khr1();
    let n = performer.joints().count();
    let row = |t: &str, first: &str, between: &str| {
        let zeros = vec!["0"; n - 1];
        format!("{t}{between}{first}{between}{}", zeros.join(between))
    };
    for between in ["\t", " ", "  ", " \t"] {
        let text = format!("{}\n{} \n", row("0", "0", between), row("0.5", "0.25", between));
        let import =
            with(&performer, |options| import(Format::Seq, "x.seq", &text, options)).unwrap();
        let first = performer.joints().next().unwrap();
        let name = &performer.model.joints[first.0].name;
        let found = import.motion.scenes[1].joints[name];
        assert!((found - 0.25_f64.to_degrees()).abs() < 1e-12, "{between:?}: {found}");
    }
    let text = format!("{}\n0.5\t0\tx\n", row("0", "0", "\t"));
    let error = with(&performer, |options| import(Format::Seq, "x", &text, options)).unwrap_err();
    assert!(error.to_string().starts_with("x:2:1: 3 numbers"), "{error}");
    let text = format!("{}\n{}", row("0", "0", "\t"), row("0.5", "x", "\t"));
    let error = with(&performer, |options| import(Format::Seq, "x", &text, options)).unwrap_err();
    assert!(error.to_string().starts_with("x:2:5: a position is `x`"), "{error}");
}

#[test]
fn the_farthest_integer_is_far_from_home() {
    let performer = khr1();
    let mut cells = vec!["0"; 24];
    cells[13] = "-2147483648";
    let text = format!("NO,NAME,SPEED,CH\n0,home,4,{}\n", cells.join(","));
    let import =
        with(&performer, |options| import(Format::Khr1Csv, "x.csv", &text, options)).unwrap();
    let said = import.notes.iter().any(|note| note.message.contains("the table is of bytes"));
    assert!(said, "{:?}", import.notes);
}

/// Times of Webots end within the 61st minute: what is longer is refused, not written such that nobody reads it.
#[test]
fn what_is_too_long_for_webots_is_not_written() {
    let performer = khr1();
    let of = |seconds: f64| {
        let mut document = Document::default();
        let scene = |time| Scene {
            time,
            joints: [("head_yaw".to_owned(), 0.1)].into(),
            ..Scene::default()
        };
        let scenes = vec![scene(3600.0), scene(seconds - 3600.0)];
        let motion = Motion { frame: 1.0, scenes, ..Motion::default() };
        document.motions.insert("m".into(), Arc::new(motion));
        let mut performance = Performance::new(&document, "m", &performer).unwrap();
        with(&performer, |options| export(Format::Webots, "m", &mut performance, options))
    };
    let file = of(3659.5).unwrap();
    with(&performer, |options| import(Format::Webots, "m.motion", &file.text, options)).unwrap();
    let said = of(3660.5).map(|file| file.text.len()).unwrap_err();
    assert!(said.contains("takes 3660.5 s") && said.ends_with("split it"), "{said}");
}

#[test]
fn mistakes_have_a_line_and_a_column() {
    let performer = khr1();
    for (format, text, expected) in [
        (Format::Csv, "t,head_yaw\n0,0\n", "x:1:1: the first column is not `time`"),
        (Format::Csv, "time,neck\n0,0\n", "x:1:6: robot `khr1` has no joint `neck` to move"),
        (
            Format::Csv,
            "time,head_yaw\n0,0\n1, zero\n",
            "x:3:4: a position is `zero`; write a number",
        ),
        (Format::Csv, "time,head_yaw\n0,0\n0,1\n", "x:3:1: the time 0 s is not after 0 s"),
        (Format::Csv, "time,head_yaw\n", "there is no row of positions"),
        (Format::Csv, "time,head_yaw\n0\n", "x:2:1: 1 cells, the first line has 2"),
        (Format::Csv, "time,base.x\n0,1\n", "the root link has 1 of its 7 columns"),
        (
            Format::Webots,
            "#WEBOTS_MOTION,V1.0,head_yaw\n0:0,P,1\n",
            "x:2:1: the time is not MM:SS:mmm",
        ),
        (Format::Webots, "#WEBOTS_MOTION,V2.0\n", "x:1:1: the first line is not"),
        (Format::EditorCsv, "1,2,3\n", "x:1:1: 3 cells; write x, y, z"),
        (Format::Khr1Csv, "head\n1,2\n", "x:2:1: 2 columns; write NO, NAME, SPEED"),
        (Format::Rcb, "[GraphicalEdit]\nStart=0\nhello\n", "x:3:1: this is neither"),
        (Format::Rcb, "[GraphicalEdit]\nStart=4\n", "there is no [Item4]"),
        (Format::Seq, "type: CompositeSeq\nframeRate: 10\n", "there is no MultiValueSeq"),
        (Format::Pseq, "refs:\n  - {time: 0, refer: a}\n", "x:2:1: no pose before refs[0] is `a`"),
        (
            Format::Pseq,
            "refs:\n  - time: 0\n    refer: {joints: [], q: [], ikLinks: [{isBaseLink: true, translation: [0, 0, 0], rotation: [1,0.5,0, 0,1,0, 0,0,1]}]}\n",
            "the base link's rotation is none",
        ),
        (
            Format::Pseq,
            "refs:\n  - time: 0\n    refer: {joints: [], q: [], ikLinks: [{isBaseLink: true, translation: [0, 0, 0], rotation: [-1,0,0, 0,1,0, 0,0,1]}]}\n",
            "the base link's rotation is none",
        ),
        (
            Format::Trajectory,
            "joint_names: [head_yaw]\npoints:\n  - {positions: [], time_from_start: 0}\n",
            "x:3:1: points[0] has 0 positions for 1 joints",
        ),
        (Format::Trajectory, "joint_names: [head_yaw]\n", "missing field `points`"),
        (Format::PlayMotion2, "", "are written, not read"),
    ] {
        let error = with(&performer, |options| import(format, "x", text, options)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}\ndoes not say\n{expected}");
    }
}

fn samples() -> Vec<(Format, String)> {
    let performer = khr1();
    let mut performance = Performance::new(&greet(), "greet", &performer).unwrap();
    let formats = [
        Format::Csv,
        Format::EditorCsv,
        Format::Webots,
        Format::Seq,
        Format::Khr1Csv,
        Format::Khr1Yaml,
        Format::Trajectory,
    ];
    formats
        .into_iter()
        .map(|format| {
            let file = with(&performer, |options| export(format, "greet", &mut performance, options));
            // A few lines say as much as all of them.
            let text: Vec<String> = file.unwrap().text.lines().take(25).map(str::to_owned).collect();
            (format, text.join("\n"))
        })
        .chain([(Format::Rcb, "[GraphicalEdit]\nStart=0\n[Item0]\nName=a\nPrm=5,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384,16384\n[Link0]\nMain=1\nOrigin=0\nFinal=0\n".to_owned()),
            (Format::Pseq, "refs:\n  - {time: 0, refer: {type: Pose, joints: [0], q: [0.5]}}\n  - {time: 1, refer: {type: Pose, joints: [0, 1], q: [0.5, 1]}}\n".to_owned())])
        .collect()
}

/// A file with characters exchanged, dropped, doubled or cut off is read or refused with a sentence; what is read is a document.
#[test]
fn broken_files_neither_panic_nor_become_broken_documents() {
    let (performer, files) = (khr1(), samples());
    let strategy =
        prop::collection::vec((any::<prop::sample::Index>(), 0..5_u8, "[ -~\\n\u{e9}]"), 1..6);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&(0..files.len(), strategy), |(file, cuts)| {
            let (format, text) = &files[file];
            let mut text: Vec<char> = text.chars().collect();
            for (index, kind, c) in cuts {
                let i = index.index(text.len());
                let c = c.chars().next().unwrap_or('x');
                match kind {
                    0 => text[i] = c,
                    1 => drop(text.remove(i)),
                    2 => text.insert(i, c),
                    3 => text[i] = '9',
                    _ => text.truncate(i.max(1)),
                }
                if text.is_empty() {
                    text.push(c);
                }
            }
            let text: String = text.into_iter().collect();
            let _guess = Format::guess("x.csv", &text);
            match with(&performer, |options| import(*format, "x", &text, options)) {
                Ok(import) => {
                    let mut document = Document::default();
                    let ops = import.ops(&document);
                    if let Err(problem) = document.commit(&ops) {
                        prop_assert!(!problem.message.is_empty());
                    }
                }
                Err(error) => prop_assert!(error.message.len() > 10, "{}", error),
            }
            Ok(())
        })
        .unwrap();
}
