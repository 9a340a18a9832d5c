//! The forms that tokens open and close, and how deep they nest.

use super::{Frame, Kind, NESTING_MAX, Scanner, Token};

impl Scanner<'_> {
    pub(super) fn push(&mut self, kind: Kind, start: usize) {
        let after_dot = self.scan.tokens.last().is_some_and(|token| self.token_text(*token) == ".");
        // A word behind a dot is meant as a name, whatever the grammar thinks of it.
        let kind = if after_dot && kind == Kind::Word { Kind::Text } else { kind };
        let text = &self.text[start..self.at];
        let closes =
            if kind == Kind::Word { text == "end" } else { matches!(text, ")" | "]" | "}") };
        if kind == Kind::Sign && text == ";" || kind == Kind::Word && matches!(text, "end" | "case")
        {
            self.leave_brackets();
        }
        let token = Token { kind, start, end: self.at, frame: self.current };
        let index = self.scan.tokens.len();
        self.scan.tokens.push(token);
        if closes && matches!(kind, Kind::Word | Kind::Sign) {
            self.leave(text == "end");
        } else if let Some(bracket) = self.opens(index) {
            self.enter(index, bracket);
        } else {
            self.weigh(kind, start);
        }
    }

    /// Whether the token opens a form, and whether that is a bracket.
    fn opens(&self, index: usize) -> Option<bool> {
        let token = self.scan.tokens[index];
        let text = self.token_text(token);
        if token.kind == Kind::Sign {
            return matches!(text, "(" | "[" | "{" | "%{" | "%[" | "%(").then_some(true);
        }
        if token.kind != Kind::Word {
            return None;
        }
        let before = index.checked_sub(1).map_or("", |at| self.token_text(self.scan.tokens[at]));
        let around = self.scan.frames[self.current].opener;
        let around = around.map_or("", |at| self.token_text(self.scan.tokens[at]));
        if around == "with" && matches!(before, "with" | ",") && self.is_assigned() {
            // The name of a setting, such as `match = …`.
            return None;
        }
        let opens = match text {
            "match" | "for" | "patch" => true,
            "merge" => around != "patch",
            "fn" => before != "intrinsic",
            "window" | "pipeline" | "flow" => before == "define",
            "script" => before == "define" || self.is_step(before),
            "with" => !matches!(around, "fn" | "window"),
            "route" => before == "|>" || self.is_step(before) && self.an_arm_follows(),
            "when" => self.is_step(before) || matches!(before, "" | ";" | "pipeline"),
            "if" => self.condition_follows(),
            _ => false,
        };
        opens.then_some(false)
    }

    /// Whether a step of a chain, or of one inside of `when` or `match`, can begin behind a token.
    fn is_step(&self, before: &str) -> bool {
        matches!(before, "|>" | "do" | "else" | "=>")
    }

    /// Whether the arms of a `route` follow.
    fn an_arm_follows(&self) -> bool {
        let rest = self.rest().trim_start();
        ["case", "all", "default"].iter().any(|word| rest.starts_with(word))
    }

    /// Whether `=` follows.
    fn is_assigned(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>")
    }

    /// Whether a word or literal follows, so that the `if` before is no name.
    fn condition_follows(&self) -> bool {
        let rest = self.rest().trim_start();
        let word = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .map_or(rest, |len| &rest[..len]);
        let goes_on = [
            "and", "or", "xor", "of", "when", "end", "into", "use", "from", "where", "with",
            "case", "as", "by", "having", "to",
        ];
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '{' | '$' | '`'))
            && !goes_on.contains(&word)
    }

    fn token_text(&self, token: Token) -> &str {
        &self.text[token.start..token.end]
    }

    fn enter(&mut self, index: usize, bracket: bool) {
        self.scan.frames.push(Frame {
            opener: Some(index),
            parent: self.current,
            bracket,
            closed: false,
        });
        self.current = self.scan.frames.len() - 1;
        self.assignments.push(0);
        self.measure();
    }

    fn leave_brackets(&mut self) {
        while self.scan.frames[self.current].bracket {
            self.pop(false);
        }
    }

    /// Leaves the innermost form of the kind that closes here, if there is one.
    fn leave(&mut self, with_end: bool) {
        if self.current != 0 && self.scan.frames[self.current].bracket != with_end {
            self.pop(true);
        }
    }

    fn pop(&mut self, closed: bool) {
        let frame = &mut self.scan.frames[self.current];
        frame.closed = closed;
        self.current = frame.parent;
        self.assignments.pop();
    }

    /// Counts assignments that stand in each other: they nest without opening a form.
    fn weigh(&mut self, kind: Kind, start: usize) {
        let text = &self.text[start..self.at];
        let Some(assignments) = self.assignments.last_mut() else { return };
        match (kind, text) {
            (Kind::Sign, ";" | "," | "=>" | "|>" | "#!config ") | (Kind::Word, "case") => {
                *assignments = 0;
            }
            (Kind::Sign, "=") => *assignments += 1,
            _ => {}
        }
        self.measure();
    }

    fn measure(&mut self) {
        let assignments: usize = self.assignments.iter().rev().take(NESTING_MAX).sum();
        if self.assignments.len() + assignments > NESTING_MAX {
            self.scan.too_deep.get_or_insert(self.at);
            self.at = self.text.len();
        }
    }
}
