//! Consumes topics as a member of a group, on the source's own thread.
//!
//! Invariant: a partition that goes to another member gets time to settle and is committed first; while the
//! program takes nothing, the group still hears of this member.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Headers};
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{ClientConfig, ClientContext, Message, Offset, TopicPartitionList};
use temblor_declare::Wrong;
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::retry::{self, Retry};

use super::client::{Complaints, config, help};
use super::progress::{Partition, Progress, Span};
use super::sink;
use super::topics::{self, Lacks};
use super::transaction::{PAIRING, Pairing, Transactions};
use super::{Cluster, Start, Subscription};
use crate::packing::{Packing, Unpacking};
use crate::session::{SETTLE_MAX, push_json};

/// What holds unless the program says otherwise.
const DEFAULTS: &[(&str, &str)] = &[
    ("client.id", "temblor"),
    ("auto.offset.reset", "earliest"),
    ("enable.auto.commit", "true"),
    ("enable.auto.offset.store", "false"),
    ("partition.assignment.strategy", "cooperative-sticky"),
    ("fetch.message.max.bytes", "1048576"),
    ("queued.max.messages.kbytes", "65536"),
    ("allow.auto.create.topics", "false"),
    ("topic.metadata.refresh.interval.ms", "30000"),
];
/// Time between two looks at whether the run stops.
const POLL: Duration = Duration::from_millis(50);
/// A program that takes nothing for so long has its partitions paused.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long leaving the group may take.
const CLOSE_MAX: Duration = Duration::from_secs(3);
/// Time between two questions to brokers that were away.
const ASK_INTERVAL: Duration = Duration::from_secs(1);
/// How long the start of a run waits for brokers that are to make a topic.
const START_MAX: Duration = Duration::from_secs(5);
/// How long a transaction may be open before users are told.
const KEPT_MAX: Duration = Duration::from_secs(30);
/// How long a question to the brokers may take.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// A source.
#[derive(Clone, Debug)]
pub struct Reading {
    cluster: Cluster,
    subscription: Subscription,
    unpacking: Unpacking,
    config: ClientConfig,
}

impl Reading {
    /// A source.
    ///
    /// # Errors
    /// Options that librdkafka refuses.
    pub fn new(
        cluster: Cluster,
        subscription: Subscription,
        unpacking: Unpacking,
    ) -> Result<Self, Wrong> {
        let config = config(&cluster, DEFAULTS)?;
        Ok(Self { cluster, subscription, unpacking, config })
    }
}

impl OpenSource for Reading {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        self.make_topic()?;
        Ok(Box::new(self.clone()))
    }
}

/// What librdkafka calls back.
struct Calls {
    complaints: Complaints,
    start: Start,
    progress: Arc<Progress>,
    feed: Feed,
    /// Commits go with what a sink writes.
    transactions: Option<Arc<Transactions<sink::Calls>>>,
    /// The consumer is being closed: nothing is waited for any more.
    closing: AtomicBool,
}

type Client = BaseConsumer<Calls>;

impl Calls {
    fn is_stopping(&self) -> bool {
        self.feed.stop.is_asked()
    }

    /// Where a group begins by time, for partitions without a commit.
    fn set_start(&self, consumer: &Client, assigned: &mut TopicPartitionList) -> KafkaResult<()> {
        let Start::Time(milliseconds) = self.start else { return Ok(()) };
        let committed = consumer.committed_offsets(assigned.clone(), ANSWER_MAX)?;
        let mut asked = TopicPartitionList::new();
        for one in committed.elements().iter().filter(|one| one.offset() == Offset::Invalid) {
            let time = Offset::Offset(milliseconds);
            asked.add_partition_offset(one.topic(), one.partition(), time)?;
        }
        if asked.count() == 0 {
            return Ok(());
        }
        let found = consumer.offsets_for_times(asked, ANSWER_MAX)?;
        for one in &found.elements() {
            let offset = match one.offset() {
                Offset::Offset(offset) => Offset::Offset(offset),
                _ => Offset::End,
            };
            assigned.set_partition_offset(one.topic(), one.partition(), offset)?;
        }
        Ok(())
    }

