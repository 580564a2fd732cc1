//! `~/get_type_description`, as nodes of `rclcpp` have it: definition of a type, for tools that record or bridge it without its
//! package.
//!
//! Source: REP 2016, <https://ros.org/reps/rep-2016.html>. Interface packages install the descriptions beside the definitions.

use serde::Deserialize;

use crate::{
    Node, RosError,
    definition::Definitions,
    msg::type_description_interfaces::{
        msg::{TypeDescription, TypeSource},
        srv::GetTypeDescription,
    },
};

/// Description of a type as `rosidl_generator_type_description` writes it.
#[derive(Deserialize)]
struct Described {
    type_description_msg: TypeDescription,
    type_hashes: Vec<Hash>,
}

#[derive(Deserialize)]
struct Hash {
    type_name: String,
    hash_string: String,
}

/// Offers the service, unless the parameter `start_type_description_service` is false.
pub(crate) fn serve<S: 'static>(node: &mut Node<S>) -> Result<(), RosError> {
    let enabled = node
        .parameter("start_type_description_service", true)
        .describe("Offer ~/get_type_description.")
        .read_only()
        .declare()?;
    if enabled.get() {
        node.service::<GetTypeDescription::Service>("~/get_type_description", |_, request| {
            describe(&Definitions::installed(), request).unwrap_or_else(|reason| {
                GetTypeDescription::Response {
                    failure_reason: reason,
                    ..GetTypeDescription::Response::default()
                }
            })
        })?;
    }
    Ok(())
}

fn describe(
    definitions: &Definitions,
    request: &GetTypeDescription::Request,
) -> Result<GetTypeDescription::Response, String> {
    let name = &request.type_name;
    let text = definitions.installed_file(name, folder_of(name), "json")?;
    let described: Described = serde_json::from_str(&text)
        .map_err(|e| format!("the description of `{name}` cannot be read: {e}"))?;
    let own = described.type_hashes.iter().find(|hash| hash.type_name == *name);
    let own = own.map_or("", |hash| hash.hash_string.as_str());
    if !request.type_hash.is_empty() && request.type_hash != own {
        let asked = &request.type_hash;
        return Err(format!("`{name}` has the hash {own} here, not {asked}"));
    }
    let type_description = described.type_description_msg;
    let referenced = type_description.referenced_type_descriptions.iter();
    let names = std::iter::once(name).chain(referenced.map(|described| &described.type_name));
    let sources = names.filter(|_| request.include_type_sources);
    Ok(GetTypeDescription::Response {
        successful: true,
        failure_reason: String::new(),
        type_sources: sources.map(|name| source(definitions, name)).collect(),
        type_description,
        ..GetTypeDescription::Response::default()
    })
}

/// Definition of a type; the parts of services and actions have none of their own.
fn source(definitions: &Definitions, name: &str) -> TypeSource {
    let encoding = folder_of(name);
    let text = definitions.installed_file(name, encoding, encoding);
    TypeSource {
        type_name: name.to_owned(),
        encoding: if text.is_ok() { encoding } else { "implicit" }.to_owned(),
        raw_file_contents: text.unwrap_or_default(),
    }
}

/// Folder of a type: `msg`, `srv` or `action`.
fn folder_of(name: &str) -> &str {
    let folder = name.split('/').nth(1).filter(|folder| ["msg", "srv", "action"].contains(folder));
    folder.unwrap_or("msg")
}
