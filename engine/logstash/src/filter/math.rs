//! `math`: calculates with numeric fields, step by step. A step whose operands are no numbers, or that divides
//! by zero, is left out. Whole numbers stay whole, as in Ruby.

use super::{Declaration, Filter, Outcome, Turn};
use crate::complain;
use crate::options::{Arguments, Setting, SettingKind, Takes, required};
use std::collections::HashMap;
use temblor_logstash_event::datum::Datum;
use temblor_logstash_event::event::LogEvent;
use temblor_logstash_event::reference::FieldRef;

/// `math`
pub(crate) static DECLARATION: Declaration = Declaration {
    name: "math",
    doc: "Calculates with numeric fields.",
    options: &[required(
        "calculate",
        Takes::Anything,
        "Lists of a function, two operands and where the result goes. An operand is a field, a number or a \
         register such as `MEM[0]`.",
    )],
    make,
};

#[derive(Debug)]
struct Math {
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    function: Function,
    left: Operand,
    right: Operand,
    result: Operand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloatDivide,
    Modulo,
    Power,
    Round,
}

/// The names of each function.
const FUNCTIONS: [(Function, &[&str]); 8] = [
    (Function::Add, &["+", "add", "plus"]),
    (Function::Subtract, &["-", "sub", "subtract", "minus"]),
    (Function::Multiply, &["*", "mpx", "times", "multiply"]),
    (Function::Divide, &["/", "div", "divide"]),
    (Function::FloatDivide, &["fdiv", "float divide", "float_divide"]),
    (Function::Modulo, &["mod", "modulo", "%"]),
    (Function::Power, &["^", "**", "pow", "power", "exponent"]),
    (Function::Round, &["round"]),
];

#[derive(Debug)]
enum Operand {
    Field(FieldRef),
    Number(Number),
    /// `MEM[0]`, which lives as long as one event is calculated with.
    Register(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole(i64),
    Real(f64),
}

fn make(arguments: &mut Arguments<'_>) -> Option<Box<dyn Filter>> {
    let items = arguments.get("calculate")?.items().to_vec();
    // One calculation may stand without a list around it.
    let is_list = |item: &Setting| matches!(item.kind, SettingKind::List(_));
    let calculations = if items.iter().any(is_list) {
        items
    } else {
        let span = arguments.place("calculate");
        vec![Setting { span, kind: SettingKind::List(items) }]
    };
    let mut steps = Vec::with_capacity(calculations.len());
    for calculation in &calculations {
        match step(calculation) {
            Ok(step) => steps.push(step),
            Err(wanted) => {
                arguments.complain(complain::bad_value("calculate", calculation.span, &wanted));
            }
        }
    }
    Some(Box::new(Math { steps }))
}

/// One calculation; the error says what it must be.
fn step(calculation: &Setting) -> Result<Step, String> {
    let [function, left, right, result] = calculation.items() else {
        return Err("lists of four: function, two operands and the result".to_string());
    };
    let name = function.text().unwrap_or_default();
    let function = FUNCTIONS.iter().find(|(_, names)| names.contains(&name));
    let Some((function, _)) = function else {
        let names: Vec<_> = FUNCTIONS.iter().map(|(_, names)| names[0]).collect();
        return Err(format!("a function first: {}", names.join(", ")));
    };
    let result = operand(result)?;
    if matches!(result, Operand::Number(_)) {
        return Err("a field or a register at the end".to_string());
    }
    Ok(Step { function: *function, left: operand(left)?, right: operand(right)?, result })
}

fn operand(setting: &Setting) -> Result<Operand, String> {
    let wanted = |what: &str| format!("lists of fields, numbers and registers; {what}");
    let text = setting.text().ok_or_else(|| wanted("a list or hash is none of them"))?;
    if matches!(setting.kind, SettingKind::Number(_)) {
        return number(text).map(Operand::Number).ok_or_else(|| wanted("this number is too large"));
    }
    let register = text.strip_prefix("MEM[").and_then(|rest| rest.strip_suffix(']'));
    if let Some(name) = register.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(Operand::Register(name.to_string()));
    }
    let field = FieldRef::parse(text).map(Operand::Field);
    field.map_err(|reason| wanted(&format!("`{text}` is no field: {reason}")))
}

fn number(text: &str) -> Option<Number> {
    let whole = text.parse().map(Number::Whole).ok();
    whole.or_else(|| text.trim_end_matches('.').parse().map(Number::Real).ok())
}