    /// Partitions go: what is under way gets time to settle, so that the next member repeats little.
    fn give_up(&self, consumer: &Client, revoked: &TopicPartitionList) {
        let partitions: Vec<Partition> = revoked
            .elements()
            .iter()
            .map(|one| (one.topic().to_string(), one.partition()))
            .collect();
        if let Some(transactions) = &self.transactions {
            // What stems from these messages must not get into a later transaction.
            if !self.closing.load(Ordering::Relaxed) {
                while !transactions.wait(PATIENCE) && !self.is_stopping() {}
                if let Err(Some(error)) = transactions.conclude(consumer, &self.progress) {
                    self.complaints.fail(&error);
                }
            }
            transactions.revoke(&partitions);
            return self.progress.forget(&partitions);
        }
        if !self.closing.load(Ordering::Relaxed) && !consumer.assignment_lost() {
            self.progress.wait(&partitions, SETTLE_MAX);
        }
        if let Err(error) = store(consumer, &self.progress) {
            self.complaints.fail(&error);
        }
        if !consumer.assignment_lost() {
            match consumer.commit_consumer_state(CommitMode::Sync) {
                Ok(()) | Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
                Err(error) => self.complaints.fail(&error),
            }
        }
        self.progress.forget(&partitions);
    }
}

impl ClientContext for Calls {
    fn error(&self, error: KafkaError, reason: &str) {
        self.complaints.hear(&error, reason);
    }
}

impl ConsumerContext for Calls {
    fn rebalance(
        &self,
        consumer: &BaseConsumer<Self>,
        what: RDKafkaRespErr,
        partitions: &mut TopicPartitionList,
    ) {
        let cooperative = matches!(consumer.rebalance_protocol(), RebalanceProtocol::Cooperative);
        let done = if what == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            if let Err(error) = self.set_start(consumer, partitions) {
                self.complaints.fail(&error);
            }
            match cooperative {
                true => consumer.incremental_assign(partitions),
                false => consumer.assign(partitions),
            }
        } else {
            self.give_up(consumer, partitions);
            match cooperative {
                true => consumer.incremental_unassign(partitions),
                false => consumer.unassign(),
            }
        };
        if let Err(error) = done {
            self.complaints.fail(&error);
        }
    }
}

/// Tells librdkafka what can be committed.
fn store(consumer: &Client, progress: &Progress) -> KafkaResult<()> {
    let done = progress.take_done();
    if done.is_empty() {
        return Ok(());
    }
    let mut list = TopicPartitionList::with_capacity(done.len());
    for ((topic, partition), next) in &done {
        list.add_partition_offset(topic, *partition, Offset::Offset(*next))?;
    }
    match consumer.store_offsets(&list) {
        // A partition that has just gone cannot be stored; its next member reads it again.
        Err(KafkaError::StoreOffset(RDKafkaErrorCode::State)) => Ok(()),
        stored => stored,
    }
}

impl Source for Reading {
    fn name(&self) -> String {
        format!("kafka://{}", self.cluster.name)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let mut retry = self.cluster.retry.clone();
        loop {
            let Err(error) = self.session(feed) else { return Ok(()) };
            let Some(wait) = retry.fail(retry::chance()) else { return Err(error) };
            feed.trouble(error);
            let stopped = async {
                tokio::select! {
                    () = tokio::time::sleep(wait) => false,
                    () = feed.stop.asked() => true,
                }
            };
            if feed.network.handle()?.block_on(stopped) {
                return Ok(());
            }
        }
    }
}

impl Reading {
    fn failed(&self, error: &KafkaError) -> Error {
        Error::input(self.name(), error.to_string(), help(error.rdkafka_error_code()))
    }

