//! Log paths as chains: what a path takes, what it refuses, and where that goes. Messages are copies for each path,
//! as in syslog-ng; `final`, `fallback` and `catchall` decide which paths see which messages.

use super::convert::Converter;
use super::filter::{bracketed, condition};
use super::names::Value;
use super::parser::{self, ELSE};
use super::rewrite;
use super::template::Scene;
use super::tree::{Call, Node, canonical, flags};
use crate::page::{Chain, undecided};
use std::collections::BTreeSet;
use temblor_lang::span::Span;
use temblor_logstash::convert::report::Coverage;

/// Log paths and junctions in each other, at the most.
pub(crate) const PATH_DEPTH_MAX: usize = 16;

/// A part of a path.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    /// Messages that do not fulfil it go no further.
    Filter(String),
    /// A step, with `{else}` where it refuses messages.
    Step(String),
    /// The stream of a destination.
    Tee(String),
    /// `junction { channel { … }; }`: whether each is final.
    Junction(Vec<(Vec<Element>, bool)>),
    /// `if (…) { … } else { … };`
    When(Vec<(String, Vec<Element>)>, Vec<Element>),
    /// A log path within.
    Inner(Vec<Element>, bool),
}

/// A path as it was written.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) sources: Vec<String>,
    pub(crate) elements: Vec<Element>,
    pub(crate) flags: Vec<String>,
    pub(crate) comments: Vec<String>,
    pub(crate) span: Span,
}

impl Path {
    pub(crate) fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|one| one == flag)
    }

    /// The condition under which a message goes the whole path; `None` when no condition alone tells.
    pub(crate) fn condition(&self) -> Option<String> {
        let mut tests = Vec::new();
        for element in &self.elements {
            match element {
                Element::Filter(test) => {
                    // A test behind a step would see what the step changed.
                    tests.push(test.clone());
                }
                Element::Tee(_) => {}
                Element::Step(step)
                    if !step.contains(ELSE) && tests_follow(&self.elements, element) =>
                {
                    return None;
                }
                Element::Step(step) if step.contains(ELSE) => return None,
                Element::Step(_) => {}
                _ => return None,
            }
        }
        Some(match tests.as_slice() {
            [] => "true".to_string(),
            [one] => one.clone(),
            several => several.iter().map(|test| bracketed(test)).collect::<Vec<_>>().join(" and "),
        })
    }
}

/// Whether a filter stands behind an element.
fn tests_follow(elements: &[Element], element: &Element) -> bool {
    let at = elements.iter().position(|one| std::ptr::eq(one, element)).unwrap_or(0);
    elements[at..].iter().any(|one| matches!(one, Element::Filter(_)))
}

