//! Mistakes of Temblor itself: what panics over one event is an error of that event, and the others go on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `work`; a panic becomes a sentence. What `work` changes may be half changed then: it is the memory
/// of one event, which is thrown away, or a state that is as good as if the event had not been counted.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| reason(panic.as_ref()))
}

#[cold]
fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "a panic without a message".to_string());
    format!("E0499 a mistake of Temblor: {text} (standard error says where; please report it)")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_panic_is_a_sentence() {
        assert_eq!(super::caught(|| 1), Ok(1));
        let reason = super::caught(|| panic!("no {}", 7)).unwrap_err();
        assert!(reason.contains("no 7") && reason.starts_with("E0499"), "{reason}");
    }
}
