//! A connection to a broker, the same for both versions of MQTT.
//!
//! Invariant: the client is asked for what happens by a task of its own, without a break, so that signs of life
//! are sent whatever the program does; a connection that is lost is given up as a whole.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rumqttc::v5::mqttbytes::v5 as five;
use rumqttc::{
    AsyncClient, Event, EventLoop, MqttOptions, NetworkOptions, Outgoing, Packet, QoS, Request,
    StateError, SubscribeFilter, SubscribeReasonCode, TlsConfiguration, Transport, mqttbytes, v5,
};
use temblor_declare::Wrong;
use temblor_runtime::error::Error;
use temblor_wire::address::Address;
use tokio::sync::{Notify, mpsc};
use tokio_rustls::rustls::ClientConfig;

use crate::session::{CONNECT_MAX, Guard};

/// Requests that wait for the client's task.
const REQUESTS_MAX: usize = 1_024;
/// Messages that are published and not yet acknowledged, at the most.
pub const UNACKNOWLEDGED_MAX: u16 = 1_000;
/// Messages that a broker of version 5 sends before it waits for acknowledgements.
const RECEIVED_MAX: u16 = 500;
/// Messages that wait for the program, at the most. Those of QoS 1 and 2 are bounded by the broker, too.
const WAITING_MAX: usize = 16_384;
/// A message of QoS 0 that finds no room for so long is left out.
const PATIENCE: Duration = Duration::from_secs(5);
/// Room for the head of a message, with its topic and properties.
const HEAD_BYTES: usize = 128 << 10;

/// The version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.1.1.
    Three,
    /// 5.
    Five,
}

/// A broker, and how it is talked to.
#[derive(Clone)]
pub struct Broker {
    /// Where it listens.
    pub address: Address,
    /// The version.
    pub version: Version,
    /// The name of this client.
    pub client_id: String,
    /// Whether the broker keeps the session of this client.
    pub keeps: bool,
    /// How long it does.
    pub session_expiry: Duration,
    /// Time between signs of life.
    pub keep_alive: Duration,
    /// The longest message.
    pub message_bytes: usize,
    /// User and password.
    pub user: Option<(String, String)>,
    /// How the connection is made safe.
    pub tls: Option<Arc<ClientConfig>>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// What happens on a connection.
#[derive(Debug)]
pub enum Happened {
    /// The broker has accepted this client. It takes packets of at most so many bytes.
    Connected(Option<u32>),
    /// What became of a subscription: why not, for those that failed.
    Subscribed(Vec<Option<String>>),
    /// A message.
    Message(Box<Message>),
    /// A message has been sent under this number; 0 without acknowledgement.
    Sent(u16),
    /// A message has been acknowledged, or refused for a reason.
    Acknowledged(u16, Option<String>),
    /// The connection is lost.
    Lost(String),
}

/// A message from the broker.
#[derive(Debug)]
pub struct Message {
    /// The topic.
    pub topic: String,
    /// What it holds.
    pub payload: Bytes,
    /// How it is delivered.
    pub qos: QoS,
    /// Whether it was kept for this listener.
    pub retain: bool,
    /// Whether it may have come before.
    pub dup: bool,
    /// Its number on this connection.
    pub number: u16,
    /// What version 5 says about it.
    pub properties: Option<five::PublishProperties>,
}

/// A connection, whose events come by a channel.
pub struct Link {
    /// Publishes, subscribes and acknowledges.
    pub client: Client,
    missed: Arc<AtomicU64>,
    _driver: Guard,
}

impl Link {
    /// Messages of QoS 0 that were left out since the last call, for lack of room.
    pub fn take_missed(&self) -> u64 {
        self.missed.swap(0, Ordering::Relaxed)
    }
}

/// The client of either version.
#[derive(Clone)]
pub enum Client {
    /// Of 3.1.1.
    Three(AsyncClient, Arc<Settled>),
    /// Of 5.
    Five(v5::AsyncClient),
}

/// Numbers of messages that can be acknowledged. The client of 3.1.1 would send one acknowledgement for ten
/// messages that it reads, and some brokers do not wait for more: here acknowledgements go first.
#[derive(Default)]
pub struct Settled {
    numbers: Mutex<Vec<(u16, QoS)>>,
    ready: Notify,
}

impl Settled {
    fn add(&self, number: u16, qos: QoS) {
        self.numbers.lock().unwrap_or_else(PoisonError::into_inner).push((number, qos));
        self.ready.notify_one();
    }

