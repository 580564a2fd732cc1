//! The robot in the box loads without a warning and is what its documentation says.

use std::path::{Path, PathBuf};

use karakuri_files::{LoadError, load_robot};
use karakuri_model::Loaded;

fn arm6(name: &str) -> Result<Loaded, LoadError> {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let urdf = root.join(format!("urdf/arm6/{name}.urdf"));
    load_robot(&urdf, Some(&root.join(format!("config/{name}.yaml"))), None)
}

#[test]
fn has_the_documented_mass_and_dofs() {
    let Loaded { model, warnings } = arm6("arm6").unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!((model.mass() - 15.472).abs() < 1e-9, "moving mass {} kg", model.mass());
    assert_eq!((model.nv, model.couplings.len(), model.loops.len()), (12, 1, 2));
}

#[test]
fn the_mimic_variant_couples_what_the_loops_hold() {
    let model = arm6("arm6_mimic").unwrap().model;
    assert_eq!((model.nv, model.couplings.len(), model.loops.len()), (12, 5, 0));
}

#[test]
fn the_scissor_variant_has_two_coupled_fingers() {
    let Loaded { model, warnings } = arm6("arm6_scissor").unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!((model.mass() - 15.222).abs() < 1e-9, "moving mass {} kg", model.mass());
    assert_eq!((model.nv, model.couplings.len(), model.loops.len()), (8, 1, 0));
}

#[test]
fn the_three_fingers_have_a_drive_each_and_spread_together() {
    let Loaded { model, warnings } = arm6("arm6_three_fingers").unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!((model.mass() - 15.43).abs() < 1e-9, "moving mass {} kg", model.mass());
    assert_eq!((model.nv, model.couplings.len(), model.loops.len()), (11, 1, 0));
    assert_eq!(model.groups[1].joints.len(), 4);
}

#[test]
fn the_underactuated_fingers_have_a_drive_and_a_loop_each() {
    let Loaded { model, warnings } = arm6("arm6_underactuated").unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!((model.mass() - 15.52).abs() < 1e-9, "moving mass {} kg", model.mass());
    assert_eq!((model.nv, model.couplings.len(), model.loops.len()), (20, 1, 3));
    assert_eq!(model.groups[1].joints.len(), 4);
}

#[test]
fn the_suction_variants_have_cups_and_no_joint() {
    for (name, mass, n_cups) in
        [("arm6_suction", 14.9036, 1), ("arm6_suction4", 15.106, 4), ("arm6_bellows", 14.893, 1)]
    {
        let Loaded { model, warnings } = arm6(name).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!((model.mass() - mass).abs() < 1e-9, "{name}: moving mass {} kg", model.mass());
        assert_eq!((model.nv, model.suctions[0].cups.len()), (6, n_cups));
    }
}

#[test]
fn every_link_has_a_picture() {
    let model = arm6("arm6").unwrap().model;
    assert!(model.visuals.len() >= 30, "{} visuals", model.visuals.len());
}
