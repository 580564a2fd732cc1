//! The same files come to the same command lines as in ROS 2; see `golden/README.md`.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as the tests do")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use karakuri_launch::{Environment, Machine, Process, Word, evaluate};
use serde_json::{Value, json};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn compare(case: &str) {
    let folder = golden();
    let environment: Environment = [
        ("AMENT_PREFIX_PATH".to_owned(), folder.join("prefix").display().to_string()),
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
    ]
    .into();
    let file = folder.join(format!("{case}.launch.xml"));
    let plan = evaluate(&file, &BTreeMap::new(), &environment, &Machine).unwrap();
    let text = std::fs::read_to_string(folder.join(format!("{case}.json"))).unwrap();
    let expected: Vec<Value> = serde_json::from_str(&text).unwrap();
    let processes = plan.processes();
    assert_eq!(processes.len(), expected.len());
    for (process, expected) in processes.into_iter().zip(&expected) {
        assert_eq!(&described(process, &folder), expected, "{}", process.place);
    }
}

fn described(process: &Process, folder: &Path) -> Value {
    let anonymous = |text: &str| text.replace(&folder.display().to_string(), "GOLDEN");
    let word = |word: &Word| match word {
        Word::Text(text) => Value::from(anonymous(text)),
        Word::ParameterFile(index) => {
            let text = anonymous(&process.parameter_files[*index]);
            let content: Value = serde_yaml::from_str(&text).unwrap();
            json!({ "parameters": content })
        }
    };
    let command: Vec<Value> = process.command.iter().map(word).collect();
    json!({ "name": process.name, "command": command, "environment": process.environment })
}

#[test]
fn node_command_lines_are_those_of_ros_2() {
    compare("nodes");
}

#[test]
fn parameters_are_those_of_ros_2() {
    compare("parameters");
}

#[test]
fn substitutions_are_those_of_ros_2() {
    compare("substitutions");
}
