//! Subscription with a participant of its own, whose messages are handled on the thread that receives them.
//!
//! A wait set costs at every wake-up in proportion to the number of the node's entities (some 30 for a controller: half of the
//! time of a sample), and handing a message to another thread costs a second wake-up and contention for the reader's lock. So
//! messages of 1 kHz are handled on the middleware's receiving thread of this participant, which has nothing else to do. The
//! [`Receiver`]'s thread waits for all else, and a [`NodeWaker`] wakes the thread of the other handlers.
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
    RosError, Stop, guard,
    qos::Qos,
    wire::{self, Wire},
};

/// Longest wait of the receiver's thread: bounds the time that the end of the node takes.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Bytes reserved for a message before the first one comes; a longer one grows the buffer, once.
const ROOM: usize = 1024;

/// Bell that wakes the handlers' thread.
#[derive(Debug, Default)]
struct Bell {
    sleeper: OnceLock<Thread>,
    rung: AtomicBool,
}

/// Waker of a node: it spins at once, after-event callbacks included. From any thread; takes no lock.
#[derive(Debug, Clone, Default)]
pub struct NodeWaker(Arc<Bell>);

impl NodeWaker {
    /// Makes the node spin, now or as soon as its present round is done.
    pub fn wake(&self) {
        self.0.rung.store(true, Ordering::Release);
        if let Some(sleeper) = self.0.sleeper.get() {
            sleeper.unpark();
        }
    }

    /// Whether it was woken since the last call.
    pub(crate) fn take(&self) -> bool {
        self.0.rung.swap(false, Ordering::AcqRel)
    }

    /// Sleeps until it is woken, at most `limit`; true if it was.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let first = self.0.sleeper.set(thread::current()).is_ok();
        // A ring that came before the bell knew its thread is seen here.
        if !first && !self.0.rung.load(Ordering::Acquire) {
            thread::park_timeout(limit);
        }
        self.take()
    }
}

/// Node that r2r waits with; entities are made while nobody waits.
#[derive(Clone)]
pub(crate) struct SharedNode {
    node: Arc<Mutex<r2r::Node>>,
    /// Lock held while waiting for the node: the next waiter does not lose to the last holder.
    turn: Arc<Mutex<()>>,
}

impl SharedNode {
    pub(crate) fn new(node: r2r::Node) -> Self {
        Self { node: Arc::new(Mutex::new(node)), turn: Arc::default() }
    }

    /// Locks the node; a receiver's thread gives it up within its longest wait.
    pub(crate) fn lock(&self) -> MutexGuard<'_, r2r::Node> {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        drop(turn);
        node
    }
}

/// Thread that waits for all messages that do not come directly.
#[derive(Debug)]
pub(crate) struct Receiver {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub(crate) fn start(node: SharedNode, waker: NodeWaker) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let run = move || {
            while !stopped.load(Ordering::Acquire) {
                node.lock().spin_once(LONGEST_WAIT);
                waker.wake();
            }
        };
        let thread = thread::Builder::new().name("ros".to_owned()).spawn(run)?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Whether its thread is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // The panic hook has reported the panic.
            drop(thread.join());
        }
    }
}

/// Participant beside the node's own, with a hidden node.
#[derive(Debug)]
pub(crate) struct DirectNode {
    context: Box<rcl_context_t>,
    node: Box<rcl_node_t>,
    namespace: String,
}

/// Subscription and its newest message.
struct Inbox<T: Wire> {
    /// Subscription at a stable address.
    subscription: Box<rcl_subscription_t>,
    bytes: rcl_serialized_message_t,
    message: T,
    /// Whether the bytes are read here; else the middleware reads them.
    is_understood: bool,
}

/// Messages of one topic, taken on request.
pub(crate) struct DirectReader<T: Wire> {
    inbox: Inbox<T>,
    node: Rc<RefCell<DirectNode>>,
}

/// Messages of one topic, handled on the middleware's receiving thread.
pub(crate) struct DirectSubscription<T: Wire> {
    handler: Box<Mutex<Handler<T>>>,
    /// Subscription of the handler's inbox, reachable without its lock.
    subscription: *const rcl_subscription_t,
    node: Rc<RefCell<DirectNode>>,
}

/// Handler used by one thread at a time, as the middleware's callbacks do not overlap; its lock is always free.
struct Handler<T: Wire> {
    inbox: Inbox<T>,
    handle: Box<dyn FnMut(&T) + Send>,
    topic: String,
    stop: Stop,
    has_panicked: bool,
}

impl<T: Wire> Handler<T> {
    /// Handles all messages that came.
    fn run(&mut self, n_messages: usize) {
        if self.has_panicked {
            return;
        }
        let Self { inbox, handle, .. } = self;
        let handled = guard::catch(|| {
            for _ in 0..n_messages.max(1) {
                let Some(message) = inbox.take() else { break };
                handle(message);
            }
        });
        if let Err(panic) = handled {
            self.has_panicked = true;
            self.stop.fail(format_args!("what handles `{}` has panicked: {panic}", self.topic));
        }
    }
}

/// Callback on the middleware's receiving thread.
unsafe extern "C" fn arrived<T: Wire>(handler: *const c_void, n_messages: usize) {
    // SAFETY: the subscription holds the handler, and takes the callback back before it lets go of it.
    let handler = unsafe { &*handler.cast::<Mutex<Handler<T>>>() };
    handler.lock().unwrap_or_else(PoisonError::into_inner).run(n_messages);
}

/// Turns the code of a failed call into text.
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
    /// Participant and node beside the node of this full name.
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
        // `drop` closes whatever was opened before a failure.
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

    /// Makes a node of exactly this name: arguments of its own take precedence over those of the process.
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