impl Converter<'_> {
    fn scene(&self) -> Scene<'_> {
        self.scene_of("event")
    }

    /// The elements of a body, and the sources that it names.
    pub(crate) fn elements(
        &mut self,
        nodes: &[Node],
        sources: &mut Vec<String>,
        depth: usize,
    ) -> Vec<Element> {
        let mut out = Vec::new();
        if depth > PATH_DEPTH_MAX {
            let span = nodes.first().map(Node::span).unwrap_or_default();
            let why = format!("paths stand in each other more than {PATH_DEPTH_MAX} deep");
            out.push(self.left(span, "log", &why));
            return out;
        }
        let mut at = 0;
        while at < nodes.len() {
            let block = match nodes.get(at + 1) {
                Some(Node::Block(inside, _)) => Some(inside.as_slice()),
                _ => None,
            };
            match (&nodes[at], block) {
                (Node::Mark(..), _) => {}
                (Node::Call(call), _) if call.is("if") => {
                    at = self.branches(nodes, at, sources, depth, &mut out);
                    continue;
                }
                (Node::Word(word, _), Some(_)) if word == "if" => {
                    at = self.branches(nodes, at, sources, depth, &mut out);
                    continue;
                }
                (Node::Call(call), _) => self.reference(call, sources, &mut out),
                (Node::Word(word, span), Some(inside)) => {
                    self.inline(&canonical(word), inside, *span, sources, depth, &mut out);
                    at += 1;
                }
                (node, _) => {
                    let span = node.span();
                    let found = node.text().unwrap_or("{").to_string();
                    let wanted = "a part of a log path, such as `filter(…)`";
                    self.complain(crate::complain::unexpected(span, &found, wanted));
                }
            }
            at += 1;
        }
        out
    }

    /// `filter(f_x)`, `destination(d_x)`, `flags(final)`
    fn reference(&mut self, call: &Call, sources: &mut Vec<String>, out: &mut Vec<Element>) {
        let kind = canonical(&call.name);
        let names: Vec<String> = call.texts().iter().map(|name| (*name).to_string()).collect();
        for name in names {
            match kind.as_str() {
                "source" if self.knows("source", &name, call.span) => {
                    sources.push(name);
                }
                "destination" if self.knows("destination", &name, call.span) => {
                    out.push(Element::Tee(self.destination_stream(&name)));
                }
                "filter" => {
                    let element = self.named_filter(&name, call.span);
                    out.extend(element);
                }
                "parser" | "rewrite" if self.knows(&kind, &name, call.span) => {
                    let body = self.body(&kind, &name);
                    self.steps(&kind, &body, call.span, out);
                }
                _ => {}
            }
        }
        let known =
            ["source", "destination", "filter", "parser", "rewrite", "flags", "log_fifo_size"];
        if !known.contains(&kind.as_str()) {
            let what = "part of a log path";
            self.complain(crate::complain::unknown(call.span, what, &call.name, &known));
        }
    }

    /// `filter { … };`, `log { … };`, `junction { … };`
    fn inline(
        &mut self,
        kind: &str,
        inside: &[Node],
        span: Span,
        sources: &mut Vec<String>,
        depth: usize,
        out: &mut Vec<Element>,
    ) {
        match kind {
            "source" => sources.push(self.inline_source(inside, span)),
            "destination" => out.push(Element::Tee(self.inline_destination(inside, span))),
            "filter" => {
                let element = self.filter(inside, "filter", span);
                out.push(element);
            }
            "parser" | "rewrite" => self.steps(kind, inside, span, out),
            "channel" => {
                let elements = self.elements(inside, sources, depth + 1);
                out.extend(elements);
            }
            "junction" => {
                let mut channels = Vec::new();
                let mut at = 0;
                while at < inside.len() {
                    if let (Node::Word(word, _), Some(Node::Block(body, _))) =
                        (&inside[at], inside.get(at + 1))
                        && word == "channel"
                    {
                        let is_final = flags(body).iter().any(|flag| flag == "final");
                        channels.push((self.elements(body, sources, depth + 1), is_final));
                        at += 1;
                    }
                    at += 1;
                }
                self.note(span, "junction", Coverage::Exact, "");
                out.push(Element::Junction(channels));
            }
            "log" => {
                let is_final = flags(inside).iter().any(|flag| flag == "final");
                let elements = self.elements(inside, sources, depth + 1);
                self.note(span, "log", Coverage::Exact, "");
                out.push(Element::Inner(elements, is_final));
            }
            _ => {
                let known = [
                    "source",
                    "destination",
                    "filter",
                    "parser",
                    "rewrite",
                    "channel",
                    "junction",
                    "log",
                    "if",
                ];
                self.complain(crate::complain::unknown(span, "part of a log path", kind, &known));
            }
        }
    }

    /// `if (…) { … } elif (…) { … } else { … };`; gives where it ends.
    fn branches(
        &mut self,
        nodes: &[Node],
        mut at: usize,
        sources: &mut Vec<String>,
        depth: usize,
        out: &mut Vec<Element>,
    ) -> usize {
        let span = nodes[at].span();
        let mut arms: Vec<(Option<Element>, Vec<Element>)> = Vec::new();
        let mut otherwise = None;
        while at < nodes.len() {
            let is_first = arms.is_empty();
            let test = match &nodes[at] {
                Node::Call(call) if call.is("if") && is_first || call.is("elif") => {
                    Some(self.filter(&call.arguments, "if", call.span))
                }
                Node::Word(word, _) if word == "if" && is_first || word == "elif" => None,
                Node::Word(word, _) if word == "else" => {
                    if let Some(Node::Block(body, _)) = nodes.get(at + 1) {
                        otherwise = Some(self.elements(body, sources, depth + 1));
                        at += 2;
                    }
                    break;
                }
                _ => break,
            };
            let Some(Node::Block(body, _)) = nodes.get(at + 1) else {
                self.complain(crate::complain::unexpected(
                    nodes[at].span(),
                    "if",
                    "`{` behind its condition",
                ));
                at += 1;
                break;
            };
            arms.push((test, self.elements(body, sources, depth + 1)));
            at += 2;
        }
        self.note(span, "if", Coverage::Exact, "");
        let is_plain = arms.iter().all(|(test, body)| {
            matches!(test, Some(Element::Filter(_))) && body.iter().all(is_linear)
        }) && otherwise.as_deref().unwrap_or(&[]).iter().all(is_linear);
        if is_plain {
            let arms = arms
                .into_iter()
                .filter_map(|(test, body)| match test {
                    Some(Element::Filter(test)) => Some((test, body)),
                    _ => None,
                })
                .collect();
            out.push(Element::When(arms, otherwise.unwrap_or_default()));
        } else {
            let mut channels: Vec<(Vec<Element>, bool)> = arms
                .into_iter()
                .map(|(test, body)| (test.into_iter().chain(body).collect(), true))
                .collect();
            channels.push((otherwise.unwrap_or_default(), true));
            out.push(Element::Junction(channels));
        }
        at
    }

    fn named_filter(&mut self, name: &str, span: Span) -> Option<Element> {
        if !self.knows("filter", name, span) {
            return None;
        }
        let body = self.body("filter", name);
        if let Some(step) = throttle(&body) {
            return Some(match step {
                Ok(step) => Element::Step(step),
                Err(why) => self.left(span, "filter", &why),
            });
        }
        match self.filter_function(name) {
            Ok(function) => Some(Element::Filter(format!("{function}(event)"))),
            Err(why) => Some(Element::Step(undecided(&self.part(span, "filter"), &why))),
        }
    }

    /// A filter that stands where it is used.
    fn filter(&mut self, body: &[Node], what: &str, span: Span) -> Element {
        if let Some(step) = throttle(body) {
            return match step {
                Ok(step) => Element::Step(step),
                Err(why) => self.left(span, what, &why),
            };
        }
        let mut body = body.to_vec();
        self.check_filters(&body, span);
        // Filters that this one names must be there as functions.
        self.need_filters(&body);
        body.retain(|node| !node.is_mark(";"));
        match condition(&body, self.scene()) {
            Ok(value) => {
                let code = self.used(value);
                if what != "if" {
                    self.note(span, what, Coverage::Exact, "");
                }
                Element::Filter(code)
            }
            Err(why) => self.left(span, what, &why),
        }
    }

    /// A part that is left to a person.
    pub(crate) fn left(&mut self, span: Span, what: &str, why: &str) -> Element {
        self.note(span, what, Coverage::NeedsHand, why);
        Element::Step(undecided(&self.part(span, what), why))
    }

    pub(crate) fn used(&mut self, value: Value) -> String {
        for module in value.uses {
            self.page.uses(module);
        }
        value.code
    }

    /// The steps of parsers or rules.
    fn steps(&mut self, kind: &str, body: &[Node], span: Span, out: &mut Vec<Element>) {
        let calls: Vec<Call> = body.iter().filter_map(Node::call).cloned().collect();
        if body.iter().any(
            |node| matches!(node, Node::Word(word, _) if word == "channel" || word == "junction"),
        ) {
            let elements = self.elements(body, &mut Vec::new(), 1);
            return out.extend(elements);
        }
        if calls.is_empty() {
            self.complain(crate::complain::unexpected(span, "}", &format!("a {kind}")));
        }
        for call in &calls {
            let what = format!("{kind} {}()", call.name);
            let known = if kind == "parser" { parser::KINDS } else { rewrite::KINDS };
            if !known.contains(&canonical(&call.name).as_str()) {
                let known: Vec<String> = known.iter().map(|name| name.replace('_', "-")).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                self.complain(crate::complain::unknown(call.span, kind, &call.name, &known));
                continue;
            }
            if kind == "rewrite" {
                self.need_filters(&call.arguments);
                match rewrite::step(call, self.scene()) {
                    Ok(value) => {
                        let code = self.used(value);
                        self.note(call.span, &what, Coverage::Exact, "");
                        out.push(Element::Step(code));
                    }
                    Err(why) => out.push(self.left(call.span, &what, &why)),
                }
                continue;
            }
            match parser::step(call, self.scene()) {
                Ok(parsed) => {
                    let code = self.used(parsed.step);
                    match parsed.remark {
                        Some(remark) => self.note(call.span, &what, Coverage::Remarks, &remark),
                        None => self.note(call.span, &what, Coverage::Exact, ""),
                    }
                    out.push(Element::Step(code));
                }
                Err(why) => out.push(self.left(call.span, &what, &why)),
            }
        }
    }

    /// All paths, in order.
    pub(crate) fn write_paths(&mut self, paths: &[Path]) {
        let all: Vec<String> = self.source_names();
        let mut current: Vec<(String, Vec<String>)> = Vec::new();
        for path in paths.iter().filter(|path| !path.is("fallback")) {
            let sources = if path.is("catchall") { all.clone() } else { path.sources.clone() };
            self.write_path(path, &sources, &mut current, None);
        }
        for path in paths.iter().filter(|path| path.is("fallback")) {
            let mut test = Ok(Vec::new());
            for other in paths.iter().filter(|other| !other.is("fallback")) {
                let shares = other.is("catchall")
                    || other.sources.iter().any(|source| path.sources.contains(source));
                if let (true, Ok(tests)) = (shares, &mut test) {
                    match other.condition() {
                        Some(one) => tests.push(one),
                        None => test = Err(()),
                    }
                }
            }
            let first = match test {
                Ok(tests) if tests.is_empty() => None,
                Ok(tests) => {
                    let tests: BTreeSet<String> = tests.into_iter().collect();
                    let tests: Vec<String> = tests
                        .iter()
                        .map(|test| if tests.len() > 1 { bracketed(test) } else { test.clone() })
                        .collect();
                    let whole = tests.join(" or ");
                    Some(Element::Filter(if tests.len() > 1 {
                        format!("not ({whole})")
                    } else {
                        format!("not {}", bracketed(&whole))
                    }))
                }
                Err(()) => Some(self.left(
                    path.span,
                    "log with flags(fallback)",
                    "which messages the other paths take depends on what their parsers read",
                )),
            };
            self.write_path(path, &path.sources.clone(), &mut Vec::new(), first);
        }
    }

    fn write_path(
        &mut self,
        path: &Path,
        sources: &[String],
        current: &mut Vec<(String, Vec<String>)>,
        first: Option<Element>,
    ) {
        let mut begins: Vec<(String, Option<String>)> = Vec::new();
        let mut names = BTreeSet::new();
        for source in sources.iter().filter(|source| names.insert((*source).clone())) {
            let stream = self.source_stream(source);
            let now = current.iter().find(|(_, members)| members.contains(source));
            match now {
                None => begins.push((stream, None)),
                Some((rest, _)) if rest.is_empty() => {}
                Some((rest, members)) => {
                    let narrows = members.iter().any(|member| !sources.contains(member));
                    let test = narrows
                        .then(|| format!("event.SOURCE == {}", crate::notation::text(source)));
                    begins.push((rest.clone(), test));
                }
            }
        }
        begins.dedup();
        if begins.is_empty() {
            let why = "no message comes here: an earlier path is final and takes all, or the path has no source";
            return self.note(path.span, "log", Coverage::Remarks, why);
        }
        self.note(path.span, "log", Coverage::Exact, "");
        let is_final = path.is("final");
        let refuses = path.elements.iter().any(|element| {
            !matches!(element, Element::Tee(_) | Element::Inner(..)) && refuses(element)
        });
        let rest = match (is_final, refuses) {
            (true, true) => Some(self.page.stream("rest")),
            _ => None,
        };
        let mut writer = match begins.as_slice() {
            [(stream, None)] => Chain::from(stream),
            several => {
                let joined = self.page.stream("joined");
                for (stream, test) in several {
                    let mut chain = Chain::from(stream);
                    if let Some(test) = test {
                        chain = chain.step(format!("where {test}"));
                    }
                    self.page.chain(chain.step(joined.clone()));
                }
                Chain::from(&joined)
            }
        };
        writer.comments.clone_from(&path.comments);
        let elements: Vec<Element> =
            first.into_iter().chain(path.elements.iter().cloned()).collect();
        writer = self.write(&elements, writer, rest.as_deref());
        self.finish(writer);
        if is_final {
            current.retain(|(_, members)| !members.iter().any(|member| names.contains(member)));
            current.push((rest.unwrap_or_default(), names.into_iter().collect()));
        }
    }

    /// Ends a chain that nothing comes behind.
    fn finish(&mut self, mut chain: Chain) {
        if chain.steps.is_empty() {
            // Channels that come together where nothing follows.
            if chain.from.starts_with("joined") {
                self.page.chain(chain.step("drop"));
            }
            return;
        }
        let last = chain.steps.last().cloned().unwrap_or_default();
        if !self.is_stream(&last) {
            chain.steps.push("drop".to_string());
        }
        self.page.chain(chain);
    }

    /// Writes elements behind a chain; `refused` is where messages go that do not go the whole way.
    fn write(&mut self, elements: &[Element], mut chain: Chain, refused: Option<&str>) -> Chain {
        let changes = |element: &Element| {
            !matches!(element, Element::Filter(_) | Element::Tee(_) | Element::Inner(..))
        };
        let first_change = elements.iter().position(changes);
        let last_refusal = elements.iter().rposition(refuses);
        let mut behind = refused.map(str::to_string);
        if let (Some(refused), Some(change), Some(refusal)) = (refused, first_change, last_refusal)
            && change < refusal
        {
            // What was changed on the way must be as it was where it goes then.
            let restored = self.page.stream("refused");
            self.page.chain(Chain::from(&restored).step("set event = $original").step(refused));
            chain = chain.step("set $original = event");
            behind = Some(restored);
        }
        let mut at = 0;
        while at < elements.len() {
            let refused = if first_change.is_some_and(|change| at > change) {
                behind.as_deref()
            } else {
                refused
            };
            match &elements[at] {
                Element::Junction(channels) => {
                    chain = self.junction(channels, chain, behind.as_deref());
                }
                Element::Inner(..) => {
                    let inner: Vec<(&Vec<Element>, bool)> = elements[at..]
                        .iter()
                        .map_while(|element| match element {
                            Element::Inner(body, is_final) => Some((body, *is_final)),
                            _ => None,
                        })
                        .collect();
                    at += inner.len() - 1;
                    chain = self.inner(&inner, chain);
                }
                element => {
                    let step = self.linear(element, refused);
                    chain = chain.step(step);
                }
            }
            at += 1;
        }
        chain
    }

    /// An element as steps of one chain.
    fn linear(&mut self, element: &Element, refused: Option<&str>) -> String {
        let otherwise = refused.map_or_else(String::new, |refused| format!(" else {refused}"));
        match element {
            Element::Filter(test) => format!("where {test}{otherwise}"),
            Element::Step(step) if step.contains(ELSE) => {
                let place = match refused {
                    Some(refused) => refused.to_string(),
                    None => self.unread(),
                };
                step.replace(ELSE, &format!(" else {place}"))
            }
            Element::Step(step) => step.clone(),
            Element::Tee(stream) => stream.clone(),
            Element::When(arms, otherwise) => {
                let mut text = String::new();
                for (at, (test, body)) in arms.iter().enumerate() {
                    let word = if at == 0 { "when" } else { "elif" };
                    text.push_str(&format!("{word} {test} do\n{}\n", self.arm(body, refused)));
                }
                if !otherwise.is_empty() {
                    text.push_str(&format!("else\n{}\n", self.arm(otherwise, refused)));
                }
                text + "end"
            }
            Element::Junction(_) | Element::Inner(..) => "pass".to_string(),
        }
    }

    fn arm(&mut self, body: &[Element], refused: Option<&str>) -> String {
        let mut steps: Vec<String> =
            body.iter().map(|element| self.linear(element, refused)).collect();
        if body.last().is_none_or(|last| matches!(last, Element::Tee(_))) {
            steps.push("pass".to_string());
        }
        steps.join("\n|> ")
    }

    /// Channels that come together again.
    fn junction(
        &mut self,
        channels: &[(Vec<Element>, bool)],
        chain: Chain,
        refused: Option<&str>,
    ) -> Chain {
        let (opened, joined) = (self.page.stream("junction"), self.page.stream("joined"));
        self.page.chain(chain.step(opened.clone()));
        let mut from = opened;
        for (at, (elements, is_final)) in channels.iter().enumerate() {
            let is_last = at + 1 == channels.len();
            let rest = if *is_final && !is_last && elements.iter().any(refuses) {
                Some(self.page.stream("rest"))
            } else if is_last && *is_final {
                refused.map(str::to_string)
            } else {
                None
            };
            let chain = self.write(elements, Chain::from(&from), rest.as_deref());
            self.page.chain(chain.step(joined.clone()));
            if *is_final && !is_last {
                match rest {
                    Some(rest) => from = rest,
                    None => break,
                }
            }
        }
        Chain::from(&joined)
    }

    /// Log paths within a path: each gets the messages that come so far.
    fn inner(&mut self, paths: &[(&Vec<Element>, bool)], chain: Chain) -> Chain {
        let opened = self.page.stream("within");
        self.page.chain(chain.step(opened.clone()));
        let mut from = opened.clone();
        for (elements, is_final) in paths {
            let rest =
                (*is_final && elements.iter().any(refuses)).then(|| self.page.stream("rest"));
            let chain = self.write(elements, Chain::from(&from), rest.as_deref());
            self.finish(chain);
            if *is_final {
                match rest {
                    Some(rest) => from = rest,
                    None => break,
                }
            }
        }
        Chain::from(&opened)
    }
}

