use urdf_rs::{JointLimit, JointType};

use super::document;
use crate::diagnostic::Report;
use crate::xml::XmlText;

macro_rules! robot {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../tests/robots/", $name, "/", $name, ".urdf")))
    };
}

const ROBOTS: [(&str, &str); 7] = [
    robot!("ur5"),
    robot!("panda"),
    robot!("anymal_c"),
    robot!("solo12"),
    robot!("g1"),
    robot!("simple_humanoid"),
    robot!("talos"),
];

/// Bits of lower and upper limit, velocity and effort: those of a joint without stops, and zero ratings, are none.
fn limit_in_effect(limit: &JointLimit, joint_type: &JointType) -> [u64; 4] {
    let ranged = matches!(joint_type, JointType::Revolute | JointType::Prismatic);
    let range = [(limit.lower, f64::NEG_INFINITY), (limit.upper, f64::INFINITY)]
        .map(|(value, none)| if ranged { value } else { none });
    let rated = [limit.velocity, limit.effort]
        .map(|rating| if rating == 0.0 { f64::INFINITY } else { rating });
    [range[0], range[1], rated[0], rated[1]].map(f64::to_bits)
}

#[test]
fn published_robots_are_read_as_by_urdf_rs() {
    for (name, text) in ROBOTS {
        let mut report = Report::default();
        let xml = XmlText::new(name, text, &mut report).unwrap();
        let ours = document::read(&xml, &mut report).unwrap();
        let theirs = urdf_rs::read_from_string(text).unwrap();
        assert!(ours.all_joints && ours.robot.name == theirs.name, "{name}");
        assert_eq!(ours.robot.links.len(), theirs.links.len(), "{name}");
        assert_eq!(ours.robot.joints.len(), theirs.joints.len(), "{name}");
        for (a, b) in ours.robot.links.iter().zip(&theirs.links) {
            let place = format!("{name}: {}", b.name);
            assert_eq!(a.name, b.name);
            assert_eq!(format!("{:?}", a.inertial), format!("{:?}", b.inertial), "{place}");
            assert_eq!((a.visual.len(), a.collision.len()), (b.visual.len(), b.collision.len()));
            for (a, b) in a.visual.iter().zip(&b.visual) {
                assert_eq!(format!("{:?}", a.geometry), format!("{:?}", b.geometry), "{place}");
                assert_eq!(format!("{:?}", a.origin), format!("{:?}", b.origin), "{place}");
                let [a, b] = [a, b].map(|v| v.material.as_ref().map(|m| &m.name));
                assert_eq!(a, b, "{place}");
            }
            for (a, b) in a.collision.iter().zip(&b.collision) {
                assert_eq!(format!("{:?}", a.geometry), format!("{:?}", b.geometry), "{place}");
                assert_eq!(format!("{:?}", a.origin), format!("{:?}", b.origin), "{place}");
            }
        }
        for (a, b) in ours.robot.joints.iter().zip(&theirs.joints) {
            let place = format!("{name}: {}", b.name);
            assert_eq!((&a.name, &a.joint_type), (&b.name, &b.joint_type), "{place}");
            assert_eq!((&a.parent.link, &a.child.link), (&b.parent.link, &b.child.link), "{place}");
            assert_eq!(format!("{:?}", a.origin), format!("{:?}", b.origin), "{place}");
            assert_eq!(format!("{:?}", a.dynamics), format!("{:?}", b.dynamics), "{place}");
            assert_eq!(a.mimic.is_some(), b.mimic.is_some(), "{place}");
            if a.joint_type != JointType::Fixed {
                assert_eq!(a.axis.xyz, b.axis.xyz, "{place}");
                let [a, b] = [a, b].map(|j| limit_in_effect(&j.limit, &j.joint_type));
                assert_eq!(a, b, "{place}");
            }
        }
    }
}
