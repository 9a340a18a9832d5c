//! Sources that take what shippers of logs send by HTTP, in the manner of Splunk's collector or of Loki: what
//! both share.
//!
//! Invariant: the protocol says what a request and its answer look like; bounds, pressure and the time of an
//! answer are the same for all.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use temblor_declare::{Build, Setting, Takes, Wrong};
use temblor_runtime::batch::Origin;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::intake::{Arrival, Receipt};
use temblor_runtime::source::feed::Feed;
use temblor_runtime::source::{OpenSource, Source};
use temblor_wire::address::Address;
use temblor_wire::tls::TLS;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::bounds::Bounds;
use crate::receive::{self, Room};
use crate::respond::Reply;
use crate::safe::Safe;
use crate::server::{self, Handler, Peer, Server};

/// TLS of such a source.
pub(crate) const TLS_RECORD: Setting =
    Setting::new("tls", Takes::Record(TLS), "Makes it HTTPS: at least `cert` and `key`.");
/// How long a request waits for its answer.
pub(crate) const ANSWER_TIMEOUT: Setting = Setting::new(
    "answer_timeout",
    Takes::Duration,
    "How long a request waits until its events have got where they should; then it is answered with an error.",
)
.or("30s");

/// What differs from protocol to protocol.
pub(crate) trait Protocol: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Answers a request.
    fn take(
        &self,
        desk: &Desk,
        parts: &Parts,
        incoming: Incoming,
        peer: Peer,
    ) -> impl Future<Output = Reply> + Send;
}

/// A source of a protocol.
#[derive(Clone, Debug)]
pub(crate) struct Shipping<P> {
    /// Where it listens.
    pub(crate) server: Server,
    /// How long an answer may take.
    pub(crate) answer_timeout: Duration,
    /// What it speaks.
    pub(crate) protocol: P,
}

impl<P: Protocol> Shipping<P> {
    /// As the settings say, with warnings; `has_auth` says whether peers must show something.
    ///
    /// # Errors
    /// A setting that is wrong.
    pub(crate) fn of(
        what: &Build<'_>,
        protocol: P,
        has_auth: bool,
    ) -> Result<(Self, Vec<String>), Wrong> {
        let settings = what.settings;
        let address = Address::parse(settings.text("address"), "address")?;
        let tls = Safe::of_settings(settings.record("tls"), &["h2", "http/1.1"])?;
        let warnings = server::warning(&address, tls.is_some(), has_auth).into_iter().collect();
        let bounds = Bounds::of_settings(settings);
        let server = Server { address, tls, bounds, notes: Arc::default() };
        let answer_timeout = settings.duration("answer_timeout");
        Ok((Self { server, answer_timeout, protocol }, warnings))
    }
}

impl<P: Protocol> OpenSource for Shipping<P> {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(self.clone()))
    }
}

impl<P: Protocol> Source for Shipping<P> {
    fn name(&self) -> String {
        self.server.address.to_string()
    }

    fn try_listen(&self) -> Result<(), Error> {
        temblor_wire::inbound::try_listen(&self.server.address)
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        let bounds = self.server.bounds;
        let desk = Desk {
            feed: feed.clone(),
            origin: self.server.address.to_string(),
            bounds,
            answer_timeout: self.answer_timeout,
            room: Room::default(),
            requests: Semaphore::new(bounds.requests_max.min(Semaphore::MAX_PERMITS)),
        };
        let clerk = Arc::new(Clerk { desk, protocol: self.protocol.clone() });
        feed.network.handle()?.block_on(server::serve(&self.server, feed, clerk))
    }
}

/// What a protocol needs of the run.
pub(crate) struct Desk {
    /// The way into the program.
    pub(crate) feed: Feed,
    /// What messages call the source.
    origin: String,
    bounds: Bounds,
    answer_timeout: Duration,
    room: Room,
    requests: Semaphore,
}

/// Why events were not taken, or are not known to be where they should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// The program takes no more for now.
    Full,
    /// They could not be written.
    Failed,
    /// They were not written within their time.
    Late,
}

impl Desk {
    /// A place for a request; none when there are too many.
    #[must_use]
    pub(crate) fn place(&self) -> Option<SemaphorePermit<'_>> {
        let place = self.requests.try_acquire().ok();
        if place.is_none() {
            self.feed.stats.add_dropped("http_too_many_requests", 1);
        }
        place
    }

    /// How many bytes a body may have once it is decompressed.
    #[must_use]
    pub(crate) fn decompressed_bytes_max(&self) -> usize {
        self.bounds.decompressed_bytes_max
    }

    /// The body of a request, decompressed.
    ///
    /// # Errors
    /// The answer to a body that cannot be had.
    pub(crate) async fn body(&self, parts: &Parts, incoming: Incoming) -> Result<Vec<u8>, Reply> {
        let (headers, stats) = (&parts.headers, &self.feed.stats);
        receive::body(incoming, headers, &self.bounds, &self.room, stats).await
    }

    /// Hands events over.
    ///
    /// # Errors
    /// There was no room for them within the time that a request waits.
    pub(crate) async fn hand_over(&self, arrival: Arrival) -> Result<Receipt, NotTaken> {
        let origin = Origin::named(self.origin.clone());
        let handing = self.feed.hand_over(arrival, &origin);
        match tokio::time::timeout(self.bounds.wait, handing).await {
            Ok(Ok(receipt)) => Ok(receipt),
            Ok(Err(_)) => Err(NotTaken::Full),
            Err(_) => {
                self.feed.stats.add_dropped("http_no_room", 1);
                Err(NotTaken::Full)
            }
        }
    }

    /// Waits until events are where they should be.
    ///
    /// # Errors
    /// They are not, or not in time.
    pub(crate) async fn written(&self, receipt: Receipt) -> Result<(), NotTaken> {
        match tokio::time::timeout(self.answer_timeout, receipt.settled()).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                self.feed.stats.add_error("http_not_written");
                Err(NotTaken::Failed)
            }
            Err(_) => {
                self.feed.stats.add_error("http_answer_too_late");
                Err(NotTaken::Late)
            }
        }
    }
}

/// Answers the requests of one source.
struct Clerk<P> {
    desk: Desk,
    protocol: P,
}

impl<P: Protocol> Handler for Clerk<P> {
    async fn handle(&self, request: Request<Incoming>, peer: Peer) -> Reply {
        let (parts, incoming) = request.into_parts();
        self.protocol.take(&self.desk, &parts, incoming, peer).await
    }
}
