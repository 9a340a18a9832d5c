//! The ends of a program, ready for the plan of a run.

use crate::pipeline::Attribute;
use std::any::Any;
use std::sync::Arc;
use temblor_codec::{Encoding, InputCodec};
use temblor_lang::program::Formula;
use temblor_runtime::feedback::FeedbackConfig;
use temblor_runtime::outlet::QueuePolicy;
use temblor_runtime::sink::OpenSink;
use temblor_runtime::source::OpenSource;

/// A source and the input port that it feeds.
#[derive(Debug)]
pub struct SourceEndpoint {
    /// The input port.
    pub port: String,
    /// Where bytes come from.
    pub config: Arc<dyn OpenSource>,
    /// How frames are read.
    pub codec: InputCodec,
    /// The input port for frames that cannot be read, and what they call the source.
    pub errors: Option<(String, String)>,
}

impl SourceEndpoint {
    /// A source of an input port.
    #[must_use]
    pub fn new(port: impl Into<String>, config: Arc<dyn OpenSource>, codec: InputCodec) -> Self {
        Self { port: port.into(), config, codec, errors: None }
    }

    /// The source as what it is, for those who know its kind.
    #[must_use]
    pub fn config_as<T: OpenSource>(&self) -> Option<&T> {
        let config: &dyn Any = self.config.as_ref();
        config.downcast_ref()
    }

    /// Whether it gives what a sink gives back.
    #[must_use]
    pub fn is_feedback(&self) -> bool {
        self.config_as::<FeedbackConfig>().is_some()
    }
}

/// A sink and the output port that it serves.
#[derive(Debug)]
pub struct SinkEndpoint {
    /// The output port.
    pub port: String,
    /// Where bytes go.
    pub config: Arc<dyn OpenSink>,
    /// The path, when it depends on the event.
    pub path: Option<Arc<Formula>>,
    /// How events are written.
    pub encoding: Encoding,
    /// Whether a batched event is written as the events that it consists of.
    pub each_member: bool,
    /// What the sink wants beside each event; nothing when it takes bytes as they come.
    pub attributes: Option<Box<[Attribute]>>,
    /// How much may wait for it, and what happens beyond that.
    pub queue: QueuePolicy,
}
