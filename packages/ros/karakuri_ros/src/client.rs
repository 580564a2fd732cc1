//! Requests of a command-line program to running nodes, one after the other: the graph, messages of any topic, parameters,
//! goals for any action. Types are found at run time, messages are YAML.

mod actions;
mod parameters;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use futures::Stream;
use serde_yaml::Value;
use thiserror::Error;

pub use actions::{Goal, GoalEnd, GoalEvent};
pub use parameters::ParameterText;

use crate::{
    Service, cdr,
    definition::Definitions,
    guard,
    msg::rcl_interfaces::msg::ParameterEvent,
    node::{create, next},
    qos,
    run::catch_signals,
};

/// Longest wait for an event: bounds the time to notice a signal.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// Time without a change after which a graph counts as known: an announcement that was missed is repeated with the heartbeat of
/// discovery, which comes every 3 s in Fast DDS from the moment on in which two participants have found each other.
const ANNOUNCED: Duration = Duration::from_millis(3200);
/// Longest time to look at a graph that keeps changing.
const LONGEST_LOOK: Duration = Duration::from_secs(6);
/// Time that a present server may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Reason why a request failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The request names something wrong; the text lists what exists instead.
    #[error("{0}")]
    Wrong(String),
    /// The middleware or a node failed.
    #[error("{0}")]
    Failed(String),
    /// Ctrl-C interrupted the request.
    #[error("interrupted")]
    Interrupted,
}

fn wrong<T>(text: impl Into<String>) -> Result<T, ClientError> {
    Err(ClientError::Wrong(text.into()))
}

fn failed(reason: &impl ToString) -> ClientError {
    ClientError::Failed(reason.to_string())
}

/// Node without a fixed name that asks others.
pub struct Client {
    node: r2r::Node,
    /// Subscription to wait for: the client library does not wait without an entity.
    events: Items<ParameterEvent>,
    name: String,
    joined: Instant,
    definitions: Definitions,
    interrupted: Arc<AtomicBool>,
    /// Time that the requested entity may take to appear.
    wait: Duration,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("name", &self.name).finish_non_exhaustive()
    }
}

/// An action and its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionServer {
    /// Type of the action, such as `control_msgs/action/GripperCommand`.
    pub kind: String,
    /// Nodes that serve it, by full name.
    pub nodes: Vec<String>,
}

/// Publisher of another node.
#[derive(Clone)]
struct Publisher {
    /// Identifier that no other publisher has, not even that of the same node after a restart.
    gid: Vec<u8>,
    /// Full name of its node.
    node: String,
    /// Whether the name begins with `_`.
    is_hidden: bool,
    qos: qos::Qos,
}

impl Client {
    /// Joins the network; requested entities may take `wait` to appear. The first SIGINT or SIGTERM interrupts the present
    /// request, the second ends the process.
    ///
    /// # Errors
    /// When signals cannot be caught or the middleware refuses the context, the node or the subscription.
    pub fn join(wait: Duration) -> Result<Self, ClientError> {
        let interrupted = Arc::new(AtomicBool::new(false));
        catch_signals(&interrupted).map_err(|e| failed(&e))?;
        let context =
            guard::catch(r2r::Context::create).map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
        // The leading underscore hides the node, and the process id makes its name unique.
        let name = format!("_karakuri_client_{}", std::process::id());
        let node = create("node", &name, || r2r::Node::create(context, &name, ""));
        let mut node = node.map_err(|e| failed(&format!("failed to {e}")))?;
        let topic = "/parameter_events";
        let events = create("subscription", topic, || node.subscribe(topic, qos::sensor()));
        let events = events.map_err(|e| failed(&format!("failed to {e}")))?;
        let events: Items<ParameterEvent> = Box::pin(events);
        let (joined, definitions) = (Instant::now(), Definitions::installed());
        Ok(Self { node, events, name, joined, definitions, interrupted, wait })
    }

