//! Scripts of the document: `fn start(s)` once, `fn step(s)` before each time step of the simulation.
//!
//! A script sees numbers and gives numbers: no files, network, clock or threads. Its limits count operations, not time, so that
//! a run with it is repeatable; `this` is its memory. An error stops the script and leaves the simulation.

mod interface;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use karakuri_physics::World;
use rhai::debugger::{DebuggerCommand, DebuggerEvent};
use rhai::{AST, CallFnOptions, Dynamic, Engine, EvalAltResult, Map, ParseError, Scope};

use crate::assets::hash;
use crate::wire::ScriptState;
use interface::{Interface, Shared};

/// Operations of a call, after which it is ended.
const OPERATIONS: u64 = 100_000;
/// Calls within each other.
const CALLS: usize = 32;
/// Depth of expressions.
const DEPTH: usize = 64;
/// Bytes of a text, items of a list or map.
const SIZE: usize = 10_000;
/// Longest text of a script. [bytes]
const TEXT: usize = 1 << 20;

/// Scripts that a run has.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    all: Vec<Script>,
    shared: Option<Shared>,
}

#[derive(Debug)]
struct Script {
    program: Option<AST>,
    engine: Engine,
    memory: Memory,
    /// Whether it stopped or said something since the session heard of it.
    has_news: bool,
}

/// All that a script remembers from step to step.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    state: ScriptState,
    this: Dynamic,
    random: u64,
    plots: Vec<(String, f64)>,
}

/// SHA-256 of a script's text.
pub(crate) fn hash_of(text: &str) -> String {
    hash(&[text.as_bytes()])
}

/// Why a text is no script, with the line; `None` of one that compiles.
pub(crate) fn problem(text: &str) -> Option<(String, u32)> {
    compile(&engine(), text).err().map(|error| described(&error))
}

impl Scripts {
    /// Scripts by name and text, all of them allowed.
    pub(crate) fn new<'a>(texts: impl Iterator<Item = (&'a String, &'a String)>) -> Self {
        let all = texts.map(|(name, text)| Script::new(name, text)).collect();
        Self { all, shared: None }
    }

    /// Calls `start` of each.
    pub(crate) fn start(&mut self, world: &mut World) {
        if self.all.is_empty() {
            return;
        }
        let mut shared = Shared::new(world);
        for script in &mut self.all {
            shared = script.call("start", shared, world);
        }
        self.shared = Some(shared);
    }

    /// Calls `step` of each.
    pub(crate) fn step(&mut self, world: &mut World) {
        let Some(mut shared) = self.shared.take() else { return };
        for script in &mut self.all {
            shared = script.call("step", shared, world);
        }
        self.shared = Some(shared);
    }

    /// A parameter of the run has this value from now on.
    pub(crate) fn set_parameter(&mut self, name: &str, value: f64) {
        if let Some(shared) = &mut self.shared {
            shared.parameters.insert(name.to_owned(), value);
        }
    }

    /// Quantities that scripts plot, by name.
    pub(crate) fn plots(&self) -> impl Iterator<Item = (&str, f64)> {
        self.all.iter().flat_map(|s| s.memory.plots.iter().map(|(name, x)| (name.as_str(), *x)))
    }

    /// How each is.
    pub(crate) fn states(&self) -> Vec<ScriptState> {
        self.all.iter().map(|script| script.memory.state.clone()).collect()
    }

    /// Whether one stopped, said something, or began to plot something, since this was asked last.
    pub(crate) fn take_news(&mut self) -> bool {
        let mut any = false;
        for script in &mut self.all {
            any |= std::mem::take(&mut script.has_news);
        }
        any
    }

    /// What each remembers.
    pub(crate) fn memory(&self) -> Vec<Memory> {
        self.all.iter().map(|script| script.memory.clone()).collect()
    }

    /// Lets each remember what it did before; what has stopped since goes on.
    pub(crate) fn recall(&mut self, memory: &[Memory]) {
        for (script, memory) in self.all.iter_mut().zip(memory) {
            script.has_news |= script.memory.state != memory.state;
            script.memory = memory.clone();
        }
    }
}

impl Script {
    fn new(name: &str, text: &str) -> Self {
        let mut engine = engine();
        interface::register(&mut engine);
        let program = compile(&engine, text);
        let (error, line) = program.as_ref().err().map(described).unwrap_or_default();
        // Equal scripts of other names have other random numbers.
        let random = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let state = ScriptState {
            name: name.to_owned(),
            hash: hash_of(text),
            allowed: true,
            error,
            line,
            said: String::new(),
        };
        let this = Dynamic::from_map(Map::new());
        let memory = Memory { state, this, random, plots: Vec::new() };
        Self { program: program.ok(), engine, memory, has_news: false }
    }

