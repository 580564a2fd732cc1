//! The same bits from every build: hashes of states after runs full of contacts, as they were when this was written.
//!
//! Arithmetic and square roots are those of IEEE 754 whatever the compiler does with the rest, so a build with other
//! settings, or by another machine, gives the same bits. Sines and their like come from the system's C library, which
//! may round them in its own way, and products of large matrices are rounded once where the processor can (FMA): where either
//! differs from what the hashes were taken with, only two runs are compared with each other. `./dev test builds` compiles a second time, and compares what this prints.

use karakuri_physics::{Integrator, World, WorldSettings};

use crate::support::*;

/// Scene, integrator, hash of the state after 2 s, on x86-64.
const KNOWN: [(&str, Integrator, u64); 4] = [
    ("hand", Integrator::Default, 0xc944_657f_fe05_bf68),
    ("humanoid_fall", Integrator::Default, 0xec95_c3a8_c74f_859a),
    ("capsules", Integrator::Default, 0x261e_2713_becd_7844),
    ("anymal_momentum", Integrator::Variational, 0xc84a_5c85_727f_bb8c),
];
/// Of the sines and their like that these were taken with.
const FUNCTIONS: u64 = 0x800e_9dbd_a29a_1d30;

fn hash(bits: impl Iterator<Item = u64>) -> u64 {
    bits.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What the C library makes of a few thousand numbers.
fn functions() -> u64 {
    let numbers = (1..4000).map(|i| f64::from(i) * 7.853e-4);
    hash(numbers.flat_map(|x| {
        let wide =
            [x.sin(), x.cos(), x.tan(), x.atan(), x.atan2(1.3), x.exp(), x.ln(), x.hypot(0.7)];
        let narrow = [(0.3 * x).sin().acos(), x.powf(0.37)];
        wide.into_iter().chain(narrow).map(f64::to_bits)
    }))
}

/// Whether this is an x86-64 that multiplies and adds in one, as nearly all do.
fn fuses() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

fn after_two_seconds(name: &str, integrator: Integrator) -> u64 {
    let mut w: World = scene(name);
    w.set_settings(WorldSettings { integrator, ..*w.settings() });
    run(&mut w, 2.0);
    w.state_hash()
}

#[test]
fn states_have_the_bits_of_every_other_build() {
    let functions = std::hint::black_box(functions());
    println!("bits of functions: {functions:#018x}");
    let comparable = fuses() && functions == FUNCTIONS;
    if !comparable {
        println!("other functions than those of the known bits: two runs are compared instead");
    }
    let mut wrong = Vec::new();
    for (name, integrator, known) in KNOWN {
        let found = after_two_seconds(name, integrator);
        println!("bits of {name}, {}: {found:#018x}", integrator.name());
        let expected = if comparable { known } else { after_two_seconds(name, integrator) };
        if found != expected {
            wrong.push(format!("{name}: {found:#018x} instead of {expected:#018x}"));
        }
    }
    // After a change that is meant to move results, write the new numbers into `KNOWN`.
    assert!(wrong.is_empty(), "{wrong:#?}");
}
