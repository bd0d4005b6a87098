//! Makes players from their specifications.

use super::book::BookPlayer;
use super::contestant::{Contestant, OpenError, PlayerContext};
use super::kind::Opened;
use super::labels::label;
use super::player::Player;
use super::spec::{PlayerName, PlayerSpec};
use crate::game::{Geometry, Goal};

/// Makes the player of a specification, to be used alone: on one core, with nets on the fastest
/// device there is. Equal players from this function make the same moves.
///
/// # Errors
///
/// As for [`contestant`].
///
/// ```
/// use outflank::game::{Goal, Position, Square8};
/// use outflank::players::open;
/// use outflank::players::player::Turn;
///
/// let mut player = open::player::<Square8>(&"alphabeta:depth=4".parse()?, Goal::Most)?;
/// let mut position = Position::<Square8>::start();
/// for _ in 0..4 {
///     let choice = player.choose(&[Turn::at(position)]).remove(0)?;
///     position = position.play(choice.square).expect("a legal move").pass_if_forced();
/// }
/// assert_eq!(position.board.discs(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn player<G: Geometry>(spec: &PlayerSpec, goal: Goal) -> Result<Box<dyn Player<G>>, OpenError> {
    const SEED: u64 = 1;
    (contestant::<G>(spec, &PlayerContext::new(goal))?.open)(SEED)
}

/// Makes the contestant of a specification.
///
/// A net and a book are read here, once. The contestant's identity names the checkpoint in which the
/// net was found, and has the book's fingerprint.
/// The identity of a player with a time limit includes its number of threads.
///
/// # Errors
///
/// A checkpoint or book that cannot be read or has another board or goal, a program that does not
/// exist, or ProbCut without parameters.
///
/// ```
/// use outflank::game::{Goal, Square8};
/// use outflank::players::contestant::PlayerContext;
/// use outflank::players::open;
///
/// let context = PlayerContext::new(Goal::Most);
/// let spec = "alphabeta:depth=2,eval=positional,name=Club".parse()?;
/// let club = open::contestant::<Square8>(&spec, &context)?;
/// assert!(club.name.starts_with("alphabeta:depth=2,") && club.deterministic);
/// // Matches make one player for each thread.
/// let player = (club.open)(1)?;
/// assert_eq!((club.label.as_deref(), player.name().as_str()), (Some("Club"), "Club"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn contestant<G: Geometry>(
    spec: &PlayerSpec,
    context: &PlayerContext,
) -> Result<Contestant<'static, G>, OpenError> {
    let spec = spec.clone().on_cores(context.cores);
    let book = spec.book.as_ref().map(|book| book.open::<G>(context.goal)).transpose()?;
    let Opened { options: kind, origin, make } = spec.kind.open(context)?;
    let found =
        PlayerSpec { kind, book: book.as_ref().map(|book| book.choice.clone()), name: None };
    let given = spec.name.as_ref().map(PlayerName::to_string);
    let name = found.identity();
    // Of equally good moves of a book any may be played.
    let deterministic = found.kind.is_deterministic() && book.is_none();
    let called = label(&name, given.as_deref());
    let open = Box::new(move |seed| {
        let player = make(called.clone(), seed)?;
        Ok(match &book {
            Some(book) => Box::new(BookPlayer::new(player, book.clone(), seed)),
            None => player,
        })
    });
    Ok(Contestant { name, label: given, origin, deterministic, open })
}
