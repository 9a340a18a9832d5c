//! How functions, extractors and aggregates written in Rust are declared. A declaration is data
//! that stands beside its code; [`Registry`] is how a program finds it.

use crate::budget::Budget;
use crate::value::{Arena, Kind, Value};
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// What a built-in may know besides its arguments. All of it is the event's, none the clock's.
#[derive(Debug)]
pub struct Call<'a> {
    /// Where results are built.
    pub arena: &'a Arena,
    /// Facts about the event and the process.
    pub facts: &'a Facts,
}

/// Facts that functions such as `system::ingest_ns()` or `origin::host()` tell.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// When the event arrived, in nanoseconds since 1970-01-01 UTC; also seeds `random`.
    pub ingest_ns: u64,
    /// The time of day for `system::nanotime()`, in nanoseconds since 1970-01-01 UTC.
    pub now_ns: u64,
    /// Where the event came from (`file:///var/log/x`), if known.
    pub origin: Option<Arc<str>>,
    /// Number of groups in the running select, for `win::cardinality()`.
    pub groups: Cell<u64>,
    /// Where the window that is emitted begins and ends, for `win::starts()` and `win::ends()`: nanoseconds
    /// since 1970-01-01 UTC, 0 where that is not known.
    pub window: Cell<(u64, u64)>,
    /// Counts the draws of random numbers within one event.
    pub draws: Cell<u64>,
    /// Seed of the run (`--seed`).
    pub seed: u64,
    /// The lookup tables of the run, if it has any.
    pub tables: Option<Arc<dyn Tables>>,
    /// Where programs are tried out: when an evaluation is to be stopped.
    pub budget: Option<Arc<Budget>>,
}

/// Lookup tables that programs read by name. They may be replaced by newer ones between two calls.
pub trait Tables: Send + Sync + fmt::Debug {
    /// The row for a key, as a value in `arena`; `None` when the table has none for it.
    ///
    /// # Errors
    /// When there is no table of this name.
    fn find<'a>(
        &self,
        table: &str,
        key: Value<'_>,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, CallError>;

    /// The names of all tables, sorted.
    fn names(&self) -> Vec<&str>;
}

impl Facts {
    /// Takes in that an event arrived at this time: the clock stands there, and the draws of random
    /// numbers begin anew.
    pub fn arrive(&mut self, ingest_ns: u64) {
        self.ingest_ns = ingest_ns;
        self.now_ns = ingest_ns;
        self.draws = Cell::new(0);
    }
}

/// Why a built-in could not give a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// An argument is of a kind that the function does not take.
    BadType,
    /// The number of arguments is wrong.
    BadArity,
    /// Any other reason, as a sentence without a final stop.
    Failed(String),
}

impl CallError {
    /// An error with a reason.
    #[cold]
    #[must_use]
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed(reason.into())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::BadType => f.write_str("bad type of an argument"),
            CallError::BadArity => f.write_str("wrong number of arguments"),
            CallError::Failed(reason) => f.write_str(reason),
        }
    }
}

/// How many arguments a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// As many as it has parameters.
    Exact,
    /// The last `n` parameters may be left out.
    Optional(usize),
    /// The last parameter may be repeated any number of times, or left out.
    Variadic,
}

/// Whether a function may be called while a program is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purity {
    /// The same arguments always give the same result: folded when they are constant.
    Pure,
    /// Depends on the event, on time or on chance: never folded.
    Impure,
}

/// What a function adds to its first argument, if that is all it does: where the sum takes the place
/// of that argument, it grows in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addition {
    /// It does something else.
    None,
    /// The second argument as the new last element.
    Element,
    /// All that the second argument holds, which is of the same kind.
    Whole,
}

/// The code of a function.
pub type FunctionCode = for<'a> fn(&Call<'a>, &[Value<'a>]) -> Result<Value<'a>, CallError>;

/// A function that programs can call.
#[derive(Debug)]
pub struct Function {
    /// Full path, such as `std::string::uppercase`.
    pub path: &'static str,
    /// Name and kind of each parameter. The kinds are checked before `call` runs.
    pub params: &'static [(&'static str, Kind)],
    /// How many of them may be left out or repeated.
    pub arity: Arity,
    /// Kind of the result.
    pub returns: Kind,
    /// Whether constant calls are folded.
    pub purity: Purity,
    /// What it adds to its first argument.
    pub addition: Addition,
    /// One or more sentences for the manual.
    pub doc: &'static str,
    /// Expressions that are `true`; each runs as a test. Paths start at the last module
    /// (`string::uppercase("a") == "A"`).
    pub examples: &'static [&'static str],
    /// A performance warning that `check` gives where it is called, such as "use `a + [v]`".
    pub warning: Option<&'static str>,
    /// Runs it. Arity and kinds have been checked.
    pub call: FunctionCode,
}

impl Function {
    /// The smallest and the largest number of arguments (`None`: no upper limit).
    #[must_use]
    pub fn argument_range(&self) -> (usize, Option<usize>) {
        let count = self.params.len();
        match self.arity {
            Arity::Exact => (count, Some(count)),
            Arity::Optional(optional) => (count - optional, Some(count)),
            Arity::Variadic => (count.saturating_sub(1), None),
        }
    }

