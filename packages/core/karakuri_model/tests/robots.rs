//! Real robots' files load, with the masses and degrees of freedom that they state.

use karakuri_model::{Base, Loaded, NoAssets, Source, load};

macro_rules! robot {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../tests/robots/", $name, "/", $name, ".urdf")))
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

#[test]
fn real_robots_have_the_dofs_and_masses_of_their_files() {
    // Moving joints, sum of <mass value=...> [kg] and number of links, counted with Python's XML parser.
    let expected = [
        (6, 20.9939, 11),
        (9, 17.451_901_000_000_003, 13),
        (12, 52.134_85, 78),
        (12, 2.500_002_789_999_999_5, 17),
        (29, 33.341_142_020_000_01, 39),
        (29, 130.8, 31),
        (44, 93.335_723_999_999_96, 60),
    ];
    for ((name, text), (nv, mass, links)) in ROBOTS.into_iter().zip(expected) {
        let source = Source::urdf(name, text).with_base(Base::Floating);
        let Loaded { model, warnings } = load(&source, &mut NoAssets).unwrap();
        let known = ["mesh", "unknown element", "exceeds the sum"];
        for warning in warnings {
            assert!(known.iter().any(|k| warning.message.contains(k)), "{warning}");
        }
        assert_eq!(model.nv, 6 + nv, "{name}");
        assert_eq!(model.frames.len(), links, "{name}");
        let error = (model.mass() - mass).abs() / mass;
        assert!(error < 10.0 * f64::EPSILON * links as f64, "{name}: {} {mass}", model.mass());
    }
}
