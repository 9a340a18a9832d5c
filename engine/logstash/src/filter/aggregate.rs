//! `aggregate`: code gathers in a map what belongs to one task, over several events. Filters with the
//! same text in `task_id` share their maps.

mod ends;

use super::{Declaration, Filter, Outcome, Shelf, Turn, ruby::script};
use crate::complain;
use crate::options::{Arguments, Takes, option, required};
use crate::saved;
use chrono::{DateTime, Utc};
use ends::Ends;
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use temblor_lang::value::Arena;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::template::Template;
use temblor_ruby::{Heap, Machine, Memory, Script, Stop, Value};

/// `aggregate`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "aggregate",
    doc: "Gathers in a map what belongs to one task.",
    options: &[
        required("task_id", Takes::Text, "What tells the task of an event; holds a `%{field}`."),
        required("code", Takes::Text, "The code; `event` is the event and `map` the task's map."),
        option(
            "map_action",
            Takes::OneOf(&["create", "update", "create_or_update"]),
            "Whether the filter begins tasks, goes on with them, or both.",
        ),
        option("end_of_task", Takes::Flag, "Whether the map is forgotten behind the event."),
        option("aggregate_maps_path", Takes::Text, "Accepted; maps are saved with `--state`."),
        option("timeout", Takes::Number, "Seconds after which a task has ended."),
        option("inactivity_timeout", Takes::Number, "Seconds without an event that end a task."),
        option("timeout_code", Takes::Text, "Code for the event that a map becomes."),
        option("timeout_tags", Takes::List, "Tags of the event that a map becomes."),
        option("timeout_task_id_field", Takes::Text, "Where the task's name goes."),
        option("timeout_timestamp_field", Takes::Text, "The field whose time counts."),
        option("push_map_as_event_on_timeout", Takes::Flag, "Whether a map becomes an event."),
        option(
            "push_previous_map_as_event",
            Takes::Flag,
            "Whether a new task makes an event of the one before.",
        ),
        option("map_count_warning_threshold", Takes::Number, "Accepted."),
    ],
    make,
};

/// Tasks that are kept; beyond them the oldest is given up.
const TASKS_MAX: usize = 1_000_000;

#[derive(Debug)]
struct Aggregate {
    task_text: String,
    task: Template,
    code: Script,
    action: Action,
    end_of_task: bool,
    ends: Ends,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Create,
    Update,
    Both,
}

/// What code may set in `map_meta`, and what is kept of it.
const OWN_LIMITS: [&str; 2] = ["timeout", "inactivity_timeout"];

/// What is saved of a task.
static SHELVES: [Shelf; 1] = [Shelf {
    name: "",
    at: None,
    columns: &["map", "created_ns", "last_ns", "timeout", "inactivity_timeout"],
    rest: None,
}];

/// A task.
#[derive(Debug)]
struct Task {
    map: Value,
    meta: Value,
    created: DateTime<Utc>,
    last: DateTime<Utc>,
}

/// The tasks of all filters with one `task_id`.
#[derive(Default)]
struct Tasks {
    by_id: HashMap<String, (u64, Task)>,
    /// Names in the order of their beginning.
    order: BTreeMap<u64, String>,
    next: u64,
    /// Whether a filter that says how tasks end has been seen.
    owned: bool,
    memory: Memory,
}

impl Tasks {
    fn insert(&mut self, id: &str, task: Task) {
        self.order.insert(self.next, id.to_string());
        self.by_id.insert(id.to_string(), (self.next, task));
        self.next += 1;
        if self.by_id.len() > TASKS_MAX {
            let _ = self.take_first();
        }
    }

    fn remove(&mut self, id: &str) -> Option<Task> {
        let (number, task) = self.by_id.remove(id)?;
        self.order.remove(&number);
        Some(task)
    }

    /// Frees what no task holds any more.
    fn settle(&mut self) {
        let tasks = self.by_id.values().flat_map(|(_, task)| [&task.map, &task.meta]);
        self.memory.settle(tasks);
    }

