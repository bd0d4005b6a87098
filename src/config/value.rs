//! Values of keys in TOML.

use std::ops::Range;

use serde::Serialize;
use toml::Spanned;
use toml::de::DeValue;

use super::problem::{Fault, nearest};
use crate::keys::{Allowed, Value};

/// The part of a value that is wrong, as a range of bytes in its source, and the fault.
pub(super) type Refusal = (Range<usize>, Fault);
type TomlValue<'a> = Spanned<DeValue<'a>>;

/// A value as TOML writes it behind a key.
pub(super) fn as_toml(value: &impl Serialize) -> String {
    let mut text = String::new();
    // This fails only for a value that TOML cannot express, and no key has such a value.
    let _ = value.serialize(toml::ser::ValueSerializer::new(&mut text));
    text
}

/// The fault of a value that has the right type.
pub(super) fn not_allowed(value: &TomlValue<'_>, allowed: &Allowed) -> Refusal {
    (value.span(), Fault::Value { suggestion: None, allowed: allowed.words("\"").into() })
}

/// Reads a value that `allowed` allows.
pub(super) fn read_value(value: &TomlValue<'_>, allowed: &Allowed) -> Result<Value, Refusal> {
    let refused = || not_allowed(value, allowed);
    let read = match allowed {
        Allowed::Flag => {
            Value::Flag(value.get_ref().as_bool().ok_or_else(|| wrong_type(value, allowed))?)
        }
        Allowed::Whole { .. } | Allowed::Even { .. } | Allowed::OneOf(_) => {
            Value::Whole(whole(value, allowed)?)
        }
        Allowed::Number(_) => Value::Number(number(value, allowed)?),
        Allowed::Time | Allowed::Text { .. } => {
            allowed.parse(string(value, allowed)?).ok_or_else(refused)?
        }
        Allowed::Names(names) => Value::Name(name(value, allowed, names)?),
        Allowed::Texts { check, .. } => {
            let read = |item| {
                let text = string(item, allowed)?;
                let fault = |why| (item.span(), Fault::Item { why });
                check(text).map_err(fault).map(|()| Value::Text(text.into()))
            };
            Value::List(list(value, allowed)?.iter().map(read).collect::<Result<_, _>>()?)
        }
        Allowed::Schedule { step, from_zero, .. } => schedule(value, allowed, step, *from_zero)?,
    };
    if allowed.allows(&read) { Ok(read) } else { Err(refused()) }
}

fn wrong_type(value: &TomlValue<'_>, allowed: &Allowed) -> Refusal {
    let found = match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fractional number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    (value.span(), Fault::Type { found, allowed: allowed.words("\"").into() })
}

fn whole(value: &TomlValue<'_>, allowed: &Allowed) -> Result<u64, Refusal> {
    let number = value.get_ref().as_integer().ok_or_else(|| wrong_type(value, allowed))?;
    let number = i128::from_str_radix(number.as_str(), number.radix()).ok();
    number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| not_allowed(value, allowed))
}

fn number(value: &TomlValue<'_>, allowed: &Allowed) -> Result<f64, Refusal> {
    let text = match value.get_ref() {
        DeValue::Float(number) => number.as_str(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        _ => return Err(wrong_type(value, allowed)),
    };
    text.parse().map_err(|_| not_allowed(value, allowed))
}

fn string<'a>(value: &'a TomlValue<'_>, allowed: &Allowed) -> Result<&'a str, Refusal> {
    value.get_ref().as_str().ok_or_else(|| wrong_type(value, allowed))
}

fn list<'a, 'b>(
    value: &'a TomlValue<'b>,
    allowed: &Allowed,
) -> Result<&'a [TomlValue<'b>], Refusal> {
    let list = value.get_ref().as_array().ok_or_else(|| wrong_type(value, allowed))?;
    Ok(list)
}

fn name(
    value: &TomlValue<'_>,
    allowed: &Allowed,
    names: &[&'static str],
) -> Result<&'static str, Refusal> {
    let found = string(value, allowed)?;
    allowed.name(found).ok_or_else(|| {
        let suggestion = nearest(found, names.iter().copied()).map(Box::from);
        (value.span(), Fault::Value { suggestion, allowed: allowed.words("\"").into() })
    })
}

/// Reads the pairs of a schedule. A fault has the place of the pair or number that is wrong.
fn schedule(
    value: &TomlValue<'_>,
    allowed: &Allowed,
    step: &Allowed,
    from_zero: bool,
) -> Result<Value, Refusal> {
    let mut pairs = Vec::new();
    let mut last = None;
    for item in list(value, allowed)? {
        let [start, second] = list(item, allowed)? else {
            return Err(wrong_type(item, allowed));
        };
        let positions = whole(start, allowed)?;
        let why = match last {
            None if from_zero && positions > 0 => Some("the first pair must start at 0"),
            Some(last) if positions <= last => Some("the first numbers must rise"),
            _ => None,
        };
        if let Some(why) = why {
            let allowed = allowed.words("\"").into();
            return Err((item.span(), Fault::Pair { why, allowed }));
        }
        last = Some(positions);
        // A fault in the second number shows the description of the whole schedule.
        let from_here = match step {
            Allowed::Number(_) => Value::Number(number(second, allowed)?),
            _ => Value::Whole(whole(second, allowed)?),
        };
        if !step.allows(&from_here) {
            return Err(not_allowed(second, allowed));
        }
        pairs.push(Value::List(vec![Value::Whole(positions), from_here]));
    }
    Ok(Value::List(pairs))
}
