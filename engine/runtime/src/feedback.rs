//! The source of what sinks give back: events that were refused for good, and answers of peers.
//!
//! Invariant: it ends when all other sources have ended and nothing is under way that could still be given
//! back.

use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::FileMark;
use crate::error::Error;
use crate::outlet::Feedback;
use crate::source::feed::Feed;
use crate::source::{OpenSource, Source};

/// Time between two looks at whether something may still be given back.
const PATIENCE: Duration = Duration::from_millis(10);

/// What a plan says of a way back.
#[derive(Clone, Debug)]
pub struct FeedbackConfig {
    /// What the user calls it, such as `search/err`.
    pub name: String,
    /// What the sink gives into.
    pub feedback: Arc<Feedback>,
}

impl OpenSource for FeedbackConfig {
    fn forgets(&self) -> bool {
        false
    }

    fn open(&self, _: &[FileMark]) -> Result<Box<dyn Source>, Error> {
        Ok(Box::new(FeedbackSource { config: self.clone() }))
    }
}

struct FeedbackSource {
    config: FeedbackConfig,
}

impl Source for FeedbackSource {
    fn name(&self) -> String {
        self.config.name.clone()
    }

    fn follows(&self) -> bool {
        true
    }

    fn prepare(&mut self, feed: &Feed) {
        self.config.feedback.lead(feed.clone());
    }

    fn run(&mut self, feed: &Feed) -> Result<(), Error> {
        while !(feed.queue.only_followers_are_left() && feed.ledger.is_quiet()) {
            if feed.queue.is_aborted() {
                break;
            }
            if feed.stop.is_closed() {
                feed.queue.unfollow();
                break;
            }
            std::thread::sleep(PATIENCE);
        }
        Ok(())
    }
}
