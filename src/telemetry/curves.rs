//! The table of a run's curves: name in `metrics.jsonl`, tag in TensorBoard, and description.
//!
//! TensorBoard sorts groups by name, so the groups in tags are numbered: strength comes first. The
//! names in `metrics.jsonl` do not change, because scripts use them. `docs/files.md` has the same
//! table, and a test compares the two.

/// A curve, or a family of curves with the same name prefix.
struct Curve {
    /// The name in `metrics.jsonl`. A name that ends in `/` is the prefix of a family.
    name: &'static str,
    /// The tag in TensorBoard. In a family, the rest of the name is appended.
    tag: &'static str,
    /// What the curve shows.
    description: &'static str,
}

const fn curve(name: &'static str, tag: &'static str, description: &'static str) -> Curve {
    Curve { name, tag, description }
}

const CURVES: &[Curve] = &[
    curve("rating/net", "1_strength/rating", "Elo of the newest rated net in the run's ladder"),
    curve(
        "rating/error",
        "1_strength/rating_error",
        "standard error of that rating, against the mean of all players",
    ),
    curve(
        "score/",
        "1_strength/score_",
        "score of the newest rated net against this opponent, 0 to 1",
    ),
    curve("loss/total", "2_loss/total", "weighted sum of the losses on self-play"),
    curve("loss/policy", "2_loss/policy", "policy loss since the last report, before its weight"),
    curve("loss/value", "2_loss/value", "value loss since the last report, before its weight"),
    curve("loss/score", "2_loss/score", "loss on the final disc difference, before its weight"),
    curve("loss/owner", "2_loss/owner", "loss on the squares' final owners, before its weight"),
    curve(
        "held_out/policy_loss",
        "2_loss/held_out_policy",
        "policy loss on held-out games: one game in fifty, never trained on",
    ),
    curve(
        "held_out/value_loss",
        "2_loss/held_out_value",
        "value loss on held-out games, with only the game's result as the target",
    ),
    curve(
        "held_out/value_error",
        "2_loss/held_out_value_error",
        "root of the mean squared error of the value on held-out games",
    ),
    curve(
        "policy/agreement",
        "3_policy/agreement",
        "how often net and search prefer the same move on held-out games, 0 to 1",
    ),
    curve(
        "policy/entropy",
        "3_policy/entropy",
        "entropy of the net's policy on held-out games, in nats",
    ),
    curve(
        "policy/target_entropy",
        "3_policy/target_entropy",
        "entropy of the search's policy on held-out games, in nats",
    ),
    curve(
        "opening/",
        "3_policy/opening_",
        "black's chance to win after this opening, by the newest net without a search, 0 to 1",
    ),
    curve("speed/games_per_second", "4_speed/games_per_second", "self-play games per second"),
    curve(
        "speed/positions_per_second",
        "4_speed/positions_per_second",
        "positions of self-play per second",
    ),
    curve(
        "speed/simulations_per_second",
        "4_speed/simulations_per_second",
        "simulations of self-play per second",
    ),
    curve(
        "speed/evaluations_per_second",
        "4_speed/evaluations_per_second",
        "positions per second that the net evaluates in self-play",
    ),
    curve(
        "wait/actors",
        "4_speed/actors_waiting",
        "share of their time that the actors wait for the learner, 0 to 1",
    ),
    curve(
        "wait/learner",
        "4_speed/learner_waiting",
        "share of its time that the learner waits for games, 0 to 1",
    ),
    curve("replay/positions", "5_replay/positions", "positions in the replay window"),
    curve(
        "replay/bytes",
        "5_replay/bytes",
        "memory of the replay window in bytes, room for the largest window included",
    ),
    curve(
        "replay/mean_age",
        "5_replay/mean_age",
        "mean age of the last batch's samples, in positions generated after them",
    ),
    curve("replay/ratio", "5_replay/ratio", "training samples per position, so far"),
    curve("games/length", "6_games/length", "moves per game"),
    curve("games/passes", "6_games/passes", "passes per game"),
    curve("games/draws", "6_games/draws", "share of draws, 0 to 1"),
    curve("games/black_points", "6_games/black_points", "black's mean points, a draw is a half"),
    curve("games/black_score", "6_games/black_score", "black's mean disc difference"),
    curve("games/solved_moves", "6_games/solved_moves", "exactly solved moves per game"),
    curve("learner/rate", "7_learner/rate", "learning rate"),
    curve("learner/steps", "7_learner/steps", "training steps so far"),
    curve("stage/discs", "8_stage/discs", "discs on the boards of the stage"),
    curve("stage/sigma", "8_stage/sigma", "root of the stage's mean squared error, in discs"),
    curve(
        "stage/right",
        "8_stage/right",
        "share of the stage's boards whose sign is right, 0 to 1",
    ),
    curve(
        "stage/error",
        "8_stage/error",
        "mean difference of the value of a position and that two moves later, in discs",
    ),
    curve("stage/rounds", "8_stage/rounds", "how often the stage was fitted"),
    curve("stage/seconds", "8_stage/seconds", "seconds for the stage"),
    curve("stage/round", "8_stage/round", "the round of games that gives the labels"),
    curve(
        "pattern_error/",
        "8_stage/pattern_error_",
        "mean error of the patterns in discs, on the boards of training or on held-out ones",
    ),
    curve("ntuple_error/", "8_stage/ntuple_error_", "the same for n-tuples and one-hot nets"),
    curve("workers/count", "9_workers/count", "workers that have reported in the last 15 seconds"),
    curve(
        "workers/",
        "9_workers/",
        "of each of the first 32 workers: games a second, games that count, refused and replayed games, its net, nets it is behind, seconds since its report, and games that are not confirmed",
    ),
];