    /// Makes the topic that has to be there. Brokers that do not answer yet are no reason not to begin.
    fn make_topic(&self) -> Result<(), Error> {
        let Some(create) = &self.cluster.create else { return Ok(()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::bug("kafka", error.to_string()))?;
        let making =
            async { tokio::time::timeout(START_MAX, topics::ensure(&self.config, create)).await };
        match runtime.block_on(making) {
            Ok(Err(Lacks::Partitions(reason))) => {
                let help = "keys meet only in topics that all programs divide alike; say its number of \
                            partitions, or take another topic";
                Err(Error::input(self.name(), reason, help))
            }
            _ => Ok(()),
        }
    }

    /// Takes part in the transactions of the run, where the program asks for that.
    fn transactions(&self, feed: &Feed) -> Result<Option<Arc<Transactions<sink::Calls>>>, Error> {
        if !self.cluster.exactly_once {
            return Ok(None);
        }
        let pairing = feed.network.shared::<Pairing<sink::Calls>>(PAIRING);
        let id = self.subscription.transactions.clone();
        let joined = Transactions::join(pairing, id, feed.source);
        let help = "declare one source and one sink with `exactly_once = true`";
        let joined = joined.map_err(|reason| Error::input(self.name(), reason, help))?;
        Ok(Some(Arc::new(joined)))
    }

    fn session(&self, feed: &Feed) -> Result<(), Error> {
        let progress = Arc::new(Progress::default());
        let transactions = self.transactions(feed)?;
        let calls = Calls {
            complaints: Complaints::of_source(self.name(), feed),
            transactions: transactions.clone(),
            feed: feed.clone(),
            start: self.subscription.from,
            progress: Arc::clone(&progress),
            closing: AtomicBool::new(false),
        };
        let consumer: Client =
            self.config.create_with_context(calls).map_err(|error| self.failed(&error))?;
        let topics: Vec<&str> = self.subscription.topics.iter().map(String::as_str).collect();
        consumer.subscribe(&topics).map_err(|error| self.failed(&error))?;
        let mut member = Member {
            reading: self,
            consumer: &consumer,
            feed,
            progress: &progress,
            transactions: transactions.as_deref(),
            origin: Origin::named(self.name()),
            packing: Packing::new(&self.unpacking),
            spans: HashMap::new(),
            retry: self.cluster.retry.clone(),
            asked: Instant::now(),
        };
        let ended = member.read();
        if let Some(transactions) = &transactions {
            if transactions.wait(SETTLE_MAX)
                && let Err(Some(error)) = transactions.conclude(&consumer, &progress)
            {
                feed.trouble(self.failed(&error));
            }
            consumer.context().closing.store(true, Ordering::Relaxed);
            close(consumer);
            return ended;
        }
        progress.wait_all(SETTLE_MAX);
        consumer.context().closing.store(true, Ordering::Relaxed);
        if let Err(error) = store(&consumer, &progress) {
            feed.trouble(self.failed(&error));
        }
        if consumer.context().complaints.is_away() {
            // Nobody would take the commit: what it holds is delivered again.
            close(consumer);
            return ended;
        }
        match consumer.commit_consumer_state(CommitMode::Sync) {
            Ok(()) | Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
            Err(error) => feed.trouble(self.failed(&error)),
        }
        close(consumer);
        ended
    }
}

/// Leaves the group. Without a broker that would take as long as the session: it then goes on by itself until
/// the process ends, and the group learns by the session's end.
fn close(consumer: Client) {
    let (done, closed) = std::sync::mpsc::channel();
    let closing = std::thread::Builder::new().name("kafka-close".to_string());
    let spawned = closing.spawn(move || {
        drop(consumer);
        // Nobody waits any more when it took too long.
        let _ = done.send(());
    });
    if spawned.is_ok() {
        let _ = closed.recv_timeout(CLOSE_MAX);
    }
}

/// A member of the group at work.
struct Member<'a> {
    reading: &'a Reading,
    consumer: &'a Client,
    feed: &'a Feed,
    progress: &'a Arc<Progress>,
    transactions: Option<&'a Transactions<sink::Calls>>,
    origin: Arc<Origin>,
    packing: Packing,
    /// What is in the packing.
    spans: HashMap<Partition, Span>,
    retry: Retry,
    /// When the brokers were last asked whether they are back.
    asked: Instant,
}

