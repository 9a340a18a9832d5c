//! The form of case files. What is read and written back without a change is the same text.
//!
//! ```text
//! === query: the words that name the case
//! select event.a from in into out
//! --- in
//! {"a": 1}
//! --- out
//! 1
//! ```

/// The beginning of the line in front of a case.
const HEAD: &str = "=== ";
/// The beginning of the line in front of a section.
const SECTION: &str = "---";

/// A file of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseFile {
    /// Lines in front of the first case: a comment.
    pub(crate) preface: String,
    /// The cases in order.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// What is tested: `script`, `query` …; empty when the head names none.
    pub kind: String,
    /// The words behind the kind.
    pub name: String,
    /// The head as written, without `=== `.
    pub head: String,
    /// Line of the head, from 1.
    pub line: usize,
    /// The program.
    pub program: String,
    /// The rest, in order.
    pub sections: Vec<Section>,
}

/// `--- name`, and the lines up to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The words behind the dashes; may be empty.
    pub name: String,
    /// Line of the dashes, from 1; 0 for a section that was not read from a file.
    pub line: usize,
    /// Its lines; ends in a newline unless it is empty.
    pub text: String,
}

impl Case {
    /// The text of the section with this name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&str> {
        self.sections.iter().find(|one| one.name == name).map(|one| one.text.as_str())
    }

    /// Replaces the text of a section; a new one goes to the end, one without a name in front of
    /// what comes out. A section without text goes unless it `stays`.
    pub(crate) fn set_section(&mut self, name: &str, text: String, stays: bool) {
        let at = self.sections.iter().position(|one| one.name == name);
        match at {
            Some(at) if text.is_empty() && !stays => drop(self.sections.remove(at)),
            Some(at) => self.sections[at].text = text,
            None => {
                let end = match self.sections.last() {
                    Some(last) if name.is_empty() && last.name == "out" => self.sections.len() - 1,
                    _ => self.sections.len(),
                };
                self.sections.insert(end, Section { name: name.to_string(), line: 0, text });
            }
        }
    }
}

/// Whether a text is a file of cases: one of its lines is the head of a case.
#[must_use]
pub(crate) fn is_case_file(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(HEAD))
}

impl CaseFile {
    /// Reads a file; every text is one.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut file = CaseFile::default();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let content = line.trim_end_matches(['\n', '\r']);
            if let Some(head) = content.strip_prefix(HEAD) {
                file.cases.push(Case::start(head, number + 1));
            } else if let Some(case) = file.cases.last_mut() {
                case.take_line(content, line, number + 1);
            } else {
                file.preface.push_str(line);
            }
        }
        file.cases.iter_mut().for_each(Case::trim);
        file
    }

    /// The file's text. Cases stand apart by an empty line.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = self.preface.trim_end().to_string();
        for case in &self.cases {
            if !text.is_empty() {
                text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
            }
            text.push_str(&format!("{HEAD}{}\n{}", case.head, case.program));
            for section in &case.sections {
                let line = format!("{SECTION} {}", section.name);
                text.push_str(&format!("{}\n{}", line.trim_end(), section.text));
            }
        }
        text
    }
}

impl Case {
    fn start(head: &str, line: usize) -> Self {
        let (kind, name) = head.split_once(':').unwrap_or(("", head));
        let (kind, name) = (kind.trim().to_string(), name.trim().to_string());
        Self { kind, name, head: head.to_string(), line, ..Self::default() }
    }

    fn take_line(&mut self, content: &str, line: &str, number: usize) {
        if let Some(name) = section_name(content) {
            let name = name.to_string();
            self.sections.push(Section { name, line: number, text: String::new() });
        } else if let Some(section) = self.sections.last_mut() {
            section.text.push_str(line);
        } else {
            self.program.push_str(line);
        }
    }

    /// Empty lines behind the last section only set the next case apart.
    fn trim(&mut self) {
        let last = match self.sections.last_mut() {
            Some(section) => &mut section.text,
            None => &mut self.program,
        };
        let kept = last.trim_end().len();
        last.truncate(kept);
        if !last.is_empty() {
            last.push('\n');
        }
    }
}

/// `---` alone, or `--- ` and words.
fn section_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(SECTION)?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_writing_keep_the_text() {
        let text = "preface\n\n=== script: a\n1;\n\nevent\n---\n\n=== query: b: c\nx\n--- input\n{}\n\
                    --- output\nout {}\n";
        let file = CaseFile::read(text);
        assert_eq!(file.write(), text);
        assert_eq!(file.cases.len(), 2);
        assert_eq!(file.cases[0].program, "1;\n\nevent\n");
        assert_eq!(file.cases[0].section(""), Some(""));
        assert_eq!((file.cases[1].kind.as_str(), file.cases[1].name.as_str()), ("query", "b: c"));
        assert_eq!(file.cases[1].line, 9);
    }

    #[test]
    fn any_text_can_be_read() {
        for text in ["", "=== ", "=== \n---", "---\n=== x", "\r\n=== a: b\r\n--- x\r\n"] {
            assert!(CaseFile::read(text).cases.len() < 2, "{text}");
        }
    }
}
