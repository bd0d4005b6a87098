//! The values of keys, and their conversion from and to the types of fields.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::{Allowed, allowed};

/// The value of a key, as it stands between a text and a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A number of a field in single precision. Readers make [`Value::Number`]; this kind keeps the
    /// short text of the field's value.
    Single(f32),
    /// A duration.
    Time(Duration),
    /// One of the names that the key allows.
    Name(&'static str),
    /// Any other text. A specification writes it with quotes.
    Text(String),
    /// A file's path. A specification writes it with quotes only if it needs them.
    Path(String),
    /// A list.
    List(Vec<Value>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Flag(flag) => flag.serialize(to),
            Value::Whole(number) => number.serialize(to),
            Value::Number(number) => number.serialize(to),
            Value::Single(number) => number.serialize(to),
            Value::Time(time) => time_text(*time).serialize(to),
            Value::Name(name) => name.serialize(to),
            Value::Text(text) | Value::Path(text) => text.serialize(to),
            Value::List(list) => list.serialize(to),
        }
    }
}

/// A duration as a specification writes it.
pub fn time_text(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1000 == 0 => format!("{}s", whole / 1000),
        fraction => format!("{fraction}ms"),
    }
}

/// A type of fields that have a key.
pub trait FieldValue: Sized {
    /// The value; `None` if an optional field is not set.
    fn to_value(&self) -> Option<Value>;

    /// The field with a value; `None` if the type cannot hold it.
    fn from_value(value: Value) -> Option<Self>;
}

/// A type whose keys allow all of its values.
pub trait NaturalValues: FieldValue {
    /// The allowed values.
    const ALLOWED: Allowed;
}

/// Converts a value to a field's type, if it is allowed.
pub fn read_field<T: FieldValue>(value: Value, allowed: Allowed) -> Option<T> {
    let field = allowed.allows(&value).then(|| T::from_value(value)).flatten()?;
    // A number that is rounded to single precision may reach an excluded bound.
    field.to_value().is_none_or(|rounded| allowed.allows(&rounded)).then_some(field)
}

impl FieldValue for bool {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Flag(*self))
    }

    fn from_value(value: Value) -> Option<bool> {
        let Value::Flag(flag) = value else { return None };
        Some(flag)
    }
}

impl NaturalValues for bool {
    const ALLOWED: Allowed = Allowed::Flag;
}

macro_rules! whole_field {
    ($($type:ty)+) => {$(
        impl FieldValue for $type {
            fn to_value(&self) -> Option<Value> {
                Some(Value::Whole(*self as u64))
            }

            fn from_value(value: Value) -> Option<$type> {
                let Value::Whole(number) = value else { return None };
                number.try_into().ok()
            }
        }
    )+};
}

whole_field!(u32 u64 usize);

impl NaturalValues for u64 {
    const ALLOWED: Allowed = allowed::at_least(0);
}

impl FieldValue for f64 {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Number(*self))
    }

    fn from_value(value: Value) -> Option<f64> {
        let Value::Number(number) = value else { return None };
        Some(number)
    }
}

impl FieldValue for f32 {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Single(*self))
    }

    fn from_value(value: Value) -> Option<f32> {
        match value {
            Value::Number(number) => Some(number as f32),
            Value::Single(number) => Some(number),
            _ => None,
        }
    }
}

impl FieldValue for Duration {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Time(*self))
    }

    fn from_value(value: Value) -> Option<Duration> {
        let Value::Time(time) = value else { return None };
        Some(time)
    }
}

impl NaturalValues for Duration {
    const ALLOWED: Allowed = Allowed::Time;
}

impl FieldValue for String {
    fn to_value(&self) -> Option<Value> {
        Some(Value::Text(self.clone()))
    }

    fn from_value(value: Value) -> Option<String> {
        let Value::Text(text) = value else { return None };
        Some(text)
    }
}

impl<T: FieldValue> FieldValue for Option<T> {
    fn to_value(&self) -> Option<Value> {
        self.as_ref()?.to_value()
    }

    fn from_value(value: Value) -> Option<Option<T>> {
        T::from_value(value).map(Some)
    }
}

impl<T: FieldValue> FieldValue for Vec<T> {
    fn to_value(&self) -> Option<Value> {
        self.iter().map(T::to_value).collect::<Option<_>>().map(Value::List)
    }

    fn from_value(value: Value) -> Option<Vec<T>> {
        let Value::List(list) = value else { return None };
        list.into_iter().map(T::from_value).collect()
    }
}

impl<A: FieldValue, B: FieldValue> FieldValue for (A, B) {
    fn to_value(&self) -> Option<Value> {
        Some(Value::List(vec![self.0.to_value()?, self.1.to_value()?]))
    }

    fn from_value(value: Value) -> Option<(A, B)> {
        let Value::List(list) = value else { return None };
        let [first, second]: [Value; 2] = list.try_into().ok()?;
        Some((A::from_value(first)?, B::from_value(second)?))
    }
}
