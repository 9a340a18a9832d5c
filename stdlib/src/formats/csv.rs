//! Lines of separated values (RFC 4180): to an array, or to a record when columns are named. Fields
//! may be quoted; a doubled quote stands for one. Header lines are the caller's business.

use super::{EncodeError, FormatError, Keys};
use temblor_lang::value::{Arena, Value, push_text};

/// What the fields of a column are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColumnType {
    /// Anything.
    #[default]
    Text,
    /// `-12`
    Integer,
    /// `2.5`
    Float,
    /// `true`, `false`
    Bool,
}

/// How lines are read and written.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// Between fields; an ASCII character.
    pub separator: u8,
    /// Around fields; an ASCII character.
    pub quote: u8,
    /// Name and type of each column; without any, lines become arrays.
    pub columns: Vec<(String, ColumnType)>,
    /// Whether bad quotes, more fields than columns and values of a wrong type are errors. If not,
    /// quotes stand for themselves, fields get the names `column4` and so on, and values stay text.
    pub strict: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self { separator: b',', quote: b'"', columns: Vec::new(), strict: false }
    }
}

/// Compiled options.
#[derive(Clone, Debug)]
pub struct Csv {
    separator: u8,
    quote: u8,
    keys: Keys,
    /// Number of the key and type of each column.
    columns: Vec<(usize, ColumnType)>,
    strict: bool,
}

impl Csv {
    /// Compiles options.
    ///
    /// # Errors
    /// A sentence, when separator and quote are not two different ASCII characters.
    pub fn compile(options: &CsvOptions) -> Result<Self, String> {
        if !options.separator.is_ascii() || !options.quote.is_ascii() {
            return Err("separator and quote of CSV must be ASCII characters".into());
        }
        if options.separator == options.quote {
            return Err("separator and quote of CSV must differ".into());
        }
        let mut keys = Keys::default();
        let columns =
            options.columns.iter().map(|(name, kind)| (keys.number(name), *kind)).collect();
        let CsvOptions { separator, quote, strict, .. } = *options;
        Ok(Self { separator, quote, keys, columns, strict })
    }

