#![doc = include_str!("../README.md")]

mod atomic;
mod convex;
mod gait;
mod plot;
mod report;
mod resolve;
mod robot;
mod tools;
mod trace;

pub use atomic::{WriteError, write_atomic};
pub use convex::{convex_cache, find_parts};
pub use gait::{GaitError, load_gait};
pub use plot::{DISTINCT_SERIES, Guide, GuideAt, Panel, Plot, PlotError, Series, Style};
pub use report::{ReportError, write_json};
pub use resolve::{FileAssets, root_element};
pub use robot::{LoadError, load_robot, read_text, read_yaml, read_yaml_tree};
pub use tools::{Tool, Tools, ToolsError};
pub use trace::{Column, Trace, TraceError, TraceWriter, read_trace};
