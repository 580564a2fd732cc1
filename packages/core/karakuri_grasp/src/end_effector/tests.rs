use karakuri_model::{BodyId, EndEffector as Config, FrameId};

use super::{EndEffector, ParallelLinkage};

fn config() -> Config {
    let numbers = [
        ("link_length", 0.05),
        ("half_opening", 0.02125),
        ("opening_min", 0.0002),
        ("opening_max", 0.085),
        ("fingers", 2.0),
        ("force_max", 40.0),
        ("pad_depth", 0.028),
    ];
    Config {
        kind: "parallel_linkage".to_owned(),
        tool_frame: FrameId(0),
        joints: vec![BodyId(0)],
        sensors: vec!["l".to_owned(), "r".to_owned()],
        parameters: numbers.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(),
    }
}

#[test]
fn opening_and_force_invert() {
    let hand = ParallelLinkage::new(&config()).unwrap();
    for i in 0..=20 {
        let opening = 0.0002 + 0.00424 * f64::from(i);
        let crank = hand.position(opening);
        assert!((hand.opening(crank) - opening).abs() < 1e-12);
        assert!((hand.force(crank, hand.effort(crank, 7.0)) - 7.0).abs() < 1e-12);
        let h = 1e-6;
        let slope = (hand.opening(crank + h) - hand.opening(crank - h)) / (2.0 * h);
        assert!((slope - hand.opening_rate(crank)).abs() < 1e-8);
    }
    // 10 N a finger at θ = 0: 10 N · 2 · 0.05 m.
    assert!((hand.effort(0.0, 10.0) + 1.0).abs() < 1e-12);
}

#[test]
fn wrong_numbers_are_named() {
    let error = |change: fn(&mut Config)| {
        let mut c = config();
        change(&mut c);
        ParallelLinkage::new(&c).unwrap_err().to_string()
    };
    assert!(error(|c| c.parameters.clear()).contains("lacks parameter `link_length`"));
    assert!(error(|c| c.parameters[0].1 = -1.0).contains("link_length is -1, it must be above 0"));
    assert!(error(|c| c.parameters[3].1 = 0.3).contains("opening_max is 0.3"));
    assert!(error(|c| c.joints.clear()).contains("needs one driven joint"));
}
