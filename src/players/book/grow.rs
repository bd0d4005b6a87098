//! Growth of a book: positions are searched by several threads, and added.
//!
//! The book depends on the searches only, not on the number of threads: each batch of positions is
//! chosen before it is searched, and a search depends on its position only. A batch that is
//! interrupted keeps the searches that were completed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::plan::{Growth, Job, jobs};
use crate::game::{Board, Geometry, SquareSet};
use crate::players::kinds::AlphaBetaPlayer;
use crate::search::alphabeta::SearchResult;
use crate::search::stop::Stop;
use crate::store::book::{Book, DISC, Leaf};

/// How long a thread that waits for searches may miss a request to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// What searches the positions of a book.
pub trait Searcher<G: Geometry>: Send {
    /// The best move of a position as if those of `skipped` were not legal; `None` if no move is
    /// left. It ends early if `stop` is set.
    fn search(
        &mut self,
        board: Board<G>,
        skipped: SquareSet<G>,
        stop: &Stop,
    ) -> Option<SearchResult>;
}

impl<G: Geometry> Searcher<G> for AlphaBetaPlayer<G> {
    fn search(
        &mut self,
        board: Board<G>,
        skipped: SquareSet<G>,
        stop: &Stop,
    ) -> Option<SearchResult> {
        self.search_without(board, skipped, stop)
    }
}

/// What a batch of searches did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Positions that were searched. 0 means that the book has grown, or that growth was stopped.
    pub searched: usize,
    /// Those of them that were added.
    pub added: usize,
}

/// Lets a book grow.
///
/// ```
/// use std::sync::atomic::AtomicBool;
///
/// use outflank::eval::AnyEvaluator;
/// use outflank::eval::positional::Positional;
/// use outflank::game::{Board, Goal, Square6};
/// use outflank::players::book::{Grower, Growth};
/// use outflank::players::kinds::AlphaBetaPlayer;
/// use outflank::players::spec::{AlphaBetaSpec, ThinkingLimit};
/// use outflank::store::book::Book;
///
/// let evaluator = AnyEvaluator::from(Positional::<Square6>::new(Goal::Most));
/// let spec = AlphaBetaSpec { limit: ThinkingLimit::Depth(2), ..AlphaBetaSpec::default() };
/// let player = AlphaBetaPlayer::new("depth 2".into(), Goal::Most, &evaluator, spec)?;
/// let mut grower = Grower::new(vec![player], Growth { penalty: 0.5, plies: 10, positions: 8 });
/// let mut book = Book::new(Goal::Most);
/// while grower.step(&mut book, &AtomicBool::new(false)).searched > 0 {}
/// assert_eq!((book.len(), book.contains(Board::start())), (8, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Grower<S> {
    searchers: Vec<S>,
    growth: Growth,
}

impl<S> Grower<S> {
    /// Growth with a thread for each searcher; all of them must be alike.
    pub fn new(searchers: Vec<S>, growth: Growth) -> Grower<S> {
        Grower { searchers, growth }
    }

    /// Searches one batch of positions and adds the results to the book. When `stop` is set, only
    /// the searches that were completed before are added.
    pub fn step<G: Geometry>(&mut self, book: &mut Book<G>, stop: &AtomicBool) -> Progress
    where
        S: Searcher<G>,
    {
        let jobs = jobs(book, &self.growth);
        if jobs.is_empty() || stop.load(Ordering::Relaxed) {
            return Progress::default();
        }
        let before = book.len();
        let found = self.search(&jobs, stop);
        for &(board, leaf) in &found {
            match leaf {
                Some(leaf) => book.set_leaf(board, leaf),
                None => drop(book.add(board)),
            }
        }
        book.revalue();
        Progress { searched: found.len(), added: book.len() - before }
    }

    /// The results of the jobs that were completed, in any order.
    fn search<G: Geometry>(
        &mut self,
        jobs: &[Job<G>],
        stop: &AtomicBool,
    ) -> Vec<(Board<G>, Option<Leaf>)>
    where
        S: Searcher<G>,
    {
        let (next, halt) = (AtomicUsize::new(0), Stop::default());
        // It has room for all results, so no thread waits.
        let (sender, results) = sync_channel(jobs.len());
        let mut found = Vec::new();
        std::thread::scope(|scope| {
            for searcher in &mut self.searchers {
                let (next, halt, sender) = (&next, halt.clone(), sender.clone());
                scope.spawn(move || {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = searcher.search(job.board, job.skipped, &halt);
                        let result = (job.board, result.as_ref().map(leaf));
                        if halt.is_set() || sender.send(result).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            loop {
                match results.recv_timeout(PATIENCE) {
                    Ok(result) => found.push(result),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if stop.load(Ordering::Relaxed) {
                    halt.set();
                }
            }
        });
        found
    }
}

/// The leaf move of a search.
fn leaf(result: &SearchResult) -> Leaf {
    let score = (result.score * f32::from(DISC)).round() as i16;
    let depth = if result.exact { Leaf::EXACT } else { result.depth.clamp(1, 254) as u8 };
    Leaf { square: result.square, score, depth }
}
