//! What a sink sends together: the events of several parcels, each of which is confirmed, refused or given up
//! in the end.
//!
//! Invariant: a lone event is never held back; events only wait for each other while as many requests as
//! allowed are under way.

use std::future::Future;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use temblor_declare::order::Order;
use temblor_declare::{Setting, Settings, Takes, Wrong};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Feedback, Outlet, Parcel, Refusal};
use temblor_wire::admission::Admission;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;

/// Requests under way at the same time.
pub(crate) const CONCURRENCY: Setting = Setting::new(
    "concurrency",
    Takes::Whole { least: 1, most: 1024 },
    "Requests at the same time, at the most. Within that as many are under way as the peer bears: one more while \
     it answers as fast as before, a tenth fewer when it gets slower or has too much to do.",
)
.or("16");
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
    /// Which events keep their order.
    pub order: Order,
}

impl Portions {
    /// As the settings say, which were read by these rows.
    ///
    /// # Errors
    /// An order that is none.
    pub(crate) fn of_settings(settings: &Settings, rows: &[Setting]) -> Result<Self, Wrong> {
        let order = Order::of_settings(settings, rows)?;
        let concurrency = settings.size("concurrency");
        Ok(Self {
            concurrency: if order == Order::Source { 1 } else { concurrency },
            events_max: settings.optional_whole("batch_events").map_or(1, |most| most as usize),
            bytes_max: settings
                .optional_whole("batch_bytes")
                .map_or(usize::MAX, |most| most as usize),
            order,
        })
    }
}

/// An event of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    parcel: usize,
    event: usize,
}

/// A parcel whose events are in one load or in several.
struct Shared {
    parcel: Parcel,
    fate: Mutex<Fate>,
}

/// What became of its events so far.
#[derive(Default)]
struct Fate {
    refused: Vec<Refusal>,
    /// Why some of them are given up.
    failure: Option<Error>,
}

impl Shared {
    /// All its events have ended.
    fn end(self, errors: &Feedback) {
        let Fate { refused, failure } =
            self.fate.into_inner().unwrap_or_else(PoisonError::into_inner);
        match failure {
            None => self.parcel.confirm_except(&refused, errors),
            Some(error) => self.parcel.fail(error),
        }
    }

    fn fate(&self) -> MutexGuard<'_, Fate> {
        self.fate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events that are dealt with together, and the parcels that they are of.
pub(crate) struct Load {
    parcels: Vec<Arc<Shared>>,
    items: Vec<Item>,
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
        let events = |(parcel, one): (usize, &Parcel)| {
            (0..one.events().len()).map(move |event| Item { parcel, event })
        };
        let items = parcels.iter().enumerate().flat_map(events).collect();
        let shared = |parcel| Arc::new(Shared { parcel, fate: Mutex::default() });
        Self::of(parcels.into_iter().map(shared).collect(), items)
    }

    fn of(parcels: Vec<Arc<Shared>>, items: Vec<Item>) -> Self {
        let refused = parcels.iter().map(|_| Vec::new()).collect();
        Self { parcels, items, refused }
    }

    /// The same events in loads of one request each.
    fn cut(self, portions: Portions) -> Vec<Self> {
        match &self.portions(&self.items, portions)[..] {
            [] | [_] => vec![self],
            several => several.iter().map(|items| self.part(items)).collect(),
        }
    }

    /// The same events by lanes: all with one value of an attribute are in the same.
    fn by_lane(self, attribute: usize, lanes: usize) -> Vec<(usize, Self)> {
        let mut sorted: Vec<Vec<Item>> = vec![Vec::new(); lanes];
        for item in &self.items {
            let mut hasher = std::hash::DefaultHasher::new();
            self.attribute(*item, attribute).hash(&mut hasher);
            sorted[(hasher.finish() % lanes as u64) as usize].push(*item);
        }
        let used = sorted.into_iter().enumerate().filter(|(_, items)| !items.is_empty());
        used.map(|(lane, items)| (lane, self.part(&items))).collect()
    }