impl<T: Wire> Inbox<T> {
    /// Subscribes to `topic`, a relative or an absolute name.
    fn open(node: &RefCell<DirectNode>, topic: &str, qos: Qos) -> Result<Self, RosError> {
        let mut inbox = Self {
            // SAFETY: plain data.
            subscription: Box::new(unsafe { rcl_get_zero_initialized_subscription() }),
            // SAFETY: plain data, which owns nothing yet.
            bytes: unsafe { rcutils_get_zero_initialized_uint8_array() },
            message: T::default(),
            is_understood: wire::is_understood::<T>(),
        };
        if let Err(reason) = inbox.make_room().and_then(|()| inbox.subscribe(node, topic, qos)) {
            inbox.close(node);
            let name = topic.to_owned();
            return Err(RosError::Create { kind: "subscription", name, reason });
        }
        Ok(inbox)
    }

    fn make_room(&mut self) -> Result<(), String> {
        // SAFETY: the array owns nothing yet; the allocator is copied.
        unsafe {
            let allocator = rcutils_get_default_allocator();
            let code = rcutils_uint8_array_init(&raw mut self.bytes, ROOM, &raw const allocator);
            check("rcutils_uint8_array_init", code)
        }
    }

    fn subscribe(
        &mut self,
        node: &RefCell<DirectNode>,
        topic: &str,
        qos: Qos,
    ) -> Result<(), String> {
        let [topic] = &c_strings([topic.to_owned()])?[..] else { return Ok(()) };
        // SAFETY: node and strings outlive the call, the type support is static.
        unsafe {
            let mut options = rcl_subscription_get_default_options();
            options.qos = qos.into();
            let subscription = &raw mut *self.subscription;
            let node = &raw const *node.borrow().node;
            let (support, options) = (T::get_ts(), &raw const options);
            let code = rcl_subscription_init(subscription, node, support, topic.as_ptr(), options);
            check("rcl_subscription_init", code)
        }
    }

    /// Next message that has already arrived.
    fn take(&mut self) -> Option<&T> {
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

    fn close(&mut self, node: &RefCell<DirectNode>) {
        let mut node = node.borrow_mut();
        // SAFETY: rcl refuses what was never made.
        unsafe {
            rcl_subscription_fini(&raw mut *self.subscription, &raw mut *node.node);
            rcutils_uint8_array_fini(&raw mut self.bytes);
        }
    }
}

impl<T: Wire> DirectReader<T> {
    /// Subscribes to `topic`, a relative or an absolute name.
    pub(crate) fn new(
        node: &Rc<RefCell<DirectNode>>,
        topic: &str,
        qos: Qos,
    ) -> Result<Self, RosError> {
        Ok(Self { inbox: Inbox::open(node, topic, qos)?, node: Rc::clone(node) })
    }

    /// Next message that has already arrived.
    pub(crate) fn take(&mut self) -> Option<&T> {
        self.inbox.take()
    }
}

impl<T: Wire> Drop for DirectReader<T> {
    fn drop(&mut self) {
        self.inbox.close(&self.node);
    }
}

impl<T: Wire> DirectSubscription<T> {
    /// Subscribes to `topic`, a relative or an absolute name; a panic of `handle` stops the node.
    pub(crate) fn new(
        node: &Rc<RefCell<DirectNode>>,
        topic: &str,
        qos: Qos,
        handle: impl FnMut(&T) + Send + 'static,
        stop: Stop,
    ) -> Result<Self, RosError> {
        let inbox = Inbox::open(node, topic, qos)?;
        let subscription = &raw const *inbox.subscription;
        let (handle, topic) = (Box::new(handle), topic.to_owned());
        let handler = Handler { inbox, handle, topic, stop, has_panicked: false };
        let direct =
            Self { handler: Box::new(Mutex::new(handler)), subscription, node: Rc::clone(node) };
        direct.call_back(Some(arrived::<T>)).map_err(|reason| RosError::Create {
            kind: "subscription",
            name: direct.handler().topic.clone(),
            reason,
        })?;
        Ok(direct)
    }

    fn handler(&self) -> MutexGuard<'_, Handler<T>> {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets or removes the callback. The handler's lock must not be held: a running callback holds it, and this call waits for
    /// it.
    fn call_back(
        &self,
        callback: Option<unsafe extern "C" fn(*const c_void, usize)>,
    ) -> Result<(), String> {
        let user = (&raw const *self.handler).cast::<c_void>();
        // SAFETY: the subscription is open; the handler stays where it is until the callback is taken back.
        let code = unsafe {
            rcl_subscription_set_on_new_message_callback(self.subscription, callback, user)
        };
        check("rcl_subscription_set_on_new_message_callback", code)
    }
}

impl<T: Wire> Drop for DirectSubscription<T> {
    fn drop(&mut self) {
        // No callback may run once the subscription closes.
        drop(self.call_back(None));
        let node = Rc::clone(&self.node);
        self.handler().inbox.close(&node);
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
    fn a_waker_ends_a_wait_before_and_while_it_lasts() {
        let waker = NodeWaker::default();
        let long = Duration::from_secs(60);
        assert!(!waker.wait(long), "the first wait learns whom to wake");
        waker.wake();
        assert!(waker.wait(long));
        let other = waker.clone();
        let thread = thread::spawn(move || other.wake());
        // unparked for another reason it comes back empty-handed
        while !waker.wait(long) {}
        thread.join().unwrap();
        assert!(!waker.wait(Duration::ZERO), "heard once");
    }
}
