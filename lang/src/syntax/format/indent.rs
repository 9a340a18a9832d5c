//! How far a line stands in, and where a line must end. Levels follow from the forms that are open
//! at the start of the line, never from the blanks that the text has.

use super::super::scan::{Kind, Scan};

/// Words that begin a part of a definition: they stand as far in as the definition.
pub(super) const SECTIONS: [&str; 8] =
    ["args", "state", "script", "pipeline", "flow", "from", "into", "with"];
/// Words that begin a clause of a statement: they stand as far in as the statement.
const CLAUSES: [&str; 9] =
    ["from", "into", "where", "group", "having", "with", "args", "by", "connect"];
/// Behind these a statement or a list begins.
const BEGINNERS: [&str; 12] =
    ["of", "with", "then", "else", "=>", "script", "pipeline", "flow", "args", ";", "do", "|>"];

/// What is known about the forms of a text.
pub(crate) struct Indents<'s, 't> {
    scan: &'s Scan<'t>,
    /// For each form, the level of the line that it opens on.
    opened_at: Vec<usize>,
    /// For each form, whether it stands on more than one line.
    is_long: Vec<bool>,
    /// For each form, whether its current arm, or the definition, has begun its body.
    in_body: Vec<bool>,
    /// For each token, the form that it opens.
    opens: Vec<Option<usize>>,
    /// For each token, whether it closes the form that it is in.
    closes: Vec<bool>,
    /// The level of the current line, and what is added for forms that open on it.
    line: (usize, usize),
    /// Whether the last line that began something began a step of a chain.
    in_step: bool,
}

impl<'s, 't> Indents<'s, 't> {
    /// `wraps`: for each token, whether it starts a line although the text does not ask for it.
    pub(super) fn new(scan: &'s Scan<'t>, wraps: &[bool]) -> Self {
        let (forms, count) = (scan.frames.len(), scan.tokens.len());
        let mut indents = Self {
            scan,
            opened_at: vec![0; forms],
            is_long: vec![false; forms],
            in_body: vec![false; forms],
            opens: vec![None; count],
            closes: vec![false; count],
            line: (0, 0),
            in_step: false,
        };
        for (form, frame) in scan.frames.iter().enumerate() {
            if let Some(opener) = frame.opener {
                indents.opens[opener] = Some(form);
            }
        }
        indents.find_ends(wraps);
        indents
    }

    /// Finds the tokens that close forms, and the forms that are more than one line long.
    fn find_ends(&mut self, wraps: &[bool]) {
        let tokens = &self.scan.tokens;
        for (index, token) in tokens.iter().enumerate() {
            let frame = self.scan.frames[token.frame];
            let text = self.scan.text(token);
            self.closes[index] = frame.opener.is_some()
                && match frame.bracket {
                    true => token.kind == Kind::Sign && matches!(text, ")" | "]" | "}"),
                    false => token.kind == Kind::Word && text == "end",
                };
            let Some(before) = index.checked_sub(1).map(|at| &tokens[at]) else { continue };
            if self.scan.source()[before.end..token.start].contains('\n')
                || before.kind == Kind::Doc
                || wraps[index]
            {
                let mut form = token.frame;
                while form != 0 && !self.is_long[form] {
                    self.is_long[form] = true;
                    form = self.scan.frames[form].parent;
                }
            }
        }
    }

    pub(crate) fn is_opener(&self, index: usize) -> bool {
        self.opens[index].is_some()
    }

    pub(crate) fn is_closer(&self, index: usize) -> bool {
        self.closes[index]
    }

    /// The token stands on the line of the one before.
    pub(super) fn go_on(&mut self, index: usize) {
        self.pass(index);
    }

    /// The token starts a line: its level, and that of comments in front of it.
    pub(super) fn start_line(&mut self, index: usize) -> (usize, usize) {
        let level = self.level(index);
        let inner =
            if self.closes[index] { self.inside(self.scan.tokens[index].frame) } else { level };
        let is_step = self.scan.text(&self.scan.tokens[index]) == "|>";
        self.line = (level, usize::from(is_step));
        let form = self.scan.tokens[index].frame;
        if self.holds_statements(form) {
            self.in_step = is_step || (self.in_step && self.continues(index, form));
        }
        self.pass(index);
        (level, inner)
    }

