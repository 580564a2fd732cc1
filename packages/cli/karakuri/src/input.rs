//! Files that the command line names.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use karakuri_files::FileAssets;

/// Reads the name of an input file: a path, or `package://PACKAGE/PATH` for a file of a package.
pub(crate) fn input_file() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|name: OsString| match name.to_str() {
        Some(text) => {
            FileAssets::from_env().named(text).map_err(|e| format!("{e}; {}", e.remedy()))
        }
        None => Ok(PathBuf::from(name)),
    })
}
