//! `throttle` whose events are dropped: a limit of events in a time, which Temblor says as `rate_limit`.

use super::condition::tag_test;
use super::filters::Filters;
use super::idiom;
use super::notation::field_or_null;
use super::report::Coverage;
use crate::filter;
use crate::options::{Arguments, COMMON};
use crate::settings::Settings;
use crate::syntax::tree::{Branch, Plugin, Statement};
use temblor_logstash_event::template::Template;

/// Seconds of a window that does not say how long it is.
const PERIOD: u64 = 60;

/// So many events in so many seconds.
pub(super) struct Limit {
    count: u64,
    seconds: u64,
    /// The expression that events are counted by; empty for all together.
    by: String,
    /// How many keys are remembered, if that is said.
    keys: Option<u64>,
}

/// What a step does not do as the two blocks do.
const REMARK: &str = "the allowance comes back evenly over the period of the run's clock; Logstash counts \
                      anew in each window of the events' own time";

impl Limit {
    /// The limit that a throttle and the branch behind it are, if they are one.
    pub(super) fn of(throttle: &Plugin, branch: &Branch, settings: &Settings) -> Option<Self> {
        if throttle.name.text != "throttle" || !idiom::drops(branch) {
            return None;
        }
        let mut diagnostics = Vec::new();
        let declared = filter::FILTERS.iter().find(|one| one.name == "throttle")?.options;
        let mut arguments = Arguments::new(throttle, declared, COMMON, settings, &mut diagnostics);
        let tags = arguments.texts("add_tag")?;
        let [(tag, _)] = tags.as_slice() else { return None };
        let has_other_ends = arguments.get("before_count").is_some()
            || arguments.get("remove_tag").is_some()
            || !Template::parse(tag).is_constant();
        let (condition, _) = branch.arms.first()?;
        if has_other_ends || tag_test(condition) != Some(tag) {
            return None;
        }
        let whole = |name: &str| arguments.text(name).map(|text| text.trim().parse::<u64>());
        let count = whole("after_count")?.ok()?;
        let seconds = whole("period").unwrap_or(Ok(PERIOD)).ok()?.max(1);
        let keys = whole("max_counters").transpose().ok()?;
        let key = Template::parse(&arguments.text("key")?);
        let fields: Vec<_> = key.fields()?.into_iter().map(field_or_null).collect();
        let by = match fields.as_slice() {
            [] => String::new(),
            [field] => format!(" by {field}"),
            fields => format!(" by [{}]", fields.join(", ")),
        };
        Some(Self { count, seconds, by, keys })
    }

    fn step(&self) -> String {
        let Self { count, seconds, by, keys } = self;
        let keys = keys.map_or_else(String::new, |keys| format!(" max_keys {keys}"));
        format!("rate_limit {count} per {seconds}s{by}{keys} mode discard")
    }
}

impl Filters<'_, '_> {
    /// Writes a throttle and the branch that drops what it marked.
    pub(super) fn limited(&mut self, throttle: &Plugin, branch: &Branch, limit: &Limit) {
        let Some((_, body)) = branch.arms.first() else { return };
        let Some(Statement::Plugin(drop)) = body.first() else { return };
        self.page.comments_until(drop.span, drop.span.end);
        let place = self.page.place(throttle.span);
        self.page.note(throttle.span, "filter throttle", Coverage::Remarks, REMARK);
        self.page.note(branch.span, "if", Coverage::Exact, "");
        self.page.note(drop.span, "filter drop", Coverage::Exact, "");
        self.page.place_remark(&format!("{place}: throttle, and what it marks is dropped"));
        self.page.remark(&format!("but: {REMARK}"));
        self.page.step(&limit.step());
    }
}
