//! What stands for Kafka in builds without its client: programs are checked in full, and do not run.
//!
//! Invariant: what it says holds the command that makes a build with the client.

use std::sync::Arc;

use temblor_declare::Wrong;
use temblor_runtime::checkpoint::FileMark;
use temblor_runtime::error::Error;
use temblor_runtime::outlet::Feedback;
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_runtime::source::{OpenSource, Source};

use super::{Cluster, Shape, Subscription};
use crate::packing::Unpacking;

/// What to do.
const HELP: &str = "build it in with `cargo build --release --features kafka` (it takes gcc, g++ and make; \
                    `--features kafka-tls` adds TLS and SCRAM, and takes OpenSSL's headers as well)";

fn lacking(cluster: &Cluster) -> Error {
    let place = format!("kafka://{}", cluster.name);
    // Said in the declaration, and of no use here.
    let _ = (&cluster.exactly_once, &cluster.create);
    Error::input(place, "this build has no client for Kafka", HELP)
}

/// A source that does not open.
#[derive(Debug)]
pub struct Reading(Cluster);

impl Reading {
    /// A source.
    ///
    /// # Errors
    /// None.
    pub fn new(cluster: Cluster, subscription: Subscription, _: Unpacking) -> Result<Self, Wrong> {
        let Subscription { topics: _, from: _, meta: _, commit_interval: _, transactions: _ } =
            subscription;
        Ok(Self(cluster))
    }
}

impl OpenSource for Reading {
    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Err(lacking(&self.0))
    }
}

/// A sink that does not open.
#[derive(Debug)]
pub struct Writing(Cluster);

impl Writing {
    /// A sink.
    ///
    /// # Errors
    /// None.
    pub fn new(cluster: Cluster, shape: Shape, _: Arc<Feedback>) -> Result<Self, Wrong> {
        match shape {
            Shape::PerEvent | Shape::Tremor { topic: _, key: _ } => Ok(Self(cluster)),
        }
    }
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Err(lacking(&self.0))
    }
}
