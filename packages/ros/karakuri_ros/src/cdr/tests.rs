use super::*;
use crate::{Message, definition::Definitions, msg};

/// What the middleware makes of a message, read by its installed definition. The message has `length` bytes, of which none may be
/// missing; what the middleware leaves behind them is not initialised.
fn read_back<T: Message>(message: &T, name: &str, length: usize) -> Value {
    let bytes = message.to_serialized_bytes().unwrap();
    let definition = Definitions::installed().message(name).unwrap();
    for n in 0..length {
        assert!(read(&bytes[..n], &definition).is_err(), "{n} of {length} bytes");
    }
    read(&bytes[..length], &definition).unwrap()
}

#[test]
fn a_joint_state_comes_back_in_order_with_numbers_that_are_not_finite() {
    let message = msg::sensor_msgs::msg::JointState {
        header: msg::std_msgs::msg::Header {
            stamp: msg::builtin_interfaces::msg::Time { sec: -3, nanosec: 5 },
            frame_id: "w\u{f6}rld".to_owned(),
        },
        name: vec!["a".to_owned(), String::new()],
        position: vec![0.1, f64::NAN],
        velocity: vec![],
        effort: vec![f64::INFINITY, -0.0],
    };
    let text =
        serde_yaml::to_string(&read_back(&message, "sensor_msgs/msg/JointState", 92)).unwrap();
    let expected = "header:\n  stamp:\n    sec: -3\n    nanosec: 5\n  frame_id: wörld\nname:\n- a\n- ''\n\
        position:\n- 0.1\n- .nan\nvelocity: []\neffort:\n- .inf\n- -0.0\n";
    assert_eq!(text, expected);
}

#[test]
fn messages_of_all_sorts_come_back_as_the_client_library_reads_them() {
    let marker = msg::visualization_msgs::msg::Marker {
        ns: "n".to_owned(),
        id: -7,
        color: msg::std_msgs::msg::ColorRGBA { r: 0.1, g: 0.25, b: 0.7, a: 1.0 },
        frame_locked: true,
        points: vec![msg::geometry_msgs::msg::Point { x: 1.0, y: 2.0, z: 3.0 }; 2],
        ..Default::default()
    };
    let value = read_back(&marker, "visualization_msgs/msg/Marker", 277);
    let again: msg::visualization_msgs::msg::Marker = serde_yaml::from_value(value).unwrap();
    assert_eq!(again, marker);
    let imu = msg::sensor_msgs::msg::Imu {
        orientation_covariance: (0..9).map(f64::from).collect(),
        ..Default::default()
    };
    let value = read_back(&imu, "sensor_msgs/msg/Imu", 316);
    assert_eq!(serde_yaml::from_value::<msg::sensor_msgs::msg::Imu>(value).unwrap(), imu);
}

#[test]
fn nonsense_is_an_error() {
    let definition = Definitions::installed().message("sensor_msgs/msg/JointState").unwrap();
    for bytes in [
        &[][..],
        &[0, 1, 0],
        &[9, 9, 0, 0, 1, 2],
        &[0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255],
    ] {
        assert!(read(bytes, &definition).is_err(), "{bytes:?}");
    }
}
