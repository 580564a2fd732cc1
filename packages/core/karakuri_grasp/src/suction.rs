//! Suction: what a cup bears, where its lip seals, how much air leaks in, and the vacuum that a generator keeps against that.
//!
//! The vacuum `u` is the atmosphere's pressure less that in the cup. Over the effective area `A` it pulls cup and object together
//! with `V = u A`; the world gives the contact between both (`World::attach_suction`). Flows are volumes of air at the atmosphere's
//! pressure. Units: SI; m, N, Pa, m³/s.

pub mod cup;
pub mod leak;
pub mod seal;
pub mod vacuum;