    fn take_first(&mut self) -> Option<(String, Task)> {
        let (_, id) = self.order.pop_first()?;
        let (_, task) = self.by_id.remove(&id)?;
        Some((id, task))
    }
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let task_text = arguments.text("task_id")?;
    if !task_text.contains("%{") {
        let span = arguments.place("task_id");
        arguments.complain(complain::bad_value("task_id", span, "a text with a `%{field}` in it"));
    }
    let action = match arguments.text("map_action").as_deref() {
        Some("create") => Action::Create,
        Some("update") => Action::Update,
        _ => Action::Both,
    };
    let code = arguments.text("code")?;
    let code = script(arguments, &code, "code", &[])?;
    let ends = Ends::of(arguments)?;
    Some(Box::new(Aggregate {
        task: Template::parse(&task_text),
        task_text,
        code,
        action,
        end_of_task: arguments.flag("end_of_task", false),
        ends,
    }))
}

impl Filter for Aggregate {
    fn memory(&self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Tasks::default()))
    }

    fn shelves(&self) -> &'static [Shelf] {
        &SHELVES
    }

    fn save<'a>(&self, memory: &dyn Any, arena: &'a Arena) -> Datum<'a> {
        let Some(tasks) = memory.downcast_ref::<Tasks>() else { return Datum::Null };
        let heap = tasks.memory.heap();
        heap.begin_apart();
        let named = tasks.order.values().filter_map(|id| {
            let (_, task) = tasks.by_id.get(id)?;
            Some((arena.str(id), task))
        });
        saved::map(named, arena, |task| {
            let map = task.map.to_datum(heap, arena).unwrap_or_default();
            let own = |name: &str| match task.meta.entry(heap, name) {
                Some(Value::Int(seconds)) => Datum::Int(seconds),
                _ => Datum::Null,
            };
            let times = [saved::of_time(task.created), saved::of_time(task.last)];
            let limits = OWN_LIMITS.map(own);
            Datum::List([map].into_iter().chain(times).chain(limits).collect())
        })
    }

    fn restore(&self, saved: &Datum<'_>) -> Option<Box<dyn Any + Send>> {
        let Datum::Map(named) = saved else { return None };
        let mut tasks = Tasks::default();
        for (id, task) in named.iter() {
            let parts = saved::list(Some(task))?;
            let (created, last) = (saved::time(parts.get(1))?, saved::time(parts.get(2))?);
            let heap = tasks.memory.heap();
            let meta = meta(heap, id, created);
            meta.set_entry(heap, "lastevent_timestamp", Value::timestamp(last));
            for (name, saved) in OWN_LIMITS.iter().zip(&parts[3..]) {
                if let Datum::Int(seconds) = saved {
                    meta.set_entry(heap, name, Value::Int(*seconds));
                }
            }
            let map = Value::of_datum(heap, parts.first()?);
            tasks.insert(id, Task { map, meta, created, last });
        }
        Some(Box::new(tasks))
    }

    fn shares_memory(&self) -> Option<&str> {
        Some(&self.task_text)
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let id = self.task.render(event, turn.arena, turn.now);
        if id == self.task_text {
            return Outcome::Unmatched;
        }
        let now = self.time_of(event, turn.now);
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        tasks.owned |= self.ends.said;
        let mut finished = None;
        if self.ends.said
            && tasks
                .by_id
                .get(id)
                .is_some_and(|(_, task)| self.ends.is_over(tasks.memory.heap(), task, now))
        {
            let task = tasks.remove(id);
            finished = task.filter(|_| self.ends.makes_event()).map(|task| (id.to_string(), task));
        }
        match (tasks.by_id.contains_key(id), self.action) {
            (false, Action::Update) | (true, Action::Create) => return Outcome::Unmatched,
            (true, _) => {}
            (false, _) => {
                if self.ends.push_previous && finished.is_none() {
                    finished = tasks.take_first();
                }
                let heap = tasks.memory.heap();
                let (map, meta) = (heap.hash([]), meta(heap, id, now));
                tasks.insert(id, Task { map, meta, created: now, last: now });
            }
        }
        let result = self.gather(id, now, event, turn);
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        if self.end_of_task {
            tasks.remove(id);
        }
        if let Some((id, task)) = finished {
            let made = self.ends.event(&id, &task, turn);
            turn.emitted.extend(made);
        }
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        tasks.settle();
        match result {
            Ok(()) => Outcome::Matched,
            Err(_) => {
                event.tag("_aggregateexception");
                Outcome::Unmatched
            }
        }
    }

    fn tick<'a>(&'a self, turn: &mut Turn<'a, '_>, last: bool) {
        let now = turn.now;
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        if tasks.owned && !self.ends.said {
            return;
        }
        // Times of a field tell nothing about the clock.
        let by_clock = self.ends.time_field.is_none();
        let over = |task: &Task| by_clock && self.ends.is_over(tasks.memory.heap(), task, now);
        let push_all = last && (self.ends.push_on_timeout || self.ends.push_previous);
        let ids: Vec<String> = tasks
            .order
            .values()
            .filter(|id| push_all || tasks.by_id.get(*id).is_some_and(|(_, task)| over(task)))
            .cloned()
            .collect();
        let mut finished = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(task) = tasks.remove(&id) {
                finished.push((id, task));
            }
        }
        if !self.ends.makes_event() {
            return;
        }
        for (id, task) in finished {
            let mut made = self.ends.event(&id, &task, turn);
            if push_all && let Some(event) = &mut made {
                event.tag("_aggregatefinalflush");
            }
            turn.emitted.extend(made);
        }
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        tasks.settle();
    }
}

