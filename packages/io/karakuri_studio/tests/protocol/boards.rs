//! Boards that keep motions: what is sound goes into their memory, and what became of it is reported.

use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::client::{Client, Place, repository};
use crate::motions::{MOTIONS, motions, preview};

/// A program in place of `karakuri`, which keeps the positions that it was given, says `words`, and ends with `code`.
fn board(words: &str, code: u8) -> Place {
    let program = format!(
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$1 $2 $3 $4 $5 $7\" > asked\ncp \"$6\" positions\necho '{words}' >&2\nexit {code}\n"
    );
    Place::with_board("motions.yaml", &program, |folder| {
        std::fs::write(folder.join("motions.yaml"), MOTIONS).unwrap();
        std::fs::create_dir(folder.join("hardware")).unwrap();
        let servos = repository().join("config/hardware/khr1.yaml");
        std::fs::copy(servos, folder.join("hardware/khr1.yaml")).unwrap();
    })
}

/// Uploads a motion; what became of it.
fn upload(client: &mut Client, motion: &str, number: u8) -> Value {
    let args = json!({ "motion": motion, "number": number });
    let begun = client.ask("board.upload", args).unwrap();
    assert_eq!((&begun["busy"], &begun["device"]), (&json!(true), &json!("/dev/board")));
    client.event("board", |state| state["busy"] == false)
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn a_sound_motion_is_uploaded_as_it_is_exported() {
    let place = board("motion 7 of both boards has 31 positions, read back", 0);
    let (mut client, welcome) = place.client();
    assert_eq!(welcome["board"]["text"], "");
    let args = json!({ "motion": "look", "number": 7 });
    let error = client.ask("board.upload", args.clone()).unwrap_err();
    assert!(error["text"].as_str().unwrap().contains("was not previewed"), "{error}");
    assert_eq!(preview(&mut client, "topple")["verdict"], "falls");
    let args_topple = json!({ "motion": "topple", "number": 7 });
    let error = client.ask("board.upload", args_topple).unwrap_err();
    assert!(error["text"].as_str().unwrap().contains("Falls"), "{error}");

    preview(&mut client, "look");
    let ended = upload(&mut client, "look", 7);
    assert_eq!(ended["failed"], false, "{ended}");
    assert_eq!(ended["text"], "motion 7 of both boards has 31 positions, read back");
    let folder = place.folder.path();
    assert_eq!(read(folder, "asked").trim(), "hardware upload rcb1 /dev/board 7 --yes");
    let exported =
        client.ask("export", json!({ "format": "khr1-yaml", "motion": "look" })).unwrap();
    assert_eq!(ended["report"], exported["report"]);
    let data = base64::engine::general_purpose::STANDARD.decode(exported["data"].as_str().unwrap());
    assert_eq!(String::from_utf8(data.unwrap()).unwrap(), read(folder, "positions"));
}

#[test]
fn all_clients_hear_why_an_upload_failed() {
    let place = board("error: there is no port /dev/board\n  hint: plug it in", 1);
    let (mut client, _) = place.client();
    let (mut viewer, _) = place.client();
    preview(&mut client, "look");
    let ended = upload(&mut client, "look", 0);
    assert_eq!(ended["failed"], true);
    assert_eq!(ended["text"], "there is no port /dev/board\n  hint: plug it in");
    assert_eq!(viewer.event("board", |state| state["failed"] == true)["text"], ended["text"]);
    let error = viewer.ask("board.upload", json!({ "motion": "look", "number": 0 })).unwrap_err();
    assert_eq!(error["code"], "no_lease", "only the operator");
}

#[test]
fn a_studio_without_boards_says_so() {
    let place = motions();
    let (mut client, welcome) = place.client();
    assert!(welcome["board"].is_null());
    let error = client.ask("board.upload", json!({ "motion": "look", "number": 0 })).unwrap_err();
    assert_eq!(
        (&error["code"], &error["text"]),
        (&json!("state"), &json!("this studio has no boards"))
    );
}
