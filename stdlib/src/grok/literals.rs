//! The literals that every text has which a pattern matches, for filters in front of many patterns.
//!
//! Invariant: a literal is listed only when no match can do without it; to list none is always right.

use crate::onigmo::Node;

/// Shorter literals tell next to nothing about a text.
const LITERAL_BYTES_MIN: usize = 3;
/// More of a literal would not tell more, in bytes; a part of what is needed is needed, too.
const LITERAL_BYTES_MAX: usize = 48;
/// Literals of one pattern that are looked at.
const LITERALS_MAX: usize = 32;

/// Literals of which a text needs each.
pub(super) fn required(tree: &Node) -> Vec<String> {
    let mut gathered = Gathered::default();
    gathered.walk(tree);
    gathered.end_run();
    gathered.literals
}

#[derive(Default)]
struct Gathered {
    /// Characters that follow each other in the text.
    run: String,
    literals: Vec<String>,
}

impl Gathered {
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let long_enough = run.len() >= LITERAL_BYTES_MIN && self.literals.len() < LITERALS_MAX;
        if long_enough && !self.literals.contains(&run) {
            self.literals.push(run);
        }
    }

    fn push(&mut self, character: char) {
        if self.run.len() + character.len_utf8() > LITERAL_BYTES_MAX {
            self.end_run();
        }
        self.run.push(character);
    }

    fn walk(&mut self, node: &Node) {
        match node {
            Node::Char(character) => self.push(*character),
            Node::Class(class) => match class.ranges() {
                [only] if only.start() == only.end() => self.push(only.start()),
                _ => self.end_run(),
            },
            // They take no characters, so what stands on both sides follows each other.
            Node::Empty | Node::Assert(_) => {}
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.walk(node)),
            Node::Capture { body, .. } | Node::Atomic(body) => self.walk(body),
            Node::Shared(part) => self.walk(&part.tree),
            Node::Repeat { body, min: 1, max: Some(1), .. } => self.walk(body),
            Node::Repeat { body, min: 1.., .. } => {
                self.end_run();
                self.walk(body);
                self.end_run();
            }
            Node::Repeat { .. }
            | Node::Alternate(_)
            | Node::Look { .. }
            | Node::Backreference(_)
            | Node::Call(_)
            | Node::Condition { .. }
            | Node::Engine(_) => self.end_run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::grok::{Grok, Library, Options};

    fn required(pattern: &str) -> Vec<String> {
        let grok = Grok::compile(pattern, &Library::legacy(), &Options::default());
        grok.expect("the pattern is right").required_literals()
    }

    #[test]
    fn what_every_match_has_is_listed() {
        assert_eq!(
            required(r"%{SYSLOGHOST:host} sshd\[%{POSINT:pid}\]: Failed password for %{USER:user}"),
            [" sshd[", "]: Failed password for "]
        );
        assert_eq!(required("abc(?:def)ghi"), ["abcdefghi"]);
        assert_eq!(required("abc(?:def)+ghi"), ["abc", "def", "ghi"]);
        assert_eq!(required("^abc$|def"), Vec::<String>::new());
        assert_eq!(required("ab?cde(?:xyz)*fgh"), ["cde", "fgh"]);
        assert_eq!(required("(?i)abc"), Vec::<String>::new());
        assert_eq!(required("(?!abc)def(?=ghi)"), ["def"]);
        assert_eq!(required("%{IP}"), Vec::<String>::new());
        assert_eq!(required("äöü %{IP}"), ["äöü "]);
    }

    #[test]
    fn long_literals_are_cut() {
        let long = "x".repeat(100);
        let found = required(&long);
        assert!(found.iter().all(|one| one.len() <= super::LITERAL_BYTES_MAX), "{found:?}");
        let many: Vec<_> = (0..100).map(|number| format!("literal{number}.*")).collect();
        assert_eq!(required(&many.concat()).len(), super::LITERALS_MAX);
    }
}
