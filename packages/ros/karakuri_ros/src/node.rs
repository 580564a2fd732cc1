//! A node: its entities and the handlers that run on the spin thread.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{FutureExt, Stream, StreamExt};
use serde_yaml::Value;

use crate::{
    Clock, Latest, Message, Publisher, Request, Restart, RosError, Service, ServiceClient, Status,
    Stop, Timer,
    diagnostics::Diagnostics,
    direct::{DirectNode, DirectReader, DirectSubscription, NodeWaker, Receiver, SharedNode},
    guard,
    msg::rcl_interfaces::msg::ParameterDescriptor,
    msg::rosgraph_msgs::msg::Clock as ClockMessage,
    outbox::Outbox,
    overrides::Overrides,
    parameter_server::{self, Entry, ParameterServer},
    parameter_services,
    parameter_types::kind_name,
    qos::{self, Qos},
    time_from_message,
    timer::Timers,
    type_description,
    wire::{self, RosPublisher, Wire, WirePublisher},
};

/// Source of messages: passes those that arrived to the node's state; true if there were any.
type Source<S> = Box<dyn FnMut(&mut S) -> bool>;
type Callback<S> = Box<dyn FnMut(&mut S)>;
type Job<S> = Box<dyn FnOnce(&mut Node<S>, &mut S)>;

/// ROS node under construction, which later spins.
///
/// `S` is the node's state: every handler gets `&mut S`, one at a time, on the spin thread, so a node needs no lock and
/// no `RefCell`. Handlers must return quickly; long work belongs in a thread of its own, which may publish and read
/// [`Latest`] values, parameters and the clock.
pub struct Node<S> {
    /// Subscriptions that are handled on other threads; they end before the publishers that their handlers use.
    direct: Vec<Box<dyn Any>>,
    /// Participant and node of the direct subscriptions.
    beside: Option<Rc<RefCell<DirectNode>>>,
    /// Receiver; it ends before the node that it waits with.
    receiver: Option<Receiver>,
    pub(crate) inner: SharedNode,
    full_name: String,
    program_arguments: Option<Vec<String>>,
    overrides: BTreeMap<String, Value>,
    addressed: Vec<String>,
    clock: Clock,
    clock_topic: Option<Box<dyn FnMut() -> Option<ClockMessage>>>,
    sim_time_requested: Rc<Cell<bool>>,
    sources: Vec<Source<S>>,
    pub(crate) timers: Timers<S>,
    after_events: Vec<Callback<S>>,
    after_jump_back: Vec<Callback<S>>,
    parameters: Rc<RefCell<ParameterServer<S>>>,
    diagnostics: Rc<RefCell<Diagnostics<S>>>,
    jobs: Later<S>,
    stop: Stop,
    restart: Restart,
    waker: NodeWaker,
    outbox: Outbox,
}

impl<S> fmt::Debug for Node<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.full_name).finish_non_exhaustive()
    }
}

/// Queue of jobs that make entities in a running node: they run on the spin thread after the present handlers.
pub struct Later<S> {
    jobs: Rc<RefCell<Vec<Job<S>>>>,
}

impl<S> Clone for Later<S> {
    fn clone(&self) -> Self {
        Self { jobs: Rc::clone(&self.jobs) }
    }
}

impl<S> fmt::Debug for Later<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Later").field("n_waiting", &self.jobs.borrow().len()).finish()
    }
}

impl<S> Later<S> {
    /// Runs `job` once with the node and its state.
    pub fn run(&self, job: impl FnOnce(&mut Node<S>, &mut S) + 'static) {
        self.jobs.borrow_mut().push(Box::new(job));
    }
}

/// Origin of a node: the client library's node, arguments and parameter values.
pub(crate) struct Origin {
    pub(crate) inner: r2r::Node,
    pub(crate) program_arguments: Vec<String>,
    pub(crate) overrides: Overrides,
    pub(crate) stop: Stop,
    pub(crate) restart: Restart,
}