impl Member<'_> {
    fn read(&mut self) -> Result<(), Error> {
        while !self.feed.stop.is_asked() {
            match self.transactions {
                Some(transactions) => self.end_transaction(transactions)?,
                None => self.go_back()?,
            }
            self.poll(POLL)?;
            while self.packing.taken() > 0 && !self.packing.is_full() {
                let has_lost = self.transactions.is_some_and(Transactions::has_lost);
                if has_lost || !self.poll(Duration::ZERO)? {
                    break;
                }
            }
            if self.transactions.is_none() {
                self.store()?;
            }
            if self.packing.taken() > 0 && !self.hand_over()? {
                break;
            }
        }
        Ok(())
    }

    fn store(&self) -> Result<(), Error> {
        store(self.consumer, self.progress).map_err(|error| self.reading.failed(&error))
    }

    /// Takes one message, if there is one.
    fn poll(&mut self, patience: Duration) -> Result<bool, Error> {
        match self.consumer.poll(patience) {
            None => {
                self.look_for_brokers();
                Ok(false)
            }
            Some(Ok(message)) => {
                self.consumer.context().complaints.answered();
                self.pack(&message);
                Ok(true)
            }
            Some(Err(error)) => {
                if let KafkaError::MessageConsumptionFatal(_) = error {
                    return Err(self.reading.failed(&error));
                }
                self.consumer.context().complaints.hear(&error, "");
                Ok(false)
            }
        }
    }

    /// Asks brokers that were away whether they are back: a topic in which nothing happens would not tell.
    fn look_for_brokers(&mut self) {
        let complaints = &self.consumer.context().complaints;
        if !complaints.is_away() || self.asked.elapsed() < ASK_INTERVAL {
            return;
        }
        self.asked = Instant::now();
        let topic = self.reading.subscription.topics.iter().find(|topic| !topic.starts_with('^'));
        let asked = self.consumer.fetch_metadata(topic.map(String::as_str), POLL);
        if asked.is_ok() {
            complaints.answered();
        }
    }

    fn pack(&mut self, message: &BorrowedMessage<'_>) {
        let meta = metadata(message, self.reading.subscription.meta);
        self.packing.push(&meta, message.payload().unwrap_or_default());
        let (partition, offset) =
            ((message.topic().to_string(), message.partition()), message.offset());
        let span = self.spans.entry(partition.clone());
        let span = span.or_insert_with(|| Span::of(partition, offset));
        span.next = offset + 1;
    }

    /// Hands over what was taken; while there is no room, partitions are paused and the group is kept
    /// informed. Says whether the run goes on.
    fn hand_over(&mut self) -> Result<bool, Error> {
        if let Some(transactions) = self.transactions {
            self.leave_revoked(transactions)?;
            if self.packing.taken() == 0 {
                return Ok(true);
            }
            let starts = self.spans.values().map(|span| (&span.partition, span.first));
            transactions.begin(starts).map_err(|error| self.reading.failed(&error))?;
        }
        let mut spans: Vec<Span> = self.spans.drain().map(|(_, span)| span).collect();
        let arrival = self.packing.take();
        self.progress.begin(&mut spans);
        let handle = self.feed.network.handle()?.clone();
        let feed = self.feed.clone();
        let origin = Arc::clone(&self.origin);
        let mut handing = pin!(feed.hand_over(arrival, &origin));
        let began = Instant::now();
        let mut paused = false;
        let receipt = loop {
            let waited =
                handle.block_on(async { tokio::time::timeout(POLL, handing.as_mut()).await });
            match waited {
                Ok(Ok(receipt)) => break receipt,
                Ok(Err(_)) => return Ok(false),
                Err(_) => {
                    // What has settled meanwhile is committed all the same.
                    if self.transactions.is_none() {
                        self.store()?;
                    }
                    if began.elapsed() < PATIENCE {
                        continue;
                    }
                    if !paused {
                        self.pause(true);
                    }
                    paused = true;
                    // What comes in spite of the pause goes with the next batch.
                    self.poll(Duration::ZERO)?;
                }
            }
        };
        if paused {
            self.pause(false);
        }
        let progress = Arc::clone(self.progress);
        let transactions = self.consumer.context().transactions.clone();
        handle.spawn(async move {
            progress.settle(&spans, receipt.settled().await);
            transactions.iter().for_each(|one| one.settle());
        });
        Ok(true)
    }

    /// Ends the open transaction when its time has come and nothing of it is under way; then reads again what
    /// it did not commit.
    fn end_transaction(&mut self, transactions: &Transactions<sink::Calls>) -> Result<(), Error> {
        self.leave_revoked(transactions)?;
        let interval = self.reading.subscription.commit_interval;
        if transactions.age().is_some_and(|age| age >= interval) {
            let (began, mut is_told) = (Instant::now(), false);
            self.pause(true);
            while !transactions.wait(POLL) && !self.feed.stop.is_asked() {
                self.poll(Duration::ZERO)?;
                if began.elapsed() > KEPT_MAX && !std::mem::replace(&mut is_told, true) {
                    let reason = format!("a transaction has been open for {KEPT_MAX:?}");
                    let help = "the sink's broker is away, or an operator of the program keeps events: \
                                `exactly_once` takes no windows, joins or batches";
                    self.feed.trouble(Error::input(self.reading.name(), reason, help));
                }
            }
            self.pause(false);
            if transactions.wait(Duration::ZERO)
                && let Err(error) = transactions.conclude(self.consumer, self.progress)
            {
                self.feed.stats.add_errors("redelivery", 1);
                if let Some(error) = error {
                    self.consumer.context().complaints.fail(&error);
                }
                let wait = self.retry.fail(retry::chance()).unwrap_or(PATIENCE);
                std::thread::sleep(wait.min(PATIENCE));
            }
        }
        let back = transactions.take_back();
        if !back.is_empty() {
            // What was taken since lies behind these places.
            drop(self.packing.take());
            let mut places: HashMap<Partition, i64> =
                self.spans.drain().map(|(partition, span)| (partition, span.first)).collect();
            places.extend(back);
            self.seek(places)?;
        }
        Ok(())
    }

    /// Leaves out what was taken of partitions that have gone since.
    fn leave_revoked(&mut self, transactions: &Transactions<sink::Calls>) -> Result<(), Error> {
        let revoked = transactions.take_revoked();
        if !self.spans.keys().any(|partition| revoked.contains(partition)) {
            return Ok(());
        }
        drop(self.packing.take());
        let places = self.spans.drain().map(|(partition, span)| (partition, span.first)).collect();
        self.seek(places)
    }

    /// Goes on reading there.
    fn seek(&self, places: HashMap<Partition, i64>) -> Result<(), Error> {
        let assigned = self.consumer.assignment().map_err(|error| self.reading.failed(&error))?;
        for ((topic, partition), offset) in places {
            if assigned.find_partition(&topic, partition).is_some() {
                let sought =
                    self.consumer.seek(&topic, partition, Offset::Offset(offset), ANSWER_MAX);
                sought.map_err(|error| self.reading.failed(&error))?;
            }
        }
        Ok(())
    }

    fn pause(&self, pause: bool) {
        let Ok(assignment) = self.consumer.assignment() else { return };
        let done = match pause {
            true => self.consumer.pause(&assignment),
            false => self.consumer.resume(&assignment),
        };
        if let Err(error) = done {
            self.consumer.context().complaints.fail(&error);
        }
    }

    /// Reads again what did not get where it should.
    fn go_back(&mut self) -> Result<(), Error> {
        let failed = self.progress.take_failed();
        if failed.is_empty() {
            return Ok(());
        }
        let wait = self.retry.fail(retry::chance()).unwrap_or(PATIENCE);
        std::thread::sleep(wait.min(PATIENCE));
        self.feed.stats.add_errors("redelivery", failed.len() as u64);
        for ((topic, partition), offset) in failed {
            let place = Offset::Offset(offset);
            let sought = self.consumer.seek(&topic, partition, place, ANSWER_MAX);
            // Otherwise the next member begins at the last commit, which is not behind it.
            sought.map_err(|error| self.reading.failed(&error))?;
        }
        Ok(())
    }
}