    /// Keeps the books when a token has been placed.
    fn pass(&mut self, index: usize) {
        let token = self.scan.tokens[index];
        let text = self.scan.text(&token);
        let form = token.frame;
        match text {
            "case" | "default" if token.kind == Kind::Word => self.in_body[form] = false,
            "=>" if self.has_arms(form) => self.in_body[form] = true,
            _ if self.is_definition(form) && self.begins_body(form, text) => {
                self.in_body[form] = true;
            }
            _ => {}
        }
        if let Some(form) = self.opens[index] {
            self.opened_at[form] = self.line.0 + self.line.1;
        }
    }

    /// The level of what stands inside of a form.
    fn inside(&self, form: usize) -> usize {
        if form == 0 {
            return 0;
        }
        let body = usize::from(self.has_arms(form) && self.in_body[form]);
        self.opened_at[form] + 1 + body
    }

    fn opener(&self, form: usize) -> &str {
        self.scan.frames[form].opener.map_or("", |at| self.scan.text(&self.scan.tokens[at]))
    }

    fn has_arms(&self, form: usize) -> bool {
        matches!(self.opener(form), "match" | "for" | "fn" | "route")
    }

    fn is_definition(&self, form: usize) -> bool {
        matches!(self.opener(form), "script" | "window" | "pipeline" | "flow")
    }

    /// Whether statements stand right in a form: in the text itself, or in a definition.
    fn holds_statements(&self, form: usize) -> bool {
        form == 0 || self.is_definition(form)
    }

    fn level(&self, index: usize) -> usize {
        let token = self.scan.tokens[index];
        let form = token.frame;
        let text = self.scan.text(&token);
        let is_word = token.kind == Kind::Word;
        if self.closes[index] {
            return self.opened_at[form];
        }
        if is_word && self.dedents(form, text) {
            return self.opened_at[form];
        }
        if self.has_arms(form) && is_word && matches!(text, "case" | "default" | "into") {
            return self.opened_at[form] + 1;
        }
        // What goes on with a step stands further in than the step's own `|>`.
        let steps = usize::from(self.in_step && self.holds_statements(form));
        self.inside(form) + if self.continues(index, form) { 1 + steps } else { 0 }
    }

    /// Whether a word stands as far in as the form that it is in.
    fn dedents(&self, form: usize, text: &str) -> bool {
        match self.opener(form) {
            "if" => return matches!(text, "else" | "elif" | "then"),
            "when" => return matches!(text, "else" | "elif" | "do"),
            _ => {}
        }
        // Behind its beginning the body of a definition holds statements with words of their own.
        self.is_definition(form)
            && SECTIONS.contains(&text)
            && (!self.in_body[form] || self.begins_body(form, text))
    }

    /// Whether a word begins the body of a definition.
    fn begins_body(&self, form: usize, text: &str) -> bool {
        match self.opener(form) {
            opener @ ("pipeline" | "flow") => text == opener,
            _ => text == "script",
        }
    }

    /// Whether a line goes on with what the line before began.
    fn continues(&self, index: usize, form: usize) -> bool {
        let Some(before) = index.checked_sub(1).map(|at| self.scan.tokens[at]) else {
            return false;
        };
        let (text, previous) = (self.scan.text(&self.scan.tokens[index]), self.scan.text(&before));
        if self.opens[index - 1] == Some(form) || before.kind == Kind::Doc || text == "|>" {
            return false;
        }
        // The arguments of a connector stand in no form.
        let is_argument = previous == "args" && form == 0;
        if before.kind != Kind::Text && BEGINNERS.contains(&previous) && !is_argument {
            return false;
        }
        if previous == "state" && self.is_definition(form) && !self.in_body[form] {
            return false;
        }
        if previous == "," && form != 0 && self.opener(form) != "when" {
            return false;
        }
        // Clauses stand as far in as their statement, but behind a step's `|>` there is no room for that.
        self.in_step || !(self.holds_statements(form) && CLAUSES.contains(&text))
    }

    /// Whether a line ends in front of this token, whatever the text has.
    pub(crate) fn must_break(&self, index: usize) -> bool {
        let (token, before) = (self.scan.tokens[index], self.scan.tokens[index - 1]);
        let form = token.frame;
        let (text, previous) = (self.scan.text(&token), self.scan.text(&before));
        if before.kind == Kind::Sign && previous == ";" && before.frame == form {
            return form == 0 || self.is_long[form];
        }
        if form == 0 || !self.is_long[form] || token.kind != Kind::Word {
            return false;
        }
        (self.closes[index] && !self.scan.frames[form].bracket)
            || (self.has_arms(form) && text == "case")
    }
}
