//! Labels: short, unique names of players for tables and pictures.
//!
//! A player's identity in the ladder is its whole specification, with the path and the fingerprint
//! of its net. A label has only what a reader needs: the name that the user gave, or the folder of
//! the net and the keys that do not have their default values. Labels depend only on the identities
//! and given names of the players in a table, so the same players always have the same labels.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::book::BookChoice;
use super::grammar::Quoted;
use super::spec::{EvaluatorSource, PlayerKind, PlayerSpec, is_printable};
use crate::store::checkpoint::NET;

/// The most characters of a label.
pub const MAX_LABEL_CHARS: usize = 60;

/// The labels of a set of players, by identity.
///
/// ```
/// use outflank::players::labels::Labels;
///
/// let (shallow, deep) = ("alphabeta:depth=2,eval=discs", "alphabeta:depth=8");
/// let labels = Labels::new([(shallow, None), (deep, Some("Deep"))]);
/// assert_eq!(labels.of(deep), "Deep");
/// assert_eq!(labels.of("greedy"), "greedy", "a player that is not in the set");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Labels(HashMap<String, String>);

impl Labels {
    /// Labels for players, given by identity and the name that the user gave, if any.
    ///
    /// If two players would have the same label, both get longer labels.
    pub fn new<'a>(players: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Labels {
        let mut known = HashSet::new();
        let players = players.into_iter().filter(|(identity, _)| known.insert(*identity));
        let players: Vec<_> =
            players.map(|(identity, given)| (identity, variants(identity, given))).collect();
        let mut levels = vec![0; players.len()];
        loop {
            let label = |place: usize| players[place].1[levels[place]].as_str();
            let mut counts = HashMap::<&str, u32>::new();
            (0..players.len()).for_each(|place| *counts.entry(label(place)).or_default() += 1);
            let can_grow = |&place: &usize| {
                counts[label(place)] > 1 && levels[place] + 1 < players[place].1.len()
            };
            let crowded: Vec<_> = (0..players.len()).filter(can_grow).collect();
            if crowded.is_empty() {
                break;
            }
            crowded.into_iter().for_each(|place| levels[place] += 1);
        }
        let chosen = players.iter().zip(levels);
        numbered(chosen.map(|((identity, variants), level)| (*identity, variants[level].as_str())))
    }

    /// The label of a player; its identity, if it is not in the set.
    pub fn of<'a>(&'a self, identity: &'a str) -> &'a str {
        self.0.get(identity).map_or(identity, String::as_str)
    }
}

/// Adds numbers to labels that are still equal, which is possible because labels are shortened.
fn numbered<'a>(chosen: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Labels {
    let mut taken: HashSet<String> = chosen.clone().map(|(_, label)| label.into()).collect();
    let mut first = HashSet::new();
    let own = |(identity, label): (&'a str, &'a str)| {
        if first.insert(label) {
            return (identity.to_owned(), label.to_owned());
        }
        let mut number = 2;
        loop {
            let ending = format!(" ({number})");
            let label = shorten(label, MAX_LABEL_CHARS - ending.len()) + &ending;
            if taken.insert(label.clone()) {
                return (identity.to_owned(), label);
            }
            number += 1;
        }
    };
    Labels(chosen.map(own).collect())
}

/// The shortest label of a player, which another player may have too.
pub fn label(identity: &str, given: Option<&str>) -> String {
    variants(identity, given).swap_remove(0)
}

/// The possible labels of a player, from the shortest to its whole identity.
fn variants(identity: &str, given: Option<&str>) -> Vec<String> {
    let spec: Option<PlayerSpec> = identity.parse().ok();
    let book = spec.as_ref().and_then(|spec| spec.book.as_ref()).map(BookChoice::label);
    let mut variants = match spec.map(|spec| spec.kind) {
        Some(PlayerKind::Net(spec)) => {
            let keys = PlayerKind::Net(spec.clone()).to_string();
            net_labels(&spec.path, &keys_after("net", &spec.path, &keys))
        }
        Some(PlayerKind::Policy(spec)) => {
            let keys = PlayerKind::Policy(spec.clone()).to_string();
            net_labels(
                &spec.path,
                &(" policy".to_owned() + &keys_after("policy", &spec.path, &keys)),
            )
        }
        Some(PlayerKind::AlphaBeta(spec)) => evaluator_labels(identity, &spec.evaluator),
        Some(PlayerKind::External(spec)) => program_labels(&spec.command),
        _ => Vec::new(),
    };
    if let Some(book) = book {
        variants.iter_mut().for_each(|variant| *variant += &book);
    }
    variants.push(identity.into());
    if let Some(given) = given {
        let known = variants.iter().map(|variant| format!("{given} ({variant})"));
        variants = std::iter::once(given.to_owned()).chain(known).collect();
        variants.push(identity.into());
    }
    for variant in &mut variants {
        *variant = shorten(&printable(variant), MAX_LABEL_CHARS);
    }
    variants
}