    /// Calls a function, if the script has it and has not stopped.
    fn call(&mut self, function: &str, shared: Shared, world: &mut World) -> Shared {
        let Some(program) = &self.program else { return shared };
        let has_it = program.iter_functions().any(|f| f.name == function && f.params.len() == 1);
        if !has_it || !self.memory.state.error.is_empty() {
            return shared;
        }
        let interface = Interface::new(shared, world, self.memory.random);
        let options = CallFnOptions::new().eval_ast(false).bind_this_ptr(&mut self.memory.this);
        let argument = (interface.clone(),);
        let result: Result<Dynamic, _> = self.engine.call_fn_with_options(
            options,
            &mut Scope::new(),
            program,
            function,
            argument,
        );
        let done = interface.finish(world);
        self.memory.random = done.random;
        for (name, value) in done.plots {
            let known = self.memory.plots.iter_mut().find(|(known, _)| *known == name);
            if let Some((_, place)) = known {
                *place = value;
            } else {
                self.memory.plots.push((name, value));
                self.has_news = true;
            }
        }
        if let Some(said) = done.said {
            self.has_news |= self.memory.state.said != said;
            self.memory.state.said = said;
        }
        if let Err(error) = result {
            // The innermost: the outermost is the call from here, which has none.
            let line = error.unwrap_inner().position().line();
            let line = line.and_then(|line| u32::try_from(line).ok());
            self.memory.state.error = sentence(&error);
            self.has_news = true;
            return self.locate(function, line, done.shared, world);
        }
        done.shared
    }

    /// Finds the line of an error. Errors of limits have none, or that of a call around them: the call is done again, watched
    /// and without effect.
    fn locate(
        &mut self,
        function: &str,
        line: Option<u32>,
        shared: Shared,
        world: &mut World,
    ) -> Shared {
        self.memory.state.line = line.unwrap_or(0);
        let Some(program) = self.program.as_ref().filter(|_| line.is_none()) else { return shared };
        let last = Arc::new(AtomicU32::new(0));
        let mut engine = engine();
        interface::register(&mut engine);
        watch(&mut engine, &last);
        let interface = Interface::new(shared, world, self.memory.random);
        let options = CallFnOptions::new().eval_ast(false).bind_this_ptr(&mut self.memory.this);
        let argument = (interface.clone(),);
        let _failed: Result<Dynamic, _> =
            engine.call_fn_with_options(options, &mut Scope::new(), program, function, argument);
        self.memory.state.line = last.load(Ordering::Relaxed);
        interface.give_back(world)
    }
}

fn engine() -> Engine {
    let mut engine = Engine::new();
    engine
        .set_max_operations(OPERATIONS)
        .set_max_call_levels(CALLS)
        .set_max_expr_depths(DEPTH, DEPTH)
        .set_max_string_size(SIZE)
        .set_max_array_size(SIZE)
        .set_max_map_size(SIZE)
        .disable_symbol("eval")
        .on_print(|_| {})
        .on_debug(|_, _, _| {});
    engine
}

/// Lets an engine note the line that it is at.
#[expect(
    deprecated,
    reason = "rhai marks what may change so; it is the one way to a line of a limit"
)]
fn watch(engine: &mut Engine, last: &Arc<AtomicU32>) {
    let last = Arc::clone(last);
    engine.register_debugger(
        |_, debugger| debugger,
        move |_, event, _, _, position| {
            let line = position.line().and_then(|line| u32::try_from(line).ok());
            // The end of a function that failed is not where it failed.
            if let (DebuggerEvent::Start | DebuggerEvent::Step, Some(line)) = (event, line) {
                last.store(line, Ordering::Relaxed);
            }
            Ok(DebuggerCommand::StepInto)
        },
    );
}

fn compile(engine: &Engine, text: &str) -> Result<AST, ParseError> {
    if text.len() > TEXT {
        let kind = rhai::ParseErrorType::LiteralTooLarge("script".to_owned(), TEXT);
        return Err(ParseError(Box::new(kind), rhai::Position::NONE));
    }
    engine.compile(text)
}

fn described(error: &ParseError) -> (String, u32) {
    let line = error.position().line().and_then(|line| u32::try_from(line).ok());
    (error.err_type().to_string(), line.unwrap_or(0))
}

/// Error of a call in words.
fn sentence(error: &EvalAltResult) -> String {
    match error.unwrap_inner() {
        EvalAltResult::ErrorTooManyOperations(_) => {
            format!("a call takes more than {OPERATIONS} operations; end its loops")
        }
        EvalAltResult::ErrorStackOverflow(_) => {
            format!("functions call each other more than {CALLS} deep; end the recursion")
        }
        EvalAltResult::ErrorDataTooLarge(what, _) => {
            format!("{what} is too large; at most {SIZE} are allowed")
        }
        other => {
            let mut other = other.to_string();
            // The position is given apart.
            if let Some(at) = other.rfind(" (line ") {
                other.truncate(at);
            }
            other
        }
    }
}

#[cfg(test)]
mod tests;
