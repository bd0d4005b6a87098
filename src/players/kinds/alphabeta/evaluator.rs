//! The key `eval` of alpha-beta players: an evaluator by its name, or the path of a model.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::choices::choices;
use crate::eval::positional::Positional;
use crate::eval::{AnyEvaluator, Discs};
use crate::game::{Geometry, Goal, Shape};
use crate::keys::{Allowed, FieldValue, NaturalValues, Value, text};
use crate::players::contestant::OpenError;
use crate::players::models::LoadedModel;
use crate::store::shipped;

choices! {
    /// The evaluators that have a name.
    pub enum EvaluatorKind {
        /// Square values and mobility.
        #[default]
        Positional = "positional",
        /// The disc difference alone.
        Discs = "discs",
    }
}

impl EvaluatorKind {
    /// The evaluator for a goal.
    pub fn evaluator<G: Geometry>(self, goal: Goal) -> AnyEvaluator<G> {
        match self {
            EvaluatorKind::Positional => Positional::new(goal).into(),
            EvaluatorKind::Discs => Discs { goal }.into(),
        }
    }

    /// Whether Multi-ProbCut has parameters for this evaluator on a board, for a goal.
    pub fn has_probcut(self, shape: Shape, goal: Goal) -> bool {
        dispatch!(shape, G => self.evaluator::<G>(goal).probcut().is_some())
    }
}

/// The evaluator at the leaves of an alpha-beta search.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub enum EvaluatorSource {
    /// The strongest one for the board and goal: a model that comes with the program, or the
    /// positional evaluator.
    #[default]
    Best,
    /// One that has a name.
    Named(EvaluatorKind),
    /// The model at a path: a model file, a checkpoint or a run directory.
    Model(PathBuf),
}

/// The name of [`EvaluatorSource::Best`].
const BEST: &str = "best";

impl EvaluatorSource {
    /// Reads a name or a path. A path has a `/` or a `.`, so that a misspelt name is not taken for
    /// one.
    fn read(text: &str) -> Option<EvaluatorSource> {
        if text == BEST {
            return Some(EvaluatorSource::Best);
        }
        match text.parse() {
            Ok(kind) => Some(EvaluatorSource::Named(kind)),
            Err(_) => is_path(text).then(|| EvaluatorSource::Model(text.into())),
        }
    }
}

impl EvaluatorSource {
    /// The evaluator that orders moves best for the exact solver. On a board without patterns that is the
    /// positional one, even if a linear one plays better: with it the solver takes 15 % fewer positions
    /// on 88 squares. With a net over patterns it takes 26 % more on 8x8.
    pub fn of_solver(shape: Shape, goal: Goal) -> EvaluatorSource {
        let positional = EvaluatorSource::Named(EvaluatorKind::Positional);
        shipped::patterns(shape, goal).map_or(positional, EvaluatorSource::Model)
    }

    /// The path of the model for a board and goal; `None` if the evaluator is [`Self::kind`].
    pub fn model(&self, shape: Shape, goal: Goal) -> Option<PathBuf> {
        match self {
            EvaluatorSource::Best => shipped::evaluator(shape, goal),
            EvaluatorSource::Named(_) => None,
            EvaluatorSource::Model(path) => Some(path.clone()),
        }
    }

    /// The evaluator that it is without a model.
    pub fn kind(&self) -> EvaluatorKind {
        match self {
            EvaluatorSource::Named(kind) => *kind,
            EvaluatorSource::Best | EvaluatorSource::Model(_) => EvaluatorKind::default(),
        }
    }

    /// The evaluator for a board and goal. With it comes the source by which it is known: that of a
    /// model has the path of the file and a part of its checksum.
    ///
    /// # Errors
    ///
    /// A model cannot be read, is a net, or is for another board or goal.
    pub fn open<G: Geometry>(
        &self,
        goal: Goal,
    ) -> Result<(AnyEvaluator<G>, EvaluatorSource), OpenError> {
        let Some(path) = self.model(G::SHAPE, goal) else {
            let kind = self.kind();
            return Ok((kind.evaluator(goal), EvaluatorSource::Named(kind)));
        };
        let model = LoadedModel::read(&path)?.for_match(G::SHAPE, goal)?;
        Ok((model.evaluator()?, EvaluatorSource::Model(model.identity())))
    }
}

impl FromStr for EvaluatorSource {
    type Err = String;

    fn from_str(text: &str) -> Result<EvaluatorSource, String> {
        let allowed = || format!("allowed: {}", EvaluatorSource::ALLOWED);
        EvaluatorSource::read(text).ok_or_else(allowed)
    }
}

/// Whether a text is a path and not a name.
fn is_path(text: &str) -> bool {
    text.contains(['/', '.'])
}

impl fmt::Display for EvaluatorSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluatorSource::Best => f.write_str(BEST),
            EvaluatorSource::Named(kind) => kind.fmt(f),
            // Without a `/` or a `.` it would be read as a name.
            EvaluatorSource::Model(path) if !is_path(&path.to_string_lossy()) => {
                write!(f, "./{}", path.display())
            }
            EvaluatorSource::Model(path) => path.display().fmt(f),
        }
    }
}

impl FieldValue for EvaluatorSource {
    fn to_value(&self) -> Option<Value> {
        Some(match self {
            EvaluatorSource::Best => Value::Name(BEST),
            EvaluatorSource::Named(kind) => Value::Name(kind.name()),
            EvaluatorSource::Model(_) => Value::Path(self.to_string()),
        })
    }

    fn from_value(value: Value) -> Option<EvaluatorSource> {
        match value {
            Value::Name(name) => EvaluatorSource::read(name),
            Value::Text(text) | Value::Path(text) => EvaluatorSource::read(&text),
            _ => None,
        }
    }
}

impl NaturalValues for EvaluatorSource {
    const ALLOWED: Allowed =
        text("best, positional, discs, or the path of a model with a `/` or a `.`", |text| {
            EvaluatorSource::read(text).is_some()
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths_are_read_and_misspelt_names_are_refused() {
        for (text, wanted) in [
            ("best", Some(EvaluatorSource::Best)),
            ("discs", Some(EvaluatorSource::Named(EvaluatorKind::Discs))),
            ("./discs", Some(EvaluatorSource::Model("./discs".into()))),
            ("runs/linear", Some(EvaluatorSource::Model("runs/linear".into()))),
            ("positonal", None),
        ] {
            let found = EvaluatorSource::read(text);
            assert_eq!(found, wanted, "{text}");
            assert!(found.is_none_or(|found| found.to_string() == text));
        }
    }

    #[test]
    fn the_path_of_a_model_is_written_as_it_can_be_read() {
        for (path, wanted) in [("stages", "./stages"), ("runs/stages", "runs/stages")] {
            let source = EvaluatorSource::Model(path.into());
            assert_eq!(source.to_string(), wanted);
            assert_eq!(EvaluatorSource::read(wanted), Some(EvaluatorSource::Model(wanted.into())));
            assert_eq!(source.to_value(), Some(Value::Path(wanted.into())));
        }
        // A path that is also a name.
        let path = EvaluatorSource::Model("discs".into());
        assert_eq!(path.to_string(), "./discs");
    }

    #[test]
    fn the_allowed_names_are_those_of_the_evaluators() {
        let words = EvaluatorSource::ALLOWED.to_string();
        assert!(
            words.starts_with(&format!("{BEST}, {}", EvaluatorKind::NAMES.join(", "))),
            "{words}"
        );
    }
}
