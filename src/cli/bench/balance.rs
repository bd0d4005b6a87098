//! Finds out from a run's speed reports who waits for whom, and which key to change.

use serde_json::Value;

use crate::config::Config;

/// A side is called waiting if it waits more than this share of its time.
const WAITING: f64 = 0.1;

/// A run's report of its speed, with the process's memory and CPU time when it was read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpeedReport {
    /// Seconds since 1970.
    pub time: f64,
    positions: f64,
    steps: f64,
    games_per_second: f64,
    evaluations_per_second: f64,
    simulations_per_second: f64,
    actors_waiting: f64,
    learner_waiting: f64,
    window_bytes: f64,
    process: Option<Process>,
}

/// The resources that a process has used.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Process {
    /// Bytes of memory that it has now.
    resident: f64,
    /// Seconds of CPU time so far.
    processor: f64,
}

impl Process {
    /// The figures of this process; `None` on systems other than Linux.
    fn this() -> Option<Process> {
        // Clock ticks a second of Linux on x86-64 and aarch64.
        const TICKS: f64 = 100.0;
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The fields follow the program's name in brackets, which may contain any character.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
        let processor = (ticks(11)? + ticks(12)?) / TICKS;
        Some(Process { resident: kilobytes * 1024.0, processor })
    }
}

impl SpeedReport {
    /// Reads a line of `metrics.jsonl`. `None` if it is not a report of the pipeline's speed, or
    /// from before the first training step.
    pub fn read(line: &str) -> Option<SpeedReport> {
        let object: Value = serde_json::from_str(line).ok()?;
        let value = |name: &str| object["values"][name].as_f64();
        let report = SpeedReport {
            time: object["time"].as_f64()?,
            positions: object["positions"].as_f64()?,
            steps: value("learner/steps")?,
            games_per_second: value("speed/games_per_second")?,
            evaluations_per_second: value("speed/evaluations_per_second")?,
            simulations_per_second: value("speed/simulations_per_second")?,
            actors_waiting: value("wait/actors")?,
            learner_waiting: value("wait/learner")?,
            window_bytes: value("replay/bytes")?,
            process: Process::this(),
        };
        Some(report).filter(|report| report.steps > 0.0)
    }
}

/// The mean speeds and waiting times of a run over some time.
#[derive(Clone, PartialEq, Debug)]
pub struct Balance {
    seconds: f64,
    actors_waiting: f64,
    learner_waiting: f64,
    games_per_second: f64,
    evaluations_per_second: f64,
    simulations_per_second: f64,
    positions_per_second: f64,
    samples_per_second: f64,
    window_growth: f64,
    /// The growth of the process's memory in bytes, and the cores that it kept busy.
    process: Option<(f64, f64)>,
}

impl Balance {
    /// The balance between the first and the last report; `None` if there are fewer than two.
    pub fn between(reports: &[SpeedReport], config: &Config) -> Option<Balance> {
        let (first, last) = (reports.first()?, reports.last()?);
        let seconds = last.time - first.time;
        if seconds <= 0.0 {
            return None;
        }
        // The figures of a report are means over the time since the previous report.
        let mean = |what: fn(&SpeedReport) -> f64| {
            let parts = reports.windows(2).map(|two| what(&two[1]) * (two[1].time - two[0].time));
            parts.sum::<f64>() / seconds
        };
        let samples = (last.steps - first.steps) * f64::from(config.learner.batch);
        let process = first.process.zip(last.process).map(|(before, after)| {
            let cores = (after.processor - before.processor) / seconds;
            (after.resident - before.resident, cores)
        });
        Some(Balance {
            seconds,
            actors_waiting: mean(|report| report.actors_waiting),
            learner_waiting: mean(|report| report.learner_waiting),
            games_per_second: mean(|report| report.games_per_second),
            evaluations_per_second: mean(|report| report.evaluations_per_second),
            simulations_per_second: mean(|report| report.simulations_per_second),
            positions_per_second: (last.positions - first.positions) / seconds,
            samples_per_second: samples / seconds,
            window_growth: last.window_bytes - first.window_bytes,
            process,
        })
    }

