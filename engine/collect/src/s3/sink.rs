//! The writer: gathers events into objects and puts these.
//!
//! Invariant: a parcel is confirmed when all objects that have events of it are whole in the bucket.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hyper::body::Bytes;
use serde_json::Value;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Outlet, Parcel};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::admission::{Admission, Fault};
use temblor_wire::outbound::{Task, TaskSink};
use temblor_wire::retry::{self, Retry};

use super::object::Object;
use super::store::Store;

/// Time between two looks at how old objects are.
const LOOK: Duration = Duration::from_millis(100);
/// Objects are finished when all sources have ended and nothing has come for so long.
const QUIET: Duration = Duration::from_secs(2);

/// When objects are finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub bytes_max: usize,
    pub age_max: Duration,
    pub(crate) open_max: usize,
    pub(crate) held_bytes_max: usize,
}

/// How objects are called.
#[derive(Clone, Debug)]
pub(crate) enum Naming {
    /// The key of the events, the time, a number that nobody else has, and an ending.
    Fresh { suffix: String },
    /// As the field `key` of the metadata says; another key finishes the object before.
    OfMetadata,
}

/// What the program says.
#[derive(Clone, Debug)]
pub(crate) struct Writing {
    pub store: Store,
    pub retry: Retry,
    pub rotation: Rotation,
    pub(crate) naming: Naming,
    pub(crate) is_packed: bool,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let config = self.clone();
        let work = move |outlet, desk| -> Task {
            let (objects, parcels, count) = (HashMap::new(), HashMap::new(), 0);
            let admission = Admission::new(1, &config.retry, &desk);
            Box::pin(Gathering { config, objects, parcels, count, desk, admission }.run(outlet))
        };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// A parcel, and how many objects have events of it.
struct Held {
    parcel: Parcel,
    objects: usize,
    /// Why one of them could not be put.
    failure: Option<Error>,
}

struct Gathering {
    config: Writing,
    /// By the key of their events.
    objects: HashMap<String, Object>,
    parcels: HashMap<u64, Held>,
    /// Parcels so far.
    count: u64,
    desk: Desk,
    /// One object is put at a time.
    admission: Arc<Admission>,
}

impl Gathering {
    async fn run(mut self, outlet: Arc<Outlet>) {
        let mut last = Instant::now();
        loop {
            let waiting = async {
                match self.objects.is_empty() {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(LOOK).await,
                }
            };
            tokio::select! {
                biased;
                parcel = outlet.take() => match parcel {
                    Some(parcel) => {
                        last = Instant::now();
                        self.add(parcel).await;
                    }
                    None => break,
                },
                () = waiting => {}
            }
            self.finish_old().await;
            // Others may wait until all that is under way is delivered, before they let the run end.
            if last.elapsed() >= QUIET && self.desk.queue.only_followers_are_left() {
                self.finish_all().await;
            }
        }
        self.finish_all().await;
    }

    async fn finish_all(&mut self) {
        let keys: Vec<String> = self.objects.keys().cloned().collect();
        for key in keys {
            self.finish(&key).await;
        }
    }

    async fn finish_old(&mut self) {
        let now = Instant::now();
        let age_max = self.config.rotation.age_max;
        let old = self.objects.iter().filter(|(_, one)| one.begun + age_max <= now);
        let old: Vec<String> = old.map(|(key, _)| key.clone()).collect();
        for key in old {
            self.finish(&key).await;
        }
    }

    async fn add(&mut self, parcel: Parcel) {
        let id = self.count;
        self.count += 1;
        // One place is kept by the parcel itself until all its events are in objects.
        self.parcels.insert(id, Held { parcel, objects: 1, failure: None });
        let events = self.parcels[&id].parcel.events().len();
        for index in 0..events {
            let key = match self.key(&self.parcels[&id].parcel, index) {
                Ok(key) => key,
                Err(error) => {
                    self.parcels.entry(id).and_modify(|held| held.failure = Some(error));
                    continue;
                }
            };
            self.make_room(&key).await;
            let is_packed = self.config.is_packed;
            let held = self.parcels.get_mut(&id).expect("it was inserted above");
            let object = self.objects.entry(key.clone());
            let object = object.or_insert_with(|| Object::new(is_packed, Instant::now()));
            if object.push(held.parcel.event(index), id) {
                held.objects += 1;
            }
            if object.bytes >= self.config.rotation.bytes_max {
                self.finish(&key).await;
            }
        }
        self.let_go(id, None);
        while self.objects.values().map(|one| one.bytes).sum::<usize>()
            > self.config.rotation.held_bytes_max
        {
            let largest = self.objects.iter().max_by_key(|(_, one)| one.bytes);
            let Some(key) = largest.map(|(key, _)| key.clone()) else { break };
            self.finish(&key).await;
        }
    }

    /// The key of an event.
    fn key(&self, parcel: &Parcel, index: usize) -> Result<String, Error> {
        let attribute = parcel.attribute(index, 0);
        if let Naming::Fresh { .. } = self.config.naming {
            return Ok(attribute.unwrap_or_default().to_string());
        }
        let meta: Value =
            attribute.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let key = meta["key"].as_str().map(str::to_string);
        key.ok_or_else(|| self.config.store.no_key())
    }

    /// Finishes what has to be before an object with this key may begin or grow.
    async fn make_room(&mut self, key: &str) {
        if self.objects.contains_key(key) {
            return;
        }
        let most = match self.config.naming {
            Naming::Fresh { .. } => self.config.rotation.open_max,
            Naming::OfMetadata => 1,
        };
        while self.objects.len() >= most {
            let oldest = self.objects.iter().min_by_key(|(_, one)| one.begun);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            self.finish(&key).await;
        }
    }

    /// Puts an object, and confirms the parcels that have all their events in the bucket now.
    async fn finish(&mut self, key: &str) {
        let Some(object) = self.objects.remove(key) else { return };
        let (bytes, parcels) = object.finish();
        let (name, body) = (self.name(key), Bytes::from(bytes));
        let failure = self.put(&name, body).await.err();
        for id in parcels {
            self.let_go(id, failure.clone());
        }
    }

    async fn put(&self, name: &str, body: Bytes) -> Result<(), Error> {
        let mut attempts = self.admission.attempts("");
        loop {
            let turn = attempts.turn().await?;
            let Err(failure) = self.config.store.put(name, body.clone()).await else {
                turn.answered();
                return Ok(());
            };
            if !failure.is_passing {
                turn.answered();
                return Err(failure.output());
            }
            attempts.failed(turn, Fault::Broken(None), failure.output()).await?;
        }
    }

    fn name(&self, key: &str) -> String {
        match &self.config.naming {
            Naming::Fresh { suffix } => format!("{key}{}{suffix}", fresh_name()),
            Naming::OfMetadata => key.to_string(),
        }
    }

    /// One object fewer has events of a parcel that are not in the bucket.
    fn let_go(&mut self, id: u64, failure: Option<Error>) {
        let Some(held) = self.parcels.get_mut(&id) else { return };
        held.objects -= 1;
        held.failure = held.failure.take().or(failure);
        if held.objects > 0 {
            return;
        }
        let Some(held) = self.parcels.remove(&id) else { return };
        match held.failure {
            None => held.parcel.confirm(),
            Some(error) => held.parcel.fail(error),
        }
    }
}

/// Milliseconds since 1970, and a number that no other object of this or another process has: names have the
/// order of time.
fn fresh_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let chance = retry::chance().to_bits() & 0xffff_ffff;
    format!("{time:013}-{count:06}-{chance:08x}")
}
