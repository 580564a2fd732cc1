//! Changer of the tools of a cell's arm, as the node `tool_changer` and the coupling behind it.

use std::sync::Arc;

use karakuri_control::FeedforwardController;
use karakuri_grasp::pick_and_place::ArmRequest;
use karakuri_grasp::tool_change::{
    RackError, ToolChange, ToolChangeFailure, ToolChangeOrder, ToolChangeResult,
    ToolChangeSettings, ToolChangeView, ToolRack, Work,
};
use karakuri_hardware::{RobotLayout, RobotState};
use karakuri_model::Model;
use karakuri_simulation::SimulatedWorld;
use karakuri_spatial::Time;

use crate::arm::Arm;
use crate::measured::{Instant, Measured};

/// Samples for which the controller is away: in the first one the change hears that the tool is coupled, in the second one it looks for the controller.
const AWAY: u32 = 2;

/// Changer of the tools of a cell's arm.
#[derive(Debug, Clone)]
pub struct ToolChanger {
    rack: ToolRack,
    /// Name of the link that carries the tools.
    flange: String,
    /// Index of the wrist's sensor in a sample, by which tools are weighed.
    wrist: Option<usize>,
    arm: Arm,
    change: Option<Change>,
}

#[derive(Debug, Clone)]
struct Change {
    run: ToolChange,
    begun: Time,
    coupling: Coupling,
    /// Samples for which the controller of the robot with the tool that was coupled is still away.
    controller_away: u32,
}

/// What became of what the coupling was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Coupling {
    /// Nothing yet.
    Pending,
    Done,
    /// It was refused, for this reason.
    Refused(String),
}

/// What a tick of the changer asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// Nothing.
    Nothing,
    /// This tool on the flange.
    Couple(String),
    /// The end of the change.
    End(ToolChangeResult),
}

impl ToolChanger {
    /// Changer of a world's tools; `None` where it has none.
    ///
    /// # Errors
    /// When the tools are no rack.
    pub(crate) fn new(
        io: &SimulatedWorld,
        layout: &RobotLayout,
    ) -> Result<Option<Self>, RackError> {
        let Some((flange, tools)) = io.tools() else { return Ok(None) };
        let rack = ToolRack::new(&flange, tools)?;
        let mut changer = Self { rack, flange, wrist: None, arm: Arm::default(), change: None };
        changer.find_wrist(layout)?;
        Ok(Some(changer))
    }

    fn find_wrist(&mut self, layout: &RobotLayout) -> Result<(), RackError> {
        let name = self.rack.sensor()?;
        self.wrist = layout.wrenches.iter().position(|wrench| wrench.name == name);
        Ok(())
    }

