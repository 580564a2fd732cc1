//! Service servers and clients.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use crate::{CallError, Service, direct::NodeWaker, guard, outbox::Outbox, warn};

/// Period at which a client looks for its server.
const PRESENCE_PERIOD: Duration = Duration::from_millis(100);

/// Request to answer, at once or later. Dropping it answers with a default response.
pub struct Request<T: Service> {
    message: T::Request,
    inner: Option<r2r::ServiceRequest<T>>,
    service: Arc<str>,
    outbox: Outbox,
}

impl<T: Service> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("service", &self.service)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl<T: Service> Request<T> {
    pub(crate) fn new(
        mut inner: r2r::ServiceRequest<T>,
        service: &Arc<str>,
        outbox: &Outbox,
    ) -> Self {
        let message = std::mem::take(&mut inner.message);
        Self { message, inner: Some(inner), service: Arc::clone(service), outbox: outbox.clone() }
    }

    /// Message of the request.
    pub fn message(&self) -> &T::Request {
        &self.message
    }

    /// Takes the message out, leaving a default one.
    pub(crate) fn take(&mut self) -> T::Request {
        std::mem::take(&mut self.message)
    }

    /// Sends the answer. A client that is gone does not matter.
    pub fn respond(mut self, response: T::Response) {
        self.send(response);
    }

    fn send(&mut self, response: T::Response) {
        let Some(request) = self.inner.take() else { return };
        // checked first: a panic inside `respond` would poison the client library's lock
        let response = match guard::check(&response) {
            Ok(()) => response,
            Err(reason) => {
                let service = &self.service;
                warn!(
                    "service `{service}`: response not sent: {reason}; a default one goes instead"
                );
                T::Response::default()
            }
        };
        let service = Arc::clone(&self.service);
        let send = move || {
            let (request, response) = (request.clone(), response.clone());
            match guard::catch(|| request.respond(response)) {
                Ok(Err(error)) => {
                    tracing::debug!("service `{service}`: the client took no response: {error}");
                    false
                }
                _ => true,
            }
        };
        if send() {
            self.outbox.note_sent();
        } else {
            self.outbox.keep(send);
        }
    }
}

impl<T: Service> Drop for Request<T> {
    fn drop(&mut self) {
        self.send(T::Response::default());
    }
}

type Response<T> = Pin<
    Box<dyn Future<Output = r2r::Result<<T as r2r::WrappedServiceTypeSupport>::Response>> + Send>,
>;

/// Pending answer to a request; `poll` is called once a spin.
pub(crate) struct Answer<T: Service>(Response<T>);

impl<T: Service> Answer<T> {
    /// Response, once it has come.
    pub(crate) fn poll(&mut self) -> Option<T::Response> {
        match self.0.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => response.ok(),
            Poll::Pending => None,
        }
    }
}

/// Client of the client library, with the knowledge whether the server is there.
pub(crate) struct Caller<T: Service> {
    inner: r2r::Client<T>,
    present: bool,
    looked: Option<Instant>,
    look: Option<Pin<Box<dyn Future<Output = r2r::Result<()>> + Send>>>,
}

impl<T: Service> Caller<T> {
    pub(crate) fn new(inner: r2r::Client<T>) -> Self {
        Self { inner, present: false, looked: None, look: None }
    }

    /// Looks for the server now and then; true if it is there.
    pub(crate) fn update_presence(&mut self) -> bool {
        if let Some(look) = &mut self.look {
            let since = self.looked.map_or(Duration::ZERO, |at| at.elapsed());
            match look.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(found) => {
                    self.present = found.is_ok();
                    self.look = None;
                }
                // the look is answered at the next spin, unless no server is there
                Poll::Pending if since > PRESENCE_PERIOD => self.present = false,
                Poll::Pending => {}
            }
        } else if self.looked.is_none_or(|at| at.elapsed() > PRESENCE_PERIOD) {
            self.looked = Some(Instant::now());
            if let Ok(look) = r2r::Node::is_available(&self.inner) {
                self.look = Some(Box::pin(look));
            }
        }
        self.present
    }

    pub(crate) fn is_present(&self) -> bool {
        self.present
    }

    /// Sends a request.
    pub(crate) fn send(&self, request: &T::Request) -> Result<Answer<T>, String> {
        guard::check(request)?;
        match guard::catch(|| self.inner.request(request))? {
            Ok(answer) => Ok(Answer(Box::pin(answer))),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Client that calls a service, from any thread. Answers arrive on the spin thread.
pub struct ServiceClient<T: Service> {
    shared: Arc<Mutex<Calls<T>>>,
    service: Arc<str>,
    waker: NodeWaker,
}

impl<T: Service> Clone for ServiceClient<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            service: Arc::clone(&self.service),
            waker: self.waker.clone(),
        }
    }
}

