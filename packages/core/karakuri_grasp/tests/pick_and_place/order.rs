//! Order of the ways to hold an object: by margin, by room, then by time.

use karakuri_grasp::pick_and_place::{PickAndPlaceGoal, Stage};
use karakuri_model::Shape;
use karakuri_physics::BodyDescription;
use karakuri_spatial::{Pose, Vector3};

use crate::cell::{Cell, goal, start, try_start};

/// Edges of a bar. [m]
const BAR: [f64; 3] = [0.035, 0.045, 0.06];

fn bar_goal(mass: f64, most: f64) -> PickAndPlaceGoal {
    let mut goal = goal();
    (goal.size, goal.mass, goal.max_grip_force) = (BAR.into(), mass, most);
    goal.pick.position.z = 0.75 + 0.5 * BAR[2];
    goal.place.position.z = 0.85 + 0.5 * BAR[2];
    goal
}

/// A cell with the bar in the cube's place, and walls of 20 mm about these middles (3). [m]
fn cell(config: &str, mass: f64, walls: &[[f64; 3]]) -> Cell {
    Cell::with("start1", config, |bodies: &mut Vec<BodyDescription>| {
        let cube = bodies.iter_mut().find(|body| body.name == "cube").unwrap();
        (cube.shape, cube.mass) = (Shape::Box { size: BAR.into() }, mass);
        cube.pose.translation.z = 0.75 + 0.5 * BAR[2];
        for (i, middle) in walls.iter().enumerate() {
            let mut wall = bodies[0].clone();
            wall.name = format!("wall {i}");
            wall.shape = Shape::Box { size: Vector3::new(0.02, 0.02, 0.1) };
            wall.pose = Pose::from_translation(Vector3::from(*middle));
            bodies.push(wall);
        }
    })
}

/// Opening of the fingers when they have closed on the bar. [m]
fn width_taken(mut cell: Cell, goal: &PickAndPlaceGoal) -> f64 {
    start(&mut cell, goal);
    let mut width = 0.0;
    let result = cell.run(20.0, |cell| {
        if cell.machine.feedback().stage == Stage::Verify {
            width = cell.machine.feedback().opening;
        }
    });
    assert_eq!(result.failure, None, "{result:?}");
    width
}

/// The fingers would pass 3 to 10 mm beside the wall: they take the bar by its narrow side, though its wide side is sooner taken.
#[test]
fn a_bar_near_a_wall_is_taken_where_there_is_room() {
    let goal = bar_goal(0.1, 15.0);
    for (gap, expected) in [(0.06, BAR[0]), (0.08, BAR[1])] {
        let wall = [0.5, -0.2 + 0.5 * BAR[1] + gap + 0.01, 0.8];
        let width = width_taken(cell("arm6", 0.1, &[wall]), &goal);
        assert!((width - expected).abs() < 1e-3, "{gap} m: {width} m wide");
    }
}

/// 15 N a finger hold 0.7 kg by either side, and by the wide one, about which the fingers lean more, with less than a tenth to spare.
#[test]
fn what_is_heavy_is_taken_where_the_margin_is_better() {
    for (mass, is_narrow) in [(0.3, false), (0.7, true)] {
        let width = width_taken(cell("arm6_scissor", mass, &[]), &bar_goal(mass, 15.0));
        // Fingers that lean open by more than the width that they hold.
        assert_eq!(width < BAR[1], is_narrow, "{mass} kg: {width} m");
    }
}

/// Between posts that come nearer from all sides, the fingers go about the bar with less of their clearance before it is refused.
#[test]
fn among_near_posts_the_hand_opens_less() {
    let goal = bar_goal(0.1, 15.0);
    let mut openings: Vec<f64> = Vec::new();
    for gap in [0.055, 0.053, 0.051, 0.049, 0.047] {
        let [x, y] = [0, 1].map(|k| 0.5 * BAR[k] + gap + 0.01);
        let at = |dx: f64, dy: f64| [0.5 + dx, -0.2 + dy, 0.78];
        let posts = [at(x, 0.0), at(-x, 0.0), at(0.0, y), at(0.0, -y)];
        let mut cell = cell("arm6", 0.1, &posts);
        let Ok(()) = try_start(&mut cell, &goal) else { break };
        let mut about = 0.0;
        let result = cell.run(20.0, |cell| {
            if cell.machine.feedback().stage == Stage::Descend {
                about = cell.machine.feedback().opening;
            }
        });
        assert_eq!(result.failure, None, "{gap} m: {result:?}");
        println!("{gap} m beside it: {:.1} mm open", 1e3 * about);
        openings.push(about);
    }
    let least = openings.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(openings[0] - least > 0.004, "{openings:?}");
}
