//! Evaluators that are chosen at run time.
//!
//! Code that is generic over the evaluator runs with the chosen one through
//! [`visit`](crate::eval::AnyEvaluator::visit), once: when a search or a player is made.

use std::sync::Arc;

use super::Evaluator;
use crate::game::Geometry;

/// Code to run with an evaluator whose type is chosen at run time.
///
/// ```
/// use std::sync::Arc;
///
/// use outflank::eval::positional::Positional;
/// use outflank::eval::{AnyEvaluator, Evaluator, EvaluatorVisitor, TrackedBoard};
/// use outflank::game::{Board, Geometry, Goal, Square6};
///
/// /// The value of the start position, by an evaluator of any type.
/// struct StartValue;
///
/// impl<G: Geometry> EvaluatorVisitor<G> for StartValue {
///     type Output = i32;
///     fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) -> i32 {
///         TrackedBoard::begin(&*evaluator, Board::start()).evaluate(&*evaluator)
///     }
/// }
///
/// let evaluator = AnyEvaluator::from(Positional::<Square6>::new(Goal::Most));
/// assert_eq!(evaluator.visit(StartValue), 0);
/// ```
pub trait EvaluatorVisitor<G: Geometry> {
    /// What the code returns.
    type Output;

    /// Runs the code.
    fn visit<E: Evaluator<G> + 'static>(self, evaluator: Arc<E>) -> Self::Output;
}

/// Declares [`AnyEvaluator`](crate::eval::AnyEvaluator) from the table of all evaluators, in the
/// module above.
macro_rules! evaluators {
    (
        by hand: { $($(#[$hand_doc:meta])* $hand:ident($by_hand:ty),)+ }
        from models: { $($(#[$learnt_doc:meta])* $learnt:ident($from_model:ty) = $kind:literal,)+ }
    ) => {
        /// An evaluator that is chosen at run time. Clones share its tables.
        ///
        /// ```
        /// use outflank::game::{Board, Goal, Shape, Square6};
        /// use outflank::players::models::LoadedModel;
        /// use outflank::store::shipped;
        ///
        /// let folder = shipped::patterns(Shape::Square6, Goal::Most).expect("a model of the source tree");
        /// let evaluator = LoadedModel::read(&folder)?.evaluator::<Square6>()?;
        /// // With perfect play white wins by 4.
        /// assert!((-12.0..4.0).contains(&evaluator.score(Board::start())));
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug)]
        pub enum AnyEvaluator<G: Geometry> {
            $($(#[$hand_doc])* $hand(Arc<$by_hand>),)+
            $($(#[$learnt_doc])* $learnt(Arc<$from_model>),)+
        }

        impl<G: Geometry> AnyEvaluator<G> {
            /// The kinds of model that are evaluators.
            pub const MODEL_KINDS: &'static [&'static str] = &[$($kind,)+];

            /// The evaluator that a model describes, for the goal that the model was made for.
            ///
            /// # Errors
            ///
            /// No evaluator is of this kind, or the options or the arrays do not fit it.
            pub fn from_model(
                description: &Description,
                weights: &Weights,
            ) -> Result<AnyEvaluator<G>, ModelError> {
                match description.kind.name() {
                    $($kind => <$from_model>::read(description, weights).map(AnyEvaluator::from),)+
                    kind => {
                        let allowed = Self::MODEL_KINDS.join(", ").into();
                        Err(ModelError::UnknownKind { found: kind.into(), allowed })
                    }
                }
            }

            /// Runs code with the evaluator.
            pub fn visit<V: EvaluatorVisitor<G>>(&self, visitor: V) -> V::Output {
                match self {
                    $(AnyEvaluator::$hand(evaluator) => visitor.visit(Arc::clone(evaluator)),)+
                    $(AnyEvaluator::$learnt(evaluator) => visitor.visit(Arc::clone(evaluator)),)+
                }
            }

            /// The same as [`Evaluator::score`].
            pub fn score(&self, board: Board<G>) -> f32 {
                match self {
                    $(AnyEvaluator::$hand(found) => Evaluator::<G>::score(&**found, board),)+
                    $(AnyEvaluator::$learnt(found) => Evaluator::<G>::score(&**found, board),)+
                }
            }

            /// The same as [`Evaluator::probcut`].
            pub fn probcut(&self) -> Option<&ProbCut> {
                match self {
                    $(AnyEvaluator::$hand(found) => Evaluator::<G>::probcut(&**found),)+
                    $(AnyEvaluator::$learnt(found) => Evaluator::<G>::probcut(&**found),)+
                }
            }
        }

        $(evaluators!(@from $hand($by_hand));)+
        $(evaluators!(@from $learnt($from_model));)+
    };
    (@from $variant:ident($evaluator:ty)) => {
        impl<G: Geometry> From<$evaluator> for AnyEvaluator<G> {
            fn from(evaluator: $evaluator) -> Self {
                AnyEvaluator::$variant(Arc::new(evaluator))
            }
        }
    };
}

pub(super) use evaluators;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::linear::Linear;
    use crate::eval::positional::Positional;
    use crate::eval::{AnyEvaluator, Discs, testing};
    use crate::game::{Board, Goal, Square8};
    use crate::model::{Kind, Weights};

    /// The value of a board.
    struct ValueOf<G: Geometry>(Board<G>);

    impl<G: Geometry> EvaluatorVisitor<G> for ValueOf<G> {
        type Output = i32;

        fn visit<E: Evaluator<G>>(self, evaluator: Arc<E>) -> i32 {
            evaluator.value(self.0)
        }
    }

    #[test]
    fn a_visitor_meets_the_evaluator_that_was_chosen() {
        let board = Board::<Square8>::start().play_unchecked(crate::game::Square(19));
        let goal = Goal::Most;
        let weights = testing::linear_weights::<Square8>(3);
        let description = testing::description::<Square8>(Kind::Linear);
        let model = AnyEvaluator::from_model(&description, &weights).expect("weights that fit");
        let positional = Positional::new(goal);
        let values = [positional.value(board), Discs { goal }.value(board)];
        let linear = Linear::read(&description, &weights).expect("weights that fit");
        let chosen = [positional.into(), Discs { goal }.into(), model];
        let found = chosen.map(|any| any.visit(ValueOf(board)));
        assert_eq!(found, [values[0], values[1], linear.value(board)]);
        assert!(found[0] != found[1] && found[1] != found[2], "{found:?}");
    }

    #[test]
    fn an_unknown_kind_of_model_is_refused() {
        let description = testing::description::<Square8>(Kind::Net);
        let error = AnyEvaluator::<Square8>::from_model(&description, &Weights::default());
        let message = error.expect_err("no such kind").to_string();
        let allowed = AnyEvaluator::<Square8>::MODEL_KINDS.join(", ");
        assert_eq!(message, format!("no evaluator is a model of kind `net`; allowed: {allowed}"));
    }
}
