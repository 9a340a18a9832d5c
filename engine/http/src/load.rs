//! What a sink sends together: the events of several parcels, each of which is confirmed, refused or given up
//! in the end.
//!
//! Invariant: a lone event is never held back; events only wait for each other while as many requests as
//! allowed are under way.

use std::future::Future;
use std::sync::Arc;

use temblor_declare::{Setting, Settings, Takes};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Feedback, Outlet, Parcel, Refusal};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Requests under way at the same time.
pub(crate) const CONCURRENCY: Setting = Setting::new(
    "concurrency",
    Takes::Whole { least: 1, most: 1024 },
    "Requests at the same time. With more than 1, events may arrive in another order.",
)
.or("4");
/// Events of one request.
pub(crate) const BATCH_EVENTS: Setting = Setting::new(
    "batch_events",
    Takes::Whole { least: 1, most: 1_000_000 },
    "Events in one request, at the most.",
)
.or("1000");
/// Bytes of one request.
pub(crate) const BATCH_BYTES: Setting = Setting::new(
    "batch_bytes",
    Takes::Bytes,
    "Bytes of events in one request, at the most; a bigger event goes alone.",
)
.or("5MiB");

/// How much goes together, and how often at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portions {
    /// Requests at the same time.
    pub concurrency: usize,
    /// Events in a request.
    pub events_max: usize,
    /// Bytes in a request.
    pub bytes_max: usize,
}

impl Portions {
    /// As the settings say.
    #[must_use]
    pub(crate) fn of_settings(settings: &Settings) -> Self {
        Self {
            concurrency: settings.size("concurrency"),
            events_max: settings.optional_whole("batch_events").map_or(1, |most| most as usize),
            bytes_max: settings
                .optional_whole("batch_bytes")
                .map_or(usize::MAX, |most| most as usize),
        }
    }
}

/// An event of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    parcel: usize,
    event: usize,
}

/// Parcels that are dealt with together.
pub(crate) struct Load {
    parcels: Vec<Parcel>,
    refused: Vec<Vec<Refusal>>,
}

impl Load {
    /// A parcel and what else is there now.
    fn gather(first: Parcel, outlet: &Outlet, portions: Portions) -> Self {
        let (mut events, mut bytes) = (first.events().len(), first.bytes().len());
        let mut parcels = vec![first];
        while events < portions.events_max && bytes < portions.bytes_max {
            let Some(next) = outlet.take_now() else { break };
            (events, bytes) = (events + next.events().len(), bytes + next.bytes().len());
            parcels.push(next);
        }
        let refused = parcels.iter().map(|_| Vec::new()).collect();
        Self { parcels, refused }
    }

    /// All events.
    #[must_use]
    pub(crate) fn items(&self) -> Vec<Item> {
        let events = |(parcel, one): (usize, &Parcel)| {
            (0..one.events().len()).map(move |event| Item { parcel, event })
        };
        self.parcels.iter().enumerate().flat_map(events).collect()
    }

    /// An event, without what ends it.
    #[must_use]
    pub(crate) fn event(&self, item: Item) -> &[u8] {
        self.parcels[item.parcel].event(item.event).trim_ascii_end()
    }

    /// An attribute of an event.
    #[must_use]
    pub(crate) fn attribute(&self, item: Item, attribute: usize) -> Option<&str> {
        self.parcels[item.parcel].attribute(item.event, attribute)
    }

    /// Cuts events into requests, by number and bytes.
    #[must_use]
    pub(crate) fn portions<'a>(&self, items: &'a [Item], portions: Portions) -> Vec<&'a [Item]> {
        let (mut cut, mut start, mut bytes) = (Vec::new(), 0, 0);
        for (at, item) in items.iter().enumerate() {
            let more = self.event(*item).len();
            let is_full = at - start >= portions.events_max || bytes + more > portions.bytes_max;
            if at > start && is_full {
                cut.push(&items[start..at]);
                (start, bytes) = (at, 0);
            }
            bytes += more;
        }
        if start < items.len() {
            cut.push(&items[start..]);
        }
        cut
    }

    /// The other side refuses an event for good.
    pub(crate) fn refuse(&mut self, item: Item, reason: impl Into<String>, details: String) {
        let refusal = Refusal { event: item.event, reason: reason.into(), details };
        self.refused[item.parcel].push(refusal);
    }

    /// Everything that was not refused has been delivered.
    pub(crate) async fn settle(self, errors: &Feedback) {
        for (parcel, refused) in self.parcels.into_iter().zip(&self.refused) {
            parcel.confirm_except(refused, errors);
        }
    }

    /// It is given up: the input of all of it stays unacknowledged.
    pub(crate) fn fail(self, error: &Error) {
        self.parcels.into_iter().for_each(|parcel| parcel.fail(error.clone()));
    }
}

/// Delivers loads.
pub(crate) trait Deliver: Send + Sync + 'static {
    /// Delivers one, and settles it or gives it up.
    fn deliver(&self, load: Load) -> impl Future<Output = ()> + Send;
}

/// Delivers all that comes, several loads at the same time, until the end.
pub(crate) async fn drive<D: Deliver>(outlet: Arc<Outlet>, portions: Portions, deliverer: Arc<D>) {
    let places = Arc::new(Semaphore::new(portions.concurrency));
    let mut under_way = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let Some(first) = outlet.take().await else { break };
        while under_way.try_join_next().is_some() {}
        let load = Load::gather(first, &outlet, portions);
        let deliverer = Arc::clone(&deliverer);
        under_way.spawn(async move {
            deliverer.deliver(load).await;
            drop(place);
        });
    }
    while under_way.join_next().await.is_some() {}
}