    /// Name, value and unit of each figure.
    pub fn figures(&self) -> Vec<(&'static str, f64, &'static str)> {
        let ratio = self.samples_per_second / self.positions_per_second.max(1e-9);
        let mut figures = vec![
            ("measured", self.seconds, "s"),
            ("actors waiting", 100.0 * self.actors_waiting, "%"),
            ("learner waiting", 100.0 * self.learner_waiting, "%"),
            ("games", self.games_per_second, "games/s"),
            ("positions", self.positions_per_second, "positions/s"),
            ("simulations", self.simulations_per_second, "simulations/s"),
            ("evaluations", self.evaluations_per_second, "evaluations/s"),
            ("samples", self.samples_per_second, "samples/s"),
            ("replay ratio held", ratio, "samples/position"),
            ("window growth", self.window_growth / 1e6, "MB"),
        ];
        if let Some((growth, cores)) = self.process {
            figures.push(("memory growth", growth / 1e6, "MB"));
            figures.push(("processor cores busy", cores, "cores"));
        }
        figures
    }

    /// The speed-up of the actors if they never waited, divided by that of the learner. Above 1 the
    /// learner is the bottleneck.
    fn relative_actor_speed(&self) -> f64 {
        let free = |waiting: f64| (1.0 - waiting).max(0.01);
        free(self.learner_waiting) / free(self.actors_waiting)
    }

    /// Which keys to change, and how, in words.
    pub fn advice(&self, config: &Config) -> Vec<String> {
        let mut lines = self.keys_to_change(config);
        lines.extend(self.disturbance(config));
        lines
    }

    /// A note if threads that did not wait had less CPU time than they could have used. `None` on a
    /// GPU: there threads that wait for the GPU count as busy.
    fn disturbance(&self, config: &Config) -> Option<String> {
        let (_, cores) = self.process.filter(|_| config.device == "cpu")?;
        let actors = f64::from(config.selfplay.actors) * (1.0 - self.actors_waiting);
        let wanted = actors + f64::from(config.learner.threads) * (1.0 - self.learner_waiting);
        (cores < 0.8 * wanted).then(|| {
            format!(
                "note: the run could have used {wanted:.1} cores but had {cores:.1}: other \
                 programs run, or the machine has fewer; measure again when it is idle"
            )
        })
    }

    fn keys_to_change(&self, config: &Config) -> Vec<String> {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let (actors, learner) = (percent(self.actors_waiting), percent(self.learner_waiting));
        let lead = self.relative_actor_speed();
        let replay = &config.replay;
        let (key, ratio) = match replay.ratio_max {
            most if most > 0.0 && lead < 1.0 => ("replay.ratio_max", most),
            _ => ("replay.ratio", replay.ratio),
        };
        let better = format!("{key} from {ratio} to {}", two_digits(ratio / lead));
        let (key, now) = simulations(config);
        let searched = two_digits(f64::from(now) * lead).max(1.0);
        let searches = format!("{key} from {now} to {searched}");
        match (self.actors_waiting > WAITING, self.learner_waiting > WAITING) {
            (false, false) => vec![format!(
                "balanced: the actors wait {actors} of their time, the learner {learner}"
            )],
            (true, true) => vec![
                format!(
                    "both sides wait in turn: the actors {actors} of their time, the learner \
                     {learner}"
                ),
                format!(
                    "change: learner.steps_per_publish up from {}, so that waits even out over \
                     more steps; or selfplay.games_per_actor down from {}, so that games end \
                     more evenly",
                    config.learner.steps_per_publish, config.selfplay.games_per_actor
                ),
            ],
            (true, false) => vec![
                format!("the actors wait for the learner, {actors} of their time"),
                format!(
                    "change: {better} (fewer samples per position), or {searches} (better games), \
                     or learner.threads up from {} if cores are free",
                    config.learner.threads
                ),
            ],
            (false, true) => vec![
                format!("the learner waits for the actors, {learner} of its time"),
                format!(
                    "change: {better} (more samples per position), or {searches} (more games), \
                     or selfplay.actors up from {} if cores are free",
                    config.selfplay.actors
                ),
            ],
        }
    }
}

/// The key of the simulations of a full search at the start of a run, and its value.
fn simulations(config: &Config) -> (&'static str, u32) {
    match config.selfplay.ramp.first() {
        Some(&(0, simulations)) => ("the first step of selfplay.ramp", simulations),
        _ => ("search.simulations", config.search.simulations),
    }
}

