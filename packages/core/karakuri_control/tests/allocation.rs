//! No method of inverse dynamics allocates once it exists: every request to the heap is counted.
#![expect(unsafe_code, reason = "a global allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use karakuri_control::inverse_dynamics::{METHODS, Motion, method};
use karakuri_model::Base;
use karakuri_spatial::Pose;
use karakuri_testkit::{Kind, Random, random_position, random_tree, random_vector};

struct Counting;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.set(REQUESTS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static HEAP: Counting = Counting;

#[test]
fn no_method_allocates() {
    let model = random_tree(3, 12, Base::Fixed(Pose::IDENTITY), Kind::ALL);
    let mut random = Random::new(3);
    let q = random_position(&model, &mut random);
    let [v, vdot] = [(); 2].map(|()| random_vector(model.nv, &mut random));
    let (driven, mut tau) = (vec![true; model.nv], vec![0.0; model.nv]);
    for name in METHODS {
        let mut method = method(name, &model).unwrap();
        let before = REQUESTS.get();
        method.efforts(&model, &Motion { q: &q, v: &v, vdot: &vdot, driven: &driven }, &mut tau);
        assert_eq!(REQUESTS.get() - before, 0, "{name} allocates");
    }
}