    /// Checks number and kinds of the arguments, then calls.
    ///
    /// # Errors
    /// [`CallError::BadArity`], [`CallError::BadType`], or what the function itself reports.
    pub fn invoke<'a>(
        &self,
        call: &Call<'a>,
        arguments: &[Value<'a>],
    ) -> Result<Value<'a>, CallError> {
        if arguments.len() != self.params.len() {
            let (least, most) = self.argument_range();
            if arguments.len() < least || most.is_some_and(|most| arguments.len() > most) {
                return Err(CallError::BadArity);
            }
        }
        let (plain, repeated) = arguments.split_at(arguments.len().min(self.params.len()));
        let fits = |(argument, (_, kind)): (&Value<'a>, &(&str, Kind))| argument.kind().fits(*kind);
        let last = self.params.last().into_iter().cycle();
        if !plain.iter().zip(self.params).all(fits) || !repeated.iter().zip(last).all(fits) {
            return Err(CallError::BadType);
        }
        (self.call)(call, arguments)
    }
}

/// A compiled test literal such as `re|^a|` (see chapter "extractors" of the specification).
pub trait Extractor: Send + Sync + fmt::Debug {
    /// Predicate mode: whether the text matches.
    fn matches(&self, text: &str) -> bool;

    /// Extracting mode: the result, or `None` when the text does not match. Parts of `text` and of
    /// the extractor itself may be referred to without a copy.
    fn extract<'a>(&'a self, text: &'a str, call: &Call<'a>) -> Option<Value<'a>>;

    /// Whether the last look on this thread, which found nothing, gave up because it took too many
    /// steps.
    fn gave_up(&self) -> bool {
        false
    }

    /// For `check` and for lookups over many arms: the text that must be equal, if that is all.
    fn literal(&self) -> Option<&str> {
        None
    }
}

/// Test literals of one kind in one look-up, for consecutive arms of a `match`.
pub trait ManyTests: Send + Sync + fmt::Debug {
    /// The number of the first test, of those from number `from` on, that matches the text.
    fn first(&self, text: &str, from: usize) -> Option<usize>;
}

/// A kind of extractor.
#[derive(Debug)]
pub struct ExtractorKind {
    /// The name in front of the bars; matched without regard to case.
    pub name: &'static str,
    /// For the manual.
    pub doc: &'static str,
    /// Pairs of an expression and its value, both source text; each runs as a test.
    pub examples: &'static [(&'static str, &'static str)],
    /// Compiles the text between the bars. The error is a sentence without a final stop.
    pub compile: fn(pattern: &str) -> Result<Box<dyn Extractor>, String>,
}

/// The running state of one aggregate call in one group and window.
pub trait Accumulator: Send + Any + fmt::Debug {
    /// Takes the arguments for one event.
    ///
    /// # Errors
    /// When an argument is of a wrong kind.
    fn accumulate(&mut self, arguments: &[Value<'_>]) -> Result<(), CallError>;

    /// Takes over what `other`, an accumulator of the same aggregate, has gathered.
    ///
    /// # Errors
    /// When the two cannot be merged.
    fn merge(&mut self, other: &dyn Accumulator) -> Result<(), CallError>;

    /// The result so far.
    ///
    /// # Errors
    /// When there is no result, for example for bad percentile names.
    fn emit<'a>(&self, call: &Call<'a>) -> Result<Value<'a>, CallError>;

    /// Forgets everything.
    fn reset(&mut self);

    /// For merging: itself as `Any`.
    fn as_any(&self) -> &dyn Any;

    /// All state as a value, for saving at shutdown.
    fn save<'a>(&self, arena: &'a Arena) -> Value<'a>;

    /// Restores what [`Accumulator::save`] gave.
    ///
    /// # Errors
    /// When the value is not of the saved shape.
    fn restore(&mut self, saved: Value<'_>) -> Result<(), CallError>;
}

/// An aggregate function for windows.
#[derive(Debug)]
pub struct Aggregate {
    /// Full path, such as `aggr::stats::sum`.
    pub path: &'static str,
    /// Name and kind of each parameter.
    pub params: &'static [(&'static str, Kind)],
    /// How many of them may be left out.
    pub arity: Arity,
    /// Kind of the result.
    pub returns: Kind,
    /// For the manual.
    pub doc: &'static str,
    /// A performance warning for `check`.
    pub warning: Option<&'static str>,
    /// A fresh accumulator.
    pub start: fn() -> Box<dyn Accumulator>,
}

/// Where a program's built-ins come from.
pub trait Registry: Send + Sync + fmt::Debug {
    /// The function with this full path.
    fn function(&self, path: &str) -> Option<&'static Function>;
    /// The aggregate with this full path.
    fn aggregate(&self, path: &str) -> Option<&'static Aggregate>;
    /// The extractor with this name, in any case.
    fn extractor(&self, name: &str) -> Option<&'static ExtractorKind>;
    /// One look-up that says the same as the extractors `name` (as declared) with these patterns
    /// one after the other; `None` where there is none that is faster.
    fn combine(&self, _name: &str, _patterns: &[&str]) -> Option<Box<dyn ManyTests>> {
        None
    }
    /// Whether a function gives a value for all arguments of the kinds that it takes.
    fn never_refuses(&self, _function: &Function) -> bool {
        false
    }
    /// Source text, in the language itself, of a standard module such as `std::time::nanos`.
    fn module(&self, path: &str) -> Option<&'static str>;
    /// Full paths of all functions, for suggestions and completion.
    fn function_paths(&self) -> Vec<&'static str>;
    /// Full paths of all aggregates.
    fn aggregate_paths(&self) -> Vec<&'static str>;
    /// Names of all extractors.
    fn extractor_names(&self) -> Vec<&'static str>;
    /// Full paths of all standard modules: those with source and those that only hold functions.
    fn module_paths(&self) -> Vec<&'static str>;
}
