//! The page's types are those of the messages: `packages/web/studio/src/wire/wire.ts` is made from them.
//!
//! `KARAKURI_WRITE=1 cargo test -p karakuri_studio typescript` writes it again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

use super::{
    BoardState, ClipReport, Edited, Evaluated, Event, Exported, FileList, IkReport, Imported,
    LeaseState, LiveState, MESSAGE_LIMIT, Operation, PROTOCOL, Parameter, PreviewState, Recording,
    RunState, Saved, ScriptState, SnapshotReport, Taught, Undone, Welcome, WireError, frame,
};

const HEAD: &str = "\
// Made from the messages of packages/io/karakuri_studio/src/wire by
// `KARAKURI_WRITE=1 cargo test -p karakuri_studio typescript`: change them there.
";

/// Result of each operation.
#[derive(TS)]
#[expect(dead_code, reason = "it is a type of the page alone")]
struct Results {
    hello: Welcome,
    open: Welcome,
    files: FileList,
    save: Saved,
    recover: Edited,
    import: Imported,
    export: Exported,
    edit: Edited,
    undo: Undone,
    redo: Undone,
    begin: Edited,
    update: Edited,
    commit: Edited,
    cancel: Edited,
    evaluate: Evaluated,
    ik: IkReport,
    clip: ClipReport,
    preview: PreviewState,
    #[ts(rename = "preview.cancel")]
    preview_cancel: PreviewState,
    run: RunState,
    pause: RunState,
    step: RunState,
    stop: RunState,
    #[ts(rename = "param.get")]
    param_get: Vec<Parameter>,
    #[ts(rename = "param.set")]
    param_set: Parameter,
    #[ts(rename = "param.keep")]
    param_keep: Edited,
    snapshot: SnapshotReport,
    restore: SnapshotReport,
    push: RunState,
    grab: RunState,
    release: RunState,
    #[ts(rename = "lease.take")]
    lease_take: LeaseState,
    #[ts(rename = "lease.give")]
    lease_give: LeaseState,
    #[ts(rename = "live.arm")]
    live_arm: LiveState,
    #[ts(rename = "live.follow")]
    live_follow: LiveState,
    #[ts(rename = "live.send")]
    live_send: LiveState,
    #[ts(rename = "live.stop")]
    live_stop: LiveState,
    play: LiveState,
    #[ts(rename = "live.record")]
    live_record: Taught,
    #[ts(rename = "board.upload")]
    board_upload: BoardState,
    record: Recording,
    #[ts(rename = "script.allow")]
    script_allow: ScriptState,
    #[ts(rename = "script.list")]
    script_list: Vec<ScriptState>,
}

/// Declarations by name, of a type and all that it is made of.
struct Declarations<'a> {
    config: &'a Config,
    found: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Types without a file of their own, as numbers and lists, are declared nowhere.
        if T::output_path().is_none() {
            T::visit_generics(self);
            T::visit_dependencies(self);
            return;
        }
        let name = T::ident(self.config);
        if self.found.contains_key(&name) {
            return;
        }
        let comment = T::docs().map(|docs| docs.trim_end().to_owned() + "\n").unwrap_or_default();
        self.found.insert(name, format!("{comment}export {}\n", T::decl(self.config)));
        T::visit_generics(self);
        T::visit_dependencies(self);
    }
}

fn typescript() -> String {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config: &config, found: BTreeMap::new() };
    declarations.visit::<Operation>();
    declarations.visit::<Event>();
    declarations.visit::<WireError>();
    declarations.visit::<Results>();
    let mut text = HEAD.to_owned();
    let constants = [
        ("PROTOCOL", format!("{PROTOCOL:?}")),
        ("MESSAGE_LIMIT", MESSAGE_LIMIT.to_string()),
        ("FRAME_HEADER", frame::HEADER_LEN.to_string()),
    ];
    for (name, value) in constants {
        writeln!(text, "\nexport const {name} = {value};").unwrap();
    }
    text.push_str("\n/** A request: an operation and its number. */\n");
    text.push_str("export type Request = { id: number, rev?: number } & Operation;\n");
    text.push_str("\n/** An answer to a request. */\n");
    text.push_str(
        "export type Reply = { id: number, ok: true, rev: number, result: unknown } | { id: number | null, error: WireError };\n",
    );
    for declaration in declarations.found.values() {
        text.push('\n');
        text.push_str(declaration);
    }
    text
}

#[test]
fn the_page_has_these_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/studio/src/wire/wire.ts");
    let made = typescript();
    if std::env::var_os("KARAKURI_WRITE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "wire.ts is not of these messages: run `KARAKURI_WRITE=1 cargo test -p karakuri_studio typescript`"
    );
}
