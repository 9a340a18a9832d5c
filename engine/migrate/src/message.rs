//! What a step that reads messages takes: texts. An empty one is no message, for either program.

use temblor_lang::error::EvalError;
use temblor_pipeline::event::Event;
use temblor_pipeline::operator::Emitter;

/// The message that an event is; none where it is empty, which is counted.
///
/// # Errors
/// The event is no text (E0808).
pub(crate) fn message<'a>(
    event: Event<'a>,
    out: &mut Emitter<'a>,
) -> Result<Option<&'a str>, EvalError> {
    let Some(text) = event.value.as_str() else {
        let help = "give the source the codec `string`";
        return Err(EvalError::new("E0808", "a message is a text").with_help(help));
    };
    if text.is_empty() {
        out.count_drop();
        return Ok(None);
    }
    Ok(Some(text))
}
