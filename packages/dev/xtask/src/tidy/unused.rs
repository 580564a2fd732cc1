//! Public items of libraries have a user: a program, a node, or another library. A test does not count.
//!
//! An item counts as used where its name stands in code outside of tests, apart from its definition and from `use`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::source::code_lines;
use super::{Source, Violation};

/// Items that a library offers to programs of others, by the file's end and the item, each with its reason.
const OFFERED: &[(&str, &str, &str)] = &[
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
    ("karakuri_grasp/src/suction/leak.rs", "add_porous", "the suction hand, still to be built"),
    ("karakuri_grasp/src/suction/seal.rs", "is_tight", "the suction hand, still to be built"),
    (
        "karakuri_grasp/src/underactuated.rs",
        "pinch_holds",
        "underactuated hands, still to be built",
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
    ("karakuri_physics/src/batch.rs", "worlds_mut", "each world of a batch gets its own commands"),
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
    ("karakuri_serial/src/codec/robotiq/registers.rs", "speed_byte", "a host commands in m/s"),
    ("karakuri_serial/src/codec/robotiq/registers.rs", "force_byte", "a host commands in N"),
    ("karakuri_serial/src/emulator/in_process.rs", "looking_every", "how long exchanges take"),
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

const THIS_FILE: &str = "packages/dev/xtask/src/tidy/unused.rs";
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

/// Checks all libraries, and that each entry of the list is needed.
pub(super) fn check(sources: &[Source], found: &mut Vec<Violation>) {
    check_against(OFFERED, sources, found);
}

fn check_against(offered: &[(&str, &str, &str)], sources: &[Source], found: &mut Vec<Violation>) {
    let mut is_needed = vec![false; offered.len()];
    let codes: Vec<(&Source, String)> = sources
        .iter()
        .filter(|source| source.has_extension("rs") && !source.is_test())
        // The list of offered items does not use them.
        .filter(|source| source.path != THIS_FILE)
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
            let entry =
                offered.iter().position(|(file, item, _)| path.ends_with(file) && *item == name);
            if let Some(entry) = entry {
                is_needed[entry] = true;
            } else {
                let message = format!(
                    "nothing but tests uses `{name}`: remove it, give it its user, or list it in `xtask`'s \
                     `unused.rs` with the reason why it is offered"
                );
                found.push(Violation::new(path, line, message));
            }
        }
    }
    for ((file, item, _), is_needed) in offered.iter().zip(is_needed) {
        if !is_needed {
            let message = format!(
                "`{file}` has no `{item}` that lacks a user: remove the entry from the list of what is offered"
            );
            found.push(Violation::new(THIS_FILE, line_of(item, sources), message));
        }
    }
}

/// Line of an entry of the list in this file.
fn line_of(item: &str, sources: &[Source]) -> usize {
    let this = sources.iter().find(|source| source.path == THIS_FILE);
    let quoted = format!("\"{item}\"");
    let before =
        this.and_then(|this| this.text.split_once(&quoted)).map_or("", |(before, _)| before);
    before.matches('\n').count() + 1
}

/// Code without comments, tests and `use`, line by line.
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
        unused_unless(&[], files)
    }

    fn unused_unless(offered: &[(&str, &str, &str)], files: &[(&str, &str)]) -> Vec<String> {
        let source = |(path, text): &(&str, &str)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        let mut found = Vec::new();
        let files: Vec<_> = files.iter().map(source).collect();
        check_against(offered, &files, &mut found);
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

    #[test]
    fn what_is_listed_must_be_there_without_a_user() {
        let user = ("packages/nodes/y/src/main.rs", "fn main() { x::two(); }\n");
        let list = (THIS_FILE, "const OFFERED: [&str; 1] = [\"one\"];\n");
        let files = [LIBRARY, user, list];
        let listed = |item| unused_unless(&[("x/src/a.rs", item, "a reason")], &files);
        assert!(listed("one").is_empty(), "{:?}", listed("one"));
        for stale in ["two", "three"] {
            let said = listed(stale);
            assert_eq!(said.len(), 2, "{said:?}");
            assert!(said[1].contains(&format!("`x/src/a.rs` has no `{stale}`")), "{said:?}");
        }
    }
}