/// Whether messages can end at an element.
fn refuses(element: &Element) -> bool {
    match element {
        Element::Filter(_) => true,
        Element::Step(step) => step.contains(ELSE),
        Element::Tee(_) | Element::Inner(..) => false,
        Element::When(arms, otherwise) => {
            arms.iter().any(|(_, body)| body.iter().any(refuses)) || otherwise.iter().any(refuses)
        }
        Element::Junction(channels) => channels
            .last()
            .is_some_and(|(elements, is_final)| *is_final && elements.iter().any(refuses)),
    }
}

/// Whether an element is steps of one chain.
fn is_linear(element: &Element) -> bool {
    !matches!(element, Element::Junction(_) | Element::Inner(..))
}

/// The step of `throttle(…)` or `rate-limit(…)`, where a filter is nothing else.
fn throttle(body: &[Node]) -> Option<Result<String, String>> {
    let calls: Vec<&Node> = body.iter().filter(|node| !node.is_mark(";")).collect();
    let [Node::Call(call)] = calls.as_slice() else { return None };
    if !call.is("throttle") && !call.is("rate_limit") {
        return None;
    }
    let rate = call.option_text("rate").or_else(|| call.first_text());
    let Some(rate) = rate.and_then(|rate| rate.parse::<u64>().ok()) else {
        return Some(Err("its rate is no number".to_string()));
    };
    let by = match call.option_text("template").or_else(|| call.option_text("value")) {
        None => String::new(),
        Some(template) => {
            let template = if template.contains('$') {
                template.to_string()
            } else {
                format!("${{{template}}}")
            };
            let scene = Scene { root: "event", dotted: &[], is_typed: false };
            match super::template::argument(&template, scene, 0) {
                Ok(value) if value.uses.is_empty() => format!(" by {}", value.code),
                Ok(_) | Err(_) => {
                    return Some(Err(format!("its key `{template}` is not converted")));
                }
            }
        }
    };
    Some(Ok(format!("rate_limit {rate} per 1s{by} mode discard")))
}
