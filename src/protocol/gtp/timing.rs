//! The controller's clock: `time_settings` and `time_left`, and the time that a move may take.

use std::time::Duration;

use crate::game::Colour;
use crate::search::clock::Allotment;

/// The shortest time for a move.
const LEAST: Duration = Duration::from_millis(10);
/// Share of a period's time that is used. The rest covers the way to the controller.
const USED: f64 = 0.9;
/// The most seconds that a controller may set.
const MOST_SECONDS: f64 = 1e7;

/// The time of both sides. Without settings there is no limit.
#[derive(Clone, Default, Debug)]
pub(super) struct Timing {
    settings: Option<Settings>,
    left: [Option<Left>; 2],
}

/// Main time, followed by periods (byo-yomi). Each period is for a number of stones.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Settings {
    main: Duration,
    period: Duration,
    stones: u32,
}

/// The remaining main time, or the remaining time and stones of a period.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Left {
    time: Duration,
    /// 0 in main time.
    stones: u32,
}

impl Settings {
    fn has_periods(&self) -> bool {
        self.stones > 0 && !self.period.is_zero()
    }

    fn beginning(&self) -> Left {
        match self.main.is_zero() && self.has_periods() {
            true => Left { time: self.period, stones: self.stones },
            false => Left { time: self.main, stones: 0 },
        }
    }
}

impl Timing {
    /// Handles `time_settings MAIN PERIOD STONES`. A period with 0 stones means no limit.
    pub fn set(&mut self, arguments: &[String]) -> Result<(), String> {
        let wrong =
            "syntax error: time_settings MAIN_TIME BYO_YOMI_TIME BYO_YOMI_STONES, in seconds";
        let [main, period, stones] = arguments else { return Err(wrong.into()) };
        let (main, period) = (seconds(main).ok_or(wrong)?, seconds(period).ok_or(wrong)?);
        let stones = stones.parse().map_err(|_| wrong)?;
        let unlimited = stones == 0 && !period.is_zero();
        self.settings = (!unlimited).then_some(Settings { main, period, stones });
        self.restart();
        Ok(())
    }

    /// Handles `time_left COLOUR TIME STONES`. With 0 stones the time is main time.
    pub fn set_left(&mut self, side: Colour, arguments: &[String]) -> Result<(), String> {
        let wrong = "syntax error: time_left COLOUR TIME STONES, in seconds";
        let [time, stones] = arguments else { return Err(wrong.into()) };
        let time = seconds(time).ok_or(wrong)?;
        let stones = stones.parse().map_err(|_| wrong)?;
        self.left[side as usize] = Some(Left { time, stones });
        Ok(())
    }

    /// Resets both sides to their full time, for a new game.
    pub fn restart(&mut self) {
        self.left = [self.settings.as_ref().map(Settings::beginning); 2];
    }

    /// The time for a move at `empties` empty squares; `None` for no limit.
    pub fn for_move(&self, side: Colour, empties: u32) -> Option<Duration> {
        let Left { time, stones } = self.left[side as usize]?;
        let period_share = |time: Duration, stones: u32| time.mul_f64(USED) / stones;
        let time = match (stones, self.settings.filter(Settings::has_periods)) {
            (1.., _) => period_share(time, stones),
            (0, None) => Allotment::Even.time_for_move(time, empties),
            // A share of the main time, but at least the share of a move in the following period.
            (0, Some(settings)) => {
                let later = period_share(settings.period, settings.stones);
                Allotment::Even.time_for_move(time, empties).max(later)
            }
        };
        Some(time.max(LEAST))
    }

    /// Counts the time of a move.
    pub fn spend(&mut self, side: Colour, spent: Duration) {
        let Some(left) = &mut self.left[side as usize] else { return };
        let over = spent.saturating_sub(left.time);
        left.time = left.time.saturating_sub(spent);
        let Some(settings) = self.settings.filter(Settings::has_periods) else { return };
        if left.stones > 1 {
            left.stones -= 1;
        } else if left.stones == 1 {
            *left = Left { time: settings.period, stones: settings.stones };
        } else if left.time.is_zero() {
            *left = Left { time: settings.period.saturating_sub(over), stones: settings.stones };
        }
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    (0.0..=MOST_SECONDS).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn timing(settings: &str) -> Timing {
        let mut timing = Timing::default();
        timing.set(&words(settings)).expect(settings);
        timing
    }

    const SIDE: Colour = Colour::White;

    #[test]
    fn a_game_is_played_within_the_main_time() {
        let mut timing = timing("60 0 0");
        let mut sum = Duration::ZERO;
        for empties in (0..=60).rev().step_by(2) {
            let time = timing.for_move(SIDE, empties).expect("a limit");
            sum += time;
            timing.spend(SIDE, time);
        }
        assert!((30.0..=60.0).contains(&sum.as_secs_f64()), "{sum:?}");
        let other = timing.for_move(!SIDE, 60).expect("a limit");
        timing.restart();
        assert_eq!(timing.for_move(SIDE, 60), Some(other));
    }

    #[test]
    fn every_period_is_kept() {
        let mut timing = timing("10 30 5");
        let (mut period_share, mut moves) = (Duration::ZERO, 0);
        for _ in 0..200 {
            let time = timing.for_move(SIDE, 40).expect("a limit");
            assert!(time <= Duration::from_secs(30));
            let left = timing.left[SIDE as usize].expect("a limit");
            if left.stones == 0 {
                timing.spend(SIDE, time);
                continue;
            }
            (period_share, moves) = (period_share + time, moves + 1);
            timing.spend(SIDE, time);
            if moves == 5 {
                assert!(period_share <= Duration::from_secs(30), "{period_share:?}");
                (period_share, moves) = (Duration::ZERO, 0);
            }
        }
        timing.set_left(SIDE, &words("8 4")).expect("a time");
        assert_eq!(timing.for_move(SIDE, 40), Some(Duration::from_secs_f64(1.8)));
        timing.set_left(SIDE, &words("0 0")).expect("a time");
        assert!(timing.for_move(SIDE, 40) >= Some(Duration::from_secs(5)));
    }

    #[test]
    fn there_is_no_limit_without_settings_or_with_a_period_without_stones() {
        assert_eq!(Timing::default().for_move(SIDE, 30), None);
        assert_eq!(timing("0 1 0").for_move(SIDE, 30), None);
        // Zero seconds are a limit.
        assert_eq!(timing("0 0 0").for_move(SIDE, 30), Some(LEAST));
    }

    #[test]
    fn wrong_times_change_nothing() {
        let mut timing = timing("60 0 0");
        let before = timing.for_move(SIDE, 30);
        for text in ["", "1 2", "1 2 3 4", "-1 0 0", "x 0 0", "nan 0 0", "inf 0 0", "1 1 -1"] {
            timing.set(&words(text)).expect_err(text);
            assert_eq!(timing.for_move(SIDE, 30), before);
        }
        for text in ["", "1", "-1 0", "x 0", "1 x"] {
            timing.set_left(SIDE, &words(text)).expect_err(text);
            assert_eq!(timing.for_move(SIDE, 30), before);
        }
    }
}
