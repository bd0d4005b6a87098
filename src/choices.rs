//! Enums that a configuration names by word.

/// Declares an enum whose variants have names in configurations: `ALL`, `name()`, `Display`,
/// `FromStr`, and serde by that name. One variant carries `#[default]`.
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
            /// Every choice.
            pub const ALL: &'static [$choice] = &[$($choice::$variant,)+];

            /// The name that configurations use.
            pub fn name(self) -> &'static str {
                match self { $($choice::$variant => $name,)+ }
            }
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
                        allowed: &[$($name,)+],
                    }
                })
            }
        }
    };
}
pub(crate) use choices;

/// A name that is none of the choices.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown name `{name}`; allowed: {}", allowed.join(", "))]
pub struct UnknownChoice {
    /// The name as given.
    pub name: Box<str>,
    /// The names that exist.
    pub allowed: &'static [&'static str],
}