    /// A load of some of the events.
    fn part(&self, items: &[Item]) -> Self {
        let mut places = vec![usize::MAX; self.parcels.len()];
        let (mut parcels, mut moved) = (Vec::new(), Vec::with_capacity(items.len()));
        for item in items {
            if places[item.parcel] == usize::MAX {
                places[item.parcel] = parcels.len();
                parcels.push(Arc::clone(&self.parcels[item.parcel]));
            }
            moved.push(Item { parcel: places[item.parcel], event: item.event });
        }
        Self::of(parcels, moved)
    }

    /// All events.
    #[must_use]
    pub(crate) fn items(&self) -> Vec<Item> {
        self.items.clone()
    }

    /// An event, without what ends it.
    #[must_use]
    pub(crate) fn event(&self, item: Item) -> &[u8] {
        self.parcels[item.parcel].parcel.event(item.event).trim_ascii_end()
    }

    /// An attribute of an event.
    #[must_use]
    pub(crate) fn attribute(&self, item: Item, attribute: usize) -> Option<&str> {
        self.parcels[item.parcel].parcel.attribute(item.event, attribute)
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
        for (shared, refused) in self.parcels.into_iter().zip(self.refused) {
            shared.fate().refused.extend(refused);
            // Others still have events of it, or this is the end of it.
            if let Some(whole) = Arc::into_inner(shared) {
                whole.end(errors);
            }
        }
    }

    /// It is given up: the input of all of it stays unacknowledged.
    pub(crate) fn fail(self, error: &Error, errors: &Feedback) {
        for shared in self.parcels {
            shared.fate().failure = Some(error.clone());
            if let Some(whole) = Arc::into_inner(shared) {
                whole.end(errors);
            }
        }
    }
}

/// Delivers loads.
pub(crate) trait Deliver: Send + Sync + 'static {
    /// Delivers one, and settles it or gives it up.
    fn deliver(&self, load: Load) -> impl Future<Output = ()> + Send;
}

/// Delivers all that comes, as many loads at the same time as are admitted, until the end.
pub(crate) async fn drive<D: Deliver>(
    outlet: Arc<Outlet>,
    portions: Portions,
    admission: Arc<Admission>,
    deliverer: Arc<D>,
) {
    if let Order::Key(attribute) = portions.order {
        return drive_lanes(outlet, portions, attribute, &admission, &deliverer).await;
    }
    let mut under_way = JoinSet::new();
    let mut place = admission.place().await;
    while let Some(first) = outlet.take().await {
        for load in Load::gather(first, &outlet, portions).cut(portions) {
            while under_way.try_join_next().is_some() {}
            let deliverer = Arc::clone(&deliverer);
            under_way.spawn(async move {
                deliverer.deliver(load).await;
                drop(place);
            });
            place = admission.place().await;
        }
    }
    drop(place);
    while under_way.join_next().await.is_some() {}
}

/// The same where events with the same key keep their order: each key has its lane, and each lane one request at a
/// time.
async fn drive_lanes<D: Deliver>(
    outlet: Arc<Outlet>,
    portions: Portions,
    attribute: usize,
    admission: &Arc<Admission>,
    deliverer: &Arc<D>,
) {
    let mut working = JoinSet::new();
    let lanes: Vec<_> = (0..portions.concurrency)
        .map(|_| {
            let (lane, mut loads) = mpsc::unbounded_channel::<(Load, Arc<OwnedSemaphorePermit>)>();
            let (admission, deliverer) = (Arc::clone(admission), Arc::clone(deliverer));
            working.spawn(async move {
                while let Some((load, gathered)) = loads.recv().await {
                    let place = admission.place().await;
                    deliverer.deliver(load).await;
                    drop((place, gathered));
                }
            });
            lane
        })
        .collect();
    // What waits in the lanes is bounded by the loads that it is of.
    let gathered = Arc::new(Semaphore::new(portions.concurrency));
    while let Ok(one) = Arc::clone(&gathered).acquire_owned().await {
        let Some(first) = outlet.take().await else { break };
        let (load, one) = (Load::gather(first, &outlet, portions), Arc::new(one));
        for (lane, load) in load.by_lane(attribute, lanes.len()) {
            // A lane only ends with this function.
            let _ = lanes[lane].send((load, Arc::clone(&one)));
        }
    }
    drop(lanes);
    while working.join_next().await.is_some() {}
}
