//! Public items of libraries have a user: a program, a node, or another library. A test is none.
//!
//! An item counts as used where its name stands in code outside of tests, apart from its definition and from `use`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::source::code_lines;
use super::{Source, Violation};

/// What a library offers to programs of others, by the file's end and the item, each with its reason.
const OFFERED: &[(&str, &str, &str)] = &[
    (
        "karakuri_collision/src/query.rs",
        "contact_polygon",
        "all corners of a contact patch, for planners of others",
    ),
    (
        "karakuri_control/src/joint_trajectory.rs",
        "active_goal",
        "what a controller of one thread shows of itself",
    ),
    (
        "karakuri_control/src/joint_trajectory.rs",
        "check_goal",
        "a controller of one thread checks before it accepts",
    ),
    (
        "karakuri_control/src/joint_trajectory.rs",
        "is_speed_limited",
        "what a controller of one thread shows of itself",
    ),
    ("karakuri_control/src/time.rs", "from_seconds", "the other direction of `seconds`"),
    ("karakuri_dynamics/src/articulated.rs", "body_response", "effective mass at a link"),
    ("karakuri_dynamics/src/articulated.rs", "impulse_response", "effective mass at joints"),
    ("karakuri_dynamics/src/couplings.rs", "reduce_mass_matrix", "mass matrix of a coupled robot"),
    (
        "karakuri_dynamics/src/derivatives.rs",
        "aba_derivatives",
        "linearisation for optimal control and estimators",
    ),
    (
        "karakuri_dynamics/src/forward.rs",
        "aba_at_velocity",
        "forward dynamics at another velocity, for integrators of others",
    ),
    (
        "karakuri_dynamics/src/frames.rs",
        "frame_jacobian_rate",
        "acceleration of a frame in operational space",
    ),
    (
        "karakuri_dynamics/src/rnea.rs",
        "gravity_effort",
        "gravity compensation, the first thing a new controller needs",
    ),
    (
        "karakuri_gait/src/compensation/published.rs",
        "FINAL_BOX",
        "a table of the study, which its test looks up",
    ),
    (
        "karakuri_gait/src/planner/dcm.rs",
        "plan_backwards",
        "the definition that the pendulum's closed form is held against",
    ),
    (
        "karakuri_gait/src/planner/engine.rs",
        "yielded",
        "how far the soles gave way, for what shows or judges a walk",
    ),
    (
        "karakuri_model/src/builder.rs",
        "ignore_contact",
        "robots built in code say what their YAML would",
    ),
    (
        "karakuri_model/src/builder.rs",
        "keep_contact",
        "robots built in code say what their YAML would",
    ),
    (
        "karakuri_model/src/load.rs",
        "with_config",
        "the README's way in; our programs load by file name",
    ),
    ("karakuri_physics/src/batch.rs", "worlds_mut", "each world of a batch gets its own commands"),
    (
        "karakuri_physics/src/world/materials.rs",
        "set_mixing",
        "the rule for pairs of materials, for worlds built in code",
    ),
    (
        "karakuri_physics/src/world/motors.rs",
        "add_motor",
        "worlds built in code add what scenes add",
    ),
    (
        "karakuri_physics/src/world/motors.rs",
        "enable_motor",
        "worlds built in code switch their motors",
    ),
    (
        "karakuri_physics/src/world/motors.rs",
        "motor_command_mut",
        "worlds built in code command their motors",
    ),
    ("karakuri_physics/src/world/pushes.rs", "remove_push", "what is added can be removed"),
    (
        "karakuri_physics/src/world/queries.rs",
        "set_center_of_mass",
        "places a robot by its centre of mass",
    ),
    ("karakuri_physics/src/world/springs.rs", "remove_spring", "what is added can be removed"),
    (
        "karakuri_spatial/src/inertia.rs",
        "mul_motion",
        "momentum of a body, one of the type's products",
    ),
    (
        "karakuri_spatial/src/pose.rs",
        "inverse_transform_force",
        "the other direction of `transform_force`",
    ),
    (
        "karakuri_spatial/src/pose.rs",
        "inverse_transform_motion",
        "the other direction of `transform_motion`",
    ),
    (
        "karakuri_spatial/src/pose.rs",
        "transform_motion",
        "a motion in another frame, one of the type's products",
    ),
];

