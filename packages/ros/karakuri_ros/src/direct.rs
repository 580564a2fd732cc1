//! A subscription with a participant of its own, whose messages wake the handlers' thread without a wait set.
//!
//! A wait set costs at every wake-up by the number of the node's entities (some 30 for a controller: half of what a sample
//! took). So what comes a thousand times a second is received here: the middleware's receiving thread of this
//! participant, which has nothing else to do, rings the [`Bell`], and the handlers' thread takes the message. All else is
//! waited for by the [`Receiver`]'s thread.
#![expect(unsafe_code, reason = "r2r has no callback of a subscription; this is rcl's, in C")]

use std::cell::RefCell;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::rc::Rc;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use r2r_rcl::{
    RCL_RET_OK, rcl_context_fini, rcl_context_t, rcl_get_zero_initialized_context,
    rcl_get_zero_initialized_init_options, rcl_get_zero_initialized_node,
    rcl_get_zero_initialized_subscription, rcl_init, rcl_init_options_fini, rcl_init_options_init,
    rcl_node_fini, rcl_node_get_default_options, rcl_node_init, rcl_node_options_fini, rcl_node_t,
    rcl_parse_arguments, rcl_serialized_message_t, rcl_shutdown, rcl_subscription_fini,
    rcl_subscription_get_default_options, rcl_subscription_init,
    rcl_subscription_set_on_new_message_callback, rcl_subscription_t, rcl_take_serialized_message,
    rcutils_get_default_allocator, rcutils_get_zero_initialized_uint8_array,
    rcutils_uint8_array_fini, rcutils_uint8_array_init, rmw_message_info_t,
};

use crate::{
    RosError,
    qos::Qos,
    wire::{self, Wire},
};

/// The longest wait of the receiver's thread: bounds how long the end of the node takes.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Bytes of a message before the first one comes; a longer one makes its own room, once.
const ROOM: usize = 1024;

/// Wakes the handlers' thread.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    sleeper: OnceLock<Thread>,
    /// Something came on the ordinary way.
    rung: AtomicBool,
}

impl Bell {
    /// Something came on the ordinary way.
    fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        if let Some(sleeper) = self.sleeper.get() {
            sleeper.unpark();
        }
    }

    /// Sleeps until something comes, at most `limit`; true if it came on the ordinary way.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let first = self.sleeper.set(thread::current()).is_ok();
        // what came before the bell knew whom to wake
        if !first && !self.rung.load(Ordering::Acquire) {
            thread::park_timeout(limit);
        }
        self.rung.swap(false, Ordering::AcqRel)
    }
}

/// The node that r2r waits with; entities are made while nobody waits.
#[derive(Clone)]
pub(crate) struct SharedNode {
    node: Arc<Mutex<r2r::Node>>,
    /// Held while one waits for the node: who waits next does not lose to who had it last.
    turn: Arc<Mutex<()>>,
}

impl SharedNode {
    pub(crate) fn new(node: r2r::Node) -> Self {
        Self { node: Arc::new(Mutex::new(node)), turn: Arc::default() }
    }

    /// The node; a receiver's thread gives it up within its longest wait.
    pub(crate) fn lock(&self) -> MutexGuard<'_, r2r::Node> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turn);
        node
    }
}

/// Waits for all that does not come directly, on a thread of its own.
#[derive(Debug)]
pub(crate) struct Receiver {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub(crate) fn start(node: SharedNode, bell: Arc<Bell>) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || {
            while !stopped.load(Ordering::Acquire) {
                node.lock().spin_once(LONGEST_WAIT);
                bell.ring();
            }
        };
        let thread = thread::Builder::new().name("ros".to_owned()).spawn(run)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// False when its thread died.
    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // its panic was told by the hook
            drop(thread.join());
        }
    }
}

/// A participant beside the node's own, and the node that hides in it.
#[derive(Debug)]
pub(crate) struct DirectNode {
    context: Box<rcl_context_t>,
    node: Box<rcl_node_t>,
    namespace: String,
}

/// See the module.
pub(crate) struct DirectSubscription<T: Wire> {
    subscription: Box<rcl_subscription_t>,
    /// The bytes of the newest message, and what they say.
    bytes: rcl_serialized_message_t,
    message: T,
    /// The bytes are read here; else as the middleware does.
    is_understood: bool,
    node: Rc<RefCell<DirectNode>>,
    /// What the callback rings, at an address that stays.
    _bell: Arc<Bell>,
}

