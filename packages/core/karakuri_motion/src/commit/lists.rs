//! Named things in their order: what operations do to a list, and what undoes it.

use indexmap::IndexMap;

use crate::op::Op;
use crate::problem::{Code, Problem};

/// Operations that undo what an operation did, in their order.
pub(super) type Inverse = Vec<Op>;

/// What a map had under a name.
pub(super) enum Before<T> {
    /// Nothing.
    Nothing,
    /// This, which was replaced.
    Value(T),
}

/// Adds under a name, at an index or the end, or replaces what has it.
pub(super) fn put<T>(
    map: &mut IndexMap<String, T>,
    name: &str,
    value: T,
    index: Option<usize>,
) -> Before<T> {
    if let Some(place) = map.get_mut(name) {
        return Before::Value(std::mem::replace(place, value));
    }
    // Beyond the end means the end: an index of a new entry is a wish, that of an existing one is checked.
    let index = index.map_or(map.len(), |index| index.min(map.len()));
    // Shifted, not swapped: the order of the others is what the file and the lists on a screen show.
    map.shift_insert(index, name.to_owned(), value);
    Before::Nothing
}

/// Takes out what has a name, with its index.
pub(super) fn take<T>(
    map: &mut IndexMap<String, T>,
    at: &str,
    name: &str,
) -> Result<Taken<T>, Problem> {
    let index = find(map, at, name)?;
    match map.shift_remove_index(index) {
        Some((_, value)) => Ok(Taken { index, value }),
        // Not reached, as `find` gave the index; without a panic in a library.
        None => Err(missing(map, at, name)),
    }
}

/// What was taken out of a map, and from where.
pub(super) struct Taken<T> {
    pub(super) index: usize,
    pub(super) value: T,
}

/// Index of a name.
pub(super) fn find<T>(map: &IndexMap<String, T>, at: &str, name: &str) -> Result<usize, Problem> {
    map.get_index_of(name).ok_or_else(|| missing(map, at, name))
}

/// Gives what has a name another one, in its place.
pub(super) fn rename<T>(
    map: &mut IndexMap<String, T>,
    at: &str,
    name: &str,
    to: &str,
) -> Result<(), Problem> {
    find(map, at, name)?;
    // A new name that is the old one is not taken by another thing.
    if name == to {
        return Ok(());
    }
    if map.contains_key(to) {
        let problem = Problem::new(Code::Taken, format!("{at}.{to}"), format!("`{to}` is taken"));
        return Err(problem.remedy("choose another name"));
    }
    let Taken { index, value } = take(map, at, name)?;
    map.shift_insert(index, to.to_owned(), value);
    Ok(())
}

/// Checks that nothing still names what a new name would be: renamed back, it would take these with it.
pub(super) fn check_unused(at: &str, to: &str, is_used: bool) -> Result<(), Problem> {
    if !is_used {
        return Ok(());
    }
    let message = format!("`{to}` is still named, though it is not there");
    let problem = Problem::new(Code::InUse, format!("{at}.{to}"), message);
    Err(problem.remedy("rename before what has the name goes"))
}

/// Moves what has a name to an index; returns where it was.
pub(super) fn shift<T>(
    map: &mut IndexMap<String, T>,
    at: &str,
    name: &str,
    to: usize,
) -> Result<usize, Problem> {
    let from = find(map, at, name)?;
    check_index(at, to, map.len())?;
    map.move_index(from, to);
    Ok(from)
}

fn missing<T>(map: &IndexMap<String, T>, at: &str, name: &str) -> Problem {
    let problem = Problem::new(
        Code::Missing,
        format!("{at}.{name}"),
        format!("there is no `{name}` in {at}"),
    );
    // Twenty names show what kind of names there are; a document may have hundreds.
    let known: Vec<&str> = map.keys().map(String::as_str).take(20).collect();
    problem.remedy(if known.is_empty() {
        "add it first".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    })
}

/// Checks that an index is below a number.
pub(super) fn check_index(at: &str, index: usize, n: usize) -> Result<(), Problem> {
    if index < n {
        return Ok(());
    }
    let problem =
        Problem::new(Code::Missing, format!("{at}[{index}]"), format!("there is no {at}[{index}]"));
    Err(problem.remedy(match n {
        0 => "there is none".to_owned(),
        _ => format!("write an index from 0 to {}", n - 1),
    }))
}

/// Sets and takes out joints.
pub(super) fn set_joints(
    joints: &mut IndexMap<String, f64>,
    changes: &IndexMap<String, Option<f64>>,
) {
    for (joint, value) in changes {
        match value {
            Some(value) => {
                joints.insert(joint.clone(), *value);
            }
            None => {
                // Missing is fine: to take out what is not there leaves what was asked for.
                joints.shift_remove(joint);
            }
        }
    }
}
