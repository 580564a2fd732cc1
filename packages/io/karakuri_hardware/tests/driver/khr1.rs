//! A KHR-1 with its own hardware file on two emulated boards.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use karakuri_hardware::driver::{HardwareFile, open};
use karakuri_hardware::{JointCommand, RobotLayout};
use karakuri_model::{NoAssets, Source, load};
use karakuri_serial::emulator::rcb1::{Rcb1, Setup};

use crate::emulated::*;

fn khr1() -> RobotLayout {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let [urdf, config] = ["urdf/khr1/khr1.urdf", "config/khr1.yaml"]
        .map(|path| fs::read_to_string(root.join(path)).unwrap());
    let source = Source::urdf("khr1.urdf", &urdf).with_config("khr1.yaml", &config);
    RobotLayout::new("khr1", Arc::new(load(&source, &mut NoAssets).unwrap().model))
}

#[test]
fn it_stands_up_from_home_in_whole_degrees() {
    let layout = khr1();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/hardware/khr1.yaml");
    let mut file = HardwareFile::read(&path, &layout).unwrap();
    let bus = Emulated::start(Rcb1::new(&Setup::default()));
    file.device = bus.link();
    let mut io = open(&file, layout.clone()).unwrap();
    run_for(io.as_mut(), 0.2);
    let home = positions(io.as_ref());
    assert!(home.iter().all(|q| q.abs() < 0.01), "the factory's home is zero: {home:?}");
    let stand = layout.model.postures.iter().find(|posture| posture.name == "stand").unwrap();
    let mut command = JointCommand::new(&layout);
    command.position.fill(0.0);
    for (body, position) in &stand.positions {
        let index = layout.joints.iter().position(|joint| joint.body == *body).unwrap();
        command.position[index] = *position;
    }
    io.write(0, &command).unwrap();
    run_for(io.as_mut(), 3.0);
    for ((joint, asked), got) in
        layout.joints.iter().zip(&command.position).zip(positions(io.as_ref()))
    {
        assert!((asked - got).abs() <= 1.5_f64.to_radians(), "{}: {got}, not {asked}", joint.name);
    }
    // Flexed knees: the left byte falls and the right one rises by as much.
    let shafts = bus.ask("\"state\"");
    let shaft = |channel: u64| {
        let servos = shafts["servos"].as_array().unwrap();
        let servo = servos.iter().find(|servo| servo["id"] == channel).unwrap();
        servo["position_rad"].as_f64().unwrap().to_degrees() + 90.0
    };
    assert!((shaft(15) - (115.0 - 48.7)).abs() < 1.5, "{}", shaft(15));
    assert!((shaft(21) - (65.0 + 48.7)).abs() < 1.5, "{}", shaft(21));
}