impl<T: Service> fmt::Debug for ServiceClient<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceClient").field("service", &self.service).finish_non_exhaustive()
    }
}

struct Calls<T: Service> {
    caller: Caller<T>,
    waiting: Vec<Waiting<T>>,
}

struct Waiting<T: Service> {
    request: T::Request,
    answer: Option<Answer<T>>,
    deadline: Instant,
    timeout: Duration,
    slot: Slot<T>,
}

type Outcome<T> = Result<<T as r2r::WrappedServiceTypeSupport>::Response, CallError>;
type Slot<T> = Arc<Mutex<SlotState<T>>>;

struct SlotState<T: Service> {
    outcome: Option<Outcome<T>>,
    waker: Option<Waker>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Service> ServiceClient<T> {
    pub(crate) fn new(inner: r2r::Client<T>, service: &str, waker: NodeWaker) -> Self {
        let calls = Calls { caller: Caller::new(inner), waiting: Vec::new() };
        Self { shared: Arc::new(Mutex::new(calls)), service: service.into(), waker }
    }

    /// Whether the server is there.
    pub fn is_ready(&self) -> bool {
        lock(&self.shared).caller.is_present()
    }

    /// Calls the server, which may still have to appear; the answer must come within `timeout`.
    pub fn call(&self, request: T::Request, timeout: Duration) -> Call<T> {
        let slot = Arc::new(Mutex::new(SlotState { outcome: None, waker: None }));
        let mut calls = lock(&self.shared);
        let deadline = Instant::now() + timeout;
        calls.waiting.push(Waiting {
            request,
            answer: None,
            deadline,
            timeout,
            slot: Arc::clone(&slot),
        });
        calls.send_waiting(&self.service);
        self.waker.wake();
        Call { slot }
    }

    /// Updates pending calls, once a spin; true if one ended.
    pub(crate) fn update(&self) -> bool {
        let mut calls = lock(&self.shared);
        calls.caller.update_presence();
        calls.send_waiting(&self.service);
        calls.collect(&self.service)
    }
}

impl<T: Service> Calls<T> {
    fn send_waiting(&mut self, service: &str) {
        if !self.caller.is_present() {
            return;
        }
        let caller = &self.caller;
        self.waiting.retain_mut(|waiting| {
            if waiting.answer.is_some() {
                return true;
            }
            match caller.send(&waiting.request) {
                Ok(answer) => {
                    waiting.answer = Some(answer);
                    true
                }
                Err(reason) => {
                    fill(
                        &waiting.slot,
                        Err(CallError::Refused { service: service.to_owned(), reason }),
                    );
                    false
                }
            }
        });
    }

    fn collect(&mut self, service: &str) -> bool {
        let before = self.waiting.len();
        let now = Instant::now();
        self.waiting.retain_mut(|waiting| {
            if let Some(response) = waiting.answer.as_mut().and_then(Answer::poll) {
                fill(&waiting.slot, Ok(response));
                return false;
            }
            if now >= waiting.deadline {
                let timeout =
                    CallError::Timeout { service: service.to_owned(), timeout: waiting.timeout };
                fill(&waiting.slot, Err(timeout));
                return false;
            }
            true
        });
        self.waiting.len() != before
    }
}

fn fill<T: Service>(slot: &Slot<T>, outcome: Outcome<T>) {
    let mut slot = lock(slot);
    slot.outcome = Some(outcome);
    if let Some(waker) = slot.waker.take() {
        waker.wake();
    }
}

/// Pending call of a service: poll it from a tick with [`Call::take`], or await it.
#[must_use = "the answer arrives here"]
pub struct Call<T: Service> {
    slot: Slot<T>,
}

impl<T: Service> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("ended", &lock(&self.slot).outcome.is_some()).finish()
    }
}

impl<T: Service> Call<T> {
    /// Outcome of the call, once, when it has ended.
    pub fn take(&self) -> Option<Result<T::Response, CallError>> {
        lock(&self.slot).outcome.take()
    }
}

impl<T: Service> Future for Call<T> {
    type Output = Result<T::Response, CallError>;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = lock(&self.slot);
        if let Some(outcome) = slot.outcome.take() {
            return Poll::Ready(outcome);
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
