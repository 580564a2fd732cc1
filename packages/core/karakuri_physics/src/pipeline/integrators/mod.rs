//! Integrators of positions and velocities.
//!
//! A coordinate that a row acts on, or that has a servo or a damper, advances by semi-implicit Euler: the new
//! velocity from the implicit operator, then `q' = q ⊞ h v'`. Free motion needs no such care and is integrated
//! better:
//!
//! | name | a tree in free motion | order | kept |
//! | --- | --- | --- | --- |
//! | `default` | symmetric midpoint, [`midpoint`] | 2 | time symmetry, so no energy drift |
//! | `rk4` | Runge-Kutta-Munthe-Kaas, [`runge_kutta`]; servos and dampers too while they are soft | 4 | – |
//! | `variational` | discrete Euler-Lagrange equations, [`variational`]; servos and dampers too while they are soft | 2 | the symplectic form; momentum to round-off, contacts or not, and in flight the path of the centre of mass; energy but for a bounded oscillation |
//! | `momentum` | as `default`, then [`momentum`] | 2 | momentum of floating trees to round-off, contacts or not; in flight, [`flight`], the path of the centre of mass |
//!
//! A floating tree in contact that moves far in a step keeps its momentum by default too; see [`momentum`].
//!
//! A free body in free motion moves by `h (v + v')/2`, exact for constant forces, and turns by the Cayley map of its
//! midpoint rate, which keeps its kinetic energy and its angular momentum in the world to round-off.
//! [Hairer 2006, §VII.5]

pub(crate) mod flight;
mod midpoint;
mod momentum;
mod runge_kutta;
mod variational;
