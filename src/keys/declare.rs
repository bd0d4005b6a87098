//! The macros that declare options with their keys.

/// Declares a struct of options with one line for each field:
///
/// ```text
/// /// Meaning, in one paragraph. It is shown on the reference page.
/// ///
/// /// Further paragraphs are for readers of the code only.
/// key field("name"): Type = default, allowed values => mark().mark();
/// ```
///
/// The name of the key is that of the field unless it is given. A type that has
/// [`NaturalValues`](super::NaturalValues) needs no allowed values. Marks are methods of
/// [`Key`](super::Key), such as `player(3)`.
///
/// `field` instead of `key` declares a field without a key. `part` declares a field that has keys
/// itself; those that are marked with `player` are also keys of the struct.
macro_rules! keys {
    (
        $(#[$($outer:tt)*])*
        pub struct $options:ident {
            $(
                $(#[$($attribute:tt)*])*
                $line:ident $field:ident $(($name:literal))? : $type:ty = $default:expr
                    $(, $allowed:expr)? $(=> $($mark:ident($($argument:expr)?)).+)? ;
            )*
        }
    ) => {
        $(#[$($outer)*])*
        pub struct $options {
            $($(#[$($attribute)*])* pub $field: $type,)*
        }

        impl Default for $options {
            fn default() -> $options {
                $options { $($field: $default,)* }
            }
        }

        impl $crate::keys::Keyed for $options {
            fn keys(&self) -> Vec<&'static $crate::keys::Key> {
                let mut keys = Vec::new();
                $($crate::keys::keys!(
                    @keys $line, keys, self.$field,
                    $crate::keys::Key::new(
                        $crate::keys::keys!(@name $field $($name)?),
                        &[$($crate::keys::keys!(@doc $($attribute)*)),*],
                        $crate::keys::keys!(@allowed $type $(, $allowed)?),
                    )
                    $($(.$mark($($argument)?))+)?
                );)*
                keys
            }

            fn get(&self, name: &str) -> Option<$crate::keys::Value> {
                $($crate::keys::keys!(
                    @get $line, name, self.$field, $crate::keys::keys!(@name $field $($name)?)
                );)*
                None
            }

            fn set(&mut self, name: &str, value: $crate::keys::Value) -> bool {
                $($crate::keys::keys!(
                    @set $line, name, value, self.$field,
                    $crate::keys::keys!(@name $field $($name)?),
                    $crate::keys::keys!(@allowed $type $(, $allowed)?)
                );)*
                false
            }
        }
    };

    (@name $field:ident $name:literal) => { $name };
    (@name $field:ident) => { stringify!($field) };

    (@doc doc = $line:literal) => { $line };
    (@doc $($other:tt)*) => { "" };

    (@allowed $type:ty, $allowed:expr) => { $allowed };
    (@allowed $type:ty) => { <$type as $crate::keys::NaturalValues>::ALLOWED };

    (@keys key, $keys:ident, $field:expr, $key:expr) => {
        $keys.push({
            const KEY: $crate::keys::Key = $key;
            &KEY
        });
    };
    (@keys part, $keys:ident, $field:expr, $key:expr) => {
        let part = $crate::keys::Keyed::keys(&$field);
        $keys.extend(part.into_iter().filter(|key| key.player.is_some()));
    };
    (@keys field, $($unused:tt)*) => {};

    (@get key, $wanted:ident, $field:expr, $name:expr) => {
        if $wanted == $name {
            return $crate::keys::FieldValue::to_value(&$field);
        }
    };
    (@get part, $wanted:ident, $field:expr, $name:expr) => {
        if $crate::keys::is_shared(&$field, $wanted) {
            return $crate::keys::Keyed::get(&$field, $wanted);
        }
    };
    (@get field, $($unused:tt)*) => {};

    (@set key, $wanted:ident, $value:ident, $field:expr, $name:expr, $allowed:expr) => {
        if $wanted == $name {
            const ALLOWED: $crate::keys::Allowed = $allowed;
            let read = $crate::keys::read_field($value, ALLOWED);
            return read.map(|read| $field = read).is_some();
        }
    };
    (@set part, $wanted:ident, $value:ident, $field:expr, $($unused:tt)*) => {
        if $crate::keys::is_shared(&$field, $wanted) {
            return $crate::keys::Keyed::set(&mut $field, $wanted, $value);
        }
    };
    (@set field, $($unused:tt)*) => {};
}

/// Declares an enum of limits of a player's thinking, each with a key:
///
/// ```text
/// /// Meaning.
/// Variant(Type) = "name", allowed values;
/// ```
macro_rules! limits {
    (
        $(#[$($outer:tt)*])*
        pub enum $limit:ident {
            $(
                $(#[$($attribute:tt)*])*
                $variant:ident($type:ty) = $name:literal $(, $allowed:expr)? ;
            )+
        }
    ) => {
        $(#[$($outer)*])*
        pub enum $limit {
            $($(#[$($attribute)*])* $variant($type),)+
        }

        impl $crate::keys::Limit for $limit {
            fn limit_keys() -> Vec<&'static $crate::keys::Key> {
                vec![$({
                    const KEY: $crate::keys::Key = $crate::keys::Key::new(
                        $name,
                        &[$($crate::keys::keys!(@doc $($attribute)*)),*],
                        $crate::keys::keys!(@allowed $type $(, $allowed)?),
                    )
                    .player(0)
                    .limit();
                    &KEY
                }),+]
            }

            fn value(&self, name: &str) -> Option<$crate::keys::Value> {
                match self {
                    $($limit::$variant(value) if name == $name => {
                        $crate::keys::FieldValue::to_value(value)
                    })+
                    _ => None,
                }
            }

            fn read(name: &str, value: $crate::keys::Value) -> Option<$limit> {
                match name {
                    $($name => {
                        const ALLOWED: $crate::keys::Allowed =
                            $crate::keys::keys!(@allowed $type $(, $allowed)?);
                        $crate::keys::read_field(value, ALLOWED).map($limit::$variant)
                    })+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {keys, limits};