    /// The fields of one line, whose line end is passed over.
    ///
    /// # Errors
    /// In strict mode, see [`CsvOptions::strict`].
    pub fn parse<'a>(&self, text: &'a str, arena: &'a Arena) -> Result<Value<'a>, FormatError> {
        let line = text.strip_suffix('\n').unwrap_or(text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if self.columns.is_empty() {
            let mut fields = arena.array_builder(0);
            self.fields(line, arena, |_, _, field| {
                fields.push(Value::Str(field));
                Ok(())
            })?;
            return Ok(fields.finish());
        }
        let keys = self.keys.place(arena);
        let mut record = arena.record_builder(self.columns.len());
        self.fields(line, arena, |number, at, field| {
            if let Some((key, kind)) = self.columns.get(number) {
                record.insert_key(&keys.key(*key), self.typed(*kind, line, at, field)?);
            } else if self.strict {
                return Err(FormatError::new(line, at, "no more fields than columns"));
            } else {
                let name = arena.format(format_args!("column{}", number + 1));
                record.insert(name, Value::Str(field));
            }
            Ok(())
        })?;
        Ok(record.finish())
    }

    fn typed<'a>(
        &self,
        kind: ColumnType,
        line: &str,
        at: usize,
        field: &'a str,
    ) -> Result<Value<'a>, FormatError> {
        let (value, expected) = match kind {
            ColumnType::Text => return Ok(Value::Str(field)),
            ColumnType::Integer => (field.parse().ok().map(Value::Int), "an integer"),
            ColumnType::Float => (field.parse().ok().map(Value::Float), "a number"),
            ColumnType::Bool => (field.parse().ok().map(Value::Bool), "true or false"),
        };
        match value {
            Some(value) => Ok(value),
            None if self.strict => Err(FormatError::new(line, at, expected)),
            None => Ok(Value::Str(field)),
        }
    }

    /// Calls `each` with number, place and text of every field.
    fn fields<'a>(
        &self,
        line: &'a str,
        arena: &'a Arena,
        mut each: impl FnMut(usize, usize, &'a str) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let mut at = 0;
        for number in 0.. {
            let (field, end) = match line.as_bytes().get(at) {
                Some(byte) if *byte == self.quote => self.quoted(line, at, arena)?,
                _ => self.plain(line, at),
            };
            each(number, at, field)?;
            if end >= line.len() {
                break;
            }
            at = end + 1;
        }
        Ok(())
    }

    /// A field without quotes, and where it ends.
    fn plain<'a>(&self, line: &'a str, at: usize) -> (&'a str, usize) {
        let found = memchr::memchr(self.separator, &line.as_bytes()[at..]);
        let end = found.map_or(line.len(), |found| at + found);
        (&line[at..end], end)
    }

    /// A field that begins with a quote, and where it ends.
    fn quoted<'a>(
        &self,
        line: &'a str,
        at: usize,
        arena: &'a Arena,
    ) -> Result<(&'a str, usize), FormatError> {
        let bytes = line.as_bytes();
        let mut joined: Option<String> = None;
        let mut start = at + 1;
        let mut search = start;
        loop {
            let Some(found) = memchr::memchr(self.quote, &bytes[search..]) else {
                if self.strict {
                    return Err(FormatError::new(line, at, "a closing quote for the field"));
                }
                return Ok((finish(joined, &line[start..], arena), line.len()));
            };
            let quote = search + found;
            match bytes.get(quote + 1) {
                None => return Ok((finish(joined, &line[start..quote], arena), line.len())),
                Some(next) if *next == self.separator => {
                    return Ok((finish(joined, &line[start..quote], arena), quote + 1));
                }
                Some(next) if *next == self.quote => {
                    joined.get_or_insert_default().push_str(&line[start..=quote]);
                    start = quote + 2;
                    search = start;
                }
                Some(_) if self.strict => {
                    return Err(FormatError::new(line, quote + 1, "the separator after the quote"));
                }
                Some(_) => {
                    joined.get_or_insert_default().push_str(&line[start..quote]);
                    let (rest, end) = self.plain(line, quote + 1);
                    return Ok((finish(joined, rest, arena), end));
                }
            }
        }
    }

    /// Appends an array of scalars as one line without a line end.
    ///
    /// # Errors
    /// When the value is no array of scalars.
    pub fn encode<'a>(
        &self,
        value: Value<'a>,
        arena: &'a Arena,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        const EXPECTED: &str = "an array of texts, numbers and booleans";
        let items = value
            .as_array(arena)
            .ok_or_else(|| EncodeError::new("event", EXPECTED, Some(value)))?;
        let mut text = Vec::new();
        for (number, item) in items.iter().enumerate() {
            if item.size().is_some() || matches!(item, Value::Bytes(_)) {
                return Err(EncodeError::new("event", EXPECTED, Some(*item)));
            }
            if number > 0 {
                out.push(self.separator);
            }
            text.clear();
            match item {
                // As tremor writes them: whole numbers without a point, no exponents.
                Value::Float(float) if float.is_finite() => {
                    text.extend_from_slice(float.to_string().as_bytes());
                }
                item => push_text(&mut text, *item),
            }
            self.push_field(&text, items.len() == 1, out);
        }
        if items.is_empty() {
            self.push_field(&[], true, out);
        }
        Ok(())
    }

    fn push_field(&self, text: &[u8], alone: bool, out: &mut Vec<u8>) {
        let special = |byte: &u8| [self.separator, self.quote, b'\n', b'\r'].contains(byte);
        // A lone empty field without quotes would be an empty line.
        let quoted = text.iter().any(special) || (alone && text.is_empty());
        if !quoted {
            return out.extend_from_slice(text);
        }
        out.push(self.quote);
        for byte in text {
            if *byte == self.quote {
                out.push(self.quote);
            }
            out.push(*byte);
        }
        out.push(self.quote);
    }
}