/// The tag and the description of a curve in TensorBoard. For a curve that is not in the table, the
/// tag is its name.
pub(super) fn in_tensorboard(name: &str) -> (String, String) {
    let origin = format!("In metrics.jsonl: `{name}`.");
    for curve in CURVES {
        let rest = match name.strip_prefix(curve.name) {
            Some(rest) if rest.is_empty() || curve.name.ends_with('/') => rest,
            _ => continue,
        };
        return (format!("{}{rest}", curve.tag), format!("{}. {origin}", curve.description));
    }
    (name.to_string(), origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the documentation's table.
    fn rows() -> Vec<String> {
        let whole = |name: &str| match name.ends_with(['/', '_']) {
            true if name.contains("_error") => format!("{name}BOARDS"),
            true if name.contains("opening") => format!("{name}OPENING"),
            true if name.contains("workers/") => format!("{name}WORKER"),
            true => format!("{name}PLAYER"),
            false => name.to_string(),
        };
        let row = |curve: &Curve| {
            let Curve { name, tag, description } = curve;
            format!("| `{}` | `{}` | {description} |", whole(name), whole(tag))
        };
        CURVES.iter().map(row).collect()
    }

    #[test]
    fn the_documentation_has_every_curve() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/files.md");
        let text = std::fs::read_to_string(path).expect("the documentation");
        let table = rows().join("\n");
        assert!(text.contains(&table), "docs/files.md needs this table:\n{table}");
    }

    #[test]
    fn a_tag_has_the_group_and_the_description_has_the_name() {
        let (tag, description) = in_tensorboard("loss/policy");
        assert_eq!(tag, "2_loss/policy");
        assert!(description.ends_with("In metrics.jsonl: `loss/policy`."), "{description}");
        assert_eq!(in_tensorboard("score/greedy").0, "1_strength/score_greedy");
        assert_eq!(in_tensorboard("loss/policy_of_old").0, "loss/policy_of_old");
    }

    #[test]
    fn no_two_curves_share_a_tag() {
        let mut tags: Vec<_> = CURVES.iter().map(|curve| curve.tag).collect();
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), CURVES.len());
    }
}
