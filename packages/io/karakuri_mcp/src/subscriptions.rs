//! Subscriptions to resources: who listens is notified of changes.
//!
//! A subscription keeps the versions of the resources that its principal may read, as they were at its last notification, and compares
//! them with the present ones: a slow client gets one notification for many changes, and nothing waits for it, nor grows.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{SubscriptionContext, SubscriptionSendError, SubscriptionSink};
use tokio_util::sync::CancellationToken;

use crate::principal::Principal;
use crate::uri;
use crate::verbs::Verbs;

/// Pause after notifications: what moves changes in every period, and a client that is notified reads pictures.
const PAUSE: Duration = Duration::from_millis(250);
/// Greatest number of resources that one subscription can name.
const MOST: usize = 256;

/// Versions of resources by their addresses.
type Versions = BTreeMap<String, u64>;

/// The part of a filter that is accepted. Whether a principal may read a resource is checked at each change: it may come later.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| uri::is_plain(uri));
        uris.truncate(MOST);
    }
    accepted
}

/// Notifies a principal's client of changes, until it ends the subscription, goes away, or `stop` fires.
pub(crate) async fn listen(
    verbs: &dyn Verbs,
    principal: &Principal,
    subscription: &SubscriptionContext,
    stop: &CancellationToken,
) {
    let forward = async {
        // Before the first versions are read: no change falls between the two.
        let mut changes = verbs.changes();
        let mut known = versions(verbs, principal).await;
        while changes.changed().await.is_ok() {
            let present = versions(verbs, principal).await;
            if present != known {
                if notify(subscription.sink(), &known, &present).await.is_err() {
                    return;
                }
                known = present;
                tokio::time::sleep(PAUSE).await;
            }
        }
        // Nothing can change any more; the subscription stays open.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = subscription.cancelled() => {}
        () = forward => {}
    }
}

async fn versions(verbs: &dyn Verbs, principal: &Principal) -> Versions {
    let resources = verbs.resources(principal).await;
    resources.into_iter().map(|resource| (resource.uri, resource.version)).collect()
}

/// Sends a notification of each difference that the subscription is about.
async fn notify(
    sink: &SubscriptionSink,
    known: &Versions,
    present: &Versions,
) -> Result<(), SubscriptionSendError> {
    let filter = sink.accepted();
    if filter.resources_list_changed == Some(true) && !known.keys().eq(present.keys()) {
        sink.notify_resource_list_changed().await?;
    }
    for uri in filter.resource_subscriptions.iter().flatten() {
        if known.get(uri) != present.get(uri) {
            sink.notify_resource_updated(uri.as_str()).await?;
        }
    }
    Ok(())
}