/// What code sees as `map_meta`.
fn meta(heap: &Heap, id: &str, now: DateTime<Utc>) -> Value {
    let symbol = |name: &str| Value::Symbol(name.into());
    heap.hash([
        (symbol("task_id"), heap.text(id)),
        (symbol("creation_timestamp"), Value::timestamp(now)),
        (symbol("lastevent_timestamp"), Value::timestamp(now)),
    ])
}

impl Aggregate {
    fn time_of(&self, event: &LogEvent<'_>, now: DateTime<Utc>) -> DateTime<Utc> {
        let field = self.ends.time_field.as_ref().and_then(|field| event.get(field));
        if let Some(Datum::Time(time)) = field { *time } else { now }
    }

    /// Runs the code over the event and the task's map.
    fn gather<'a>(
        &'a self,
        id: &str,
        now: DateTime<Utc>,
        event: &mut LogEvent<'a>,
        turn: &mut Turn<'a, '_>,
    ) -> Result<(), Stop> {
        let tasks = turn.memory.downcast_mut::<Tasks>().expect("the memory of this filter");
        let (_, task) = tasks.by_id.get_mut(id).expect("the task was looked up before");
        task.last = now;
        let (map, meta) = (task.map.clone(), task.meta.clone());
        let taken = std::mem::take(event);
        let mut machine = Machine::new(taken, &mut tasks.memory, turn.arena, turn.now);
        machine.give("map", map);
        machine.give("map_meta", meta.clone());
        let result = machine.run(&self.code).map(drop);
        // Code may give the variable another map.
        let map = machine.local("map").cloned().unwrap_or_default();
        let mut events = std::mem::take(&mut machine.events);
        let emitted = std::mem::take(&mut machine.emitted);
        for number in emitted {
            turn.emitted.extend(events.get(number).cloned());
        }
        *event = std::mem::take(&mut events[0]);
        if let Some((_, task)) = tasks.by_id.get_mut(id) {
            task.map = map;
            meta.set_entry(tasks.memory.heap(), "lastevent_timestamp", Value::timestamp(now));
        }
        result
    }
}
