//! Operations on what is around motions: entries of the scene, parameters, panels, scripts.

use indexmap::IndexMap;
use serde_json::Value;

use super::lists::{Before, Inverse, check_index, put, take};
use crate::document::Document;
use crate::op::{EntryList, Op};
use crate::physics_scene::{PhysicsScene, names_part};
use crate::problem::Problem;

pub(super) fn apply(document: &mut Document, op: &Op) -> Result<Inverse, Problem> {
    match op {
        Op::PutEntry { list, name, entry, index } => {
            let (list, name) = (*list, name.clone());
            let before = put(entries(&mut document.scene, list), &name, entry.clone(), *index);
            Ok(vec![match before {
                // `alone`: what names the entry was added by other operations, whose inverses take it out again.
                Before::Nothing => Op::RemoveEntry { list, name, alone: true },
                Before::Value(entry) => Op::PutEntry { list, name, entry, index: None },
            }])
        }
        // As the inverse of an addition: with all that names the body gone, later inverses would find nothing to undo.
        Op::RemoveEntry { list, name, alone: true } => {
            Ok(vec![remove_one(&mut document.scene, *list, name)?])
        }
        Op::RemoveEntry { list, name, .. } => remove_entry(&mut document.scene, *list, name),
        Op::SetParameter { name, value, index } => {
            set_parameter(&mut document.parameters, name, value.as_ref(), *index)
        }
        Op::PutScript { name, text, index } => {
            let before = put(&mut document.scripts, name, text.clone(), *index);
            let name = name.clone();
            Ok(vec![match before {
                Before::Nothing => Op::RemoveScript { name },
                Before::Value(text) => Op::PutScript { name, text, index: None },
            }])
        }
        Op::RemoveScript { name } => {
            let taken = take(&mut document.scripts, "scripts", name)?;
            let (name, index) = (name.clone(), Some(taken.index));
            Ok(vec![Op::PutScript { name, text: taken.value, index }])
        }
        Op::InsertPanel { index, panel } => {
            check_index("panels", *index, document.panels.len() + 1)?;
            document.panels.insert(*index, panel.clone());
            Ok(vec![Op::RemovePanel { index: *index }])
        }
        Op::PutPanel { index, panel } => {
            check_index("panels", *index, document.panels.len())?;
            let panel = std::mem::replace(&mut document.panels[*index], panel.clone());
            Ok(vec![Op::PutPanel { index: *index, panel }])
        }
        Op::RemovePanel { index } => {
            check_index("panels", *index, document.panels.len())?;
            let panel = document.panels.remove(*index);
            Ok(vec![Op::InsertPanel { index: *index, panel }])
        }
        // Not reached: `Document::apply` sends the operations above only.
        _ => Ok(Vec::new()),
    }
}

fn entries(scene: &mut PhysicsScene, list: EntryList) -> &mut IndexMap<String, Value> {
    match list {
        EntryList::Settings => &mut scene.settings,
        EntryList::Bodies => &mut scene.bodies,
        EntryList::Joints => &mut scene.joints,
        EntryList::Springs => &mut scene.springs,
    }
}

fn remove_entry(scene: &mut PhysicsScene, list: EntryList, name: &str) -> Result<Inverse, Problem> {
    let mut removed = vec![remove_one(scene, list, name)?];
    // A joint or spring at a body that is gone would make the scene unreadable.
    if list == EntryList::Bodies {
        for list in [EntryList::Joints, EntryList::Springs] {
            let names = entries(scene, list).iter().filter(|(_, entry)| names_part(entry, name));
            let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
            for name in names {
                removed.push(remove_one(scene, list, &name)?);
            }
        }
    }
    // The last that went comes back first: indices are those of the moment at which each went.
    removed.reverse();
    Ok(removed)
}

fn remove_one(scene: &mut PhysicsScene, list: EntryList, name: &str) -> Result<Op, Problem> {
    let at = format!("scene.{}", list.key());
    let taken = take(entries(scene, list), &at, name)?;
    let index = Some(taken.index);
    Ok(Op::PutEntry { list, name: name.to_owned(), entry: taken.value, index })
}

fn set_parameter(
    parameters: &mut IndexMap<String, Value>,
    name: &str,
    value: Option<&Value>,
    index: Option<usize>,
) -> Result<Inverse, Problem> {
    let set = |value, index| vec![Op::SetParameter { name: name.to_owned(), value, index }];
    Ok(match value {
        Some(value) => match put(parameters, name, value.clone(), index) {
            Before::Nothing => set(None, None),
            Before::Value(before) => set(Some(before), None),
        },
        // To forget what is not kept changes nothing, so nothing is to be undone.
        None if !parameters.contains_key(name) => Vec::new(),
        None => {
            let taken = take(parameters, "parameters", name)?;
            set(Some(taken.value), Some(taken.index))
        }
    })
}
