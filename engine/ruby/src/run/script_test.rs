//! The tests that a script file contains: `test "…" do parameters { … } in_event { … }
//! expect("…") { … } end`. They run once, when the file is loaded.

use super::{Answer, Given, Machine, Stop};
use crate::value::Value;

/// Tests of one file.
const TESTS_MAX: usize = 1_000;

/// What the words inside of tests have said.
#[derive(Debug, Default)]
pub(super) struct Tests {
    /// Names and bodies.
    bodies: Vec<(String, Value)>,
    parameters: Value,
    events: Vec<Value>,
    /// Descriptions and conditions.
    expected: Vec<(String, Value)>,
}

impl Machine<'_, '_> {
    /// Keeps the tests that the code defines from now on.
    pub fn gather_tests(&mut self) {
        self.tests = Some(Tests::default());
    }

    /// Runs the tests that were gathered.
    ///
    /// # Errors
    /// The name of the first test that fails, with the reason.
    pub fn run_tests(&mut self) -> Result<(), String> {
        let bodies = self.tests.as_mut().map(|tests| std::mem::take(&mut tests.bodies));
        for (name, body) in bodies.unwrap_or_default() {
            self.tests = Some(Tests::default());
            self.run_test(&body).map_err(|reason| format!("the test `{name}`: {reason}"))?;
        }
        self.tests = None;
        Ok(())
    }

    fn run_test(&mut self, body: &Value) -> Result<(), String> {
        let heap = self.heap;
        let told = |stop: Stop| stop.message();
        let call = |machine: &mut Self, code: &Value, arguments: &[Value]| {
            machine.invoke(code, "call", arguments, None).map_err(told)
        };
        call(self, body, &[])?;
        let tests = self.tests.take().unwrap_or_default();
        let parameters = match tests.parameters {
            Value::Nil => heap.hash([]),
            parameters => parameters,
        };
        self.call_defined("register", vec![parameters]).map_err(told)?;
        let mut results = Vec::new();
        for event in tests.events {
            let event = match event {
                fields @ Value::Hash(_) => self
                    .logstash_constant("LogStash::Event", "new", &[fields])
                    .map_err(told)?
                    .unwrap_or_default(),
                event => event,
            };
            match self.call_defined("filter", vec![event]).map_err(told)? {
                Some(Value::List(items)) => results.extend(items.items(heap)),
                Some(Value::Nil) | None => {}
                Some(one) => results.push(one),
            }
        }
        for (description, condition) in tests.expected {
            let holds = call(self, &condition, &[heap.list(results.clone())])?;
            if !holds.is_true() {
                return Err(format!("`{description}` does not hold"));
            }
        }
        Ok(())
    }

    /// A word of a test; outside of tests nothing happens.
    pub(super) fn test_word(&mut self, word: &str, arguments: &[Value], given: &Given) -> Answer {
        let heap = self.heap;
        let name = arguments.first().map(|one| one.print(heap)).unwrap_or_default();
        let code = self.value_of(given);
        if self.tests.is_none() {
            return Ok(Value::Nil);
        }
        let value = match word {
            "parameters" | "in_event" => self.give_to(given, Vec::new())?,
            _ => Value::Nil,
        };
        let Some(tests) = &mut self.tests else { return Ok(Value::Nil) };
        match word {
            "parameters" => tests.parameters = value,
            "in_event" => match value {
                Value::List(items) => tests.events.extend(items.items(heap)),
                one => tests.events.push(one),
            },
            "expect" => tests.expected.push((name, code)),
            _ if tests.bodies.len() < TESTS_MAX => tests.bodies.push((name, code)),
            _ => return Err(Stop::raise("RuntimeError", format!("more than {TESTS_MAX} tests"))),
        }
        Ok(Value::Nil)
    }
}