impl<S: 'static> Node<S> {
    pub(crate) fn new(origin: Origin) -> Result<Self, RosError> {
        let mut inner = origin.inner;
        let full_name = inner.fully_qualified_name().unwrap_or_default();
        let clock = Clock::default();
        let events = create("publisher", "/parameter_events", || {
            inner.create_publisher("/parameter_events", qos::parameter_events())
        })?;
        let events = Publisher::new(events, "/parameter_events");
        let diagnostics = create("publisher", "/diagnostics", || {
            inner.create_publisher("/diagnostics", qos::state())
        })?;
        let diagnostics = Diagnostics::new(Publisher::new(diagnostics, "/diagnostics"), &full_name);
        let mut node = Self {
            overrides: origin.overrides.for_node(&full_name),
            addressed: origin
                .overrides
                .addressed_to(&full_name)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            program_arguments: Some(origin.program_arguments),
            parameters: Rc::new(RefCell::new(ParameterServer::new(
                events,
                full_name.clone(),
                clock.clone(),
            ))),
            diagnostics: Rc::new(RefCell::new(diagnostics)),
            receiver: None,
            inner: SharedNode::new(inner),
            full_name,
            clock,
            clock_topic: None,
            sim_time_requested: Rc::default(),
            sources: Vec::new(),
            direct: Vec::new(),
            beside: None,
            timers: Timers::new(),
            after_events: Vec::new(),
            after_jump_back: Vec::new(),
            jobs: Later { jobs: Rc::default() },
            stop: origin.stop,
            restart: origin.restart,
            waker: NodeWaker::default(),
            outbox: Outbox::default(),
        };
        let parameters = Rc::clone(&node.parameters);
        parameter_services::serve(&mut node, &parameters)?;
        let requested = Rc::clone(&node.sim_time_requested);
        let use_sim_time = node
            .parameter("use_sim_time", false)
            .describe("Take the time from /clock.")
            .on_change(move |_, on| requested.set(*on))
            .declare()?;
        // `/clock` itself waits for the first round, by which it is known which participant reads it: Fast DDS 2.14 may crash where
        // a subscription ends while its publisher is being found.
        node.sim_time_requested.set(use_sim_time.get());
        node.clock.use_sim_time(use_sim_time.get());
        type_description::serve(&mut node)?;
        Ok(node)
    }

    /// Name of the node without namespace.
    pub fn name(&self) -> &str {
        self.full_name.rsplit('/').next().unwrap_or_default()
    }

    /// Name of the node with its namespace, such as `/arm/sim`.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// Clock of this node.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Handle that ends this node from within.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Handle that has this node start again with other parameters.
    pub fn restart(&self) -> Restart {
        self.restart.clone()
    }

    /// Queue of jobs that make entities once the node runs.
    pub fn later(&self) -> Later<S> {
        self.jobs.clone()
    }

    /// Takes the command line without the program's name and the ROS arguments. A node that never asks accepts none: any given
    /// is an error.
    pub fn arguments(&mut self) -> Vec<String> {
        self.program_arguments.take().unwrap_or_default()
    }

    /// Takes back a declared parameter, if there is one of this name. Its [`Parameter`](crate::Parameter) keeps the last value.
    pub fn remove_parameter(&mut self, name: &str) {
        self.parameters.borrow_mut().remove(name);
    }

    /// Registers a callback after each successful set from outside, when all of its parameters hold.
    pub fn on_parameters_changed(&mut self, callback: impl FnMut(&mut S) + 'static) {
        self.parameters.borrow_mut().after_change(Box::new(callback));
    }

    /// Makes a publisher of `topic`.
    ///
    /// # Errors
    /// When the middleware refuses the publisher.
    pub fn publisher<T: Message>(
        &mut self,
        topic: &str,
        qos: Qos,
    ) -> Result<Publisher<T>, RosError> {
        let inner = create("publisher", topic, || self.inner.lock().create_publisher(topic, qos))?;
        Ok(Publisher::new(inner, topic))
    }

    /// Makes a publisher of `topic` for one place and high rates: nothing is allocated once the message has its length.
    ///
    /// # Errors
    /// When the middleware refuses the publisher.
    pub fn wire_publisher<T: Wire>(
        &mut self,
        topic: &str,
        qos: Qos,
    ) -> Result<WirePublisher<T>, RosError> {
        let publisher = create("publisher", topic, || {
            let mut node = self.inner.lock();
            if wire::is_understood::<T>() {
                node.create_publisher_untyped(topic, T::TYPE, qos).map(RosPublisher::Bytes)
            } else {
                node.create_publisher(topic, qos).map(RosPublisher::Ordinary)
            }
        })?;
        Ok(WirePublisher::new(publisher, topic))
    }

    /// Passes every message of `topic` to `callback`, in order. Nothing is lost as long as the handlers keep up with the
    /// history that `qos` sets.
    ///
    /// # Errors
    /// When the middleware refuses the subscription.
    pub fn subscribe<T: Message>(
        &mut self,
        topic: &str,
        qos: Qos,
        mut callback: impl FnMut(&mut S, &T) + 'static,
    ) -> Result<(), RosError> {
        self.subscribe_owned(topic, qos, move |state, message| callback(state, &message))
    }

    fn subscribe_owned<T: Message>(
        &mut self,
        topic: &str,
        qos: Qos,
        mut callback: impl FnMut(&mut S, T) + 'static,
    ) -> Result<(), RosError> {
        let mut stream =
            create("subscription", topic, || self.inner.lock().subscribe::<T>(topic, qos))?;
        self.sources.push(Box::new(move |state| {
            let mut any = false;
            while let Some(message) = next(&mut stream) {
                callback(state, message);
                any = true;
            }
            any
        }));
        Ok(())
    }

    /// Passes every message of `topic` to `handle`, for rates of 1 kHz: a participant of its own receives it, and its receiving
    /// thread handles it at once, apart from the handlers of the node's state, which [`Node::waker`] wakes. Between this topic
    /// and others there is no order, so it is not for lockstep; simulated time is then looked at every 20 ms and when the node
    /// wakes.
    ///
    /// # Errors
    /// When the middleware refuses the participant or the subscription.
    pub fn subscribe_directly<T: Wire>(
        &mut self,
        topic: &str,
        qos: Qos,
        handle: impl FnMut(&T) + Send + 'static,
    ) -> Result<(), RosError> {
        if self.beside.is_none() {
            self.beside = Some(Rc::new(RefCell::new(DirectNode::new(&self.full_name)?)));
        }
        let Some(node) = &self.beside else { return Ok(()) };
        let direct = DirectSubscription::new(node, topic, qos, handle, self.stop.clone())?;
        self.direct.push(Box::new(direct));
        Ok(())
    }

    /// Keeps the newest message of `topic`.
    ///
    /// # Errors
    /// When the middleware refuses the subscription.
    pub fn latest<T: Message>(&mut self, topic: &str, qos: Qos) -> Result<Latest<T>, RosError> {
        let latest = Latest::new();
        let cell = latest.clone();
        self.subscribe_owned(topic, qos, move |_, message| cell.store(message))?;
        Ok(latest)
    }

    /// Answers requests of a service at once.
    ///
    /// # Errors
    /// When the middleware refuses the service.
    pub fn service<T: Service>(
        &mut self,
        name: &str,
        mut answer: impl FnMut(&mut S, &T::Request) -> T::Response + 'static,
    ) -> Result<(), RosError> {
        self.service_later::<T>(name, move |state, request: Request<T>| {
            let response = answer(state, request.message());
            request.respond(response);
        })
    }

    /// Takes requests of a service; each is answered whenever the node responds to it.
    ///
    /// # Errors
    /// When the middleware refuses the service.
    pub fn service_later<T: Service>(
        &mut self,
        name: &str,
        mut callback: impl FnMut(&mut S, Request<T>) + 'static,
    ) -> Result<(), RosError> {
        let mut stream = create("service", name, || {
            self.inner.lock().create_service::<T>(name, qos::service())
        })?;
        let service: Arc<str> = name.into();
        let outbox = self.outbox.clone();
        self.sources.push(Box::new(move |state| {
            let mut any = false;
            while let Some(request) = next(&mut stream) {
                callback(state, Request::new(request, &service, &outbox));
                any = true;
            }
            any
        }));
        Ok(())
    }

    /// Makes a client of a service.
    ///
    /// # Errors
    /// When the middleware refuses the client.
    pub fn service_client<T: Service>(&mut self, name: &str) -> Result<ServiceClient<T>, RosError> {
        let inner = self.raw_client::<T>(name)?;
        let client = ServiceClient::new(inner, name, self.waker.clone());
        let polled = client.clone();
        self.add_source(move |_| polled.update());
        Ok(client)
    }

    pub(crate) fn raw_client<T: Service>(
        &mut self,
        name: &str,
    ) -> Result<r2r::Client<T>, RosError> {
        create("service client", name, || {
            self.inner.lock().create_client::<T>(name, qos::service())
        })
    }

    pub(crate) fn add_source(&mut self, source: impl FnMut(&mut S) -> bool + 'static) {
        self.sources.push(Box::new(source));
    }

    /// Handle that wakes this node from any thread.
    pub fn waker(&self) -> NodeWaker {
        self.waker.clone()
    }

    /// Makes a timer in wall time. A period of zero ticks as often as possible. Missed ticks are skipped.
    pub fn wall_timer(
        &mut self,
        period: Duration,
        callback: impl FnMut(&mut S) + 'static,
    ) -> Timer {
        self.timers.add_wall(period, Box::new(callback))
    }

    /// Makes a timer in ROS time, see [`Clock`]. Missed ticks are skipped.
    pub fn timer(&mut self, period: Duration, callback: impl FnMut(&mut S) + 'static) -> Timer {
        self.timers.add_ros(period, &self.clock, Box::new(callback))
    }

    /// Registers a callback after each round in which anything happened: a message, an answer, a tick, a change of a goal. The
    /// place for work that depends on several inputs.
    pub fn after_events(&mut self, callback: impl FnMut(&mut S) + 'static) {
        self.after_events.push(Box::new(callback));
    }

    /// Registers a callback for `/clock` jumping back, as after a reset of the simulation.
    pub fn on_time_jump_back(&mut self, callback: impl FnMut(&mut S) + 'static) {
        self.after_jump_back.push(Box::new(callback));
    }

    /// Publishes the status that `report` gives as `<node>: <subject>` on `/diagnostics` once a second.
    pub fn diagnose(&mut self, subject: &str, report: impl FnMut(&mut S) -> Status + 'static) {
        let first = self.diagnostics.borrow_mut().add(subject, Box::new(report));
        if first {
            let (diagnostics, clock) = (Rc::clone(&self.diagnostics), self.clock.clone());
            self.wall_timer(Duration::from_secs(1), move |state| {
                diagnostics.borrow_mut().publish(state, &clock);
            });
        }
    }

    pub(crate) fn take_override(&mut self, name: &str) -> Option<Value> {
        self.overrides.remove(name)
    }

    pub(crate) fn add_parameter(&mut self, entry: Entry<S>) -> Result<(), RosError> {
        self.parameters.borrow_mut().add(entry)
    }

    /// Whether the command line has `--help`.
    pub(crate) fn is_asked_for_help(&self) -> bool {
        self.program_arguments.as_deref().is_some_and(crate::arguments::asks_for_help)
    }

    /// Name, type and description of each declared parameter, two lines each.
    pub(crate) fn describe_parameters(&self) -> Vec<String> {
        let parameters = self.parameters.borrow();
        let line = |descriptor: &ParameterDescriptor| {
            let kind = kind_name(descriptor.type_);
            let fixed = if descriptor.read_only { ", at start only" } else { "" };
            format!("  {} ({kind}{fixed})\n      {}\n", descriptor.name, descriptor.description)
        };
        parameters.descriptors().map(line).collect()
    }

    /// Ends the set-up: announces the parameters, and reports values that were given in vain.
    pub(crate) fn announce(&mut self) -> Result<(), String> {
        if let Some(argument) = self.program_arguments.take().and_then(|a| a.into_iter().next()) {
            return Err(format!(
                "unexpected argument `{argument}` (this node takes only ROS arguments)"
            ));
        }
        let mut parameters = self.parameters.borrow_mut();
        for name in self.addressed.iter().filter(|name| self.overrides.contains_key(*name)) {
            let hint = parameter_server::closest(name, parameters.names())
                .map_or_else(String::new, |close| format!(" (did you mean `{close}`?)"));
            crate::warn!("parameter `{name}` is given, but this node has no such parameter{hint}");
        }
        parameters.announce();
        Ok(())
    }

    /// Subscribes to `/clock` or drops the subscription, as `use_sim_time` says.
    fn follow_sim_time(&mut self) -> Result<(), RosError> {
        let requested = self.sim_time_requested.get();
        if requested == self.clock_topic.is_some() {
            return Ok(());
        }
        // a refusal is reported once, not every round
        self.sim_time_requested.set(false);
        self.clock_topic = None;
        if requested {
            let qos = Qos::default().keep_last(1).best_effort().volatile();
            self.clock_topic = Some(if let Some(node) = &self.beside {
                // the clock ticks as often as what is read there, and no handler here waits for it
                let mut direct = DirectReader::<ClockMessage>::new(node, "/clock", qos)?;
                Box::new(move || direct.take().cloned())
            } else {
                let mut stream = create("subscription", "/clock", || {
                    self.inner.lock().subscribe::<ClockMessage>("/clock", qos)
                })?;
                Box::new(move || next(&mut stream))
            });
        }
        self.sim_time_requested.set(requested);
        self.clock.use_sim_time(requested);
        Ok(())
    }

    fn read_clock(&mut self, state: &mut S) -> bool {
        let Some(topic) = &mut self.clock_topic else { return false };
        let mut any = false;
        while let Some(message) = topic() {
            any = true;
            if self.clock.set_sim_time(time_from_message(&message.clock)) {
                for callback in &mut self.after_jump_back {
                    callback(state);
                }
            }
        }
        any
    }

    /// Spins one round: waits for an event, at most `limit`, and passes on all messages that came.
    pub(crate) fn spin(&mut self, state: &mut S, limit: Duration) -> Result<(), RosError> {
        self.follow_sim_time()?;
        let wait = self.timers.until_next(&self.clock, limit);
        let mut any = self.wait(wait)?;
        any |= self.read_clock(state);
        self.outbox.repeat(Instant::now());
        for source in &mut self.sources {
            any |= source(state);
        }
        any |= self.timers.run(state, &self.clock);
        if any {
            for callback in &mut self.after_events {
                callback(state);
            }
        }
        let jobs = std::mem::take(&mut *self.jobs.jobs.borrow_mut());
        for job in jobs {
            job(self, state);
        }
        Ok(())
    }

    /// Waits until the last responses have had the time to reach their clients.
    pub(crate) fn settle(&self) {
        self.outbox.settle();
    }

    /// Waits for an event; true if the node was woken.
    fn wait(&mut self, limit: Duration) -> Result<bool, RosError> {
        if self.direct.is_empty() {
            let woken = self.waker.take();
            self.inner.lock().spin_once(if woken { Duration::ZERO } else { limit });
            return Ok(woken);
        }
        if self.receiver.is_none() {
            let started = Receiver::start(self.inner.clone(), self.waker.clone());
            let failed = |e: std::io::Error| RosError::Create {
                kind: "thread",
                name: "ros".to_owned(),
                reason: e.to_string(),
            };
            self.receiver = Some(started.map_err(failed)?);
        }
        if !self.receiver.as_ref().is_some_and(Receiver::is_alive) {
            self.stop.fail("the thread that receives has died");
        }
        Ok(self.waker.wait(limit))
    }
}

/// Next item that has already arrived.
pub(crate) fn next<T>(stream: &mut (impl Stream<Item = T> + Unpin + ?Sized)) -> Option<T> {
    stream.next().now_or_never().flatten()
}

/// Makes an entity; a refusal says which.
pub(crate) fn create<R>(
    kind: &'static str,
    name: &str,
    make: impl FnOnce() -> r2r::Result<R>,
) -> Result<R, RosError> {
    let reason = match guard::catch(make) {
        Ok(Ok(entity)) => return Ok(entity),
        Ok(Err(error)) => error.to_string(),
        Err(panic) => panic,
    };
    Err(RosError::Create { kind, name: name.to_owned(), reason })
}
