//! Control flow: `if`, `while`, `case`, `begin`, `catch`.

use super::{Answer, Given, Machine, Stop, constant};
use crate::tree::{Node, Rescue, Target};
use crate::value::Value;
use std::sync::Arc;

impl Machine<'_, '_> {
    /// `for a in b do c end`
    pub(super) fn iterate(&mut self, target: &Target, list: &Node, body: &Node) -> Answer {
        let list = self.eval(list)?;
        for item in self.items(&list)? {
            self.assign(target, item)?;
            match self.eval(body) {
                Err(Stop::Break(value, frame)) if frame == self.frame => return Ok(value),
                Err(Stop::Next(_)) | Ok(_) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(list)
    }

    /// `case a when b then c else d end`
    pub(super) fn case(
        &mut self,
        subject: Option<&Node>,
        arms: &[(Vec<Node>, Node)],
        otherwise: &Node,
    ) -> Answer {
        let subject = subject.map(|subject| self.eval(subject)).transpose()?;
        for (values, body) in arms {
            for value in self.opaquely(|machine| machine.values(values))? {
                let holds = match &subject {
                    Some(subject) => {
                        self.opaquely(|machine| machine.case_equal(&value, subject))?
                    }
                    None => value.is_true(),
                };
                if holds {
                    return self.eval(body);
                }
            }
        }
        self.eval(otherwise)
    }

    /// `while a do b end`
    pub(super) fn repeat(&mut self, condition: &Node, body: &Node, body_first: bool) -> Answer {
        let mut first = body_first;
        while first || self.eval(condition)?.is_true() {
            first = false;
            self.relieve();
            match self.eval(body) {
                Err(Stop::Break(value, frame)) if frame == self.frame => return Ok(value),
                Err(Stop::Next(_)) | Ok(_) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(Value::Nil)
    }

    /// `begin … rescue … else … end`; `retry` begins anew, as long as there are steps left.
    pub(super) fn guarded(
        &mut self,
        body: &Node,
        rescues: &[Rescue],
        otherwise: Option<&Node>,
    ) -> Answer {
        loop {
            let error = match self.eval(body) {
                Err(Stop::Raised(error)) => error,
                Ok(value) => return otherwise.map_or(Ok(value), |node| self.eval(node)),
                other => return other,
            };
            match self.rescued(error, rescues) {
                Err(Stop::Retry) => self.step()?,
                other => return other,
            }
        }
    }

    fn rescued(&mut self, error: Arc<(String, String)>, rescues: &[Rescue]) -> Answer {
        let heap = self.heap;
        for rescue in rescues {
            let mut fits =
                rescue.classes.is_empty() && constant::is_error(&error.0, "StandardError");
            for class in self.values(&rescue.classes)? {
                fits = fits || self.is_above(&error.0, &class.print(heap));
            }
            if fits {
                self.memory.kept.insert("$!".into(), Value::Error(error.clone()));
                if let Some(name) = &rescue.name {
                    self.set_variable(name, Value::Error(error));
                }
                return self.eval(&rescue.body);
            }
        }
        Err(Stop::Raised(error))
    }

    /// `catch(:a) { … }`
    pub(super) fn catch(&mut self, arguments: &[Value], given: &Given) -> Answer {
        let heap = self.heap;
        let tag = arguments.first().cloned().unwrap_or_else(|| heap.list(Vec::new()));
        self.caught.push(tag.clone());
        let result = self.give_to(given, vec![tag.clone()]);
        self.caught.pop();
        match result {
            Err(Stop::Throw(thrown, value)) if thrown.equals(heap, &tag) => Ok(value),
            other => other,
        }
    }

    /// `throw :a, b`
    pub(super) fn throw(&self, tag: &Value, value: Option<&Value>) -> Stop {
        let heap = self.heap;
        match self.caught.iter().any(|one| one.equals(heap, tag)) {
            true => Stop::Throw(tag.clone(), value.cloned().unwrap_or_default()),
            false => {
                Stop::raise("UncaughtThrowError", format!("uncaught throw {}", tag.inspect(heap)))
            }
        }
    }
}