/// The keys of a net player that do not have their default values, each after a blank.
fn keys_after(kind: &str, path: &Path, text: &str) -> String {
    let before = format!("{kind}:{}", Quoted(&path.to_string_lossy()));
    let keys = text.strip_prefix(&before).unwrap_or_default().split(',');
    let shown = keys.filter(|key| !key.is_empty() && *key != "simulations=100");
    shown.map(|key| format!(" {}", key.replace("simulations=", "sims="))).collect()
}

/// Labels of a net player: its folder, or the run and step of its checkpoint. Then the same with
/// the parent folder, and the same with the fingerprint.
fn net_labels(path: &Path, keys: &str) -> Vec<String> {
    let text = path.to_string_lossy();
    let (path, fingerprint) = text.rsplit_once('#').unwrap_or((&text, ""));
    let path = Path::new(path);
    let Some(own) = net_name(path) else { return Vec::new() };
    let path = if path.ends_with(NET) { path.parent().unwrap_or(path) } else { path };
    let step = own.strip_prefix("step-").and_then(|step| step.parse::<u64>().ok());
    let run = path.ancestors().nth(2);
    let (short, parent) = match (step, run.and_then(net_name)) {
        (Some(step), Some(run_name)) => {
            (format!("{run_name}@{step}"), run.and_then(Path::parent).and_then(net_name))
        }
        _ => (own, path.parent().and_then(net_name)),
    };
    let mut labels = vec![format!("{short}{keys}")];
    labels.extend(parent.map(|parent| format!("{parent}/{short}{keys}")));
    if !fingerprint.is_empty() {
        labels.push(format!("{short}#{fingerprint}{keys}"));
    }
    labels
}

/// Labels of an alpha-beta player with a model: its specification with labels of the model instead
/// of its path.
fn evaluator_labels(identity: &str, evaluator: &EvaluatorSource) -> Vec<String> {
    let EvaluatorSource::Model(path) = evaluator else { return Vec::new() };
    let written = Quoted(&evaluator.to_string()).to_string();
    let labels = net_labels(path, "").into_iter();
    labels.map(|label| identity.replacen(&written, &label, 1)).collect()
}

/// The name of a net's folder; if the file does not have the default name, the name of the file.
pub fn net_name(path: &Path) -> Option<String> {
    let in_folder =
        path.parent().filter(|folder| path.ends_with(NET) && folder.file_name().is_some());
    let name = in_folder.unwrap_or(path).file_name()?.to_string_lossy();
    Some(name.strip_suffix(".safetensors").unwrap_or(&name).to_owned())
}

/// Labels of an external engine: the name of its program, then the same with its arguments.
fn program_labels(command: &str) -> Vec<String> {
    let words = shlex::split(command).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let name = Path::new(program).file_name().map(|name| name.to_string_lossy());
    let name = name.as_deref().unwrap_or(program);
    vec![name.to_owned(), [&[name.to_owned()], arguments].concat().join(" ")]
}

/// The text with `?` for control and layout characters.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if is_printable(letter) { letter } else { '?' }).collect()
}