fn finish<'a>(joined: Option<String>, last: &'a str, arena: &'a Arena) -> &'a str {
    match joined {
        None => last,
        Some(joined) => arena.format(format_args!("{joined}{last}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use temblor_lang::value::to_json;

    fn options(columns: &[(&str, ColumnType)], strict: bool) -> CsvOptions {
        let columns = columns.iter().map(|(name, kind)| ((*name).into(), *kind)).collect();
        CsvOptions { columns, strict, ..CsvOptions::default() }
    }

    fn run(options: &CsvOptions, text: &str) -> Result<String, String> {
        let csv = Csv::compile(options).expect("good options");
        let arena = Arena::new();
        csv.parse(text, &arena).map(to_json).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_arrays() {
        for (text, expected) in [
            ("a,b,c", r#"["a","b","c"]"#),
            ("a,,1\r\n", r#"["a","","1"]"#),
            ("", r#"[""]"#),
            (",", r#"["",""]"#),
            (r#""a,b","c ""d""",""#, r#"["a,b","c \"d\"",""]"#),
            (r#"a"b",c"#, r#"["a\"b\"","c"]"#),
            (r#""a"b,c"#, r#"["ab","c"]"#),
            (r#""a,b"#, r#"["a,b"]"#),
            ("\"a\nb\",c\n", r#"["a\nb","c"]"#),
            ("é,\"ü\"\"\"", r#"["é","ü\""]"#),
        ] {
            assert_eq!(run(&CsvOptions::default(), text).as_deref(), Ok(expected), "{text}");
        }
        let semicolons = CsvOptions { separator: b';', quote: b'\'', ..CsvOptions::default() };
        assert_eq!(run(&semicolons, "'a;b';\"c\"").as_deref(), Ok(r#"["a;b","\"c\""]"#));
    }

    #[test]
    fn reads_records() {
        let columns =
            [("n", ColumnType::Integer), ("f", ColumnType::Float), ("b", ColumnType::Bool)];
        let lenient = options(&columns, false);
        assert_eq!(run(&lenient, "1,2,true").as_deref(), Ok(r#"{"n":1,"f":2.0,"b":true}"#));
        assert_eq!(run(&lenient, "x").as_deref(), Ok(r#"{"n":"x"}"#));
        assert_eq!(
            run(&lenient, "1,2,no,y").as_deref(),
            Ok(r#"{"n":1,"f":2.0,"b":"no","column4":"y"}"#)
        );
    }

    #[test]
    fn strict_names_the_place() {
        let columns = [("n", ColumnType::Integer), ("t", ColumnType::Text)];
        let strict = options(&columns, true);
        for (text, expected) in [
            ("x,y", r#"expected an integer at byte 0, found "x,y""#),
            ("1,y,z", r#"expected no more fields than columns at byte 4, found "z""#),
            (r#"1,"y"#, r#"expected a closing quote for the field at byte 2, found "\"y""#),
            (r#"1,"y"z"#, r#"expected the separator after the quote at byte 5, found "z""#),
        ] {
            assert_eq!(run(&strict, text), Err(expected.into()), "{text}");
        }
    }

    #[test]
    fn refuses_bad_options() {
        for (separator, quote) in [(b',', b','), (0xc3, b'"'), (b',', 0xff)] {
            let options = CsvOptions { separator, quote, ..CsvOptions::default() };
            assert!(Csv::compile(&options).is_err());
        }
    }

    #[test]
    fn writes_lines() {
        let arena = Arena::new();
        let csv = Csv::compile(&CsvOptions::default()).expect("good options");
        let write = |json: &str| {
            let value = crate::formats::json::parse(json, &arena).expect("JSON");
            let mut out = Vec::new();
            csv.encode(value, &arena, &mut out)
                .map(|()| String::from_utf8(out).expect("CSV of UTF-8"))
                .map_err(|error| error.to_string())
        };
        for (json, expected) in [
            (r#"["a",1,2.5,true,null,""]"#, "a,1,2.5,true,null,"),
            (r#"["a,b","c\"d","e\nf"]"#, "\"a,b\",\"c\"\"d\",\"e\nf\""),
            (r#"[""]"#, "\"\""),
            ("[]", "\"\""),
        ] {
            assert_eq!(write(json).as_deref(), Ok(expected), "{json}");
        }
        assert!(write(r#"[[1]]"#).is_err_and(|error| error.contains("kind array")));
        assert!(write(r#"{"a":1}"#).is_err_and(|error| error.contains("kind record")));
    }
}