    /// Sends them all.
    async fn send(&self, run: &mut EventLoop) -> Result<(), StateError> {
        let numbers =
            std::mem::take(&mut *self.numbers.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(network) = run.network.as_mut() else { return Ok(()) };
        for (number, qos) in numbers {
            let request = match qos {
                QoS::AtMostOnce => continue,
                QoS::AtLeastOnce => Request::PubAck(mqttbytes::v4::PubAck::new(number)),
                QoS::ExactlyOnce => Request::PubRec(mqttbytes::v4::PubRec::new(number)),
            };
            if let Some(packet) = run.state.handle_outgoing_packet(request)? {
                network.write(packet).await?;
            }
        }
        network.flush().await
    }
}

/// Where what happens goes.
struct Listener {
    events: mpsc::Sender<Happened>,
    missed: Arc<AtomicU64>,
}

impl Broker {
    /// What messages call it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("mqtt://{}", self.address)
    }

    /// Complains about what the client would refuse by a panic.
    ///
    /// # Errors
    /// A setting that is out of bounds.
    pub fn check(&self) -> Result<(), Wrong> {
        let seconds = self.keep_alive.as_secs();
        if !(5..=65_535).contains(&seconds) {
            let help = "signs of life are counted in seconds, from 5 s to 18 h";
            return Err(Wrong::at("keep_alive", "the time is out of bounds", help));
        }
        if !self.keeps && self.client_id.starts_with(' ') {
            return Err(Wrong::at("client_id", "the name begins with a blank", "leave it out"));
        }
        Ok(())
    }

    /// Begins a connection; it is there when [`Happened::Connected`] comes.
    #[must_use]
    pub fn connect(&self) -> (Link, mpsc::Receiver<Happened>) {
        let (events, happened) = mpsc::channel(WAITING_MAX);
        let missed = Arc::<AtomicU64>::default();
        let listener = Listener { events, missed: Arc::clone(&missed) };
        let (client, driver) = match self.version {
            Version::Three => {
                let (client, mut run) = AsyncClient::new(self.options(), REQUESTS_MAX);
                run.set_network_options(network());
                let settled = Arc::<Settled>::default();
                let driver = Guard::spawn(drive_three(run, Arc::clone(&settled), listener));
                (Client::Three(client, settled), driver)
            }
            Version::Five => {
                let (client, run) = v5::AsyncClient::new(self.options_of_five(), REQUESTS_MAX);
                (Client::Five(client), Guard::spawn(drive_five(run, listener)))
            }
        };
        (Link { client, missed, _driver: driver }, happened)
    }

    fn transport(&self) -> Transport {
        match &self.tls {
            Some(config) => Transport::Tls(TlsConfiguration::Rustls(Arc::clone(config))),
            None => Transport::Tcp,
        }
    }

    fn options(&self) -> MqttOptions {
        let Address { host, port } = self.address.clone();
        let mut options = MqttOptions::new(&self.client_id, host, port);
        options.set_transport(self.transport());
        options.set_keep_alive(self.keep_alive);
        options.set_clean_session(!self.keeps);
        options.set_manual_acks(true);
        options.set_inflight(UNACKNOWLEDGED_MAX);
        let bytes = self.message_bytes.saturating_add(HEAD_BYTES);
        options.set_max_packet_size(bytes, bytes);
        if let Some((user, password)) = &self.user {
            options.set_credentials(user, password);
        }
        options
    }

    fn options_of_five(&self) -> v5::MqttOptions {
        let Address { host, port } = self.address.clone();
        let mut options = v5::MqttOptions::new(&self.client_id, host, port);
        options.set_transport(self.transport());
        options.set_keep_alive(self.keep_alive);
        options.set_clean_start(!self.keeps);
        options.set_manual_acks(true);
        options.set_outgoing_inflight_upper_limit(UNACKNOWLEDGED_MAX);
        options.set_network_options(network());
        options.set_connection_timeout(CONNECT_MAX.as_secs());
        let expiry = if self.keeps { self.session_expiry.as_secs() } else { 0 };
        options.set_session_expiry_interval(Some(u32::try_from(expiry).unwrap_or(u32::MAX)));
        options.set_receive_maximum(Some(RECEIVED_MAX));
        let bytes = self.message_bytes.saturating_add(HEAD_BYTES);
        options.set_max_packet_size(Some(u32::try_from(bytes).unwrap_or(u32::MAX)));
        if let Some((user, password)) = &self.user {
            options.set_credentials(user, password);
        }
        options
    }

    /// An error that ends a source's session.
    #[must_use]
    pub fn input_error(&self, reason: &str) -> Error {
        Error::input(self.name(), format!("failed: {reason}"), help(reason))
    }