/// The text, shortened to `most` characters by leaving out its middle. The end is kept because
/// similar names mostly differ there.
///
/// ```
/// use outflank::players::labels::shorten;
///
/// let short = shorten("alphabeta:depth=8,eval=positional", 16);
/// assert_eq!(short.chars().count(), 16);
/// assert!(short.starts_with("alpha") && short.ends_with("tional"));
/// ```
pub fn shorten(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let head = most.saturating_sub(1) / 3;
    let tail = most.saturating_sub(1) - head;
    let part = |from: usize, count: usize| text.chars().skip(from).take(count).collect::<String>();
    format!("{}…{}", part(0, head), part(length - tail, tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(players: &[(&str, Option<&str>)]) -> Vec<String> {
        let labels = Labels::new(players.iter().copied());
        players.iter().map(|(identity, _)| labels.of(identity).to_owned()).collect()
    }

    #[test]
    fn labels_are_short() {
        for (identity, wanted) in [
            ("random", "random"),
            ("alphabeta:depth=6", "alphabeta:depth=6"),
            ("quick-001@192", "quick-001@192"),
            ("net:checkpoints/8x8-hour/net.safetensors#0a1b2c3d,simulations=100", "8x8-hour"),
            ("net:checkpoints/8x8-hour#0a1b2c3d,simulations=400", "8x8-hour sims=400"),
            (
                "net:/a/b/nets/8x8#0a1b2c3d,movetime=100ms,solve_empties=0,threads=2",
                "8x8 movetime=100ms solve_empties=0 threads=2",
            ),
            ("net:runs/a/checkpoints/step-00000500#0a1b2c3d,simulations=100", "a@500"),
            ("net:step-00000500#0a1b2c3d,simulations=100", "step-00000500"),
            ("net:old.safetensors#0a1b2c3d,simulations=100", "old"),
            ("net:\"my, nets/a b\",simulations=100,c_puct=2", "a b c_puct=2"),
            ("policy:checkpoints/8x8#0a1b2c3d,symmetries=8", "8x8 policy symmetries=8"),
            (
                "alphabeta:depth=6,eval=a/patterns-8x8#0a1b2c3d,probcut=1.5",
                "alphabeta:depth=6,eval=patterns-8x8,probcut=1.5",
            ),
            ("external:protocol=gtp,command=\"/opt/edax/edax -gtp -l 9\"", "edax"),
        ] {
            assert_eq!(label(identity, None), wanted, "{identity}");
            assert_eq!(label(identity, Some("mine")), "mine");
        }
    }

    #[test]
    fn similar_players_have_distinct_labels() {
        let nets = ["a", "b"].map(|folder| format!("net:{folder}/8x8#0a1b2c3d,simulations=100"));
        assert_eq!(labels(&[(&nets[0], None), (&nets[1], None)]), ["a/8x8", "b/8x8"]);
        let nets = ["0a1b2c3d", "ffffffff"].map(|print| format!("net:a/8x8#{print},simulations=1"));
        assert_eq!(
            labels(&[(&nets[0], None), (&nets[1], None), ("greedy", None)]),
            ["8x8#0a1b2c3d sims=1", "8x8#ffffffff sims=1", "greedy"]
        );
        let checkpoint = "net:runs/a/checkpoints/step-00000500#0a1b2c3d,simulations=100";
        assert_eq!(labels(&[("a@500", None), (checkpoint, None)]), ["a@500", "runs/a@500"]);
        assert_eq!(
            labels(&[("random", None), ("greedy", Some("random"))]),
            ["random", "random (greedy)"]
        );
        let engines = ["-l 5", "-l 9"]
            .map(|level| format!("external:protocol=gtp,command=\"bin/edax {level}\""));
        assert_eq!(labels(&[(&engines[0], None), (&engines[1], None)]), ["edax -l 5", "edax -l 9"]);
    }

    #[test]
    fn long_names_and_control_characters_are_made_harmless() {
        let (one, other) = ("a".repeat(70_000), "a".repeat(70_001));
        let found = labels(&[(&one, None), (&other, None), ("x\u{1b}[31m\n", None)]);
        assert_ne!(found[0], found[1]);
        assert!(found.iter().all(|label| label.chars().count() <= MAX_LABEL_CHARS), "{found:?}");
        assert_eq!(found[2], "x?[31m?");
        // Combining marks are kept; characters that change the direction of text are not.
        assert_eq!(label("gro\u{308}sse \u{202e}x", None), "gro\u{308}sse ?x");
    }

    #[test]
    fn long_texts_keep_their_ends() {
        assert_eq!(shorten("random", 10), "random");
        let short = shorten("runs/quick/checkpoints/step-00006688#947411e9 sims=100", 30);
        assert_eq!(short.chars().count(), 30);
        assert!(short.starts_with("runs/quic…") && short.ends_with(" sims=100"), "{short}");
    }

    /// Identities and names that are often equal in parts.
    fn player() -> impl Strategy<Value = (String, Option<String>)> {
        const IDENTITIES: &[&str] = &["random", "greedy", "a@5", "alphabeta:depth=6"];
        const PATHS: &[&str] =
            &["8x8", "a/8x8", "b/8x8", "runs/a/checkpoints/step-5", "a b/c", ".", "/"];
        let net = (
            prop::sample::select(&["net", "policy"][..]),
            prop::sample::select(PATHS),
            prop::sample::select(&["", "#0a1b2c3d", "#ffffffff"][..]),
            prop::sample::select(&["", ",simulations=9", ",symmetries=8"][..]),
        );
        let net =
            net.prop_map(|(kind, path, print, keys)| format!("{kind}:\"{path}{print}\"{keys}"));
        let identity = prop_oneof![
            prop::sample::select(IDENTITIES).prop_map(String::from),
            net,
            "[ab@5:]{0,3}",
            "a{58,62}",
        ];
        let given = prop_oneof!["[ab]", Just("random".into()), Just("8x8".into()), "a{30,40}"];
        (identity, prop::option::of(given))
    }

    proptest! {
        #[test]
        fn each_player_has_a_label_of_its_own(
            players in proptest::collection::vec(player(), 0..40),
        ) {
            let given = players.iter().map(|(name, given)| (name.as_str(), given.as_deref()));
            let labels = Labels::new(given);
            let identities: HashSet<_> = players.iter().map(|(name, _)| name.as_str()).collect();
            let found: HashSet<_> = identities.iter().map(|name| labels.of(name)).collect();
            prop_assert_eq!(found.len(), identities.len());
            prop_assert!(found.iter().all(|label| label.chars().count() <= MAX_LABEL_CHARS));
        }
    }
}
