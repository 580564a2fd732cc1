//! Slopes of a cubic curve that does not overshoot.

use crate::motion::Key;

/// Slopes at keys: weighted harmonic means of the chords beside them, zero where these differ in sign [Fritsch 1984]; at the ends
/// by three points, held within what keeps the curve monotone [Moler 2004, §3.4].
pub(super) fn monotone(keys: &[Key]) -> Vec<f64> {
    let chords: Vec<Chord> = keys
        .windows(2)
        .map(|pair| {
            let length = pair[1].t - pair[0].t;
            Chord { length, slope: (pair[1].y - pair[0].y) / length }
        })
        .collect();
    match &chords[..] {
        [] => vec![0.0; keys.len()],
        // Two keys: a straight line, as nothing says how it should bend.
        [only] => vec![only.slope; 2],
        [first, second, ..] => {
            let n = chords.len();
            let mut slopes = vec![end(first, second)];
            slopes.extend(chords.windows(2).map(|pair| middle(&pair[0], &pair[1])));
            slopes.push(end(&chords[n - 1], &chords[n - 2]));
            slopes
        }
    }
}

struct Chord {
    length: f64,
    slope: f64,
}

fn middle(before: &Chord, after: &Chord) -> f64 {
    // The key is an extreme of the keys, or beside a level: with any slope but zero the curve would pass it.
    if before.slope * after.slope <= 0.0 {
        return 0.0;
    }
    // The mean is at most three times the smaller chord, for which a cubic is monotone; the shorter interval weighs more.
    let (w1, w2) = (2.0 * after.length + before.length, after.length + 2.0 * before.length);
    (w1 + w2) / (w1 / before.slope + w2 / after.slope)
}

/// Slope at the outer end of a chord, with the next chord inside.
fn end(outer: &Chord, inner: &Chord) -> f64 {
    let (h0, h1) = (outer.length, inner.length);
    // Slope at the end of the parabola through the last three keys.
    let slope = ((2.0 * h0 + h1) * outer.slope - h0 * inner.slope) / (h0 + h1);
    // Against its own chord the curve would leave the key the wrong way.
    if slope * outer.slope <= 0.0 {
        0.0
    // The chords turn: three times the outer one is the most with which its interval stays monotone.
    } else if outer.slope * inner.slope <= 0.0 && slope.abs() > 3.0 * outer.slope.abs() {
        3.0 * outer.slope
    } else {
        slope
    }
}
