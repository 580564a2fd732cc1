//! A KHR-1 with its own hardware file on two emulated boards.

use karakuri_serial::emulator::rcb1::{Rcb1, Setup};

use crate::emulated::*;

#[test]
fn it_stands_up_from_home_in_whole_degrees() {
    let (layout, mut file) = robot("khr1");
    let bus = Emulated::in_process(Rcb1::new(&Setup::default()));
    file.device = bus.link();
    let mut io = bus.open_file(&file, layout.clone()).unwrap();
    run_for(io.as_mut(), 0.2);
    let home = positions(io.as_ref());
    assert!(home.iter().all(|q| q.abs() < 0.01), "the factory's home is zero: {home:?}");
    let stand = layout.model.postures.iter().find(|posture| posture.name == "stand").unwrap();
    let command = command_of(&layout, stand);
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
