//! How a program takes the place of another while the run goes on: what is new begins, what is gone ends, and
//! what stays notices nothing.
//!
//! Invariant: until the workers have met, everything can be taken back, and the old program goes on.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use crate::ack::SourceId;
use crate::disk::Durability;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::outputs::Outputs;
use crate::overseer::{NewSource, Replacement, Request};
use crate::processor::Processor;
use crate::run::{NamedSink, Run};
use crate::source::{OpenSource, Source};
use crate::stats::{Health, PortStats, SourceStats};

/// Time between two looks at whether a source has ended.
const LOOK: Duration = Duration::from_millis(2);

impl Run {
    /// Carries out a request, and answers it.
    pub(crate) fn serve<'scope>(&'scope self, request: Request, scope: &'scope Scope<'scope, '_>) {
        let Request { what, answer } = request;
        // As long as a source is exchanged for another, the run does not end for lack of sources.
        let result = match self.shop.queue.join() {
            true => {
                let result = self.replace(what, scope);
                self.shop.queue.leave();
                result
            }
            false => Err(Error::config("reload", "the run is ending")),
        };
        answer.give(result);
    }

    fn replace<'scope>(
        &'scope self,
        what: Replacement,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<(), Error> {
        let Replacement { processors, hand_over, closed_sources, sources, limit, .. } = what;
        if self.barrier.is_none()
            && self.plan.state.is_some()
            && processors.iter().any(|one| one.keeps_state())
        {
            let reason = "this program remembers something, and the one that runs does not";
            return Err(Error::config("reload", format!("{reason}: with --state, start it anew")));
        }
        // What is missing is noticed before anything is touched.
        for source in &sources {
            source.try_opening(&self.stats, &closed_sources)?;
        }
        self.open_sinks(&what.sinks)?;
        for port in &what.ports {
            self.stats.ports.push(PortStats::named(port));
        }
        self.close_sources(&closed_sources, limit)?;
        let closed_sinks = what.closed_sinks;
        let hand_over = Box::new(move |old: &mut dyn Processor, outputs: &mut Outputs| {
            outputs.closed_sinks = closed_sinks;
            hand_over(old, outputs)
        });
        let exchange = Exchange::new(processors, hand_over);
        let asked = self.shop.queue.exchange(&exchange, self.plan.workers);
        if !asked || !exchange.wait(limit) {
            self.shop.queue.withdraw_exchange();
            for source in &closed_sources {
                self.begin_again(*source, scope)?;
            }
            let reason = format!("what is under way has not got where it should within {limit:?}");
            return Err(Error::config("reload", format!("{reason}: a sink holds it up")));
        }
        if sources.iter().any(|source| source.config.forgets()) {
            self.forgets.store(true, Ordering::Release);
        }
        self.ledger.place(&what.places);
        let begun = sources.iter().map(|source| self.begin(source, limit, scope));
        // Each begins that can; the first that cannot is told.
        let begun: Vec<Result<(), Error>> = begun.collect();
        self.ledger.place(&what.places);
        begun.into_iter().collect()
    }

    fn open_sinks(&self, sinks: &[(NamedSink, bool)]) -> Result<(), Error> {
        let opened = sinks.iter().map(|(sink, goes_on)| sink.config.open(*goes_on));
        let opened = opened.collect::<Result<Vec<_>, _>>()?;
        let mut started = Ok(());
        for (mut sink, (named, _)) in opened.into_iter().zip(sinks) {
            let mut newcomers = self.newcomers.lock().unwrap_or_else(PoisonError::into_inner);
            let number = self.stats.sinks.push(PortStats::named(&named.name));
            let desk = self.desk(number, &named.name, named.queue);
            if self.plan.durability == Durability::Fsync {
                sink.be_durable();
            }
            if named.config.ends_run() {
                self.shop.queue.hold_end();
            }
            // One that cannot start has its number, too; nothing is written to it.
            started = started.and(sink.start(&desk));
            newcomers.push_back(sink);
        }
        started
    }

    /// Has sources end, and waits until they have handed over what they had read.
    fn close_sources(&self, closed: &[SourceId], limit: Duration) -> Result<(), Error> {
        for source in closed {
            self.stop_of(*source)?.close();
        }
        let end = Instant::now() + limit;
        let is_open = |source: &SourceId| {
            let health = self.stats.sources[*source].condition.get();
            !matches!(health, Health::Ended | Health::Failed(_))
        };
        while closed.iter().any(is_open) && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// A source that was closed for nothing goes on where it stopped.
    fn begin_again<'scope>(
        &'scope self,
        number: SourceId,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<(), Error> {
        let config = Arc::clone(&self.configs()[number]);
        self.renew_stop(number)?;
        self.start(number, config.open(&self.ledger.marks_of(number))?, scope)
    }

    fn begin<'scope>(
        &'scope self,
        source: &NewSource,
        limit: Duration,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<(), Error> {
        let number = self.ledger.add_source();
        if let Some(closed) = source.follows {
            // Marks are where they will be once all has settled; later is better than twice.
            let end = Instant::now() + limit;
            while !self.ledger.is_settled(closed) && Instant::now() < end {
                std::thread::sleep(LOOK);
            }
            self.ledger.follow(number, closed);
        }
        let opened = source.config.open(&self.ledger.marks_of(number));
        let name = opened.as_ref().map_or_else(|_| "source".to_string(), |one| one.name());
        // It has its number in any case.
        self.stats.sources.push(SourceStats::named(&name));
        self.configs().push(Arc::clone(&source.config));
        self.stop_of(number)?;
        let opened = opened.inspect_err(|error| {
            self.stats.sources[number].condition.set(Health::Failed(error.to_string()));
        });
        self.start(number, opened?, scope)
    }

    fn start<'scope>(
        &'scope self,
        number: SourceId,
        mut source: Box<dyn Source>,
        scope: &'scope Scope<'scope, '_>,
    ) -> Result<(), Error> {
        let health = if source.listens() { Health::Opening } else { Health::Working };
        self.stats.sources[number].condition.set(health);
        if !self.shop.queue.join() {
            return Err(Error::config("reload", "the run is ending"));
        }
        let feed = self.feed(number, self.stop_of(number)?);
        if source.follows() {
            self.shop.queue.follow();
        }
        source.prepare(&feed);
        scope.spawn(move || self.run_fed(source.as_mut(), &feed));
        Ok(())
    }

    fn configs(&self) -> MutexGuard<'_, Vec<Arc<dyn OpenSource>>> {
        self.configs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