/// Folders of libraries.
const LIBRARIES: [&str; 3] = ["packages/core/", "packages/io/", "packages/ros/karakuri_ros/"];
/// Folders of test code that has no `tests` in its path.
const TEST_CODE: [&str; 2] = ["/benches/", "/karakuri_testkit/"];

static PUBLIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^\s*pub (?:const |unsafe |async )?(?:fn|struct|enum|trait|const|static|type) (\w+)",
    )
    .ok()
});
static USE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use [^;]+;").ok());
static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\b[A-Za-z_]\w*").ok());

/// Checks all libraries.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    let codes: Vec<(&Source, String)> = sources
        .iter()
        .filter(|source| source.has_extension("rs") && !source.is_test())
        .filter(|source| !TEST_CODE.iter().any(|folder| source.path.contains(folder)))
        .map(|source| (source, code(&source.text)))
        .collect();
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, code) in &codes {
        for name in NAME.iter().flat_map(|pattern| pattern.find_iter(code)) {
            *named.entry(name.as_str()).or_default() += 1;
        }
    }
    let mut defined: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for (source, code) in &codes {
        if !LIBRARIES.iter().any(|folder| source.path.starts_with(folder)) {
            continue;
        }
        for captured in PUBLIC.iter().flat_map(|pattern| pattern.captures_iter(code)) {
            let Some(name) = captured.get(1) else { continue };
            let line = code[..name.start()].matches('\n').count() + 1;
            defined.entry(name.as_str()).or_default().push((&source.path, line));
        }
    }
    for (name, places) in defined {
        if named.get(name).is_some_and(|count| *count > places.len()) {
            continue;
        }
        for (path, line) in places {
            let is_offered =
                OFFERED.iter().any(|(file, item, _)| path.ends_with(file) && *item == name);
            if !is_offered {
                let message = format!(
                    "nothing but tests uses `{name}`: remove it, give it its user, or list it in `xtask`'s \
                     `unused.rs` with the reason why it is offered"
                );
                found.push(Violation::new(path, line, message));
            }
        }
    }
}

/// Without comments, tests and `use`, line by line.
fn code(text: &str) -> String {
    let lines = text.lines().take(code_lines(text));
    let code: String =
        lines.flat_map(|line| [line.split("//").next().unwrap_or(""), "\n"]).collect();
    let blank = |found: &regex::Captures<'_>| "\n".repeat(found[0].matches('\n').count());
    USE.as_ref().map(|pattern| pattern.replace_all(&code, blank).into_owned()).unwrap_or(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unused(files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let mut found = Vec::new();
        check(&files.iter().map(source).collect::<Vec<_>>(), &mut found);
        found.iter().map(ToString::to_string).collect()
    }

    const LIBRARY: (&str, &str) = (
        "packages/core/x/src/a.rs",
        "use std::{\n    mem,\n};\npub fn one() {}\n/// Not `one`.\npub fn two() {}\n",
    );

    #[test]
    fn what_nothing_uses_is_found() {
        let user = ("packages/nodes/y/src/main.rs", "fn main() { x::two(); }\n");
        let said = unused(&[LIBRARY, user]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("packages/core/x/src/a.rs:4: nothing but tests uses `one`"),
            "{said:?}"
        );
    }

    #[test]
    fn tests_and_exports_are_no_users() {
        let test = ("packages/core/x/tests/b.rs", "fn t() { x::one(); x::two(); }\n");
        let export = ("packages/core/x/src/lib.rs", "pub use a::{one, two};\n");
        let inside = (
            "packages/core/x/src/c.rs",
            "fn c() {}\n#[cfg(test)]\nmod tests {\n    fn t() { one(); }\n}\n",
        );
        assert_eq!(unused(&[LIBRARY, test, export, inside]).len(), 2);
    }
}
