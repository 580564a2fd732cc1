//! Clients, and the operator lease that one of them has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::run::Audience;
use crate::server::Outbox;
use crate::wire::{Code, LeaseState, Viewer, WireError};

/// Time after which a lease that was asked for passes on, whatever its holder does.
const TAKE_OVER: Duration = Duration::from_secs(5);

/// All clients.
#[derive(Debug, Default)]
pub(super) struct Clients {
    all: Vec<Client>,
    /// Number of clients that have been there.
    joined: usize,
    holder: Option<String>,
    asked: Option<(String, Instant)>,
    /// Those that see frames.
    audience: Audience,
}

#[derive(Debug)]
struct Client {
    viewer: Viewer,
    outbox: Arc<Outbox>,
    heard: Instant,
}

impl Clients {
    /// Adds a client; it gets the lease if nobody has it. Returns its name.
    pub(super) fn join(&mut self, name: String, outbox: Arc<Outbox>) -> String {
        let client = letters(self.joined);
        self.joined += 1;
        let viewer = Viewer { client: client.clone(), name };
        self.all.push(Client { viewer, outbox, heard: Instant::now() });
        self.holder.get_or_insert_with(|| client.clone());
        self.audience.set(self.outboxes());
        client
    }

    /// Those that see frames.
    pub(super) fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Removes a client, and its lease.
    pub(super) fn leave(&mut self, outbox: &Arc<Outbox>) {
        let Some(name) = self.name_of(outbox) else { return };
        self.all.retain(|c| c.viewer.client != name);
        self.audience.set(self.outboxes());
        if self.asked.as_ref().is_some_and(|(by, _)| *by == name) {
            self.asked = None;
        }
        if self.holder.as_ref() == Some(&name) {
            self.holder = self.asked.take().map(|(by, _)| by);
        }
    }

    /// Name of a client, which is there now.
    pub(super) fn name_of(&mut self, outbox: &Arc<Outbox>) -> Option<String> {
        let client = self.all.iter_mut().find(|c| Arc::ptr_eq(&c.outbox, outbox))?;
        client.heard = Instant::now();
        Some(client.viewer.client.clone())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.all.iter().any(|c| c.viewer.client == name)
    }

    /// Checks that a client has the lease.
    pub(super) fn check_lease(&self, client: &str) -> Result<(), WireError> {
        match self.holder.as_deref() {
            Some(holder) if holder == client => Ok(()),
            Some(holder) => {
                let text = format!("client {holder} has the operator lease");
                Err(WireError::new(Code::NoLease, text, "take it over"))
            }
            None => Err(WireError::new(Code::NoLease, "nobody has the operator lease", "take it")),
        }
    }

    /// Gives the lease to a client if it is free, or asks its holder for it.
    pub(super) fn take_lease(&mut self, client: &str) {
        match &self.holder {
            None => self.holder = Some(client.to_owned()),
            Some(holder) if holder == client => self.asked = None,
            Some(_) => {
                // Who asked first is not put back by another.
                self.asked.get_or_insert_with(|| (client.to_owned(), Instant::now()));
            }
        }
    }

    /// Takes the lease from its holder, for whoever asked; of another client, its question.
    pub(super) fn give_lease(&mut self, client: &str) {
        if self.holder.as_deref() == Some(client) {
            self.holder = self.asked.take().map(|(by, _)| by);
        } else if self.asked.as_ref().is_some_and(|(by, _)| by == client) {
            self.asked = None;
        }
    }

    /// Passes a lease on whose time is over; whether it did.
    pub(super) fn pass_lease(&mut self) -> bool {
        if self.asked.as_ref().is_none_or(|(_, since)| since.elapsed() < TAKE_OVER) {
            return false;
        }
        self.holder = self.asked.take().map(|(by, _)| by);
        true
    }

    /// Time since the client with the lease said anything; `None`: nobody has it.
    pub(super) fn silence(&self) -> Option<Duration> {
        let holder = self.holder.as_ref()?;
        self.all.iter().find(|c| c.viewer.client == *holder).map(|c| c.heard.elapsed())
    }

    /// Who is there, and who has the lease.
    pub(super) fn state(&self) -> LeaseState {
        LeaseState {
            holder: self.holder.clone(),
            asked_by: self.asked.as_ref().map(|(by, _)| by.clone()),
            clients: self.all.iter().map(|c| c.viewer.clone()).collect(),
        }
    }

    /// Sends a text to all.
    pub(super) fn send(&self, text: &str) {
        for client in &self.all {
            client.outbox.send(text.to_owned());
        }
    }

    /// Sends rows of a preview to all.
    pub(super) fn send_rows(&self, part: Vec<u8>) {
        let part = Arc::new(part);
        for client in &self.all {
            client.outbox.add_rows(&part);
        }
    }

    /// Throws away the rows of previews that were not sent yet.
    pub(super) fn drop_rows(&self) {
        for client in &self.all {
            client.outbox.drop_rows();
        }
    }

    /// Where the messages of all clients go.
    fn outboxes(&self) -> Vec<Arc<Outbox>> {
        self.all.iter().map(|c| Arc::clone(&c.outbox)).collect()
    }
}

/// A, B, ... Z, AA, AB, ...
fn letters(mut index: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(char::from(b'A' + u8::try_from(index % 26).unwrap_or(0)));
        if index < 26 {
            return name.iter().rev().collect();
        }
        index = index / 26 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_on_after_z() {
        assert_eq!(
            [0, 25, 26, 51, 52, 701, 702].map(letters),
            ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]
        );
    }

    #[test]
    fn the_lease_goes_to_the_first_and_passes_on() {
        let mut clients = Clients::default();
        let [first, second] = [(); 2].map(|()| Arc::new(Outbox::default()));
        let a = clients.join(String::new(), Arc::clone(&first));
        let b = clients.join(String::new(), second);
        assert!(clients.check_lease(&a).is_ok());
        assert_eq!(clients.check_lease(&b).unwrap_err().text, "client A has the operator lease");
        clients.take_lease(&b);
        assert!(!clients.pass_lease(), "its holder has 5 s to answer");
        assert_eq!(clients.state().asked_by.as_deref(), Some("B"));
        clients.give_lease(&a);
        assert!(clients.check_lease(&b).is_ok());
        clients.take_lease(&a);
        clients.leave(&first);
        assert_eq!(clients.state().asked_by, None, "who is gone does not ask");
        assert!(clients.check_lease(&b).is_ok());
    }
}