/// Called on the middleware's receiving thread.
unsafe extern "C" fn ring(bell: *const c_void, _n_messages: usize) {
    // SAFETY: the subscription holds the bell, and takes the callback back before it lets go of it.
    let bell = unsafe { &*bell.cast::<Bell>() };
    bell.wake();
}

/// The text of a failed call.
fn check(call: &str, code: c_int) -> Result<(), String> {
    if u32::try_from(code) == Ok(RCL_RET_OK) { Ok(()) } else { Err(format!("{call} gave {code}")) }
}

fn c_strings(texts: impl IntoIterator<Item = String>) -> Result<Vec<CString>, String> {
    let texts = texts.into_iter().map(CString::new);
    texts.collect::<Result<_, _>>().map_err(|_| "a name holds a NUL character".to_owned())
}

/// Remappings of topics that the command line gives for this node alone, as `name:from:=to`.
fn remappings_of(name: &str, arguments: impl Iterator<Item = String>) -> Vec<String> {
    let own = arguments.filter_map(|argument| {
        let (node, rule) = argument.split_once(':')?;
        (node == name && rule.contains(":=") && !rule.starts_with("__")).then(|| rule.to_owned())
    });
    own.collect()
}

impl DirectNode {
    /// Beside the node of this full name.
    pub(crate) fn new(full_name: &str) -> Result<Self, RosError> {
        let (namespace, name) = full_name.rsplit_once('/').unwrap_or(("", full_name));
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        // SAFETY: both are plain data.
        let mut direct = unsafe {
            Self {
                context: Box::new(rcl_get_zero_initialized_context()),
                node: Box::new(rcl_get_zero_initialized_node()),
                namespace: namespace.to_owned(),
            }
        };
        let hidden = format!("_{name}_direct");
        // What was made before a failure is ended by `drop`.
        let rules = remappings_of(name, std::env::args());
        let opened = direct.init_context().and_then(|()| direct.init_node(&hidden, rules));
        let failed = |reason| RosError::Create { kind: "node", name: hidden.clone(), reason };
        opened.map_err(failed)?;
        Ok(direct)
    }

    fn init_context(&mut self) -> Result<(), String> {
        let arguments = c_strings(std::env::args())?;
        let pointers: Vec<_> = arguments.iter().map(|a| a.as_ptr()).collect();
        let n = c_int::try_from(pointers.len()).map_err(|e| e.to_string())?;
        // SAFETY: `rcl_init` copies what it is given.
        unsafe {
            let mut options = rcl_get_zero_initialized_init_options();
            let allocator = rcutils_get_default_allocator();
            check("rcl_init_options_init", rcl_init_options_init(&raw mut options, allocator))?;
            let code = rcl_init(n, pointers.as_ptr(), &raw const options, &raw mut *self.context);
            check("rcl_init_options_fini", rcl_init_options_fini(&raw mut options))?;
            check("rcl_init", code)
        }
    }

    /// A node of this very name: arguments of its own count before those of the process.
    fn init_node(&mut self, name: &str, rules: Vec<String>) -> Result<(), String> {
        let names = c_strings([name.to_owned(), self.namespace.clone()])?;
        let rules = [format!("__node:={name}")].into_iter().chain(rules);
        let remap = rules.flat_map(|rule| ["-r".to_owned(), rule]);
        let arguments = c_strings(["--ros-args".to_owned()].into_iter().chain(remap))?;
        let pointers: Vec<_> = arguments.iter().map(|a| a.as_ptr()).collect();
        let n = c_int::try_from(pointers.len()).map_err(|e| e.to_string())?;
        // SAFETY: the context is open and stays where it is; all else is copied.
        unsafe {
            let allocator = rcutils_get_default_allocator();
            let mut options = rcl_node_get_default_options();
            options.enable_rosout = false;
            let own = &raw mut options.arguments;
            let code = rcl_parse_arguments(n, pointers.as_ptr(), allocator, own);
            check("rcl_parse_arguments", code)?;
            let (node, context) = (&raw mut *self.node, &raw mut *self.context);
            let (name, space) = (names[0].as_ptr(), names[1].as_ptr());
            let code = rcl_node_init(node, name, space, context, &raw const options);
            check("rcl_node_options_fini", rcl_node_options_fini(&raw mut options))?;
            check("rcl_node_init", code)
        }
    }

    fn end_node(&mut self) {
        // SAFETY: rcl refuses a node that was never made.
        unsafe {
            rcl_node_fini(&raw mut *self.node);
            *self.node = rcl_get_zero_initialized_node();
        }
    }
}

impl Drop for DirectNode {
    fn drop(&mut self) {
        self.end_node();
        // SAFETY: nothing of the context is left; rcl refuses one that was never made.
        unsafe {
            rcl_shutdown(&raw mut *self.context);
            rcl_context_fini(&raw mut *self.context);
        }
    }
}

