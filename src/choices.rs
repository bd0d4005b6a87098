//! Enums whose variants have names in configuration files and player specifications.

/// Declares an enum with one name for each variant. The enum gets `ALL`, `NAMES`, `name()`,
/// `Display`, `FromStr` and the values of a key, and serde uses the same names. One variant carries
/// `#[default]`.
macro_rules! choices {
    (
        $(#[$doc:meta])*
        pub enum $choice:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize,
        )]
        pub enum $choice {
            $($(#[$variant_doc])* #[serde(rename = $name)] $variant,)+
        }

        impl $choice {
            /// Every variant.
            pub const ALL: &'static [$choice] = &[$($choice::$variant,)+];

            /// The name of every variant.
            pub const NAMES: &'static [&'static str] = &[$($name,)+];

            /// The name that configurations use.
            pub fn name(self) -> &'static str {
                match self { $($choice::$variant => $name,)+ }
            }
        }

        impl crate::keys::FieldValue for $choice {
            fn to_value(&self) -> Option<crate::keys::Value> {
                Some(crate::keys::Value::Name(self.name()))
            }

            fn from_value(value: crate::keys::Value) -> Option<$choice> {
                let crate::keys::Value::Name(name) = value else { return None };
                name.parse().ok()
            }
        }

        impl crate::keys::NaturalValues for $choice {
            const ALLOWED: crate::keys::Allowed = crate::keys::Allowed::Names($choice::NAMES);
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $choice {
            type Err = crate::choices::UnknownChoice;

            fn from_str(name: &str) -> Result<$choice, Self::Err> {
                $choice::ALL.iter().copied().find(|choice| choice.name() == name).ok_or_else(|| {
                    crate::choices::UnknownChoice {
                        name: name.into(),
                        allowed: $choice::NAMES,
                    }
                })
            }
        }
    };
}
pub(crate) use choices;

/// The error for a name that no variant has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown name `{name}`; allowed: {}", allowed.join(", "))]
pub struct UnknownChoice {
    /// The name as given.
    pub name: Box<str>,
    /// The names of all variants.
    pub allowed: &'static [&'static str],
}
