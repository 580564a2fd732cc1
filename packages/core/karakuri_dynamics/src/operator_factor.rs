//! The operator `Â = M + diag(extra)` of a robot, factorised.
//!
//! Along the tree of the mass matrix (`LᵀDL`, cost Σ depth²) where the robot is small, as articulated bodies (cost n)
//! where its branches are long. Both give the same `Â⁻¹` to round-off. [Featherstone 2008, §6.5, §7.3]

use karakuri_model::Model;

use crate::{Articulated, Data, MassFactor, SingularInertia, crba_at_position};

/// Mean square of the coordinates' depths from which articulated bodies are faster: about 27 hinges in a row.
const DEEP: usize = 256;

/// The operator `Â`, factorised.
#[derive(Debug, Clone)]
pub enum OperatorFactor {
    /// Factor along the tree of the mass matrix.
    Tree(Box<MassFactor>),
    /// Factor as articulated bodies.
    Articulated(Box<Articulated>),
}

impl OperatorFactor {
    /// Allocates for a model, whose degrees of freedom have the depths `depths`. (nv)
    pub fn new(model: &Model, depths: impl Iterator<Item = usize>) -> Self {
        // Along a chain of n the mean of d² is about n²/3; branches that fork near the root stay far below it.
        if depths.map(|d| d * d).sum::<usize>() > DEEP * model.nv {
            Self::Articulated(Box::new(Articulated::new(model)))
        } else {
            Self::Tree(Box::new(MassFactor::new(model)))
        }
    }

    /// Factorises at the position of the last `forward_kinematics`. `extra`: (nv)
    ///
    /// # Errors
    /// When a degree of freedom meets no inertia.
    pub fn factorize(
        &mut self,
        model: &Model,
        data: &mut Data,
        extra: &[f64],
    ) -> Result<(), SingularInertia> {
        match self {
            Self::Tree(factor) => factor.factorize(crba_at_position(model, data), extra),
            Self::Articulated(factor) => factor.factorize(model, data, extra),
        }
    }

    /// `x ← Â⁻¹ x`. (nv)
    #[inline]
    pub fn solve(&mut self, model: &Model, x: &mut [f64]) {
        match self {
            Self::Tree(factor) => factor.solve(x),
            Self::Articulated(factor) => factor.apply_inverse(model, x),
        }
    }

    /// [`Self::solve`] for the three rows of a contact, one after the other. (3·nv)
    #[inline]
    pub fn solve_three(&mut self, model: &Model, rows: &mut [f64]) {
        match self {
            Self::Tree(factor) => factor.solve_three(rows),
            Self::Articulated(factor) => {
                // One by one: the scratch of an articulated sweep holds the wrenches of one right side.
                for row in rows.chunks_exact_mut(model.nv) {
                    factor.apply_inverse(model, row);
                }
            }
        }
    }

    /// Whether `factorize` leaves the mass matrix in the data.
    pub fn keeps_mass_matrix(&self) -> bool {
        matches!(self, Self::Tree(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward_kinematics;
    use karakuri_model::Base;
    use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

    #[test]
    fn both_factors_give_the_same_inverse() {
        for seed in 0..20 {
            let model = random_tree(seed, 12, Base::Floating, Kind::ALL);
            let mut random = Random::new(seed);
            let mut data = Data::new(&model);
            forward_kinematics(&model, &mut data, &random_position(&model, &mut random));
            let extra: Vec<f64> = (0..model.nv).map(|_| random.uniform(0.0, 1.0)).collect();
            let b = random_vector(model.nv, &mut random);
            let solved = [0, 1000].map(|depth| {
                let mut factor = OperatorFactor::new(&model, std::iter::repeat_n(depth, model.nv));
                assert_eq!(factor.keeps_mass_matrix(), depth == 0);
                factor.factorize(&model, &mut data, &extra).unwrap();
                let mut x = b.clone();
                factor.solve(&model, &mut x);
                // Three side by side, to the bit: powers of two do not round.
                let scales = [1.0, 2.0, -0.5];
                let mut three: Vec<f64> =
                    scales.iter().flat_map(|s| b.iter().map(move |b| s * b)).collect();
                factor.solve_three(&model, &mut three);
                for (row, s) in three.chunks_exact(model.nv).zip(scales) {
                    assert!(
                        row.iter().zip(&x).all(|(row, x)| row.to_bits() == (s * x).to_bits()),
                        "seed {seed}"
                    );
                }
                x
            });
            let scale = solved[0].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (k, (tree, articulated)) in solved[0].iter().zip(&solved[1]).enumerate() {
                let error = (tree - articulated).abs();
                assert!(
                    error <= 1e-10 * scale,
                    "seed {seed}, degree of freedom {k}: {tree} {articulated}"
                );
            }
        }
    }
}