    /// An error that a sink meets.
    #[must_use]
    pub fn output_error(&self, reason: &str) -> Error {
        Error::output(self.name(), format!("failed: {reason}"), help(reason))
    }
}

fn network() -> NetworkOptions {
    let mut network = NetworkOptions::new();
    network.set_connection_timeout(CONNECT_MAX.as_secs());
    network.set_tcp_nodelay(true);
    network
}

fn help(reason: &str) -> &'static str {
    let lower = reason.to_lowercase();
    if lower.contains("notauthorized")
        || lower.contains("badusername")
        || lower.contains("not authorized")
    {
        "check `username` and `password`, and the user's rights"
    } else if lower.contains("certificate") || lower.contains("tls") {
        "check `tls`, and that the port is that of a listener with TLS"
    } else if lower.contains("protocolversion") {
        "set `version` to one that the broker speaks"
    } else if lower.contains("subscription") {
        "check the filters of `topics`, and the user's rights"
    } else {
        "check that the broker runs there, whether it wants TLS (mqtts://), and that no other client has the same \
         `client_id`"
    }
}

impl Client {
    /// Subscribes to filters of topics.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn subscribe(&self, topics: &[String], qos: QoS) -> Result<(), String> {
        match self {
            Client::Three(client, _) => {
                let filters = topics.iter().map(|topic| SubscribeFilter::new(topic.clone(), qos));
                client.subscribe_many(filters).await.map_err(|error| error.to_string())
            }
            Client::Five(client) => {
                let qos = five_qos(qos);
                let filters = topics.iter().map(|topic| five::Filter::new(topic.clone(), qos));
                client.subscribe_many(filters).await.map_err(|error| error.to_string())
            }
        }
    }

    /// Acknowledges a message.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn acknowledge(&self, number: u16, qos: QoS) -> Result<(), String> {
        match self {
            Client::Three(_, settled) => {
                settled.add(number, qos);
                Ok(())
            }
            Client::Five(client) => {
                let mut publish = five::Publish::new("", five_qos(qos), Vec::new(), None);
                publish.pkid = number;
                client.ack(&publish).await.map_err(|error| error.to_string())
            }
        }
    }

    /// Publishes a message if there is room for one more request; says whether there was.
    #[must_use]
    pub fn try_publish(
        &self,
        topic: &str,
        (qos, retain): (QoS, bool),
        payload: &[u8],
        properties: Option<five::PublishProperties>,
    ) -> bool {
        let (topic, payload) = (topic.to_string(), payload.to_vec());
        match self {
            Client::Three(client, _) => client.try_publish(topic, qos, retain, payload).is_ok(),
            Client::Five(client) => {
                let qos = five_qos(qos);
                match properties {
                    Some(properties) => client
                        .try_publish_with_properties(topic, qos, retain, payload, properties)
                        .is_ok(),
                    None => client.try_publish(topic, qos, retain, payload).is_ok(),
                }
            }
        }
    }

    /// Says goodbye.
    pub async fn disconnect(&self) {
        // A connection that has ended needs none.
        match self {
            Client::Three(client, _) => drop(client.disconnect().await),
            Client::Five(client) => drop(client.disconnect().await),
        }
    }
}

fn five_qos(qos: QoS) -> v5::mqttbytes::QoS {
    match qos {
        QoS::AtMostOnce => v5::mqttbytes::QoS::AtMostOnce,
        QoS::AtLeastOnce => v5::mqttbytes::QoS::AtLeastOnce,
        QoS::ExactlyOnce => v5::mqttbytes::QoS::ExactlyOnce,
    }
}

fn three_qos(qos: v5::mqttbytes::QoS) -> QoS {
    match qos {
        v5::mqttbytes::QoS::AtMostOnce => QoS::AtMostOnce,
        v5::mqttbytes::QoS::AtLeastOnce => QoS::AtLeastOnce,
        v5::mqttbytes::QoS::ExactlyOnce => QoS::ExactlyOnce,
    }
}

