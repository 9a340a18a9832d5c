//! The round of an event: out of the program, to the answer, and back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;
use temblor_declare::BuiltSink;
use temblor_runtime::error::Error;
use temblor_runtime::intake::Messages;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use super::cache::Cache;
use super::{Ask, Manners, Told, Trouble};
use crate::outbound::{Task, TaskSink};
use crate::retry;

/// Parcels whose events wait for answers at the same time; further ones wait in the sink's queue.
const PARCELS_MAX: usize = 256;
/// The field of the metadata that holds the answer.
const META: &str = "lookup";
/// The attribute with the question.
const QUESTION: usize = 0;
/// The attribute with all metadata of an event.
const METADATA: usize = 1;

/// A sink that asks. The first two of its settings that are evaluated for each event are the question and
/// all metadata.
pub struct Lookup<A> {
    /// Whom it asks.
    ask: Arc<A>,
    /// How.
    manners: Manners,
    /// Where events go whose questions fail.
    errors: Arc<Feedback>,
    /// Where events go with their answers.
    answers: Arc<Feedback>,
}

impl<A: Ask> Lookup<A> {
    /// The sink that asks in this way, with the way back of its answers.
    pub fn sink(ask: A, manners: Manners) -> BuiltSink {
        let (errors, answers) = (Feedback::new(), Feedback::new());
        let (ask, back) = (Arc::new(ask), Some(Arc::clone(&answers)));
        let open = Self { ask, manners, errors: Arc::clone(&errors), answers };
        BuiltSink { answers: back, ..BuiltSink::of_events(open, errors) }
    }
}

impl<A> std::fmt::Debug for Lookup<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookup").field("manners", &self.manners).finish_non_exhaustive()
    }
}

impl<A: Ask> OpenSink for Lookup<A> {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        let desk = Arc::new(Desks {
            ask: Arc::clone(&self.ask),
            manners: self.manners.clone(),
            errors: Arc::clone(&self.errors),
            answers: Arc::clone(&self.answers),
            places: Semaphore::new(self.manners.concurrency),
            cache: Mutex::new(Cache::new(self.manners.cache_size)),
            under_way: Mutex::default(),
        });
        let work = move |outlet, of_run| -> Task { Box::pin(desk.run(outlet, of_run)) };
        Ok(Box::new(TaskSink::new(work)))
    }
}

/// What the answer to a question became: none when there is nothing to be said.
type Result1 = Result<Option<Arc<str>>, String>;

/// What a sink that asks holds while it runs.
struct Desks<A> {
    ask: Arc<A>,
    manners: Manners,
    errors: Arc<Feedback>,
    answers: Arc<Feedback>,
    places: Semaphore,
    cache: Mutex<Cache>,
    /// Questions that are being asked, for all events that wait for them.
    under_way: Mutex<HashMap<Arc<str>, Arc<OnceCell<Result1>>>>,
}

/// A parcel with the answers of its events.
type Answered = (Parcel, Vec<Option<(String, Result1)>>);

impl<A: Ask> Desks<A> {
    async fn run(self: Arc<Self>, outlet: Arc<Outlet>, desk: Desk) {
        if self.answers.feed().is_none() {
            let text = format!(
                "warning: {0}: nothing reads {0}/out, where events go with their answers",
                desk.name
            );
            desk.console.message(&text);
        }
        match self.manners.ordered {
            true => self.in_order(outlet).await,
            false => self.as_they_come(outlet).await,
        }
    }

    async fn in_order(self: Arc<Self>, outlet: Arc<Outlet>) {
        let mut waiting: VecDeque<JoinHandle<Answered>> = VecDeque::new();
        loop {
            let is_full = waiting.len() >= PARCELS_MAX;
            tokio::select! {
                biased;
                answered = first(&mut waiting) => {
                    waiting.pop_front();
                    // A task that was ended with the run gives nothing back; its parcel has failed.
                    if let Ok(answered) = answered {
                        self.give_back(answered).await;
                    }
                }
                parcel = outlet.take(), if !is_full => {
                    let Some(parcel) = parcel else { break };
                    let this = Arc::clone(&self);
                    waiting.push_back(tokio::spawn(async move { this.answer(parcel).await }));
                }
            }
        }
        for handle in waiting {
            if let Ok(answered) = handle.await {
                self.give_back(answered).await;
            }
        }
    }

    async fn as_they_come(self: Arc<Self>, outlet: Arc<Outlet>) {
        let mut waiting: JoinSet<Answered> = JoinSet::new();
        loop {
            let is_full = waiting.len() >= PARCELS_MAX;
            tokio::select! {
                Some(answered) = waiting.join_next() => {
                    if let Ok(answered) = answered {
                        self.give_back(answered).await;
                    }
                }
                parcel = outlet.take(), if !is_full => {
                    let Some(parcel) = parcel else { break };
                    let this = Arc::clone(&self);
                    waiting.spawn(async move { this.answer(parcel).await });
                }
            }
        }
        while let Some(answered) = waiting.join_next().await {
            if let Ok(answered) = answered {
                self.give_back(answered).await;
            }
        }
    }

