//! Four numbers side by side, and the little algebra that is needed on them.
//!
//! Everything is a fixed sequence of additions and multiplications without fused steps, so a result depends neither on
//! the lane it was computed in nor on the processor.

use karakuri_spatial::{Matrix3, Vector3};
use nalgebra::SimdRealField;
use simba::simd::WideF64x4;
use wide::f64x4;

/// Samples that are computed side by side.
pub(super) const LANES: usize = 4;
/// Four numbers, one a sample.
pub(super) type Lane = WideF64x4;
/// One number, or several side by side.
pub(super) trait Number: SimdRealField<Element = f64> + Copy {}
impl<T: SimdRealField<Element = f64> + Copy> Number for T {}
pub(super) type V<T> = nalgebra::Vector3<T>;
pub(super) type M<T> = nalgebra::Matrix3<T>;

#[inline(always)]
pub(super) fn lane(numbers: [f64; LANES]) -> Lane {
    WideF64x4(f64x4::new(numbers))
}

#[inline(always)]
pub(super) fn load(row: &[f64], at: usize) -> Lane {
    let run = &row[at..at + LANES];
    lane([run[0], run[1], run[2], run[3]])
}

/// Coordinate `k` of four samples, `width` numbers apart.
#[inline(always)]
pub(super) fn gather(q: &[f64], samples: [usize; LANES], width: usize, k: usize) -> Lane {
    let at = |j: usize| q[samples[j] * width + k];
    lane([at(0), at(1), at(2), at(3)])
}

#[inline(always)]
pub(super) fn store(row: &mut [f64], at: usize, x: Lane) {
    row[at..at + LANES].copy_from_slice(&x.0.to_array());
}

#[inline(always)]
pub(super) fn splat<T: Number>(v: &Vector3) -> V<T> {
    v.map(T::splat)
}

#[inline(always)]
pub(super) fn splat_matrix<T: Number>(m: &Matrix3) -> M<T> {
    m.map(T::splat)
}

/// Product `R v`.
#[inline(always)]
pub(super) fn rotate<T: Number>(R: &M<T>, v: &V<T>) -> V<T> {
    V::new(
        R.m11 * v.x + R.m12 * v.y + R.m13 * v.z,
        R.m21 * v.x + R.m22 * v.y + R.m23 * v.z,
        R.m31 * v.x + R.m32 * v.y + R.m33 * v.z,
    )
}

/// Product `Rᵀ v`.
#[inline(always)]
pub(super) fn unrotate<T: Number>(R: &M<T>, v: &V<T>) -> V<T> {
    V::new(
        R.m11 * v.x + R.m21 * v.y + R.m31 * v.z,
        R.m12 * v.x + R.m22 * v.y + R.m32 * v.z,
        R.m13 * v.x + R.m23 * v.y + R.m33 * v.z,
    )
}

/// Product `A B`.
#[inline(always)]
pub(super) fn times<T: Number>(A: &M<T>, B: &M<T>) -> M<T> {
    let column = |j: usize| rotate(A, &V::new(B[(0, j)], B[(1, j)], B[(2, j)]));
    M::from_columns(&[column(0), column(1), column(2)])
}

