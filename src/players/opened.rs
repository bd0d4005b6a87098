//! Players that stay open from use to use, since opening a net reads a file.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use super::contestant::{OpenError, PlayerContext};
use super::open::contestant;
use super::player::Player;
use super::spec::PlayerSpec;
use crate::game::Geometry;

/// Players of any board that wait for their next use. Several threads may use it.
pub struct OpenPlayers {
    /// The most players that wait.
    most: usize,
    /// The players, each a `Box<dyn Player<G>>`. The last one was used last.
    waiting: Mutex<Vec<(String, Box<dyn Any + Send>)>>,
}

impl OpenPlayers {
    /// No players yet, and room for `most`.
    pub fn new(most: usize) -> OpenPlayers {
        OpenPlayers { most, waiting: Mutex::default() }
    }

    /// Does some work with a player, which is opened with the seed if no equal one waits. Then it
    /// waits for its next use. If the work panics, the
    /// player is lost.
    ///
    /// # Errors
    ///
    /// The player cannot be opened, or the work fails.
    pub fn with<G: Geometry, T, E: From<OpenError>>(
        &self,
        spec: &PlayerSpec,
        context: &PlayerContext,
        seed: u64,
        work: impl FnOnce(&mut dyn Player<G>) -> Result<T, E>,
    ) -> Result<T, E> {
        let key = format!("{} {} {}", G::SHAPE, context.goal, spec.identity());
        let mut player = match self.take(&key) {
            Some(player) => player,
            None => (contestant::<G>(spec, context)?.open)(seed)?,
        };
        let result = work(player.as_mut());
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((key, Box::new(player)));
        if waiting.len() > self.most {
            waiting.remove(0);
        }
        result
    }

    fn take<G: Geometry>(&self, key: &str) -> Option<Box<dyn Player<G>>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let place = waiting.iter().rposition(|(known, _)| known == key)?;
        waiting.remove(place).1.downcast().ok().map(|player| *player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::{Goal, Square6, Square8};

    #[test]
    fn players_wait_for_their_next_use_and_the_oldest_goes() {
        let players = OpenPlayers::new(2);
        let waiting = || -> Vec<String> {
            players.waiting.lock().expect("no panic").iter().map(|(key, _)| key.clone()).collect()
        };
        fn use_one<G: Geometry>(players: &OpenPlayers, text: &str) -> Result<(), OpenError> {
            let spec = text.parse().expect("a player");
            players.with::<G, _, _>(&spec, &PlayerContext::new(Goal::Most), 1, |_| Ok(()))
        }
        for _ in 0..2 {
            use_one::<Square6>(&players, "greedy").expect("no error");
            use_one::<Square8>(&players, "greedy").expect("no error");
        }
        assert_eq!(waiting(), ["6x6 most greedy", "8x8 most greedy"]);
        use_one::<Square6>(&players, "greedy").expect("no error");
        use_one::<Square6>(&players, "random").expect("no error");
        assert_eq!(waiting(), ["6x6 most greedy", "6x6 most random"]);
        use_one::<Square6>(&players, "net:/no/such/file").expect_err("no net");
        assert_eq!(waiting().len(), 2);
    }
}