    /// Waits for the answers of all events of a parcel.
    async fn answer(self: Arc<Self>, parcel: Parcel) -> Answered {
        let mut asked: HashMap<String, JoinHandle<Result1>> = HashMap::new();
        let mut known: HashMap<String, Result1> = HashMap::new();
        let questions: Vec<Option<String>> = (0..parcel.events().len())
            .map(|event| parcel.attribute(event, QUESTION).map(str::to_string))
            .collect();
        for question in questions.iter().flatten() {
            if known.contains_key(question) || asked.contains_key(question) {
                continue;
            }
            match self.kept(question) {
                Some(answer) => drop(known.insert(question.clone(), Ok(answer))),
                None => {
                    let (this, one) = (Arc::clone(&self), question.clone());
                    let task = tokio::spawn(async move { this.find(&one).await });
                    asked.insert(question.clone(), task);
                }
            }
        }
        for (question, task) in asked {
            let answer = task.await.unwrap_or_else(|error| Err(error.to_string()));
            known.insert(question, answer);
        }
        let answers = questions.into_iter().map(|question| {
            let question = question?;
            let answer = known.get(&question).cloned()?;
            Some((question, answer))
        });
        let answers = answers.collect();
        (parcel, answers)
    }

    fn kept(&self, question: &str) -> Option<Option<Arc<str>>> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(question, Instant::now())
    }

    /// The answer to a question, which is asked once for all who want to know.
    async fn find(&self, question: &str) -> Result1 {
        let key: Arc<str> = question.into();
        let cell = {
            let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(under_way.entry(Arc::clone(&key)).or_default())
        };
        let answer = cell.get_or_init(|| self.insist(&key)).await.clone();
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.get(&key).is_some_and(|one| Arc::ptr_eq(one, &cell)) {
            under_way.remove(&key);
        }
        answer
    }

    /// Asks until there is an answer, or the attempts are used up.
    async fn insist(&self, question: &Arc<str>) -> Result1 {
        let Ok(_place) = self.places.acquire().await else {
            return Err("the run has ended".to_string());
        };
        let mut retry = self.manners.retry.clone();
        loop {
            let asking = tokio::time::timeout(self.manners.timeout, self.ask.ask(question));
            let said = asking.await.unwrap_or_else(|_| {
                let within = self.manners.timeout;
                Err(Trouble::ForNow(format!("there was no answer within {within:?}"), None))
            });
            match said {
                Ok(told) => return Ok(self.keep(question, told)),
                Err(Trouble::ForGood(reason)) => return Err(reason),
                Err(Trouble::ForNow(reason, wanted)) => match retry.fail(retry::chance()) {
                    Some(wait) => tokio::time::sleep(wait.max(wanted.unwrap_or_default())).await,
                    None => return Err(reason),
                },
            }
        }
    }

    fn keep(&self, question: &Arc<str>, told: Told) -> Option<Arc<str>> {
        let most = match told.answer {
            Some(_) => self.manners.cache_for,
            None => self.manners.cache_misses_for,
        };
        let holds = told.holds.map_or(most, |holds| holds.min(most));
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.put(Arc::clone(question), told.answer.clone(), holds, Instant::now());
        told.answer
    }

    /// Gives the events of a parcel back, and tells why some have no answer.
    async fn give_back(&self, (parcel, answers): Answered) {
        let (mut messages, mut refused) = (Messages::default(), Vec::new());
        for (event, answer) in answers.iter().enumerate() {
            let meta = parcel.attribute(event, METADATA);
            let message = parcel.event(event).trim_ascii_end();
            match answer {
                Some((question, Err(reason))) => {
                    let mut details = serde_json::Map::new();
                    details.insert("question".to_string(), question.as_str().into());
                    let details = serde_json::Value::Object(details).to_string();
                    refused.push(Refusal { event, reason: reason.clone(), details });
                }
                Some((question, Ok(answer))) => {
                    let meta = with_answer(meta, Some(question), answer.as_deref());
                    messages.push(&meta, message);
                }
                // Nothing was asked.
                None => messages.push(&with_answer(meta, None, None), message),
            }
        }
        parcel.answer(messages, &self.answers, &refused, &self.errors);
    }
}

/// The metadata of an event, with `$lookup.question` and `$lookup.answer`.
fn with_answer(meta: Option<&str>, question: Option<&str>, answer: Option<&str>) -> String {
    let question = serde_json::Value::from(question).to_string();
    let told = format!("{{\"question\":{question},\"answer\":{}}}", answer.unwrap_or("null"));
    let known: Option<std::collections::BTreeMap<String, Box<RawValue>>> =
        meta.and_then(|meta| serde_json::from_str(meta).ok());
    let mut text = "{".to_string();
    for (name, value) in known.unwrap_or_default().iter().filter(|(name, _)| *name != META) {
        text.push_str(&format!("{}:{value},", serde_json::Value::from(name.as_str())));
    }
    text.push_str(&format!("\"{META}\":{told}}}"));
    text
}

/// The first of several; never, when there is none.
async fn first<T>(waiting: &mut VecDeque<JoinHandle<T>>) -> Result<T, tokio::task::JoinError> {
    match waiting.front_mut() {
        Some(handle) => handle.await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_beside_the_metadata_that_was_there() {
        let meta = with_answer(Some(r#"{"a":1.50,"lookup":9}"#), Some("q\"s"), Some("[1]"));
        assert_eq!(meta, r#"{"a":1.50,"lookup":{"question":"q\"s","answer":[1]}}"#);
        let none = with_answer(Some("null"), None, None);
        assert_eq!(none, r#"{"lookup":{"question":null,"answer":null}}"#);
    }
}