#[inline(always)]
pub(super) fn cross<T: Number>(a: &V<T>, b: &V<T>) -> V<T> {
    V::new(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

#[inline(always)]
pub(super) fn dot<T: Number>(a: &V<T>, b: &V<T>) -> T {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// Sine and cosine to an ulp for angles up to 1e6 rad; the standard library's beyond.
///
/// Reduction by three parts of π/2, then the polynomials of [Moshier 1992] on ±π/4.
#[inline(always)]
pub(super) fn sin_cos(x: Lane) -> (Lane, Lane) {
    /// Angle beyond which the reduction loses digits. [rad]
    const FAR: f64 = 1e6;
    /// `1.5 · 2⁵²`: its addition rounds to whole numbers, which end up in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// π/2 in parts of 30 bits, so that products with whole numbers are exact.
    const PARTS: [f64; 3] =
        [1.570_796_325_802_803, 9.920_935_791_635_221e-10, 5.170_182_981_794_105e-19];
    const SIN: [f64; 6] = [
        1.589_623_015_765_465_6e-10,
        -2.505_074_776_285_780_7e-8,
        2.755_731_362_138_572_5e-6,
        -1.984_126_982_958_954e-4,
        8.333_333_333_322_118e-3,
        -1.666_666_666_666_663e-1,
    ];
    const COS: [f64; 6] = [
        -1.135_853_652_138_768_2e-11,
        2.087_570_084_197_473e-9,
        -2.755_731_417_929_674e-7,
        2.480_158_728_885_170_4e-5,
        -1.388_888_888_887_305_6e-3,
        4.166_666_666_666_659e-2,
    ];
    let angles = x.0.to_array();
    // Asked so that NaN comes here as well, and stays NaN.
    if !angles.iter().all(|x| x.abs() < FAR) {
        let both = angles.map(f64::sin_cos);
        return (lane(both.map(|b| b.0)), lane(both.map(|b| b.1)));
    }
    let c = f64x4::splat;
    // Whole quarter turns are taken off: r = x − n π/2 in ±π/4.
    let biased = x.0 * c(core::f64::consts::FRAC_2_PI) + c(ROUND);
    let turns = biased - c(ROUND);
    // Reduction of Cody and Waite: products of whole numbers below 2²⁰ with parts of 30 bits are exact, and the largest cancels first.
    let r = ((x.0 - turns * c(PARTS[0])) - turns * c(PARTS[1])) - turns * c(PARTS[2]);
    let z = r * r;
    // sin r = r + r³ p(r²), cos r = 1 − r²/2 + r⁴ p(r²).
    let polynomial = |k: [f64; 6]| k[1..].iter().fold(c(k[0]), |p, k| p * z + c(*k));
    let sin = (r + r * z * polynomial(SIN)).to_array();
    let cos = (c(1.0) - c(0.5) * z + z * z * polynomial(COS)).to_array();
    // Odd quarters swap the two; the sign of the sine turns in the third and fourth, of the cosine in the second and
    // third.
    let quarter = biased.to_array().map(f64::to_bits);
    let pick = |k: usize, even: f64, odd: f64, ahead: u64| {
        // The low bits of the biased number are n mod 4: bit 0 swaps sine and cosine, bit 1 is the sign.
        let mask = 0_u64.wrapping_sub(quarter[k] & 1);
        let bits = (even.to_bits() & !mask) | (odd.to_bits() & mask);
        f64::from_bits(bits ^ ((quarter[k].wrapping_add(ahead) & 2) << 62))
    };
    let each = |ahead: u64, even: &[f64; 4], odd: &[f64; 4]| {
        lane(core::array::from_fn(|k| pick(k, even[k], odd[k], ahead)))
    };
    (each(0, &sin, &cos), each(1, &cos, &sin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_and_cosine_to_an_ulp() {
        let mut worst: f64 = 0.0;
        for i in -200_000..200_000 {
            let x = f64::from(i) * 1.234_567_89e-4;
            for x in [x, x * 37.0, core::f64::consts::FRAC_PI_4 * f64::from(i)] {
                let (s, c) = sin_cos(lane([x; 4]));
                let (sin, cos) = x.sin_cos();
                let off = |a: f64, b: f64| (a - b).abs();
                worst = worst.max(off(s.0.to_array()[1], sin)).max(off(c.0.to_array()[2], cos));
            }
        }
        assert!(worst < 2.5e-16, "{worst:.2e}");
        let (s, c) = sin_cos(lane([1e300, 0.0, f64::NAN, -2e7]));
        assert_eq!(s.0.to_array()[0].to_bits(), 1e300_f64.sin().to_bits());
        assert_eq!(c.0.to_array()[1].to_bits(), 1.0_f64.to_bits());
        assert!(s.0.to_array()[2].is_nan());
    }
}