    /// Whether a signal came.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire)
    }

    fn spin(&mut self) -> Result<(), ClientError> {
        guard::catch(|| self.node.spin_once(LONGEST_WAIT)).map_err(|e| failed(&e))?;
        while next(&mut self.events).is_some() {}
        Ok(())
    }

    /// Spins until `done` returns something, at most for `patience`; `None` after that.
    fn spin_until<R>(
        &mut self,
        patience: Duration,
        mut done: impl FnMut(&mut Self) -> Option<R>,
    ) -> Result<Option<R>, ClientError> {
        let end = Instant::now() + patience;
        loop {
            if let Some(result) = done(self) {
                return Ok(Some(result));
            }
            if self.is_interrupted() {
                return Err(ClientError::Interrupted);
            }
            if Instant::now() > end {
                return Ok(None);
            }
            self.spin()?;
        }
    }

    /// Spins until another node is present, and no new one has appeared for a while.
    fn settle(&mut self) -> Result<(), ClientError> {
        let (mut before, mut changed) = (None, self.joined);
        self.spin_until(LONGEST_LOOK, |client| {
            let now = (client.all_topics(), client.visible_nodes());
            let has_nodes = !now.1.is_empty();
            if before.as_ref().is_some_and(|before| *before != now) {
                changed = Instant::now();
            }
            before = Some(now);
            (has_nodes && changed.elapsed() > ANNOUNCED).then_some(())
        })?;
        Ok(())
    }

    fn all_topics(&self) -> BTreeMap<String, Vec<String>> {
        self.node.get_topic_names_and_types().unwrap_or_default().into_iter().collect()
    }

    /// Publishers of a topic in other nodes.
    fn publishers(&self, topic: &str) -> Vec<Publisher> {
        let found = self.node.get_publishers_info_by_topic(topic, false).unwrap_or_default();
        let others = found.into_iter().filter(|info| info.node_name != self.name);
        let publisher = others.map(|info| Publisher {
            gid: info.endpoint_gid.to_vec(),
            node: format!("{}/{}", info.node_namespace.trim_end_matches('/'), info.node_name),
            is_hidden: info.node_name.starts_with('_'),
            qos: info.qos_profile,
        });
        publisher.collect()
    }

    /// Topics in use, with their types; those that begin with `_` are left out.
    ///
    /// # Errors
    /// When a signal interrupts the wait or the middleware fails.
    pub fn topics(&mut self) -> Result<BTreeMap<String, Vec<String>>, ClientError> {
        self.settle()?;
        Ok(self.visible_topics())
    }

    fn visible_topics(&self) -> BTreeMap<String, Vec<String>> {
        let mut topics = self.all_topics();
        topics.retain(|name, _| !name.contains("/_"));
        topics
    }

    /// Nodes that are present, by full name; those that begin with `_` are left out.
    ///
    /// # Errors
    /// When a signal interrupts the wait or the middleware fails.
    pub fn nodes(&mut self) -> Result<BTreeSet<String>, ClientError> {
        self.settle()?;
        Ok(self.visible_nodes())
    }

    /// Nodes that publish a log, as every node does, without hidden ones.
    fn visible_nodes(&self) -> BTreeSet<String> {
        let mut publishers = self.publishers("/rosout");
        publishers.extend(self.publishers("/parameter_events"));
        publishers.into_iter().filter(|p| !p.is_hidden).map(|p| p.node).collect()
    }

    /// Actions that have a server, by name.
    ///
    /// # Errors
    /// When a signal interrupts the wait or the middleware fails.
    pub fn actions(&mut self) -> Result<BTreeMap<String, ActionServer>, ClientError> {
        self.settle()?;
        Ok(self.present_actions())
    }

    fn present_actions(&self) -> BTreeMap<String, ActionServer> {
        let topics = self.all_topics();
        let actions = topics.iter().filter_map(|(topic, types)| {
            let action = topic.strip_suffix("/_action/feedback")?;
            let kind = types.first()?.strip_suffix("_FeedbackMessage")?.to_owned();
            let nodes: Vec<_> = self.publishers(topic).into_iter().map(|p| p.node).collect();
            (!nodes.is_empty()).then(|| (action.to_owned(), ActionServer { kind, nodes }))
        });
        actions.collect()
    }

    /// Passes each message of a topic to `show`, in order, until that returns `false` or `patience` passes without a message.
    /// The quality of service is that of the publishers.
    ///
    /// # Errors
    /// When the topic or its type is unknown, a message cannot be decoded, no message comes within `patience`, a
    /// signal interrupts, or `show` fails.
    pub fn echo(
        &mut self,
        topic: &str,
        kind: Option<&str>,
        patience: Option<Duration>,
        mut show: impl FnMut(Value) -> Result<bool, ClientError>,
    ) -> Result<(), ClientError> {
        let topic = absolute(topic);
        let kind = self.type_of(&topic, kind)?;
        let definition = self.definitions.message(&kind).map_err(ClientError::Wrong)?;
        let qos = self.qos_of(&topic);
        let subscription =
            create("subscription", &topic, || self.node.subscribe_raw(&topic, &kind, qos));
        let mut stream = subscription.map_err(|e| {
            ClientError::Wrong(format!(
                "failed to {e}; this program was built without the type `{kind}`"
            ))
        })?;
        let mut last = Instant::now();
        loop {
            while let Some(bytes) = next(&mut stream) {
                last = Instant::now();
                if !show(cdr::read(&bytes, &definition).map_err(|e| failed(&e))?)? {
                    return Ok(());
                }
            }
            if self.is_interrupted() {
                return Err(ClientError::Interrupted);
            }
            if let Some(patience) = patience.filter(|p| last.elapsed() > *p) {
                return Err(failed(&format!(
                    "{topic}: no message came for {} s",
                    patience.as_secs_f64()
                )));
            }
            self.spin()?;
        }
    }

    fn type_of(&mut self, topic: &str, given: Option<&str>) -> Result<String, ClientError> {
        let find = |client: &mut Self| client.all_topics().remove(topic);
        let mut found = self.spin_until(self.wait, find)?.unwrap_or_default();
        if found.is_empty() && given.is_none() {
            // The topic may appear while the graph settles, to list the topics that there are.
            self.settle()?;
            found = find(self).unwrap_or_default();
        }
        match (&found[..], given) {
            ([], Some(given)) => Ok(given.to_owned()),
            ([], None) => {
                let there = listed(self.visible_topics().keys());
                wrong(format!("nobody publishes or listens to {topic}; there {there}"))
            }
            (types, Some(given)) if !types.iter().any(|t| t == given) => {
                wrong(format!("{topic} is a {}, not a {given}", types.join(" and a ")))
            }
            (_, Some(given)) => Ok(given.to_owned()),
            ([one], None) => Ok(one.clone()),
            (types, None) => wrong(format!(
                "{topic} has the types {}: name one after the topic",
                types.join(", ")
            )),
        }
    }

    /// Quality of service that matches every publisher: reliable, and with earlier messages, where all of them offer it.
    fn qos_of(&self, topic: &str) -> qos::Qos {
        use r2r::qos::{DurabilityPolicy, ReliabilityPolicy};
        let publishers = self.publishers(topic);
        let all = |is: fn(&qos::Qos) -> bool| {
            !publishers.is_empty() && publishers.iter().all(|p| is(&p.qos))
        };
        let mut qos = qos::Qos::default().keep_last(100).volatile().best_effort();
        if all(|qos| qos.reliability == ReliabilityPolicy::Reliable) || publishers.is_empty() {
            qos = qos.reliable();
        }
        if all(|qos| qos.durability == DurabilityPolicy::TransientLocal) {
            qos = qos.transient_local();
        }
        qos
    }

    /// Full name of the one present node whose own name is this, in any namespace.
    ///
    /// # Errors
    /// When none or several appear in time, or a signal interrupts.
    pub fn find_node(&mut self, own_name: &str) -> Result<String, ClientError> {
        let is_meant = |name: &String| name.rsplit('/').next() == Some(own_name);
        let find = |client: &mut Self| -> Option<Vec<String>> {
            let found: Vec<_> = client.visible_nodes().into_iter().filter(is_meant).collect();
            (!found.is_empty()).then_some(found)
        };
        match self.spin_until(self.wait, find)?.as_deref() {
            Some([one]) => Ok(one.clone()),
            Some(several) => {
                wrong(format!("several nodes are called `{own_name}`; there {}", listed(several)))
            }
            None => {
                self.settle()?;
                let there = listed(self.visible_nodes());
                wrong(format!("there is no node `{own_name}`; there {there}"))
            }
        }
    }

    /// Calls a service of a present node.
    ///
    /// # Errors
    /// When the service does not appear or does not answer in time, or a signal interrupts.
    pub fn call<T: Service>(
        &mut self,
        service: &str,
        request: &T::Request,
    ) -> Result<T::Response, ClientError> {
        self.call_within::<T>(service, request, ANSWER)
    }

    /// [`Self::call`] of a service that may take its time.
    ///
    /// # Errors
    ///
    /// As those of [`Self::call`], after this time.
    pub fn call_within<T: Service>(
        &mut self,
        service: &str,
        request: &T::Request,
        patience: Duration,
    ) -> Result<T::Response, ClientError> {
        let client = create("service client", service, || {
            self.node.create_client::<T>(service, qos::service())
        });
        let client = client.map_err(|e| failed(&format!("failed to {e}")))?;
        self.wait_for_server(r2r::Node::is_available(&client), || {
            format!("nobody serves {service}")
        })?;
        let answer = guard::catch(|| client.request(request))
            .map_err(|e| failed(&e))?
            .map_err(|e| failed(&e))?;
        let mut answer = Box::pin(answer);
        let answer = self.spin_until(patience, |_| poll(&mut answer))?.ok_or_else(|| {
            failed(&format!("{service} did not answer within {} s", patience.as_secs()))
        })?;
        answer.map_err(|e| failed(&e))
    }

    /// Waits until a service or action has a server.
    ///
    /// # Errors
    ///
    /// With the message that `absent` makes if there is none in time.
    fn wait_for_server(
        &mut self,
        is_available: r2r::Result<impl Future<Output = r2r::Result<()>>>,
        absent: impl FnOnce() -> String,
    ) -> Result<(), ClientError> {
        let mut there = Box::pin(is_available.map_err(|e| failed(&e))?);
        match self.spin_until(self.wait, |_| poll(&mut there))? {
            Some(_) => Ok(()),
            None => Err(failed(&absent())),
        }
    }
}

/// Polls a future once for its result.
fn poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    match Pin::new(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Stream whose items are taken as they arrive.
type Items<T> = Pin<Box<dyn Stream<Item = T>>>;

/// Absolute name of a name in the root namespace.
fn absolute(name: &str) -> String {
    if name.starts_with('/') { name.to_owned() } else { format!("/{name}") }
}

/// Text `are a, b`, or `are none` with a possible reason.
fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    if names.is_empty() {
        let domain = std::env::var("ROS_DOMAIN_ID").unwrap_or_else(|_| "0".to_owned());
        return format!(
            "are none (ROS_DOMAIN_ID is {domain}; it, and ROS_AUTOMATIC_DISCOVERY_RANGE, must be those of the nodes)"
        );
    }
    format!("are {}", names.join(", "))
}
