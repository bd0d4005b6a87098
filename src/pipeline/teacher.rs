//! A teacher: a finished model that answers the searches of a run's first games in place of its net.
//!
//! So the net begins with the knowledge of another model: its policies and values are those that
//! searches with the teacher find (distilling). A model by patterns answers much faster than a net.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context as _;

use super::inference::PredictorAndGroups;
use super::sync::Counters;
use crate::config::Config;
use crate::model::Weights;
use crate::players::models::{LoadError, LoadedModel};
use crate::predict::{LocalPredictor, PredictError, Predictor, Query};
use crate::store::shipped;

/// The value of `selfplay.teacher` that stands for the strongest model by patterns that is shipped.
const BEST: &str = "best";

/// The teacher of a run.
pub(super) struct Teacher<'a> {
    config: &'a Config,
    model: LoadedModel,
}

impl<'a> Teacher<'a> {
    /// The teacher of this configuration; `None` if it has none.
    ///
    /// # Errors
    ///
    /// There is no such model, it is damaged, or it is for another board or goal.
    pub fn open(config: &'a Config) -> anyhow::Result<Option<Teacher<'a>>> {
        let name = &config.selfplay.teacher;
        if name.is_empty() || config.selfplay.teacher_positions == 0 {
            return Ok(None);
        }
        let model = read(name, config).with_context(|| format!("selfplay.teacher = \"{name}\""))?;
        Ok(Some(Teacher { config, model }))
    }

    /// A predictor that asks this teacher until the run has generated `teacher_positions` positions,
    /// and then `net`.
    ///
    /// # Errors
    ///
    /// The teacher cannot be computed on the run's device.
    fn taught(
        &self,
        net: Box<dyn Predictor>,
        counters: &Arc<Counters>,
    ) -> Result<Box<dyn Predictor>, LoadError> {
        let backend = self.model.backend(&self.config.inference, &self.config.device)?;
        Ok(Box::new(Taught {
            teacher: LocalPredictor::new(backend),
            net,
            counters: Arc::clone(counters),
            positions: self.config.selfplay.teacher_positions,
            asked_teacher: Vec::new(),
        }))
    }
}

/// The predictors of actors whose games begin with a teacher, if there is one.
///
/// # Errors
///
/// As for [`Teacher::open`] and [`Teacher::taught`].
pub(super) fn before(
    config: &Config,
    predictors: Vec<PredictorAndGroups>,
    counters: &Arc<Counters>,
) -> anyhow::Result<Vec<PredictorAndGroups>> {
    let Some(teacher) = Teacher::open(config)? else { return Ok(predictors) };
    let taught = |(net, groups)| Ok((teacher.taught(net, counters)?, groups));
    predictors.into_iter().map(taught).collect()
}

fn read(name: &str, config: &Config) -> anyhow::Result<LoadedModel> {
    let (board, goal) = (config.board, config.goal);
    let path = match name {
        BEST => shipped::evaluator(board, goal)
            .with_context(|| format!("there is no such model for {board} and the {goal} discs"))?,
        _ => PathBuf::from(name),
    };
    Ok(LoadedModel::read(&path)?.for_match(board, goal)?)
}

/// Asks a teacher first, then a net.
struct Taught {
    teacher: LocalPredictor,
    net: Box<dyn Predictor>,
    counters: Arc<Counters>,
    /// The number of positions of the run up to which the teacher is asked.
    positions: u64,
    /// Whether the query in a slot went to the teacher.
    asked_teacher: Vec<bool>,
}

impl Predictor for Taught {
    fn submit(&mut self, slot: usize, query: Query) -> Result<(), PredictError> {
        if self.asked_teacher.len() <= slot {
            self.asked_teacher.resize(slot + 1, false);
        }
        let asks_teacher = self.counters.positions.load(Ordering::Relaxed) < self.positions;
        self.asked_teacher[slot] = asks_teacher;
        match asks_teacher {
            true => self.teacher.submit(slot, query),
            false => self.net.submit(slot, query),
        }
    }

