//! Contact problems without a world: bodies are 6×6 operators, contacts are rows of a Jacobian.

#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number from 0 to n becomes an index"
)]

use karakuri_physics::solver::{Admissible, Block, Problem, Run, Side};
use karakuri_spatial::{Matrix3, Vector3};
use nalgebra::{DMatrix, DVector};

/// A stream of numbers in [-1, 1) that a seed fixes (xorshift).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn vector(&mut self) -> Vector3 {
        Vector3::new(self.next(), self.next(), self.next())
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (0.5 * (self.next() + 1.0) * n as f64) as usize % n
    }
}

/// Builds a problem body by body and contact by contact.
#[derive(Default)]
pub(crate) struct Builder {
    problem: Problem,
    inertias: Vec<DMatrix<f64>>,
    positions: Vec<Vector3>,
}

impl Builder {
    /// A free body at `position` with a velocity (linear, angular). (6)
    pub(crate) fn body(
        &mut self,
        mass: f64,
        inertia: Matrix3,
        position: Vector3,
        velocity: [f64; 6],
    ) -> usize {
        let mut M = DMatrix::identity(6, 6) * mass;
        M.view_mut((3, 3), (3, 3)).copy_from(&inertia);
        let p = &mut self.problem;
        p.runs.push(Run { start: p.velocity.len(), len: 6, offset: p.inertia.len() });
        p.inertia.extend(M.iter());
        p.velocity.extend(velocity);
        self.inertias.push(M);
        self.positions.push(position);
        self.inertias.len() - 1
    }

    /// A contact at `point` that pushes `b` along `normal` and `a`, if it is there, the other way.
    pub(crate) fn contact(
        &mut self,
        a: Option<usize>,
        b: usize,
        (point, normal): (Vector3, Vector3),
        friction: f64,
    ) {
        let helper = if normal.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
        let t1 = normal.cross(&helper).normalize();
        let directions = [normal, t1, normal.cross(&t1)];
        let mut sides = [Side::default(); 2];
        let each = [a.map(|a| (a, -1.0)), Some((b, 1.0))];
        for (side, (body, sign)) in sides.iter_mut().zip(each.into_iter().flatten()) {
            let arm = point - self.positions[body];
            let rows: Vec<f64> = directions
                .iter()
                .flat_map(|d| {
                    let turn = arm.cross(d);
                    [d.x, d.y, d.z, turn.x, turn.y, turn.z].map(|x| x * sign)
                })
                .collect();
            *side = self.side(body, &rows);
        }
        self.block(Admissible::Cone { friction }, sides);
    }

    /// One row with bounds on its impulse.
    pub(crate) fn row(&mut self, body: usize, row: [f64; 6], lower: f64, upper: f64) {
        let sides = [self.side(body, &row), Side::default()];
        self.block(Admissible::Interval { lower, upper }, sides);
    }

    fn side(&mut self, body: usize, rows: &[f64]) -> Side {
        let p = &mut self.problem;
        let offset = p.jacobian.len();
        p.jacobian.extend(rows);
        let factor = self.inertias[body].clone().cholesky().unwrap();
        for row in rows.chunks_exact(6) {
            p.response.extend(factor.solve(&DVector::from_row_slice(row)).iter());
        }
        Side::new(p.runs[body].start, 6, offset)
    }

    fn block(&mut self, admissible: Admissible, sides: [Side; 2]) {
        let mut block = Block {
            admissible,
            sides,
            bias: Vector3::zeros(),
            compliance: 0.0,
            series: None,
            delassus: Matrix3::zeros(),
            impulse: Vector3::zeros(),
            unsettled: false,
            slid: true,
        };
        block.delassus = self.problem.delassus_of(&block);
        self.problem.blocks.push(block);
    }

    /// All blocks as one island.
    pub(crate) fn build(mut self) -> Problem {
        self.problem.island_ends.push(self.problem.blocks.len());
        self.problem
    }
}

/// Bodies of random mass and inertia that meet at random points, all joined, some with a brake.
pub(crate) fn random(seed: u64, bodies: usize, contacts: usize, friction: f64) -> Problem {
    let mut r = Numbers::new(seed);
    let mut b = Builder::default();
    for _ in 0..bodies {
        let A = Matrix3::from_columns(&[r.vector(), r.vector(), r.vector()]);
        let mass = 10_f64.powf(r.next());
        let inertia = (A * A.transpose() + Matrix3::identity() * 0.1) * (0.1 * mass);
        let velocity = std::array::from_fn(|_| r.next());
        let position = r.vector();
        b.body(mass, inertia, position, velocity);
    }
    for i in 0..contacts {
        let target = if i < bodies { i } else { r.below(bodies) };
        let other = if i == 0 { bodies } else { r.below(bodies + 1) };
        let other = if i > 0 && i < bodies { r.below(i) } else { other };
        let a = (other < bodies && other != target).then_some(other);
        let point = r.vector();
        let normal = r.vector().normalize();
        b.contact(a, target, (point, normal), friction);
        if i % 4 == 3 {
            // A dry brake on one direction.
            b.row(target, std::array::from_fn(|_| r.next()), -0.05, 0.05);
        }
    }
    b.build()
}
