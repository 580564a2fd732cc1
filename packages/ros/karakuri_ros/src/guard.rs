//! Turns panics of the client library into errors.
//!
//! r2r panics on an interior NUL, on a fixed-size array of another length and on bad command lines. Nothing of ours
//! may die of a message's content, so every such call goes through [`catch`].

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`; a panic inside becomes its text and is not printed.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CATCHING.get() {
                previous(info);
            }
        }));
    });
    let outer = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    CATCHING.set(outer);
    result.map_err(|payload| {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("the client library panicked");
        plain(text)
    })
}

/// First line of a panic's text, in words for the user.
fn plain(text: &str) -> String {
    if text.contains("NulError") {
        return "a string holds a NUL character".to_owned();
    }
    if text.contains("left == right") {
        return "an array has another length than its message type says".to_owned();
    }
    text.lines().next().unwrap_or_default().to_owned()
}

/// Whether `message` can be sent at all.
pub(crate) fn check<T: crate::Message>(message: &T) -> Result<(), String> {
    catch(|| drop(r2r::NativeMsg::<T>::from(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_text() {
        assert_eq!(catch(|| 3), Ok(3));
        assert_eq!(catch(|| panic!("two\nlines")), Err::<(), _>("two".to_owned()));
    }
}
