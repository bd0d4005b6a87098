//! Where the evaluator of a net's inputs is found (`net.inputs = "evaluations"`).
//!
//! A net works with one evaluator only, which it names by the checksum of its weights. A run keeps a
//! copy of it. The nets that come with the program work with an evaluator that comes with it. Each is
//! read once, and all nets of the process share it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::models::{LoadError, LoadedModel};
use crate::game::{Goal, Shape};
use crate::net::{InputEvaluator, Inputs, NetSpec, TowerOptions};
use crate::store::checkpoint::NET;
use crate::store::model_file::{ModelFile, ModelFileError};
use crate::store::shipped;

/// The copy in a run directory, or beside a net.
pub const COPY: &str = "evaluator.safetensors";

/// A copy is looked for in the folder of a net and in this many folders above it: a net lies in
/// `RUN/checkpoints/STEP`.
const FOLDERS_ABOVE: usize = 2;

/// What was read so far.
static OPENED: Mutex<Vec<(Shape, Goal, InputEvaluator)>> = Mutex::new(Vec::new());

/// Why a net has no evaluator for its inputs.
#[derive(Debug, thiserror::Error)]
pub enum InputsError {
    /// There is none for the board and goal.
    #[error(
        "inputs = \"evaluations\": no evaluator is shipped for {shape} and the {goal} discs; \
         allowed there: \"lookahead\", \"discs\""
    )]
    Missing {
        /// The board.
        shape: Shape,
        /// The goal.
        goal: Goal,
    },
    /// It is another one.
    #[error(
        "inputs = \"evaluations\": the net needs the evaluator {wanted}, and {} is {found}; \
         put the right one beside the net, as {COPY}", path.display()
    )]
    Other {
        /// The checksum that the net names.
        wanted: String,
        /// The last one that was looked at.
        path: PathBuf,
        /// Its checksum.
        found: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Load(#[from] Box<LoadError>),
}

/// A net with the evaluator of its inputs, if it needs one. `near` is the net's file or folder.
///
/// # Errors
///
/// The evaluator is missing, damaged or another one.
pub fn complete(spec: NetSpec, goal: Goal, near: Option<&Path>) -> Result<NetSpec, InputsError> {
    if spec.options.inputs != Inputs::Evaluations {
        return Ok(spec);
    }
    let evaluator = find(spec.shape, goal, &spec.options.inputs_evaluator, near)?;
    let options = TowerOptions { inputs_evaluator: evaluator.checksum().into(), ..spec.options };
    Ok(NetSpec { options, evaluator: Some(evaluator), ..spec })
}

/// Copies the shipped evaluator of a board into the directory of a new run.
///
/// # Errors
///
/// It cannot be read or written.
pub fn keep_copy(shape: Shape, goal: Goal, run: &Path) -> Result<(), ModelFileError> {
    let Some(folder) = shipped::evaluator(shape, goal) else { return Ok(()) };
    ModelFile::read(&folder.join(NET))?.write(&run.join(COPY))
}

/// Copies the evaluator of a run's nets to a folder with one of these nets, unless it is the shipped
/// one.
///
/// # Errors
///
/// It cannot be read or written.
pub fn pass_on(net: &NetSpec, goal: Goal, run: &Path, folder: &Path) -> Result<(), ModelFileError> {
    let Some(evaluator) = &net.evaluator else { return Ok(()) };
    if let Some(shipped) = shipped::evaluator(net.shape, goal) {
        let shipped = ModelFile::read(&shipped.join(NET))?;
        if shipped.weights_checksum() == evaluator.checksum() {
            return Ok(());
        }
    }
    ModelFile::read(&run.join(COPY))?.write(&folder.join(COPY))
}

fn find(
    shape: Shape,
    goal: Goal,
    wanted: &str,
    near: Option<&Path>,
) -> Result<InputEvaluator, InputsError> {
    if let Some(known) = known(shape, goal, wanted) {
        return Ok(known);
    }
    let folders = near.into_iter().flat_map(|net| net.ancestors().skip(1).take(1 + FOLDERS_ABOVE));
    let copies = folders.map(|folder| folder.join(COPY)).filter(|copy| copy.is_file());
    let mut other = InputsError::Missing { shape, goal };
    for path in copies.chain(shipped::evaluator(shape, goal)) {
        let model = LoadedModel::read(&path).and_then(|model| model.for_match(shape, goal));
        let model = model.map_err(Box::new)?;
        let found = model.weights_checksum();
        if [found, ""].contains(&wanted) {
            if let Some(known) = known(shape, goal, found) {
                return Ok(known);
            }
            let evaluator = dispatch!(shape, G => {
                InputEvaluator::new::<G>(&model.evaluator().map_err(Box::new)?, found)
            });
            let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
            opened.push((shape, goal, evaluator.clone()));
            return Ok(evaluator);
        }
        other = InputsError::Other { wanted: wanted.into(), path, found: found.into() };
    }
    Err(other)
}

/// The evaluator with this checksum, if it was read before.
fn known(shape: Shape, goal: Goal, checksum: &str) -> Option<InputEvaluator> {
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_wanted = |(of, aim, evaluator): &&(Shape, Goal, InputEvaluator)| {
        (*of, *aim) == (shape, goal) && evaluator.checksum() == checksum
    };
    opened.iter().find(is_wanted).map(|(.., evaluator)| evaluator.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(shape: Shape, evaluator: &str) -> NetSpec {
        let options = TowerOptions {
            inputs: Inputs::Evaluations,
            inputs_evaluator: evaluator.into(),
            ..TowerOptions::default()
        };
        NetSpec { shape, options, evaluator: None }
    }

    #[test]
    fn a_net_that_names_no_evaluator_gets_the_shipped_one_and_then_names_it() {
        let shape = Shape::Square6;
        let complete_spec = complete(spec(shape, ""), Goal::Most, None).expect("it is shipped");
        let shipped = shipped::evaluator(shape, Goal::Most).expect("it is shipped");
        let shipped = LoadedModel::read(&shipped).expect("a model");
        assert_eq!(complete_spec.options.inputs_evaluator, shipped.weights_checksum());
        let evaluator = complete_spec.evaluator.clone().expect("an evaluator");
        assert_eq!(evaluator.checksum(), shipped.weights_checksum());
        // Its description is enough to find it again.
        let again = NetSpec::of(&complete_spec.description(Goal::Most)).expect("a net");
        assert_eq!(complete(again, Goal::Most, None).expect("it is shipped"), complete_spec);
    }

    #[test]
    fn other_inputs_need_no_evaluator() {
        let shape = Shape::Square7;
        let plain = NetSpec { shape, options: TowerOptions::default(), evaluator: None };
        assert_eq!(complete(plain.clone(), Goal::Fewest, None).expect("none is needed"), plain);
    }

    #[test]
    fn a_board_without_an_evaluator_is_refused_by_name() {
        let error = complete(spec(Shape::Square7, ""), Goal::Fewest, None).expect_err("none");
        let text = error.to_string();
        assert!(text.contains("no evaluator is shipped for 7x7 and the fewest discs"), "{text}");
    }

    #[test]
    fn the_copy_of_a_run_is_found_from_its_nets_and_another_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let net = folder.path().join("checkpoints/000000000008/net.safetensors");
        // Another model than the shipped one stands for that of an older version.
        let source = shipped::folder("checkpoints/stages-8x8").expect("it is shipped");
        let older = LoadedModel::read(&source).expect("a model").weights_checksum().to_owned();
        let wanted = || spec(Shape::Square8, &older);
        let text = complete(wanted(), Goal::Most, Some(&net)).expect_err("no copy").to_string();
        assert!(text.contains(&format!("needs the evaluator {older}, and ")), "{text}");
        assert!(text.contains("patternnet-8x8"), "{text}");
        let copy = folder.path().join(COPY);
        std::fs::copy(source.join(NET), &copy).expect("a copy");
        let found = complete(wanted(), Goal::Most, Some(&net)).expect("the copy");
        assert_eq!(found.evaluator.as_ref().expect("an evaluator").checksum(), older);
        // A net that leaves its run takes the copy along.
        let (run, exported) = (folder.path(), folder.path().join("exported"));
        std::fs::create_dir(&exported).expect("a folder");
        pass_on(&found, Goal::Most, run, &exported).expect("a copy");
        let beside = LoadedModel::read(&exported.join(COPY)).expect("a model");
        assert_eq!(beside.weights_checksum(), older);
        let shipped = complete(spec(Shape::Square8, ""), Goal::Most, None).expect("it is shipped");
        std::fs::remove_file(exported.join(COPY)).expect("a copy");
        pass_on(&shipped, Goal::Most, run, &exported).expect("nothing to do");
        assert!(!exported.join(COPY).exists(), "the shipped one is not copied");
        // A copy for another board, and one that is no evaluator.
        let error = complete(spec(Shape::Square6, "x"), Goal::Most, Some(&net)).expect_err("8x8");
        assert!(error.to_string().contains("the model is for board 8x8, not 6x6"), "{error}");
        let source = shipped::folder("checkpoints/8x8-small").expect("it is shipped");
        std::fs::copy(source.join(NET), &copy).expect("a copy");
        let error = complete(spec(Shape::Square8, ""), Goal::Most, Some(&net)).expect_err("a net");
        assert!(error.to_string().contains("no evaluator is a model of kind `net`"), "{error}");
    }

    #[test]
    fn a_new_run_gets_a_copy_of_the_shipped_evaluator() {
        let folder = tempfile::tempdir().expect("a folder");
        keep_copy(Shape::Square6, Goal::Most, folder.path()).expect("a copy");
        let model = LoadedModel::read(&folder.path().join(COPY)).expect("a model");
        assert_eq!(model.description.shape, Shape::Square6);
    }
}
