//! Writes events into lists, channels and streams: what waits goes in one request.
//!
//! Invariant: events are confirmed when the server has answered for each of them.

use std::sync::Arc;

use ::redis::{Cmd, Pipeline, RedisError, RedisResult, Value, cmd};
use temblor_runtime::error::Error;
use temblor_runtime::outlet::{Desk, Feedback, Outlet, Parcel, Refusal};
use temblor_runtime::sink::{OpenSink, Sink};
use temblor_wire::outbound::task_sink;
use temblor_wire::retry::{self, Retry};

use super::server::{Link, Server, is_passing};
use crate::session::Presence;

/// Events that go in one request, at the most, but for those of one parcel, which stay together.
const REQUEST_EVENTS_MAX: usize = 10_000;
/// Events that one command takes, at the most.
const COMMAND_EVENTS_MAX: usize = 500;

/// The place of an attribute among the settings that are evaluated for each event.
const LIST: usize = 0;
const CHANNEL: usize = 1;
const STREAM: usize = 2;

/// How events are written.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The field of a stream's entries that holds the event.
    pub field: String,
    /// About how many entries a stream keeps.
    pub max_length: Option<u64>,
}

/// A sink.
#[derive(Clone, Debug)]
pub struct Writing {
    /// The server.
    pub server: Server,
    /// The waits between attempts.
    pub retry: Retry,
    /// How events are written.
    pub shape: Shape,
    /// Where events go that the server refuses for good.
    pub errors: Arc<Feedback>,
}

impl OpenSink for Writing {
    fn open(&self, _: bool) -> Result<Box<dyn Sink>, Error> {
        Ok(task_sink(self, Self::write))
    }
}

impl Writing {
    async fn write(mut self, outlet: Arc<Outlet>, desk: Desk) {
        let mut link = None;
        let presence = Presence::of_sink(&desk);
        while let Some(first) = outlet.take().await {
            let mut count = first.events().len();
            let mut parcels = vec![first];
            while count < REQUEST_EVENTS_MAX {
                let Some(next) = outlet.take_now() else { break };
                count += next.events().len();
                parcels.push(next);
            }
            let request = Request::new(&parcels, &self.shape);
            let answers = loop {
                match self.send(&request, &mut link).await {
                    Ok(answers) => break Some(answers),
                    Err(error) => {
                        link = None;
                        let failed = self.server.output_error(&error);
                        let Some(wait) = self.retry.fail(retry::chance()) else {
                            parcels.drain(..).for_each(|parcel| parcel.fail(failed.clone()));
                            break None;
                        };
                        presence.lost(&failed);
                        tokio::time::sleep(wait).await;
                    }
                }
            };
            let Some(answers) = answers else { continue };
            self.retry.succeed();
            presence.found(&self.server.name());
            let mut refusals = request.refusals(&answers);
            for (index, parcel) in parcels.into_iter().enumerate() {
                parcel.confirm_except(&std::mem::take(&mut refusals[index]), &self.errors);
            }
        }
    }

    /// Sends a request; an error is one after which all of it should be sent again.
    async fn send(
        &self,
        request: &Request,
        link: &mut Option<Link>,
    ) -> Result<Vec<RedisResult<Value>>, RedisError> {
        if request.commands.is_empty() {
            return Ok(Vec::new());
        }
        let connected = match link {
            Some(connected) => connected,
            None => link.insert(self.server.connect().await?),
        };
        let answers: Vec<RedisResult<Value>> =
            request.pipeline.query_async(&mut connected.connection).await?;
        match answers.iter().find_map(|answer| answer.as_ref().err().filter(|one| is_passing(one)))
        {
            Some(error) => Err(error.clone()),
            None => Ok(answers),
        }
    }
}

/// Which event of which parcel.
type Place = (usize, usize);

/// Commands, and the events that each stands for.
struct Request {
    pipeline: Pipeline,
    commands: Vec<Vec<Place>>,
    /// Events that name nothing to write to.
    homeless: Vec<Place>,
    parcels: usize,
}

impl Request {
    fn new(parcels: &[Parcel], shape: &Shape) -> Self {
        let (pipeline, commands, homeless) = (Pipeline::new(), Vec::new(), Vec::new());
        let mut request = Self { pipeline, commands, homeless, parcels: parcels.len() };
        request.pipeline.ignore_errors();
        // Events in a row for one list go in one command.
        let mut row: Option<(&str, Cmd, Vec<Place>)> = None;
        for (number, parcel) in parcels.iter().enumerate() {
            for (index, event) in parcel.events().enumerate() {
                let place = (number, index);
                if let Some(list) = parcel.attribute(index, LIST) {
                    match &mut row {
                        Some((name, command, places))
                            if *name == list && places.len() < COMMAND_EVENTS_MAX =>
                        {
                            command.arg(event);
                            places.push(place);
                        }
                        _ => {
                            let command = cmd("RPUSH").arg(list).arg(event).take();
                            request.add_row(row.replace((list, command, vec![place])));
                        }
                    }
                } else if let Some(channel) = parcel.attribute(index, CHANNEL) {
                    request.add(cmd("PUBLISH").arg(channel).arg(event).take(), vec![place]);
                } else if let Some(stream) = parcel.attribute(index, STREAM) {
                    request.add(entry(stream, event, shape), vec![place]);
                } else {
                    request.homeless.push(place);
                }
            }
        }
        request.add_row(row);
        request
    }

    fn add_row(&mut self, row: Option<(&str, Cmd, Vec<Place>)>) {
        if let Some((_, command, places)) = row {
            self.add(command, places);
        }
    }

    fn add(&mut self, command: Cmd, places: Vec<Place>) {
        self.pipeline.add_command(command);
        self.commands.push(places);
    }

    /// For each parcel, what was refused.
    fn refusals(&self, answers: &[RedisResult<Value>]) -> Vec<Vec<Refusal>> {
        let mut refusals: Vec<Vec<Refusal>> = (0..self.parcels).map(|_| Vec::new()).collect();
        let mut refuse = |places: &[Place], reason: &str| {
            for (parcel, event) in places {
                let (event, reason) = (*event, reason.to_string());
                refusals[*parcel].push(Refusal { event, reason, details: String::new() });
            }
        };
        for (places, answer) in self.commands.iter().zip(answers) {
            if let Err(error) = answer {
                refuse(places, &format!("redis refuses it: {error}"));
            }
        }
        refuse(&self.homeless, "neither a list, a channel nor a stream is named");
        refusals
    }
}

fn entry(stream: &str, event: &[u8], shape: &Shape) -> Cmd {
    let mut command = cmd("XADD");
    command.arg(stream);
    if let Some(max_length) = shape.max_length {
        command.arg("MAXLEN").arg("~").arg(max_length);
    }
    command.arg("*").arg(&shape.field).arg(event);
    command
}