    fn collect(&mut self, slot: usize) -> Result<Query, PredictError> {
        match self.asked_teacher.get(slot) {
            Some(true) => self.teacher.collect(slot),
            _ => self.net.collect(slot),
        }
    }

    fn load(&mut self, weights: &Arc<Weights>, version: u64) -> Result<(), PredictError> {
        self.net.load(weights, version)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::*;
    use crate::game::{Board, Square6};
    use crate::predict::Input;
    use crate::train::selfplay::GameNumbers;

    /// A net that answers 9 to everything, and tells which versions it got.
    #[derive(Default)]
    struct Nines {
        query: Option<Query>,
        loaded: Arc<Mutex<Vec<u64>>>,
    }

    impl Predictor for Nines {
        fn submit(&mut self, _: usize, mut query: Query) -> Result<(), PredictError> {
            query.predictions.value = vec![9.0; query.inputs.len()];
            self.query = Some(query);
            Ok(())
        }

        fn collect(&mut self, slot: usize) -> Result<Query, PredictError> {
            self.query.take().ok_or(PredictError::EmptySlot { slot })
        }

        fn load(&mut self, _: &Arc<Weights>, version: u64) -> Result<(), PredictError> {
            self.loaded.lock().expect("one thread").push(version);
            Ok(())
        }
    }

    fn config(more: &str) -> Config {
        let text = format!("board = \"6x6\"\n[selfplay]\nteacher_positions = 100\n{more}");
        Config::parse("test", &text, &[]).expect("a configuration")
    }

    #[test]
    fn the_teacher_answers_until_its_positions_are_generated_and_then_the_net() {
        let config = config("teacher = \"best\"");
        let counters = Arc::new(Counters {
            numbers: GameNumbers::from(0),
            positions: AtomicU64::new(99),
            learner_starved: AtomicBool::new(false),
        });
        let nines = Nines::default();
        let loaded = Arc::clone(&nines.loaded);
        let teacher = Teacher::open(&config).expect("it is shipped").expect("it is set");
        let mut taught = teacher.taught(Box::new(nines), &counters).expect("a predictor");

        let board = Board::<Square6>::start();
        let query = || Query { inputs: vec![Input::new(board, board.legal())], ..Query::default() };
        let backend = teacher.model.backend(&config.inference, "cpu").expect("a backend");
        let mut alone = LocalPredictor::new(backend);
        alone.submit(0, query()).expect("an answer");
        let wanted = alone.collect(0).expect("an answer").predictions;

        taught.submit(1, query()).expect("an answer");
        counters.positions.store(100, Ordering::Relaxed);
        taught.load(&Arc::default(), 3).expect("a net");
        taught.submit(0, query()).expect("an answer");
        assert_eq!(taught.collect(1).expect("an answer").predictions, wanted);
        assert_eq!(taught.collect(0).expect("an answer").predictions.value, [9.0]);
        assert!(taught.collect(2).is_err(), "nothing was asked");
        assert_eq!(*loaded.lock().expect("one thread"), [3]);
    }

    #[test]
    fn without_positions_or_a_name_there_is_no_teacher() {
        for more in ["", "teacher = \"\""] {
            assert!(Teacher::open(&config(more)).expect("none").is_none());
        }
        let none = "board = \"6x6\"\n[selfplay]\nteacher = \"best\"\nteacher_positions = 0";
        let config = Config::parse("test", none, &[]).expect("a configuration");
        assert!(Teacher::open(&config).expect("none").is_none());
    }

    #[test]
    fn a_wrong_teacher_is_named_with_its_key() {
        for (name, wanted) in [
            ("nowhere", "selfplay.teacher = \"nowhere\": cannot read nowhere"),
            (
                concat!(env!("CARGO_MANIFEST_DIR"), "/checkpoints/patterns-8x8"),
                "the model is for board 8x8, not 6x6",
            ),
        ] {
            let config = config(&format!("teacher = {name:?}"));
            let Err(error) = Teacher::open(&config) else { panic!("{name} is no teacher") };
            assert!(format!("{error:#}").contains(wanted), "{error:#}");
        }
    }
}
