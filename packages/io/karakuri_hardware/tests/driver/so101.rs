//! An SO-101 with its own hardware file on six emulated servos.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use karakuri_hardware::driver::{HardwareFile, open};
use karakuri_hardware::{JointCommand, RobotLayout};
use karakuri_model::{NoAssets, Source, load};
use karakuri_serial::codec::feetech::STS3215;
use karakuri_serial::emulator::feetech::Feetech;

use crate::emulated::*;

fn so101() -> RobotLayout {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let [urdf, config] = ["urdf/so101/so101.urdf", "config/so101.yaml"]
        .map(|path| fs::read_to_string(root.join(path)).unwrap());
    let source = Source::urdf("so101.urdf", &urdf).with_config("so101.yaml", &config);
    RobotLayout::new("so101", Arc::new(load(&source, &mut NoAssets).unwrap().model))
}

#[test]
fn it_goes_from_posture_to_posture() {
    let layout = so101();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/hardware/so101.yaml");
    let mut file = HardwareFile::read(&path, &layout).unwrap();
    let mut servos = Feetech::new();
    for id in 1..=6 {
        servos.add(&STS3215, id);
    }
    let bus = Emulated::start(servos);
    file.device = bus.link();
    let mut io = open(&file, layout.clone()).unwrap();
    run_for(io.as_mut(), 0.2);
    let start = positions(io.as_ref());
    // The middle of all servos: zero, but for the gripper.
    let middle = [0.0, 0.0, 0.0, 0.0, 0.0, 45_f64.to_radians()];
    for (got, asked) in start.iter().zip(middle) {
        assert!((got - asked).abs() < 0.002, "{start:?}");
    }
    for posture in &layout.model.postures {
        let mut command = JointCommand::new(&layout);
        command.position.fill(0.0);
        for (body, position) in &posture.positions {
            let index = layout.joints.iter().position(|joint| joint.body == *body).unwrap();
            command.position[index] = *position;
        }
        io.write(0, &command).unwrap();
        run_for(io.as_mut(), 4.5);
        for ((joint, asked), got) in
            layout.joints.iter().zip(&command.position).zip(positions(io.as_ref()))
        {
            let name = &posture.name;
            assert!((asked - got).abs() < 0.03, "{name}, {}: {got}, not {asked}", joint.name);
        }
    }
}