/// What is in the registers.
type Registers<'s> = HashMap<&'s str, Number>;

impl Filter for Math {
    fn filter<'a>(&'a self, event: &mut LogEvent<'a>, turn: &mut Turn<'a, '_>) -> Outcome {
        let mut registers = Registers::new();
        let mut outcome = Outcome::Unmatched;
        for step in &self.steps {
            let operands =
                step.left.value(event, &registers).zip(step.right.value(event, &registers));
            let result = operands.and_then(|(left, right)| step.function.call(left, right));
            let stored = result.is_some_and(|result| match &step.result {
                Operand::Register(name) => {
                    registers.insert(name, result);
                    true
                }
                Operand::Field(field) => event.set(field, result.datum(), turn.arena).is_ok(),
                Operand::Number(_) => false,
            });
            if stored {
                outcome = Outcome::Matched;
            }
        }
        outcome
    }
}

impl Operand {
    fn value(&self, event: &LogEvent<'_>, registers: &Registers<'_>) -> Option<Number> {
        match self {
            Operand::Number(number) => Some(*number),
            Operand::Register(name) => registers.get(name.as_str()).copied(),
            Operand::Field(field) => match event.get(field)? {
                Datum::Int(number) => Some(Number::Whole(*number)),
                Datum::UInt(number) => Some(Number::Real(*number as f64)),
                Datum::Float(number) => Some(Number::Real(*number)),
                Datum::Time(time) => Some(Number::Real(time.timestamp_micros() as f64 / 1e6)),
                _ => None,
            },
        }
    }
}

impl Number {
    fn real(self) -> f64 {
        match self {
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    fn datum<'a>(self) -> Datum<'a> {
        match self {
            Number::Whole(number) => Datum::Int(number),
            Number::Real(number) => Datum::Float(number),
        }
    }
}

impl Function {
    /// The result; nothing when there is none.
    fn call(self, left: Number, right: Number) -> Option<Number> {
        let divides = matches!(self, Function::Divide | Function::FloatDivide | Function::Modulo);
        if divides && right.real() == 0.0 {
            return None;
        }
        let whole = match (left, right) {
            (Number::Whole(left), Number::Whole(right)) => self.whole(left, right),
            _ => None,
        };
        let result = whole.map(Number::Whole).or_else(|| self.real(left, right))?;
        result.real().is_finite().then_some(result)
    }

    /// Of whole numbers, if the result is one that fits.
    fn whole(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Function::Add => left.checked_add(right),
            Function::Subtract => left.checked_sub(right),
            Function::Multiply => left.checked_mul(right),
            // Ruby rounds down.
            Function::Divide => {
                let down = i64::from(left % right != 0 && (left < 0) != (right < 0));
                left.checked_div(right).map(|quotient| quotient - down)
            }
            Function::FloatDivide => None,
            Function::Modulo => {
                let rest = left.checked_rem(right)?;
                Some(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
            }
            Function::Power => left.checked_pow(u32::try_from(right).ok()?),
            Function::Round if right >= 0 => Some(left),
            Function::Round => {
                let unit = 10_i64.checked_pow(u32::try_from(-right).ok()?)?;
                let half = if left < 0 { -unit / 2 } else { unit / 2 };
                left.checked_add(half).map(|sum| sum / unit * unit)
            }
        }
    }

    fn real(self, left: Number, right: Number) -> Option<Number> {
        let (a, b) = (left.real(), right.real());
        Some(Number::Real(match self {
            Function::Add => a + b,
            Function::Subtract => a - b,
            Function::Multiply => a * b,
            Function::Divide | Function::FloatDivide => a / b,
            Function::Modulo => a - b * (a / b).floor(),
            Function::Power => a.powf(b),
            Function::Round => return round(a, b),
        }))
    }
}

/// To so many decimals; without any the result is a whole number.
fn round(number: f64, decimals: f64) -> Option<Number> {
    /// No number has more decimals than these.
    const DECIMALS_MAX: f64 = 300.0;
    if decimals > 0.0 {
        let scale = 10_f64.powf(decimals.trunc().min(DECIMALS_MAX));
        let scaled = number * scale;
        return Some(Number::Real(if scaled.is_finite() {
            scaled.round() / scale
        } else {
            number
        }));
    }
    let scale = 10_f64.powf(-decimals.trunc());
    let rounded = (number / scale).round() * scale;
    let fits = rounded.abs() < i64::MAX as f64;
    fits.then_some(Number::Whole(rounded as i64))
}