    /// Names of all tools, the bare arm among them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rack.names()
    }

    /// Robots with a hand, by the names of their tools.
    pub(crate) fn hands(&self) -> impl Iterator<Item = (&str, &Arc<Model>)> {
        let hands = self.rack.tools().iter().filter(|tool| tool.model.end_effector.is_some());
        hands.map(|tool| (tool.name.as_str(), &tool.model))
    }

    /// Whether a change is under way.
    pub fn is_busy(&self) -> bool {
        self.change.is_some()
    }

    /// Name of what it is doing; `None` where it does nothing.
    pub(crate) fn stage(&self) -> Option<&'static str> {
        self.change.as_ref().map(|change| change.run.stage().name())
    }

    /// Begins a change from what is on the flange to another tool.
    ///
    /// # Errors
    /// The failure and its sentence, when a tool is unknown or a place is not reached.
    pub(crate) fn start(
        &mut self,
        [present, desired]: [&str; 2],
        layout: &RobotLayout,
        at: &Instant<'_>,
        settings: ToolChangeSettings,
    ) -> Result<(), (ToolChangeFailure, String)> {
        let [q, _] = self.bare(layout, at.measured);
        let now = at.now;
        let run = ToolChange::start(&mut self.rack, [present, desired], &q, settings)?;
        let (coupling, controller_away) = (Coupling::Pending, 0);
        self.change = Some(Change { run, begun: now, coupling, controller_away });
        Ok(())
    }

    /// Name of the link that carries the tools.
    pub(crate) fn flange(&self) -> &str {
        &self.flange
    }

    /// Takes the coupling's answer: why it refused, or nothing where the robot has the tool that was asked for.
    pub(crate) fn hear_coupling(&mut self, refused: Option<String>, layout: &RobotLayout) {
        let found = self.find_wrist(layout);
        if let Some(change) = &mut self.change {
            change.controller_away = if refused.is_none() { AWAY } else { 0 };
            let refused = refused.or_else(|| found.err().map(|why| why.to_string()));
            change.coupling = refused.map_or(Coupling::Done, Coupling::Refused);
        }
    }

    /// Takes what became of the arm's trajectory from what the controller's last update says.
    pub(crate) fn hear(&mut self, controller: &FeedforwardController) {
        self.arm.hear(controller);
    }

    pub(crate) fn cancel(&mut self) {
        if let Some(change) = &mut self.change {
            change.run.cancel();
        }
    }

    /// Indices of the arm's joints, which are there with every tool, in a robot's layout. (n joints of the arm)
    pub(crate) fn arm_joints(&self, layout: &RobotLayout) -> Vec<usize> {
        let index = |name: &String| layout.joints.iter().position(|own| own.name == *name);
        self.rack.bare().joints.iter().filter_map(|joint| index(&joint.name)).collect()
    }

    /// Positions (nq) and velocities (nv) of the bare arm. (2)
    fn bare(&self, layout: &RobotLayout, measured: &Measured) -> [Vec<f64>; 2] {
        let bare = self.rack.bare();
        let (mut q, mut v) = (bare.neutral_position(), vec![0.0; bare.nv]);
        for joint in &bare.joints {
            if let Some(own) = layout.joints.iter().find(|own| own.name == joint.name) {
                q[joint.q_start] = measured.q[own.q];
                v[joint.v_start] = measured.v[own.v];
            }
        }
        [q, v]
    }

    /// Takes a sample of the robot with `tool` on its flange.
    pub(crate) fn tick(
        &mut self,
        at: &Instant<'_>,
        layout: &RobotLayout,
        tool: &str,
        controller: &mut FeedforwardController,
    ) -> Asked {
        if self.change.is_none() {
            return Asked::Nothing;
        }
        let [q, v] = self.bare(layout, at.measured);
        let Some(change) = &mut self.change else { return Asked::Nothing };
        let RobotState { wrenches, .. } = at.sample;
        let view = ToolChangeView {
            wall: at.now.seconds_since(change.begun),
            time: at.now,
            q: &q,
            v: &v,
            is_silent: false,
            wrench: self.wrist.map(|i| (at.now, wrenches[i])),
            arm: self.arm.work(),
            coupling: match &change.coupling {
                Coupling::Pending => Work::Pending,
                Coupling::Done => Work::Done,
                Coupling::Refused(why) => Work::Refused(why),
            },
            tool,
            is_its_robot: true,
            has_controller: change.controller_away == 0,
        };
        change.controller_away = change.controller_away.saturating_sub(1);
        match change.run.tick(&mut self.rack, &view) {
            None => Asked::Nothing,
            Some(ToolChangeOrder::Follow(trajectory)) => {
                self.arm.request(&ArmRequest::Follow(trajectory), controller, at.now);
                Asked::Nothing
            }
            Some(ToolChangeOrder::Stop) => {
                self.arm.request(&ArmRequest::Stop, controller, at.now);
                Asked::Nothing
            }
            Some(ToolChangeOrder::Couple(name)) => {
                change.coupling = Coupling::Pending;
                Asked::Couple(name)
            }
            Some(ToolChangeOrder::End(result)) => {
                self.change = None;
                Asked::End(result)
            }
        }
    }
}
