//! An SO-101 with its own hardware file on six emulated servos.

use karakuri_serial::codec::feetech::STS3215;
use karakuri_serial::emulator::feetech::Feetech;

use crate::emulated::*;

#[test]
fn it_goes_from_posture_to_posture() {
    let (layout, mut file) = robot("so101");
    let mut servos = Feetech::new();
    for id in 1..=6 {
        servos.add(&STS3215, id);
    }
    let bus = Emulated::in_process(servos);
    file.device = bus.link();
    let mut io = bus.open_file(&file, layout.clone()).unwrap();
    run_for(io.as_mut(), 0.2);
    let start = positions(io.as_ref());
    // The middle of all servos: zero, but for the gripper.
    let middle = [0.0, 0.0, 0.0, 0.0, 0.0, 45_f64.to_radians()];
    for (got, asked) in start.iter().zip(middle) {
        assert!((got - asked).abs() < 0.002, "{start:?}");
    }
    for posture in &layout.model.postures {
        let command = command_of(&layout, posture);
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
