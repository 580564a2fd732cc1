//! Subscriptions to resources.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, DEADLINE};

const SCENE: &str = "karakuri://scene.json";
const PICTURE: &str = "karakuri://gone.png";

impl Client {
    /// Opens a subscription, and returns what of it was accepted.
    async fn listen(&mut self, requested: Value) -> Value {
        self.send(5, "subscriptions/listen", json!({"notifications": requested})).await;
        let accepted = self.read().await;
        assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
        accepted["params"]["notifications"].clone()
    }

    /// The next notification: its method, and the resource that it is about.
    async fn notified(&mut self) -> String {
        let note = self.read().await;
        let id = &note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*id, 5, "{note}");
        let uri = note["params"]["uri"].as_str().unwrap_or_default();
        format!("{} {uri}", note["method"].as_str().unwrap()).trim_end().to_owned()
    }

    /// Asserts that there is no notification, by a request that is answered before.
    async fn assert_silent(&mut self) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.send(9, "server/discover", json!({})).await;
        let answer = self.read().await;
        assert_eq!(answer["id"], 9, "{answer}");
    }
}

#[tokio::test]
async fn changes_of_what_was_requested_are_notified() {
    let mut client = Client::start();
    let requested =
        json!({"resourcesListChanged": true, "resourceSubscriptions": [SCENE, PICTURE]});
    assert_eq!(client.listen(requested.clone()).await, requested);
    client.verbs.change(|resources| *resources.entry(PICTURE).or_default() += 1);
    assert_eq!(client.notified().await, format!("notifications/resources/updated {PICTURE}"));
    // A resource that comes changes the list and itself.
    client.verbs.change(|resources| *resources.entry(SCENE).or_default() = 0);
    assert_eq!(client.notified().await, "notifications/resources/list_changed");
    assert_eq!(client.notified().await, format!("notifications/resources/updated {SCENE}"));
    client.verbs.change(|resources| resources.retain(|uri, _| *uri != SCENE));
    assert_eq!(client.notified().await, "notifications/resources/list_changed");
    assert_eq!(client.notified().await, format!("notifications/resources/updated {SCENE}"));
    client.assert_silent().await;
}

#[tokio::test]
async fn changes_of_other_resources_are_not_notified() {
    let mut client = Client::start();
    client.listen(json!({"resourceSubscriptions": [PICTURE]})).await;
    client.verbs.change(|resources| *resources.entry(SCENE).or_default() = 0);
    client.verbs.change(|resources| *resources.entry(SCENE).or_default() += 1);
    // Something may have changed, and nothing has.
    client.verbs.change(|_| ());
    client.assert_silent().await;
}

#[tokio::test]
async fn what_the_principal_cannot_read_is_not_notified() {
    let mut client = Client::start();
    client.listen(json!({"resourceSubscriptions": ["karakuri://others.json", PICTURE]})).await;
    client.verbs.change(|resources| *resources.entry(PICTURE).or_default() += 1);
    assert_eq!(client.notified().await, format!("notifications/resources/updated {PICTURE}"));
    client.assert_silent().await;
}

#[tokio::test]
async fn addresses_that_lead_elsewhere_are_not_accepted() {
    let mut client = Client::start();
    let uris = ["file:///etc/passwd", "karakuri://../scene.json", PICTURE];
    let requested = json!({"toolsListChanged": true, "resourceSubscriptions": uris});
    assert_eq!(client.listen(requested).await, json!({"resourceSubscriptions": [PICTURE]}));
}

#[tokio::test]
async fn many_changes_are_few_notifications_up_to_the_last() {
    let mut client = Client::start();
    client.listen(json!({"resourceSubscriptions": [PICTURE]})).await;
    for _ in 0..200 {
        client.verbs.change(|resources| *resources.entry(PICTURE).or_default() += 1);
        tokio::task::yield_now().await;
    }
    // At once of the first, and after the pause of all that came meanwhile.
    for _ in 0..2 {
        assert_eq!(client.notified().await, format!("notifications/resources/updated {PICTURE}"));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    client.assert_silent().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_stops_nothing() {
    let mut client = Client::start();
    client.listen(json!({"resourceSubscriptions": [PICTURE]})).await;
    for _ in 0..10_000 {
        client.verbs.change(|resources| *resources.entry(PICTURE).or_default() += 1);
    }
    client.stop.cancel();
    tokio::time::timeout(DEADLINE, client.serving).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_subscription_ends_when_it_is_cancelled() {
    let mut client = Client::start();
    client.listen(json!({"resourceSubscriptions": [PICTURE]})).await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    client.write(cancelled).await;
    client.assert_silent().await;
    client.verbs.change(|resources| *resources.entry(PICTURE).or_default() += 1);
    client.assert_silent().await;
}