/// Rounds to two significant digits, because the others are noise.
fn two_digits(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(1 - value.log10().floor() as i32);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(time: f64, positions: u32, steps: u32, waiting: [f64; 2]) -> String {
        let values = serde_json::json!({
            "learner/steps": steps, "speed/games_per_second": 2.0,
            "speed/evaluations_per_second": 50.0, "speed/simulations_per_second": 60.0,
            "wait/actors": waiting[0], "wait/learner": waiting[1], "replay/bytes": 7 * positions,
        });
        serde_json::json!({ "time": time, "positions": positions, "values": values }).to_string()
    }

    fn balance(waiting: [f64; 2]) -> Balance {
        let lines = [
            line(10.0, 100, 5, [1.0; 2]),
            line(12.0, 200, 6, waiting),
            line(20.0, 600, 15, waiting),
        ];
        let reports: Vec<_> =
            lines.iter().map(|line| SpeedReport::read(line).expect("a report")).collect();
        Balance::between(&reports, &Config::default()).expect("time has passed")
    }

    #[test]
    fn only_lines_about_speed_are_reports() {
        assert_eq!(
            SpeedReport::read("{\"time\":1,\"positions\":2,\"values\":{\"rating/net\":3}}"),
            None
        );
        assert_eq!(SpeedReport::read("{\"time\":1,\"posi"), None);
        assert_eq!(SpeedReport::read(&line(1.0, 5, 0, [0.0; 2])), None);
        assert!(SpeedReport::read(&line(1.0, 5, 1, [0.0; 2])).is_some());
    }

    #[test]
    fn figures_are_means_over_the_time_between_reports() {
        let balance = balance([0.25, 0.05]);
        let batch = f64::from(Config::default().learner.batch);
        let figure = |name: &str| {
            let found = balance.figures().into_iter().find(|figure| figure.0 == name);
            found.expect("a figure").1
        };
        assert!((figure("actors waiting") - 25.0).abs() < 1e-9);
        assert!((figure("positions") - 50.0).abs() < 1e-9);
        assert!((figure("samples") - batch).abs() < 1e-9);
        assert!((figure("replay ratio held") - batch / 50.0).abs() < 1e-9);
        assert!((figure("window growth") - 3500e-6).abs() < 1e-9);
        assert_eq!(Balance::between(&[], &Config::default()), None);
    }

    #[test]
    fn the_advice_speeds_up_the_side_that_the_other_waits_for() {
        let mut config = Config::default();
        config.replay.ratio = 4.0;
        config.search.simulations = 64;
        let advice = |waiting: [f64; 2]| balance(waiting).advice(&config).join(" ");
        let learner_slow = advice([0.5, 0.0]);
        assert!(learner_slow.contains("replay.ratio from 4 to 2 "), "{learner_slow}");
        assert!(learner_slow.contains("search.simulations from 64 to 130 "), "{learner_slow}");
        let actors_slow = advice([0.0, 0.5]);
        assert!(actors_slow.contains("replay.ratio from 4 to 8 "), "{actors_slow}");
        assert!(actors_slow.contains("search.simulations from 64 to 32 "), "{actors_slow}");
        assert!(advice([0.05, 0.05]).starts_with("balanced"));
        assert!(advice([0.3, 0.3]).contains("steps_per_publish"));
    }

    #[test]
    fn other_programs_that_take_cores_are_noted() {
        let config = Config { device: "cpu".into(), ..Config::default() };
        let busy = |cores: f64| Balance { process: Some((0.0, cores)), ..balance([0.0, 0.5]) };
        assert!(busy(0.6).advice(&config).join(" ").contains("could have used 1.5 cores"));
        assert_eq!(busy(1.4).advice(&config).len(), 2);
        let elsewhere = Config { device: "cuda".into(), ..config };
        assert_eq!(busy(0.6).advice(&elsewhere).len(), 2);
    }

    #[test]
    fn the_advice_names_the_first_step_of_the_ramp() {
        let mut config = Config::default();
        config.selfplay.ramp = vec![(0, 16), (1000, 64)];
        assert!(balance([0.5, 0.0]).advice(&config)[1].contains("selfplay.ramp from 16 to 32"));
        assert_eq!([two_digits(0.0), two_digits(1.234), two_digits(987.0)], [0.0, 1.2, 990.0]);
    }
}
