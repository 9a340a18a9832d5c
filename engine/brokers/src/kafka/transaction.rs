//! Exactly once from topics to topics: what one source has read and what one sink has written of it are
//! committed together, in one transaction of Kafka after the other.
//!
//! Invariant: a transaction is committed when nothing that stems from its messages is under way any more; the
//! offsets it commits are those behind these messages. Where that fails it is aborted, and they are read again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{Producer, ProducerContext, ThreadedProducer};
use rdkafka::{Offset, TopicPartitionList};
use temblor_runtime::ack::SourceId;

use super::progress::{Partition, Progress};

/// The name under which the source and the sink of a run find each other.
pub const PAIRING: &str = "kafka transactions";
/// How long one question to the coordinator of transactions may take.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// How often a question is repeated that may be answered the next time.
const ATTEMPTS_MAX: usize = 5;
/// How long the source waits at its start for the sink to be there.
const SINK_MAX: Duration = Duration::from_secs(10);
/// Messages that are remembered because the broker itself refused them.
const DENIED_MAX: usize = 10_000;

/// Makes a producer with this transactional id.
pub type MakeClient<C> = Box<dyn Fn(&str) -> Result<ThreadedProducer<C>, KafkaError> + Send>;

/// What the source and the sink know of each other.
pub struct Pairing<C: ProducerContext + 'static> {
    state: Mutex<Shared<C>>,
    changed: Condvar,
}

struct Shared<C: ProducerContext + 'static> {
    make: Option<MakeClient<C>>,
    source: Option<SourceId>,
    /// The producer, while a transaction is open.
    client: Option<Arc<ThreadedProducer<C>>>,
    /// Hashes of messages that the broker refused, and why: they would make each transaction fail.
    denied: HashMap<u64, String>,
}

impl<C: ProducerContext> Default for Pairing<C> {
    fn default() -> Self {
        let shared = Shared { make: None, source: None, client: None, denied: HashMap::new() };
        Self { state: Mutex::new(shared), changed: Condvar::new() }
    }
}

impl<C: ProducerContext> Pairing<C> {
    /// The sink says how its producer is made. False when there is another one already.
    pub fn offer(&self, make: MakeClient<C>) -> bool {
        let mut shared = self.lock();
        let is_first = shared.make.is_none();
        shared.make.get_or_insert(make);
        drop(shared);
        self.changed.notify_all();
        is_first
    }

    /// A source takes part. False when there is another one already.
    fn join(&self, source: SourceId) -> bool {
        *self.lock().source.get_or_insert(source) == source
    }

    /// The source whose messages are committed, once it takes part.
    pub fn source(&self) -> Option<SourceId> {
        self.lock().source
    }

    /// The producer, while a transaction is open.
    pub fn client(&self) -> Option<Arc<ThreadedProducer<C>>> {
        self.lock().client.clone()
    }

    /// The broker refused a message for good.
    pub fn deny(&self, message: u64, reason: String) {
        let mut shared = self.lock();
        if shared.denied.len() < DENIED_MAX {
            shared.denied.insert(message, reason);
        }
    }

    /// Why the broker refused a message, if it did.
    pub fn denied(&self, message: u64) -> Option<String> {
        let shared = self.lock();
        if shared.denied.is_empty() { None } else { shared.denied.get(&message).cloned() }
    }

    fn set_client(&self, client: Option<Arc<ThreadedProducer<C>>>) {
        self.lock().client = client;
    }

    fn lock(&self) -> MutexGuard<'_, Shared<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The transactions of a source.
pub struct Transactions<C: ProducerContext + 'static> {
    pairing: Arc<Pairing<C>>,
    /// The transactional id: a process that takes it over ends what the one before has open.
    id: String,
    state: Mutex<Open<C>>,
    /// Batches that were handed over and have not settled, well or badly.
    under_way: Mutex<usize>,
    settled: Condvar,
}

struct Open<C: ProducerContext + 'static> {
    client: Option<Arc<ThreadedProducer<C>>>,
    /// When the open transaction began.
    began: Option<Instant>,
    /// Where each partition began in it.
    starts: HashMap<Partition, i64>,
    /// Where partitions have to be read again.
    back: HashMap<Partition, i64>,
    /// Partitions that have gone since messages of them were taken.
    revoked: HashSet<Partition>,
}

impl<C: ProducerContext> Default for Open<C> {
    fn default() -> Self {
        let (starts, back, revoked) = (HashMap::new(), HashMap::new(), HashSet::new());
        Self { client: None, began: None, starts, back, revoked }
    }
}

