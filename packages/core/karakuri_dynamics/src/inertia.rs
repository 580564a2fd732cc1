//! Inertias in world axes about one common point O, where they simply add.
//!
//! `J` is the rotational inertia about O, `H = m [c]×` couples, `m` is the mass:
//! `[n; f] = [J H; Hᵀ m·1] [ω; v]`. [Featherstone 2008, §2.13, §7.1]

use karakuri_model::Body;
use karakuri_spatial::{Force, Matrix3, Motion, Pose, Vector3, skew};

/// A symmetric 3×3 matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Symmetric3 {
    pub(crate) xx: f64,
    pub(crate) xy: f64,
    pub(crate) xz: f64,
    pub(crate) yy: f64,
    pub(crate) yz: f64,
    pub(crate) zz: f64,
}

impl Symmetric3 {
    pub(crate) const ZERO: Self = Self { xx: 0.0, xy: 0.0, xz: 0.0, yy: 0.0, yz: 0.0, zz: 0.0 };

    /// `s · 1`.
    #[inline]
    pub(crate) fn scalar(s: f64) -> Self {
        Self { xx: s, yy: s, zz: s, ..Self::ZERO }
    }

    /// `R I Rᵀ` for symmetric `I`.
    #[inline]
    pub(crate) fn rotated(R: &Matrix3, inertia: &Matrix3) -> Self {
        let t = R * inertia;
        // Six entries and not nine: the result is symmetric exactly, not to round-off.
        let row = |i: usize, j: usize| {
            t[(i, 0)] * R[(j, 0)] + t[(i, 1)] * R[(j, 1)] + t[(i, 2)] * R[(j, 2)]
        };
        Self {
            xx: row(0, 0),
            xy: row(0, 1),
            xz: row(0, 2),
            yy: row(1, 1),
            yz: row(1, 2),
            zz: row(2, 2),
        }
    }

    /// Matrix times vector.
    #[inline]
    pub(crate) fn mul(&self, v: &Vector3) -> Vector3 {
        Vector3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// Column `k` < 3 of the matrix.
    #[inline]
    pub(crate) fn column(&self, k: usize) -> Vector3 {
        match k {
            0 => Vector3::new(self.xx, self.xy, self.xz),
            1 => Vector3::new(self.xy, self.yy, self.yz),
            _ => Vector3::new(self.xz, self.yz, self.zz),
        }
    }

    /// Adds `s a aᵀ`.
    #[inline]
    pub(crate) fn add_outer(&mut self, s: f64, a: &Vector3) {
        let b = a * s;
        self.xx += b.x * a.x;
        self.xy += b.x * a.y;
        self.xz += b.x * a.z;
        self.yy += b.y * a.y;
        self.yz += b.y * a.z;
        self.zz += b.z * a.z;
    }

    #[inline]
    pub(crate) fn to_matrix(self) -> Matrix3 {
        let Self { xx, xy, xz, yy, yz, zz } = self;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    #[inline]
    pub(crate) fn add(&mut self, o: &Self) {
        self.xx += o.xx;
        self.xy += o.xy;
        self.xz += o.xz;
        self.yy += o.yy;
        self.yz += o.yz;
        self.zz += o.zz;
    }
}

/// Inertia of one or several rigid bodies, in world axes about O.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RigidInertia {
    /// Mass of the bodies. [kg]
    pub(crate) mass: f64,
    /// Mass times `p_OCom`. [kg·m]
    pub(crate) first_moment: Vector3,
    /// Rotational inertia about O. [kg·m²]
    pub(crate) rotational: Symmetric3,
}

impl RigidInertia {
    pub(crate) const ZERO: Self =
        Self { mass: 0.0, first_moment: Vector3::new(0.0, 0.0, 0.0), rotational: Symmetric3::ZERO };

    /// Inertia of a body at `X_WB` with its centre of mass at `p_OCom`.
    #[inline]
    pub(crate) fn of_body(body: &Body, X_WB: &Pose, p_OCom: &Vector3) -> Self {
        let mass = body.inertia.mass;
        let mut rotational = Symmetric3::rotated(&X_WB.rotation, &body.inertia.about_com);
        // Steiner: m (cᵀc 1 − c cᵀ).
        rotational.add_outer(-mass, p_OCom);
        let d = mass * p_OCom.norm_squared();
        rotational.xx += d;
        rotational.yy += d;
        rotational.zz += d;
        Self { mass, first_moment: p_OCom * mass, rotational }
    }

    #[inline]
    pub(crate) fn add(&mut self, o: &Self) {
        self.mass += o.mass;
        self.first_moment += o.first_moment;
        self.rotational.add(&o.rotational);
    }

    /// Momentum about O for a velocity about O.
    #[inline]
    pub(crate) fn mul(&self, V: &Motion) -> Force {
        // [n; f] = [J H; Hᵀ m·1] [ω; v] with H = m [c]×.
        Force {
            moment: self.rotational.mul(&V.angular) + self.first_moment.cross(&V.linear),
            // Hᵀ ω = −m c × ω, because [c]× is skew.
            force: V.linear * self.mass - self.first_moment.cross(&V.angular),
        }
    }
}

/// Inertia of a subtree whose joints are free to move, about O. [Featherstone 2008, §7.1]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArticulatedInertia {
    pub(crate) rotational: Symmetric3,
    /// Coupling `H`: moment for a linear velocity.
    pub(crate) coupling: Matrix3,
    pub(crate) linear: Symmetric3,
}

impl ArticulatedInertia {
    pub(crate) const ZERO: Self = Self {
        rotational: Symmetric3::ZERO,
        coupling: Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        linear: Symmetric3::ZERO,
    };

    #[inline]
    pub(crate) fn of_rigid(inertia: &RigidInertia) -> Self {
        Self {
            rotational: inertia.rotational,
            coupling: skew(&inertia.first_moment),
            linear: Symmetric3::scalar(inertia.mass),
        }
    }

    #[inline]
    pub(crate) fn mul(&self, V: &Motion) -> Force {
        Force {
            moment: self.rotational.mul(&V.angular) + self.coupling * V.linear,
            force: self.coupling.tr_mul(&V.angular) + self.linear.mul(&V.linear),
        }
    }

    /// Product with a unit vector of the six, translations first.
    #[inline]
    pub(crate) fn column(&self, k: usize) -> Force {
        if k < 3 {
            // Columns of `[J H; Hᵀ L]`: a translation meets H and L, a turn meets J and a column of Hᵀ.
            Force::new(self.coupling.column(k).into(), self.linear.column(k))
        } else {
            let moment = self.rotational.column(k - 3);
            Force::new(moment, self.coupling.row(k - 3).transpose())
        }
    }

    /// Adds `s U Uᵀ`.
    #[inline]
    pub(crate) fn add_outer(&mut self, s: f64, U: &Force) {
        self.rotational.add_outer(s, &U.moment);
        self.linear.add_outer(s, &U.force);
        // H ← H + s n fᵀ.
        let f = U.force * s;
        for (j, fj) in [f.x, f.y, f.z].into_iter().enumerate() {
            self.coupling[(0, j)] += U.moment.x * fj;
            self.coupling[(1, j)] += U.moment.y * fj;
            self.coupling[(2, j)] += U.moment.z * fj;
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, o: &Self) {
        self.rotational.add(&o.rotational);
        self.coupling += o.coupling;
        self.linear.add(&o.linear);
    }
}
