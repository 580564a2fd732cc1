use nalgebra::DMatrix;
use proptest::prelude::*;

use super::*;
use crate::solver::{Run, Side};

/// Contacts on one body of six velocities and unit inertia, which moves as `v` without them.
fn problem(contacts: &[[Vector3<f64>; 2]], friction: f64, v: &[f64]) -> Problem {
    let mut problem = Problem {
        velocity: v.to_vec(),
        runs: vec![Run { start: 0, len: 6, offset: 0 }],
        inertia: DMatrix::<f64>::identity(6, 6).as_slice().to_vec(),
        ..Problem::default()
    };
    for [point, normal] in contacts {
        let [t1, t2] = karakuri_spatial::tangent_frame(normal);
        let side = Side::new(0, 6, problem.jacobian.len());
        for direction in [*normal, t1, t2] {
            let moment = point.cross(&direction);
            let row = [direction.x, direction.y, direction.z, moment.x, moment.y, moment.z];
            problem.jacobian.extend(row);
            problem.response.extend(row);
        }
        let admissible = Admissible::Cone { friction };
        let mut block = Block {
            admissible,
            ..Block::row([side, Side::default()], &crate::solver::RowSpec::default())
        };
        block.delassus = problem.delassus_of(&block);
        problem.blocks.push(block);
    }
    problem.island_ends.push(problem.blocks.len());
    problem
}

fn vector(range: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-range..range).prop_map(Vector3::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// What impulses inside the cones can stop is stopped, however near to the cones' surface they are.
    #[test]
    fn what_can_hold_is_found_to_hold(
        places in prop::collection::vec((vector(1.0), vector(1.0)), 2..9),
        impulses in prop::collection::vec((0.1..1.0_f64, 0.0..6.3_f64), 9),
        friction in 0.05..1.5_f64,
        near in 0.5..0.999_f64,
    ) {
        let contacts: Vec<_> = places
            .iter()
            .filter_map(|(p, n)| n.try_normalize(0.1).map(|n| [*p, n]))
            .collect();
        prop_assume!(contacts.len() >= 2);
        let mut v = [0.0; 6];
        for ([point, normal], (load, angle)) in contacts.iter().zip(&impulses) {
            let [t1, t2] = karakuri_spatial::tangent_frame(normal);
            let tangent = t1 * angle.cos() + t2 * angle.sin();
            let impulse = (normal + tangent * (near * friction)) * *load;
            let moment = point.cross(&impulse);
            for k in 0..3 {
                v[k] -= impulse[k];
                v[k + 3] -= moment[k];
            }
        }
        let problem = problem(&contacts, friction, &v);
        let mut search = StickSearch::default();
        prop_assert!(search.finds(&problem, &problem.blocks, 1e-10));
    }

    /// A single contact holds what is inside its cone, and nothing else.
    #[test]
    fn a_contact_holds_inside_its_cone_and_slides_outside(
        friction in 0.05..1.5_f64,
        part in prop_oneof![0.0..0.999_f64, 1.001..3.0_f64],
        angle in 0.0..6.3_f64,
    ) {
        let across = friction * part;
        let v = [across * angle.cos(), across * angle.sin(), -1.0, 0.0, 0.0, 0.0];
        let problem = problem(&[[Vector3::zeros(), Vector3::z()]], friction, &v);
        let mut search = StickSearch::default();
        prop_assert_eq!(search.finds(&problem, &problem.blocks, 1e-10), part < 1.0);
    }
}