impl Listener {
    /// Hands on what happens; says whether somebody listens. A message of QoS 0 that finds no room is left out.
    async fn tell(&self, what: Happened) -> bool {
        let is_loose = matches!(&what, Happened::Message(one) if one.qos == QoS::AtMostOnce);
        if !is_loose {
            return self.events.send(what).await.is_ok();
        }
        match self.events.send_timeout(what, PATIENCE).await {
            Ok(()) => true,
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => {
                self.missed.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(mpsc::error::SendTimeoutError::Closed(_)) => false,
        }
    }
}

async fn drive_three(mut run: EventLoop, settled: Arc<Settled>, listener: Listener) {
    loop {
        // A poll that is given up for acknowledgements has not taken anything that it does not keep: it waits
        // for the network, or for what it has written to be flushed.
        let polled = tokio::select! {
            biased;
            () = settled.ready.notified() => None,
            polled = run.poll() => Some(polled),
        };
        let what = match polled {
            None => match settled.send(&mut run).await {
                Ok(()) => None,
                Err(error) => Some(Happened::Lost(error.to_string())),
            },
            Some(Ok(event)) => happened_three(event),
            Some(Err(error)) => Some(Happened::Lost(error.to_string())),
        };
        let Some(what) = what else { continue };
        let is_over = matches!(what, Happened::Lost(_));
        if !listener.tell(what).await || is_over {
            return;
        }
    }
}

async fn drive_five(mut run: v5::EventLoop, listener: Listener) {
    loop {
        let what = match run.poll().await {
            Ok(event) => happened_five(event),
            Err(error) => Some(Happened::Lost(error.to_string())),
        };
        let Some(what) = what else { continue };
        let is_over = matches!(what, Happened::Lost(_));
        if !listener.tell(what).await || is_over {
            return;
        }
    }
}

fn happened_three(event: Event) -> Option<Happened> {
    Some(match event {
        Event::Incoming(Packet::ConnAck(_)) => Happened::Connected(None),
        Event::Incoming(Packet::SubAck(ack)) => {
            let failed = |code: &SubscribeReasonCode| match code {
                SubscribeReasonCode::Failure => Some("the broker refuses it".to_string()),
                SubscribeReasonCode::Success(_) => None,
            };
            Happened::Subscribed(ack.return_codes.iter().map(failed).collect())
        }
        Event::Incoming(Packet::Publish(publish)) => Happened::Message(Box::new(Message {
            topic: publish.topic,
            payload: publish.payload,
            qos: publish.qos,
            retain: publish.retain,
            dup: publish.dup,
            number: publish.pkid,
            properties: None,
        })),
        Event::Incoming(Packet::PubAck(ack)) => Happened::Acknowledged(ack.pkid, None),
        Event::Incoming(Packet::PubComp(ack)) => Happened::Acknowledged(ack.pkid, None),
        Event::Outgoing(Outgoing::Publish(number)) => Happened::Sent(number),
        _ => return None,
    })
}

fn happened_five(event: v5::Event) -> Option<Happened> {
    use five::{Packet, PubAckReason, PubCompReason, PubRecReason, SubscribeReasonCode};
    Some(match event {
        v5::Event::Incoming(Packet::ConnAck(ack)) => {
            Happened::Connected(ack.properties.and_then(|one| one.max_packet_size))
        }
        v5::Event::Incoming(Packet::SubAck(ack)) => {
            let failed = |code: &SubscribeReasonCode| match code {
                SubscribeReasonCode::Success(_) => None,
                other => Some(format!("the broker refuses it: {other:?}")),
            };
            Happened::Subscribed(ack.return_codes.iter().map(failed).collect())
        }
        v5::Event::Incoming(Packet::Publish(publish)) => Happened::Message(Box::new(Message {
            topic: String::from_utf8_lossy(&publish.topic).into_owned(),
            payload: publish.payload,
            qos: three_qos(publish.qos),
            retain: publish.retain,
            dup: publish.dup,
            number: publish.pkid,
            properties: publish.properties,
        })),
        v5::Event::Incoming(Packet::PubAck(ack)) => {
            let is_good =
                matches!(ack.reason, PubAckReason::Success | PubAckReason::NoMatchingSubscribers);
            Happened::Acknowledged(ack.pkid, (!is_good).then(|| format!("{:?}", ack.reason)))
        }
        v5::Event::Incoming(Packet::PubRec(ack)) => {
            // Otherwise the message is released, and its end comes.
            if matches!(ack.reason, PubRecReason::Success | PubRecReason::NoMatchingSubscribers) {
                return None;
            }
            Happened::Acknowledged(ack.pkid, Some(format!("{:?}", ack.reason)))
        }
        v5::Event::Incoming(Packet::PubComp(ack)) => {
            let is_good = ack.reason == PubCompReason::Success;
            Happened::Acknowledged(ack.pkid, (!is_good).then(|| format!("{:?}", ack.reason)))
        }
        v5::Event::Outgoing(Outgoing::Publish(number)) => Happened::Sent(number),
        _ => return None,
    })
}