/// Where a message came from, as the text of a JSON record.
fn metadata(message: &BorrowedMessage<'_>, field: &str) -> String {
    let mut text = format!("{{\"{field}\":{{\"topic\":");
    push_json(message.topic(), &mut text);
    let place = format!(",\"partition\":{},\"offset\":{}", message.partition(), message.offset());
    text.push_str(&place);
    if let Some(milliseconds) = message.timestamp().to_millis() {
        text.push_str(&format!(",\"timestamp\":{}", i128::from(milliseconds) * 1_000_000));
    }
    if let Some(key) = message.key() {
        text.push_str(",\"key\":");
        push_json(&String::from_utf8_lossy(key), &mut text);
    }
    if let Some(headers) = message.headers().filter(|headers| headers.count() > 0) {
        text.push_str(",\"headers\":{");
        // Of several with one name the last holds, as in a record.
        let mut last: Vec<(&str, Option<&[u8]>)> = Vec::new();
        for header in headers.iter() {
            last.retain(|(name, _)| *name != header.key);
            last.push((header.key, header.value));
        }
        for (index, (name, value)) in last.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            push_json(name, &mut text);
            text.push(':');
            match value {
                Some(value) => push_json(&String::from_utf8_lossy(value), &mut text),
                None => text.push_str("null"),
            }
        }
        text.push('}');
    }
    text.push_str("}}");
    text
}
