//! Which games are wanted.

use anyhow::Context as _;

use crate::cli::span::Span;
use crate::game::record::Source;
use crate::game::{Board, Geometry, Position, Shape, Square, Symmetry};
use crate::store::import::{Ending, Game, text};

/// The games that are wanted: those that fit every option.
#[derive(clap::Args, Debug)]
pub(super) struct FilterArgs {
    /// Only games of a player whose name has this text, in upper or lower case; by default of all
    #[arg(long, value_name = "TEXT")]
    player: Option<String>,
    /// Only games in which black's name has this text; by default all
    #[arg(long, value_name = "TEXT")]
    black: Option<String>,
    /// Only games in which white's name has this text; by default all
    #[arg(long, value_name = "TEXT")]
    white: Option<String>,
    /// Only games of a year, such as 1999, or of several, such as 1990..2005; by default all
    #[arg(long, value_name = "YEARS")]
    years: Option<Span>,
    /// Only games with this final score for black, such as 2..64 or -6..6; by default all
    #[arg(long, value_name = "SCORES", allow_hyphen_values = true)]
    score: Option<Span>,
    /// Only games that begin with these moves, or their images on the board; by default all
    #[arg(long, value_name = "MOVES")]
    opening: Option<String>,
    /// Only games of this source: self-play, match or import; by default of all
    #[arg(long, value_name = "SOURCE")]
    source: Option<Source>,
    /// Only games that this worker played; by default of all
    #[arg(long, value_name = "NAME")]
    worker: Option<Box<str>>,
    /// Only finished games
    #[arg(long)]
    finished: bool,
    /// Only the first N games that fit; by default all
    #[arg(long, value_name = "N", conflicts_with = "last")]
    pub(super) first: Option<u64>,
    /// Only the last N games that fit; by default all
    #[arg(long, value_name = "N")]
    pub(super) last: Option<u64>,
}

/// [`FilterArgs`] ready to be applied.
pub(super) struct Filter {
    player: Option<String>,
    black: Option<String>,
    white: Option<String>,
    years: Option<Span>,
    score: Option<Span>,
    shape: Shape,
    /// The images of the opening that begin at the board's own start.
    openings: Option<Vec<Vec<Square>>>,
    source: Option<Source>,
    worker: Option<Box<str>>,
    finished: bool,
}

impl Filter {
    /// The filter; an opening is on board `shape`.
    ///
    /// # Errors
    ///
    /// The opening has an illegal move.
    pub fn new(args: &FilterArgs, shape: Shape) -> anyhow::Result<Filter> {
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        let openings = match &args.opening {
            Some(text) => Some(dispatch!(shape, G => images::<G>(text))?),
            None => None,
        };
        Ok(Filter {
            player: lower(&args.player),
            black: lower(&args.black),
            white: lower(&args.white),
            years: args.years,
            score: args.score,
            shape,
            openings,
            source: args.source,
            worker: args.worker.clone(),
            finished: args.finished,
        })
    }

    /// Whether a game fits every option.
    pub fn accepts(&self, game: &Game) -> bool {
        let has = |name: &Option<Box<str>>, text: &str| {
            name.as_ref().is_some_and(|name| name.to_lowercase().contains(text))
        };
        let is_in = |span: Span, number: Option<i32>| number.is_some_and(|it| span.has(it));
        let record = &game.record;
        self.player.as_ref().is_none_or(|text| has(&game.black, text) || has(&game.white, text))
            && self.black.as_ref().is_none_or(|text| has(&game.black, text))
            && self.white.as_ref().is_none_or(|text| has(&game.white, text))
            && self.years.is_none_or(|years| is_in(years, game.year().map(i32::from)))
            && self.score.is_none_or(|score| is_in(score, game.score().map(i32::from)))
            && self.source.is_none_or(|source| record.source == source)
            && self.worker.as_ref().is_none_or(|worker| record.worker.as_ref() == Some(worker))
            && (!self.finished || game.ending == Ending::Finished)
            && self.begins(game)
    }

    fn begins(&self, game: &Game) -> bool {
        let Some(openings) = &self.openings else { return true };
        let has_own_start = dispatch!(self.shape, G => {
            game.record.start::<G>().is_ok_and(|start| start == Position::start())
        });
        has_own_start
            && openings.iter().any(|opening| {
                opening.len() <= game.record.moves.len()
                    && game.squares().zip(opening).all(|(played, &wanted)| played == wanted)
            })
    }
}

/// The images of an opening under the symmetries that keep the start position.
fn images<G: Geometry>(text: &str) -> anyhow::Result<Vec<Vec<Square>>> {
    let moves = text::moves::<G>(text, Position::start())
        .with_context(|| format!("--opening on board {}", G::SHAPE))?;
    let start = Board::<G>::start();
    let kept = Symmetry::ALL.into_iter().filter(|symmetry| symmetry.board(start) == start);
    let image = |symmetry: Symmetry| moves.iter().map(|&it| symmetry.square::<G>(it)).collect();
    Ok(kept.map(image).collect())
}