impl<T: Wire> DirectSubscription<T> {
    /// Subscribes to `topic`, a relative or an absolute name.
    pub(crate) fn new(
        node: &Rc<RefCell<DirectNode>>,
        topic: &str,
        qos: Qos,
        bell: &Arc<Bell>,
    ) -> Result<Self, RosError> {
        let mut direct = Self {
            // SAFETY: plain data.
            subscription: Box::new(unsafe { rcl_get_zero_initialized_subscription() }),
            // SAFETY: plain data, which owns nothing yet.
            bytes: unsafe { rcutils_get_zero_initialized_uint8_array() },
            message: T::default(),
            is_understood: wire::is_understood::<T>(),
            node: Rc::clone(node),
            _bell: Arc::clone(bell),
        };
        let opened = direct.make_room().and_then(|()| direct.open(topic, qos, bell));
        let name = topic.to_owned();
        opened.map_err(|reason| RosError::Create { kind: "subscription", name, reason })?;
        Ok(direct)
    }

    fn make_room(&mut self) -> Result<(), String> {
        // SAFETY: the array owns nothing yet; the allocator is copied.
        unsafe {
            let allocator = rcutils_get_default_allocator();
            let code = rcutils_uint8_array_init(&raw mut self.bytes, ROOM, &raw const allocator);
            check("rcutils_uint8_array_init", code)
        }
    }

    fn open(&mut self, topic: &str, qos: Qos, bell: &Arc<Bell>) -> Result<(), String> {
        let [topic] = &c_strings([topic.to_owned()])?[..] else { return Ok(()) };
        // SAFETY: node and strings outlive the calls, the type support is static; `ring` takes a bell, which lives as
        // long as the subscription.
        unsafe {
            let mut options = rcl_subscription_get_default_options();
            options.qos = qos.into();
            let subscription = &raw mut *self.subscription;
            let node = &raw const *self.node.borrow().node;
            let (support, options) = (T::get_ts(), &raw const options);
            let code = rcl_subscription_init(subscription, node, support, topic.as_ptr(), options);
            check("rcl_subscription_init", code)?;
            let user = Arc::as_ptr(bell).cast::<c_void>();
            let code = rcl_subscription_set_on_new_message_callback(subscription, Some(ring), user);
            check("rcl_subscription_set_on_new_message_callback", code)
        }
    }

    /// The next message that is there already.
    pub(crate) fn take(&mut self) -> Option<&T> {
        let mut info = rmw_message_info_t::default();
        // SAFETY: the subscription and the array are open; the array holds as many bytes as it says.
        let bytes = unsafe {
            let (subscription, bytes) = (&raw const *self.subscription, &raw mut self.bytes);
            let info = &raw mut info;
            let code = rcl_take_serialized_message(subscription, bytes, info, ptr::null_mut());
            if u32::try_from(code) != Ok(RCL_RET_OK) || self.bytes.buffer.is_null() {
                return None;
            }
            slice::from_raw_parts(self.bytes.buffer, self.bytes.buffer_length)
        };
        if !self.is_understood || self.message.read(bytes).is_none() {
            self.message = T::from_serialized_bytes(bytes).ok()?;
        }
        Some(&self.message)
    }
}

impl<T: Wire> Drop for DirectSubscription<T> {
    fn drop(&mut self) {
        let mut node = self.node.borrow_mut();
        // SAFETY: rcl refuses what was never made. Taking the callback back waits for a call under way.
        unsafe {
            let subscription = &raw mut *self.subscription;
            rcl_subscription_set_on_new_message_callback(subscription, None, ptr::null());
            rcl_subscription_fini(subscription, &raw mut *node.node);
            rcutils_uint8_array_fini(&raw mut self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remappings_of_one_node_are_its_own() {
        let arguments =
            ["--ros-args", "-r", "a:x:=y", "-r", "a:__node:=b", "-r", "b:x:=z", "-r", "x:=w"];
        let of = |name| remappings_of(name, arguments.iter().map(|&a| a.to_owned()));
        assert_eq!(of("a"), ["x:=y"]);
        assert_eq!(of("b"), ["x:=z"]);
    }

    #[test]
    fn a_bell_wakes_and_tells_which_way_it_came() {
        let bell = Bell::default();
        let long = Duration::from_secs(60);
        assert!(!bell.wait(long), "the first wait learns whom to wake");
        bell.wake();
        assert!(!bell.wait(long), "a direct message");
        bell.ring();
        assert!(bell.wait(long));
    }
}
