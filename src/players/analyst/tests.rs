//! Tests of analysts, with players of each kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::game::{Goal, Square6};
use crate::players::open;
use crate::players::player::{Bound, Choice, Hint, Source, random_square};
use crate::search::endgame::Solver;

type G = Square6;

/// Longer than any of these tests should take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn analyst(spec: &str) -> Analyst<G> {
    let spec = spec.parse().expect("a player");
    Analyst::start(open::player(&spec, Goal::Most).expect("a player")).expect("a thread")
}

/// The moves of a random game up to `empties` empty squares, with a choice of moves there.
fn late(empties: u32) -> Question<G> {
    for seed in 0.. {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (mut position, mut moves) = (Position::<G>::start(), Vec::new());
        while position.board.empties() > empties
            && let Some(square) = random_square(position.board.legal(), &mut random)
        {
            moves.push(square);
            position = position.play(square).expect("legal").pass_if_forced();
        }
        if position.board.legal().len() > 2 {
            return Question::new(Position::start(), moves).expect("legal moves");
        }
    }
    unreachable!("there are such games")
}

fn next(updates: &Receiver<Update>) -> Update {
    updates.recv_timeout(PATIENCE).expect("an update")
}

/// The last hints, after any others.
fn last(updates: &Receiver<Update>) -> Analysis {
    loop {
        if let Update::Finished(result) = next(updates) {
            return result.expect("an analysis");
        }
    }
}

#[test]
fn searches_stream_hints_until_they_are_stopped() {
    for (spec, source) in [("alphabeta:depth=1", Source::AlphaBeta), ("rollouts", Source::Rollouts)]
    {
        let mut analyst = analyst(spec);
        let question = Question::<G>::new(Position::start(), Vec::new()).expect("a question");
        let updates = analyst.ask(Question { interval: Duration::ZERO, ..question });
        for _ in 0..4 {
            let Update::Improved(analysis) = next(&updates) else { panic!("{spec}: it ended") };
            assert_eq!(analysis.hints.len(), 4, "{spec}: {analysis:?}");
            assert!(analysis.hints.iter().all(|hint| hint.source == source), "{spec}");
        }
        analyst.stop();
        assert_eq!(last(&updates).hints.len(), 4, "{spec}");
    }
}

#[test]
fn a_player_without_a_search_gives_its_one_answer() {
    let mut analyst = analyst("random");
    let updates = analyst.ask(late(20));
    let Update::Finished(Ok(analysis)) = next(&updates) else { panic!("one answer") };
    assert_eq!(analysis.hints.len(), 1);
    assert_eq!(analysis.hints[0].source, Source::Choice);
    assert!(updates.recv().is_err(), "the channel is closed");
}

#[test]
fn an_ending_becomes_exact_and_never_less_than_it_was() {
    let question = late(9);
    let position = question.position();
    let mut analyst = analyst("alphabeta:depth=2");
    let hints = last(&analyst.ask(question)).hints;
    assert_eq!(hints.len(), position.board.legal().len());
    for hint in hints {
        let after = position.play(hint.line[0]).expect("legal").pass_if_forced();
        let score = Solver::new(Goal::Most, 1 << 16).score(after.board);
        let score = if after.side == position.side { score } else { -score };
        assert_eq!((hint.bound, hint.score), (Bound::Exact, Some(score as f32)));
    }
}

#[test]
fn a_new_question_ends_the_old_one() {
    let mut analyst = analyst("alphabeta:depth=1");
    let old = analyst.ask(late(30));
    next(&old);
    let new = analyst.ask(late(6));
    last(&old);
    assert_eq!(last(&new).hints[0].bound, Bound::Exact);
}

#[test]
fn illegal_moves_are_refused_and_a_finished_game_has_no_hints() {
    assert!(Question::<G>::new(Position::start(), vec![Square(0)]).is_none());
    assert!(Question::<G>::new(Position::start(), vec![Square(255)]).is_none());
    let mut question = late(4);
    while let Some(square) = question.position().board.legal().next() {
        let moves = [&question.moves[..], &[square]].concat();
        question = Question::new(question.start, moves).expect("legal moves");
    }
    let mut analyst = analyst("alphabeta:depth=1");
    assert_eq!(last(&analyst.ask(question)), Analysis::default());
}

/// Reports without end until it is stopped, and tells when its analysis ends and when it is dropped.
struct Watched {
    ended: Arc<AtomicBool>,
    dropped: Arc<AtomicBool>,
}

impl Player<G> for Watched {
    fn name(&self) -> String {
        "watched".into()
    }

    fn choose(&mut self, _: &[Turn<'_, G>]) -> Vec<Result<Choice, PlayerError>> {
        panic!("an analyst only analyses");
    }

    fn end_game(&mut self, _: u32) {}

    fn analyze(
        &mut self,
        turn: &Turn<'_, G>,
        _: usize,
        control: &mut Control<'_>,
    ) -> Result<Analysis, PlayerError> {
        let square = turn.position.board.legal().next().expect("a move");
        let mut nodes = 0;
        while !control.stop.is_set() {
            nodes += 1;
            control.report(vec![Hint::plain(square, Source::Choice)], nodes);
        }
        self.ended.store(true, Ordering::Release);
        Ok(control.analysis(vec![Hint::plain(square, Source::Choice)], nodes))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.dropped.store(true, Ordering::Release);
    }
}

fn watched() -> (Analyst<G>, [Arc<AtomicBool>; 2]) {
    let flags = [Arc::<AtomicBool>::default(), Arc::default()];
    let player = Watched { ended: flags[0].clone(), dropped: flags[1].clone() };
    (Analyst::start(Box::new(player)).expect("a thread"), flags)
}

#[test]
fn a_dropped_analyst_leaves_no_player_behind() {
    let (mut analyst, [ended, dropped]) = watched();
    let updates = analyst.ask(late(20));
    next(&updates);
    drop(analyst);
    assert!(ended.load(Ordering::Acquire) && dropped.load(Ordering::Acquire));
}

#[test]
fn an_analysis_that_nobody_reads_ends() {
    let (mut analyst, [ended, dropped]) = watched();
    drop(analyst.ask(late(20)));
    while !ended.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    assert!(!dropped.load(Ordering::Acquire), "the player waits for the next question");
}

#[test]
fn a_reader_that_lags_misses_updates_but_not_the_last() {
    let (mut analyst, _) = watched();
    let updates = analyst.ask(late(20));
    let wait_for = |count| {
        while updates.len() < count {
            std::thread::yield_now();
        }
    };
    wait_for(WAITING - 1);
    analyst.stop();
    // The place that was left is for the last one.
    wait_for(WAITING);
    let all: Vec<_> = updates.iter().collect();
    assert_eq!(all.len(), WAITING);
    assert!(matches!(&all[WAITING - 1], Update::Finished(Ok(last)) if last.nodes > 15));
}
