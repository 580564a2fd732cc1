//! Edits: lists of operations that are all done or none.

mod entries;
mod lists;
mod motions;
mod poses;

use crate::document::Document;
use crate::op::Op;
use crate::problem::Problem;

use lists::Inverse;

impl Document {
    /// Does all operations of a list, and returns the list that undoes them; where one fails, the document stays as it was.
    ///
    /// # Errors
    /// When an operation is about what is not there, or the document would contradict itself.
    pub fn commit(&mut self, ops: &[Op]) -> Result<Vec<Op>, Problem> {
        // Inverses as they arise, each for the document right after its operation: they apply in reverse order only.
        let mut inverse: Vec<Inverse> = Vec::with_capacity(ops.len());
        for op in ops {
            match self.apply(op) {
                Ok(undo) => inverse.push(undo),
                Err(problem) => {
                    self.roll_back(inverse);
                    return Err(problem);
                }
            }
        }
        // Once after the whole list: on the way a document may contradict itself, as when a pose goes before what names it.
        if let Some(problem) = self.check().into_iter().next() {
            self.roll_back(inverse);
            return Err(problem);
        }
        Ok(inverse.into_iter().rev().flatten().collect())
    }

    fn roll_back(&mut self, inverse: Vec<Inverse>) {
        for op in inverse.into_iter().rev().flatten() {
            // An inverse is applied to the very document that it was made from, so there is nothing in it that can be missing.
            let undone = self.apply(&op);
            debug_assert!(undone.is_ok(), "{op:?} does not undo: {undone:?}");
        }
    }

    /// Does one operation and returns its inverse; changes nothing where it fails.
    fn apply(&mut self, op: &Op) -> Result<Inverse, Problem> {
        match op {
            Op::SetRobot { robot } => {
                let robot = std::mem::replace(&mut self.robot, robot.clone());
                Ok(vec![Op::SetRobot { robot }])
            }
            Op::SetUnits { units } => {
                let units = std::mem::replace(&mut self.units, *units);
                Ok(vec![Op::SetUnits { units }])
            }
            Op::SetGamepad { bindings } => {
                let bindings = std::mem::replace(&mut self.gamepad, bindings.clone());
                Ok(vec![Op::SetGamepad { bindings }])
            }
            Op::SetMirror { mirror } => {
                let mirror = std::mem::replace(&mut self.mirror, mirror.clone());
                Ok(vec![Op::SetMirror { mirror }])
            }
            Op::PutPose { .. }
            | Op::SetPoseJoints { .. }
            | Op::RemovePose { .. }
            | Op::RenamePose { .. }
            | Op::MovePose { .. } => poses::apply(self, op),
            Op::PutEntry { .. }
            | Op::RemoveEntry { .. }
            | Op::SetParameter { .. }
            | Op::InsertPanel { .. }
            | Op::PutPanel { .. }
            | Op::RemovePanel { .. }
            | Op::PutScript { .. }
            | Op::RemoveScript { .. } => entries::apply(self, op),
            _ => motions::apply(self, op),
        }
    }
}

#[cfg(test)]
mod tests;
