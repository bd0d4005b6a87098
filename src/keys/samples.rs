//! Values at the edges of what keys allow, for tests.

use std::time::Duration;

use super::{Allowed, Value};

const LONGEST: Duration = Duration::from_secs(86_400);

/// Allowed values: the bounds or values next to them, or all names.
pub(crate) fn allowed(allowed: &Allowed) -> Vec<Value> {
    match *allowed {
        Allowed::Flag => vec![Value::Flag(false), Value::Flag(true)],
        Allowed::Whole { least, most } | Allowed::Even { least, most } => {
            vec![Value::Whole(least), Value::Whole(most)]
        }
        Allowed::OneOf(numbers) => numbers.iter().copied().map(Value::Whole).collect(),
        Allowed::Number(bounds) => {
            // The next numbers that a field in single precision can hold.
            let low = bounds.low as f32;
            let high = bounds.high as f32;
            let low = if bounds.low_open { low.next_up() } else { low };
            let high = if bounds.high_open { high.next_down() } else { high };
            vec![Value::Single(low), Value::Single(high)]
        }
        Allowed::Time => {
            vec![Value::Time(Duration::from_millis(1)), Value::Time(LONGEST)]
        }
        Allowed::Names(names) => names.iter().copied().map(Value::Name).collect(),
        Allowed::Text { .. } => Vec::new(),
        Allowed::Texts { .. } => vec![Value::List(Vec::new())],
        Allowed::Schedule { step, .. } => {
            let pair = |start, value| Value::List(vec![Value::Whole(start), value]);
            let pairs = self::allowed(step).into_iter().zip(0..);
            vec![Value::List(pairs.map(|(value, start)| pair(start, value)).collect())]
        }
    }
}

/// Values just outside of what is allowed, of the right type.
pub(crate) fn refused(allowed: &Allowed) -> Vec<Value> {
    match *allowed {
        Allowed::Flag => Vec::new(),
        Allowed::Whole { least, most } => {
            let outside = [least.checked_sub(1), most.checked_add(1)];
            outside.into_iter().flatten().map(Value::Whole).collect()
        }
        Allowed::Even { least, most } => {
            [least - 1, least + 1, most + 1].map(Value::Whole).to_vec()
        }
        Allowed::OneOf(numbers) => {
            let most = numbers.iter().max().copied().unwrap_or_default();
            vec![Value::Whole(most + 1)]
        }
        Allowed::Number(bounds) => {
            let low = bounds.low as f32;
            let high = bounds.high as f32;
            let low = if bounds.low_open { low } else { low.next_down() };
            let high = if bounds.high_open { high } else { high.next_up() };
            vec![Value::Single(low), Value::Single(high)]
        }
        Allowed::Time => {
            vec![Value::Time(Duration::ZERO), Value::Time(LONGEST + Duration::from_millis(1))]
        }
        Allowed::Names(_) => vec![Value::Name("neither")],
        Allowed::Text { .. } => vec![Value::Text(String::new())],
        Allowed::Texts { .. } => vec![Value::List(vec![Value::Text("nobody".into())])],
        Allowed::Schedule { step, from_zero, .. } => {
            let pair = |start, value| Value::List(vec![Value::Whole(start), value]);
            let fits = self::allowed(step).remove(0);
            let mut lists: Vec<Vec<Value>> =
                refused(step).into_iter().map(|value| vec![pair(0, value)]).collect();
            lists.push(vec![pair(0, fits.clone()), pair(0, fits.clone())]);
            if from_zero {
                lists.extend([Vec::new(), vec![pair(1, fits)]]);
            }
            lists.into_iter().map(Value::List).collect()
        }
    }
}