impl<C: ProducerContext> Transactions<C> {
    /// A source takes part in the pairing.
    ///
    /// # Errors
    /// A sentence about what is missing.
    pub fn join(
        pairing: Arc<Pairing<C>>,
        id: String,
        source: SourceId,
    ) -> Result<Self, &'static str> {
        if !pairing.join(source) {
            return Err("only one source of a program takes part in transactions");
        }
        let shared = pairing.lock();
        let waited = pairing.changed.wait_timeout_while(shared, SINK_MAX, |one| one.make.is_none());
        drop(waited);
        if pairing.lock().make.is_none() {
            return Err("`exactly_once` needs a sink into kafka with `exactly_once = true`, too");
        }
        let (state, under_way, settled) = (Mutex::default(), Mutex::default(), Condvar::new());
        Ok(Self { pairing, id, state, under_way, settled })
    }

    /// Messages of these partitions, from these offsets on, are about to be handed over: a transaction is open.
    ///
    /// # Errors
    /// The coordinator does not answer, or refuses.
    pub fn begin<'p>(
        &self,
        starts: impl Iterator<Item = (&'p Partition, i64)>,
    ) -> Result<(), KafkaError> {
        let mut open = self.lock();
        if open.client.is_none() {
            let made = match &self.pairing.lock().make {
                Some(make) => make(&self.id)?,
                None => return Err(KafkaError::Canceled),
            };
            repeated(|| made.init_transactions(ANSWER_MAX))?;
            open.client = Some(Arc::new(made));
        }
        let client = open.client.clone().expect("made above");
        if open.began.is_none() {
            client.begin_transaction()?;
            open.began = Some(Instant::now());
            self.pairing.set_client(Some(client));
        }
        for (partition, offset) in starts {
            open.starts.entry(partition.clone()).or_insert(offset);
        }
        drop(open);
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Ok(())
    }

    /// A batch has settled, well or badly.
    pub fn settle(&self) {
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.settled.notify_all();
    }

    /// How long the open transaction has been open.
    pub fn age(&self) -> Option<Duration> {
        self.lock().began.map(|began| began.elapsed())
    }

    /// Waits until nothing is under way, or for that long. Says whether that is so.
    pub fn wait(&self, patience: Duration) -> bool {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.settled.wait_timeout_while(under_way, patience, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }

    /// Ends the open transaction, of which nothing is under way: commits it if all went well.
    ///
    /// # Errors
    /// Why it was aborted. What has to be read again is known to [`Transactions::take_back`].
    pub fn conclude<R: ConsumerContext>(
        &self,
        consumer: &BaseConsumer<R>,
        progress: &Progress,
    ) -> Result<(), Option<KafkaError>> {
        let mut open = self.lock();
        let (failed, done) = (progress.take_failed(), progress.take_done());
        if open.began.take().is_none() {
            return Ok(());
        }
        self.pairing.set_client(None);
        let client = open.client.clone().expect("a transaction has a producer");
        let committed = match failed.is_empty() {
            true => commit(&client, consumer, &done).map_err(Some),
            false => Err(None),
        };
        let starts = std::mem::take(&mut open.starts);
        let Err(error) = committed else { return Ok(()) };
        progress.forget_all();
        open.back.extend(starts);
        let aborted = repeated(|| client.abort_transaction(ANSWER_MAX));
        if aborted.is_err() || error.as_ref().is_some_and(is_fatal) {
            // The next producer with this id ends what this one has left open.
            open.client = None;
        }
        Err(error)
    }

    /// Partitions have gone to another member.
    pub fn revoke(&self, partitions: &[Partition]) {
        let mut open = self.lock();
        open.back.retain(|partition, _| !partitions.contains(partition));
        open.revoked.extend(partitions.iter().cloned());
    }

    /// Whether partitions have gone since messages of them were taken.
    pub fn has_lost(&self) -> bool {
        !self.lock().revoked.is_empty()
    }

    /// Partitions that have gone since the last call.
    pub fn take_revoked(&self) -> HashSet<Partition> {
        std::mem::take(&mut self.lock().revoked)
    }

    /// Where partitions have to be read again.
    pub fn take_back(&self) -> HashMap<Partition, i64> {
        std::mem::take(&mut self.lock().back)
    }

    fn lock(&self) -> MutexGuard<'_, Open<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn commit<C: ProducerContext, R: ConsumerContext>(
    client: &ThreadedProducer<C>,
    consumer: &BaseConsumer<R>,
    done: &[(Partition, i64)],
) -> Result<(), KafkaError> {
    let mut offsets = TopicPartitionList::with_capacity(done.len());
    for ((topic, partition), next) in done {
        offsets.add_partition_offset(topic, *partition, Offset::Offset(*next))?;
    }
    let group = consumer.group_metadata().ok_or(KafkaError::Canceled)?;
    repeated(|| client.send_offsets_to_transaction(&offsets, &group, ANSWER_MAX))?;
    repeated(|| client.commit_transaction(ANSWER_MAX))
}

/// Asks again where the answer may be another one.
fn repeated(ask: impl Fn() -> Result<(), KafkaError>) -> Result<(), KafkaError> {
    let mut attempts = 0;
    loop {
        match ask() {
            Err(KafkaError::Transaction(error)) if error.is_retriable() => {
                attempts += 1;
                if attempts == ATTEMPTS_MAX {
                    return Err(KafkaError::Transaction(error));
                }
            }
            answer => return answer,
        }
    }
}

fn is_fatal(error: &KafkaError) -> bool {
    match error {
        KafkaError::Transaction(error) => error.is_fatal(),
        other => other.rdkafka_error_code() == Some(RDKafkaErrorCode::Fatal),
    }
}
