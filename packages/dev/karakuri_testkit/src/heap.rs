//! Counting allocator, for tests of code that must neither allocate nor free:
//!
//! ```
//! #[global_allocator]
//! static HEAP: karakuri_testkit::CountingHeap = karakuri_testkit::CountingHeap;
//!
//! let before = karakuri_testkit::heap_requests();
//! let boxed = Box::new(1.0);
//! assert_eq!(karakuri_testkit::heap_requests() - before, 1);
//! # drop(boxed);
//! ```
#![expect(unsafe_code, reason = "a global allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Allocator of the system that counts every request.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingHeap;

thread_local! {
    static REQUESTS: Cell<usize> = const { Cell::new(0) };
}

/// Number of allocations and releases of this thread so far, where [`CountingHeap`] is the global allocator.
pub fn heap_requests() -> usize {
    REQUESTS.get()
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        REQUESTS.set(REQUESTS.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        REQUESTS.set(REQUESTS.get() + 1);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}
