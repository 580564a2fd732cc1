//! Part of a spin that matters to the contacts of a step.

/// Speed that a spin gives to a surface, where it matters in a step, by a quarter of the half width; else none.
/// [m/s], [m], [s]; [m/s]
pub(crate) fn significant_spin_speed(speed: f64, half_width: f64, h: f64) -> f64 {
    // Small against the width, a spin leads nothing past a contact, and its speed would only widen the search.
    if h * speed > 0.25 * half_width { speed } else { 0.0 }
}
