//! What Ruby has and this interpreter has not: told apart from mistakes of the code, so that a gap is never taken for
//! an exception that the code expects.

use super::object::responds;
use crate::ruby::value::Value;

/// Lines of a class and the names of its methods.
const METHODS: &str = include_str!("methods.txt");

/// Whether the method is one that Ruby would have run. Where there are arguments and the name is known here, the
/// arguments are what is wrong.
pub(super) fn is_gap(receiver: &Value, name: &str, arguments: &[Value]) -> bool {
    let class = match receiver.class() {
        "LogStash::Timestamp" => "Time",
        class => class,
    };
    let has = |line: &str| {
        line.split_once(": ")
            .is_some_and(|(of, names)| of == class && names.split(' ').any(|one| one == name))
    };
    METHODS.lines().any(has) && (arguments.is_empty() || !responds(receiver, name))
}
