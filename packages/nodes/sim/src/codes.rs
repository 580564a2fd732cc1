//! Constants of `simulation_interfaces`, in the types of the fields that hold them.

use karakuri_ros::msg::simulation_interfaces::msg::{
    Bounds, EntityCategory, Result as Outcome, SimulationState, SimulatorFeatures as Feature,
    SpawnResult,
};
use karakuri_ros::msg::simulation_interfaces::srv::{
    ResetSimulation, SetEntityState, SetSimulationState,
};

/// Codes of a `Result`: those of any service, then those of one.
pub(crate) mod result {
    use super::{Outcome, SetEntityState, SetSimulationState};

    pub(crate) const FEATURE_UNSUPPORTED: u8 = Outcome::RESULT_FEATURE_UNSUPPORTED as u8;
    pub(crate) const OK: u8 = Outcome::RESULT_OK as u8;
    pub(crate) const NOT_FOUND: u8 = Outcome::RESULT_NOT_FOUND as u8;
    pub(crate) const INCORRECT_STATE: u8 = Outcome::RESULT_INCORRECT_STATE as u8;
    pub(crate) const OPERATION_FAILED: u8 = Outcome::RESULT_OPERATION_FAILED as u8;
    pub(crate) const INVALID_POSE: u8 = SetEntityState::Response::INVALID_POSE as u8;
    pub(crate) const ALREADY_IN_TARGET_STATE: u8 =
        SetSimulationState::Response::ALREADY_IN_TARGET_STATE as u8;
    pub(crate) const STATE_TRANSITION_ERROR: u8 =
        SetSimulationState::Response::STATE_TRANSITION_ERROR as u8;
    pub(crate) const INCORRECT_TRANSITION: u8 =
        SetSimulationState::Response::INCORRECT_TRANSITION as u8;
}

/// Codes of a `Result` of `SpawnEntity`.
pub(crate) mod spawn {
    use super::SpawnResult;

    pub(crate) const NAME_NOT_UNIQUE: u8 = SpawnResult::NAME_NOT_UNIQUE as u8;
    pub(crate) const NAME_INVALID: u8 = SpawnResult::NAME_INVALID as u8;
    pub(crate) const UNSUPPORTED_FORMAT: u8 = SpawnResult::UNSUPPORTED_FORMAT as u8;
    pub(crate) const NO_RESOURCE: u8 = SpawnResult::NO_RESOURCE as u8;
    pub(crate) const NAMESPACE_INVALID: u8 = SpawnResult::NAMESPACE_INVALID as u8;
    pub(crate) const RESOURCE_PARSE_ERROR: u8 = SpawnResult::RESOURCE_PARSE_ERROR as u8;
    pub(crate) const MISSING_ASSETS: u8 = SpawnResult::MISSING_ASSETS as u8;
    pub(crate) const UNSUPPORTED_ASSETS: u8 = SpawnResult::UNSUPPORTED_ASSETS as u8;
    pub(crate) const INVALID_POSE: u8 = SpawnResult::INVALID_POSE as u8;
}

/// States of a `SimulationState`.
pub(crate) mod state {
    use super::SimulationState;

    pub(crate) const STOPPED: u8 = SimulationState::STATE_STOPPED as u8;
    pub(crate) const PLAYING: u8 = SimulationState::STATE_PLAYING as u8;
    pub(crate) const PAUSED: u8 = SimulationState::STATE_PAUSED as u8;
    pub(crate) const QUITTING: u8 = SimulationState::STATE_QUITTING as u8;
}

/// Bits of the scope of `ResetSimulation`.
pub(crate) mod scope {
    use super::ResetSimulation::Request;

    pub(crate) const DEFAULT: u8 = Request::SCOPE_DEFAULT as u8;
    pub(crate) const TIME: u8 = Request::SCOPE_TIME as u8;
    pub(crate) const STATE: u8 = Request::SCOPE_STATE as u8;
    pub(crate) const SPAWNED: u8 = Request::SCOPE_SPAWNED as u8;
    pub(crate) const ALL: u8 = Request::SCOPE_ALL as u8;
}

/// Categories of an `EntityCategory`.
pub(crate) mod category {
    use super::EntityCategory;

    pub(crate) const ROBOT: u8 = EntityCategory::CATEGORY_ROBOT as u8;
    pub(crate) const DYNAMIC_OBJECT: u8 = EntityCategory::CATEGORY_DYNAMIC_OBJECT as u8;
    pub(crate) const STATIC_OBJECT: u8 = EntityCategory::CATEGORY_STATIC_OBJECT as u8;
}

/// Types of `Bounds`.
pub(crate) mod bounds {
    use super::Bounds;

    pub(crate) const EMPTY: u8 = Bounds::TYPE_EMPTY as u8;
    pub(crate) const SPHERE: u8 = Bounds::TYPE_SPHERE as u8;
}

/// Features that `get_simulator_features` lists.
pub(crate) const FEATURES: [u16; 17] = [
    Feature::SPAWNING as u16,
    Feature::DELETING as u16,
    Feature::ENTITY_CATEGORIES as u16,
    Feature::SPAWNING_RESOURCE_STRING as u16,
    Feature::ENTITY_STATE_GETTING as u16,
    Feature::ENTITY_STATE_SETTING as u16,
    Feature::ENTITY_INFO_GETTING as u16,
    Feature::SIMULATION_RESET as u16,
    Feature::SIMULATION_RESET_TIME as u16,
    Feature::SIMULATION_RESET_STATE as u16,
    Feature::SIMULATION_RESET_SPAWNED as u16,
    Feature::SIMULATION_STATE_GETTING as u16,
    Feature::SIMULATION_STATE_SETTING as u16,
    Feature::SIMULATION_STATE_PAUSE as u16,
    Feature::STEP_SIMULATION_SINGLE as u16,
    Feature::STEP_SIMULATION_MULTIPLE as u16,
    Feature::STEP_SIMULATION_ACTION as u16,
];
