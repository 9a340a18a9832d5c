//! The coverage report: for each block of a configuration whether its conversion does the same, and
//! why not. Every block is in it exactly once.

use std::fmt::Write;

/// How well a block was converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// It does the same for every event.
    Exact,
    /// It does the same but for what the remark says.
    Remarks,
    /// Somebody has to decide; the conversion fails `check` until then.
    NeedsHand,
    /// There is nothing that does the same.
    NotPossible,
}

impl Coverage {
    /// All of them, the best first.
    pub const ALL: [Coverage; 4] =
        [Coverage::Exact, Coverage::Remarks, Coverage::NeedsHand, Coverage::NotPossible];

    /// In a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Coverage::Exact => "exact",
            Coverage::Remarks => "equal with remarks",
            Coverage::NeedsHand => "needs a hand",
            Coverage::NotPossible => "not possible",
        }
    }

    /// As a key of JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Coverage::Exact => "exact",
            Coverage::Remarks => "remarks",
            Coverage::NeedsHand => "needs_a_hand",
            Coverage::NotPossible => "not_possible",
        }
    }
}

/// What became of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The file.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// `filter grok`, `input beats`, `if`.
    pub what: String,
    /// How well.
    pub coverage: Coverage,
    /// Why, when it is not exact.
    pub reason: String,
}

/// What became of all blocks, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order of the text.
    pub blocks: Vec<Block>,
}

impl Report {
    /// How many blocks there are of a kind.
    #[must_use]
    pub(crate) fn count(&self, coverage: Coverage) -> usize {
        self.blocks.iter().filter(|block| block.coverage == coverage).count()
    }

    /// Whether nothing is left for a person to decide.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.count(Coverage::NeedsHand) + self.count(Coverage::NotPossible) == 0
    }

    /// For people: counts, then every block that is not exact.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("{} blocks", self.blocks.len());
        for coverage in Coverage::ALL {
            let _ = write!(out, ", {} {}", self.count(coverage), coverage.words());
        }
        out.push('\n');
        for block in &self.blocks {
            let Block { file, line, what, coverage, reason } = block;
            let _ = write!(out, "{file}:{line}: {what}: {}", coverage.words());
            let _ = if reason.is_empty() { writeln!(out) } else { writeln!(out, ": {reason}") };
        }
        out
    }

    /// For programs: `{"counts": {…}, "blocks": […]}`.
    #[must_use]
    pub fn json(&self) -> String {
        let counts: Vec<_> = Coverage::ALL
            .iter()
            .map(|coverage| format!("{}:{}", quoted(coverage.key()), self.count(*coverage)))
            .collect();
        let blocks: Vec<_> = self.blocks.iter().map(Block::json).collect();
        format!("{{\"counts\":{{{}}},\"blocks\":[{}]}}\n", counts.join(","), blocks.join(","))
    }
}

impl Block {
    fn json(&self) -> String {
        format!(
            "{{\"file\":{},\"line\":{},\"block\":{},\"coverage\":{},\"reason\":{}}}",
            quoted(&self.file),
            self.line,
            quoted(&self.what),
            quoted(self.coverage.key()),
            quoted(&self.reason)
        )
    }
}

fn quoted(text: &str) -> String {
    temblor_lang::value::to_json(temblor_lang::value::Value::Str(text))
}
