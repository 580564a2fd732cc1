//! Numbers that the study prints, to compare with. [Kume 1991]

use crate::geometry::Rectangle;

/// Table 3.2: factor of the arms' mass, arms and upper body in percent of the whole mass. The table prints the factor 14 as 12.
/// [-, %, %] (10×3)
pub const MASS_RATIOS: [[f64; 3]; 10] = [
    [0.1, 0.991, 48.63],
    [0.5, 4.77, 50.59],
    [1.0, 9.10, 52.84],
    [5.0, 33.36, 65.43],
    [10.0, 50.04, 74.08],
    [11.0, 52.42, 75.31],
    [14.0, 58.37, 78.40],
    [15.0, 60.03, 79.27],
    [20.0, 66.70, 82.73],
    [50.0, 83.35, 91.36],
];

/// Fig B-1: rate and acceleration at the end of the start's curves, before the factors: left thigh, right thigh, left shank,
/// right shank, left arm, right arm. [rad/s, rad/s²] (6×2)
pub const SPLINE_ENDS: [[f64; 2]; 6] = [
    [-0.7045, -5.9158],
    [0.6947, -4.3190],
    [1.0238, 3.3682],
    [0.1991, 8.8129],
    [0.7998, 1.1992],
    [-0.8001, -1.2052],
];

/// Table 3.5: the survey's grid of cT and of cP (from, to, step) and the number of stable starts. [rad/s³]
pub const START_SURVEYS: [([f64; 3], [f64; 3], usize); 3] = [
    ([-100.0, 100.0, 1.0], [-100.0, 100.0, 1.0], 36),
    ([-10.0, 10.0, 0.1], [-10.0, 10.0, 0.1], 64),
    ([-0.2, 0.1, 0.005], [0.0, 3.3, 0.005], 22_190),
];

/// Permitted ZMP on the left foot: region 1, the sole, and the larger region 2. [m]
pub const REGIONS: [Rectangle; 2] =
    [Rectangle { x: [-0.1, 0.2], y: [-0.08, 0.08] }, Rectangle { x: [-0.2, 0.4], y: [-0.08, 0.1] }];

/// Right edge of the ZMP's permitted region on both feet in the first surveys. [m]
pub const FIRST_RIGHT_EDGE: f64 = -0.25;

/// Survey of tables 3.4, 3.6 and 3.7, the same for both coefficients: from, to, step.
pub const COARSE: [f64; 3] = [-100.0, 100.0, 1.0];

/// Table 3.4: standstill before a start of 1 s [s], stable starts in regions 1 and 2. (5)
pub const SMOOTHED_STARTS: [(f64, [usize; 2]); 5] =
    [(0.0, [0, 0]), (0.5, [0, 0]), (1.0, [0, 4]), (1.5, [0, 2]), (2.0, [0, 0])];

/// Table 3.6: standstill after a stop of 1 s [s], stable stops in regions 1 and 2. (6)
pub const SLOW_STOPS: [(f64, [usize; 2]); 6] =
    [(0.0, [0, 0]), (0.2, [0, 0]), (0.5, [0, 0]), (1.0, [0, 13]), (1.5, [0, 0]), (2.0, [0, 0])];

/// Table 3.7: time of the stop's motion [s], stable stops in region 2 with a standstill of 0.5, 1.0 and 1.5 s and with what is
/// left of 1 s in all. (4)
pub const STOPS: [(f64, [usize; 3], Option<usize>); 4] = [
    (0.8, [66, 17, 0], Some(0)),
    (0.5, [141, 34, 18], None),
    (0.4, [164, 20, 10], Some(81)),
    (0.3, [0, 0, 0], Some(0)),
];

/// Table 3.8: the survey's grid of cT and of cP (from, to, step) and the number of stable stops in region 1. [rad/s³]
pub const STOP_SURVEYS: [([f64; 3], [f64; 3], usize); 3] = [
    ([-100.0, 100.0, 1.0], [-100.0, 100.0, 1.0], 60),
    ([-2.0, 1.0, 0.1], [12.0, 33.0, 0.1], 133),
    ([-1.6, -1.3, 0.005], [12.7, 32.5, 0.005], 70_816),
];

/// Standing ZMP with the elbows at 0.15 rad. [m] (2)
pub const STANDING_ZMP: [f64; 2] = [0.0006, -0.0850];

/// Table 3.3: θ with fixed arms, each 1/30 s. [rad] (31)
pub const FIXED_SWAY: [f64; 31] = [
    -0.0022, -0.0244, -0.0441, -0.0615, -0.0770, -0.0905, -0.1023, -0.1125, -0.1212, -0.1285,
    -0.1345, -0.1393, -0.1430, -0.1455, -0.1470, -0.1473, -0.1466, -0.1449, -0.1420, -0.1381,
    -0.1333, -0.1273, -0.1200, -0.1113, -0.1009, -0.0885, -0.0742, -0.0582, -0.0402, -0.0202,
    0.0022,
];

/// Table 3.3: θ with active arms, each 1/30 s. [rad] (31)
pub const ACTIVE_SWAY: [f64; 31] = [
    -0.0021, -0.0236, -0.0427, -0.0596, -0.0746, -0.0878, -0.0993, -0.1092, -0.1177, -0.1248,
    -0.1307, -0.1355, -0.1391, -0.1417, -0.1432, -0.1436, -0.1430, -0.1413, -0.1385, -0.1347,
    -0.1299, -0.1240, -0.1169, -0.1083, -0.0982, -0.0861, -0.0721, -0.0565, -0.0391, -0.0196,
    0.0021,
];

/// Table 3.3: φ with fixed arms, each 1/30 s. [rad] (31)
pub const FIXED_PITCH: [f64; 31] = [
    0.1783, 0.2138, 0.2321, 0.2440, 0.2550, 0.2631, 0.2630, 0.2562, 0.2445, 0.2306, 0.2170, 0.2040,
    0.1918, 0.1816, 0.1730, 0.1605, 0.1394, 0.1156, 0.0871, 0.0576, 0.0282, -0.0025, -0.0371,
    -0.0675, -0.0759, -0.0548, -0.0117, 0.0385, 0.0852, 0.1308, 0.1783,
];

/// Table 3.3: φ with active arms, each 1/30 s. [rad] (31)
pub const ACTIVE_PITCH: [f64; 31] = [
    0.1721, 0.2018, 0.2181, 0.2312, 0.2414, 0.2477, 0.2486, 0.2426, 0.2316, 0.2203, 0.2090, 0.1977,
    0.1874, 0.1789, 0.1716, 0.1611, 0.1435, 0.1238, 0.0996, 0.0737, 0.0471, 0.0195, -0.0103,
    -0.0400, -0.0525, -0.0316, 0.0099, 0.0507, 0.0897, 0.1311, 0.1721,
];
