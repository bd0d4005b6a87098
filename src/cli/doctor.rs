//! `outflank doctor`: what this machine has for training, what is missing, and how to fix it.
//!
//! Exit code 0 when nothing is missing, 1 otherwise. Advice does not change the exit code.

mod found;
#[cfg_attr(not(feature = "torch"), path = "doctor/without_torch.rs")]
mod torch;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use self::found::{Bf16, Gpus, Kernels, Libtorch, Processor};
use super::machine::{self, Cpuinfo};
use crate::store::shipped;

/// The version of libtorch that `tch` needs.
const LIBTORCH_VERSION: &str = "2.11.0";
/// A run of `configs/cpu.toml` needs at least this much free memory, in bytes.
const MIN_FREE_MEMORY: u64 = 2 << 30;

/// Shows what was found on this machine, and what is missing with its fix.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Prints the report. The exit code is 1 if anything is missing.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let report = Report::gather();
    if args.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{}", report.to_text());
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[derive(Serialize)]
struct Report {
    version: u32,
    /// Whether nothing is missing.
    ok: bool,
    outflank: Build,
    /// The folder of the models that come with the program.
    models: Option<PathBuf>,
    libtorch: Libtorch,
    gpus: Gpus,
    processor: Processor,
    bf16: Bf16,
    kernels: Kernels,
    /// In bytes; `None` if unknown.
    memory_total: Option<u64>,
    memory_free: Option<u64>,
    findings: Vec<Finding>,
}

#[derive(Clone, Serialize)]
struct Build {
    version: &'static str,
    optimised_for_speed: bool,
    instruction_sets: Vec<&'static str>,
}

#[derive(Serialize, Debug, PartialEq)]
struct Finding {
    kind: FindingKind,
    what: String,
    fix: &'static str,
}

#[derive(Serialize, Debug, PartialEq, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum FindingKind {
    Missing,
    Advice,
}

impl Report {
    fn gather() -> Self {
        let cpuinfo = Cpuinfo::parse(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
        let processor = Processor::new(&cpuinfo);
        let memory = crate::search::memory::memory();
        let mut report = Self {
            version: 1,
            ok: true,
            outflank: Build {
                version: env!("CARGO_PKG_VERSION"),
                optimised_for_speed: !cfg!(debug_assertions),
                instruction_sets: machine::built_for(),
            },
            models: shipped::folder(shipped::FOLDER)
                .map(|folder| folder.canonicalize().unwrap_or(folder)),
            libtorch: Libtorch::loaded(),
            gpus: Gpus::found(),
            bf16: Bf16::measured(&processor),
            kernels: Kernels::chosen(),
            processor,
            memory_total: memory.map(|(total, _)| total),
            memory_free: memory.map(|(_, free)| free),
            findings: Vec::new(),
        };
        report.findings = report.judge();
        report.ok = report.findings.iter().all(|finding| finding.kind == FindingKind::Advice);
        report
    }

    /// What is missing, and advice.
    fn judge(&self) -> Vec<Finding> {
        let mut findings = match torch::IS_LINKED {
            true => self.judge_libtorch(),
            false => vec![Finding {
                kind: FindingKind::Advice,
                what: "this build has no libtorch, so it cannot train nets".to_string(),
                fix: "take the package with libtorch, or run scripts/setup.sh and build with the feature `torch`",
            }],
        };
        let mut add = |kind, what: String, fix| findings.push(Finding { kind, what, fix });
        if self.models.is_none() {
            add(
                FindingKind::Advice,
                "the models that come with the program are not here".to_string(),
                "run it in its package or checkout, with the folder checkpoints",
            );
        }
        if self.processor.avx2 && !self.outflank.instruction_sets.contains(&"avx2") {
            add(
                FindingKind::Advice,
                "this build does not use AVX2, so rules and search are slow".to_string(),
                "build in the checkout, with RUSTFLAGS unset",
            );
        }
        if !self.outflank.optimised_for_speed {
            add(
                FindingKind::Advice,
                "this is a development build, which is slow".to_string(),
                "cargo build --release",
            );
        }
        if self.memory_free.is_some_and(|free| free < MIN_FREE_MEMORY) {
            add(
                FindingKind::Advice,
                format!("free memory is less than {}", gibibytes(MIN_FREE_MEMORY)),
                "close other programs, or lower replay.max_positions",
            );
        }
        findings
    }

    /// What is missing of libtorch and for GPUs, and advice.
    fn judge_libtorch(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |kind, what: String, fix| findings.push(Finding { kind, what, fix });
        let (libtorch, gpus) = (&self.libtorch, &self.gpus);
        match &libtorch.version {
            Some(version) if version.split('+').next() == Some(LIBTORCH_VERSION) => {}
            Some(version) => add(
                FindingKind::Missing,
                format!("libtorch {LIBTORCH_VERSION}: the one loaded is {version}"),
                "unset LIBTORCH and LD_LIBRARY_PATH, run scripts/setup.sh, build again",
            ),
            None => add(
                FindingKind::Advice,
                "the version of the loaded libtorch is unknown".to_string(),
                "if anything fails, run scripts/setup.sh and build again",
            ),
        }
        let has_cuda_device = gpus.devices.iter().any(|name| name.starts_with("cuda"));
        if !gpus.driver_lists.is_empty() && !libtorch.has_cuda_part {
            add(
                FindingKind::Advice,
                "there is a GPU, but the loaded libtorch has no CUDA part".to_string(),
                "scripts/setup.sh --cuda, then build again",
            );
        } else if !gpus.driver_lists.is_empty() && !has_cuda_device {
            add(
                FindingKind::Missing,
                "CUDA: there is a GPU, but libtorch cannot use it".to_string(),
                "update NVIDIA's driver (CUDA 13 needs 580 or later); see CUDA_VISIBLE_DEVICES",
            );
        }
        if !libtorch.has_onednn {
            add(
                FindingKind::Advice,
                "this libtorch has no oneDNN, so convolutions are slow".to_string(),
                "unset LIBTORCH, run scripts/setup.sh, build again",
            );
        }
        findings
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<14}{value}");
        };
        let build = if self.outflank.optimised_for_speed { "release" } else { "development" };
        line("outflank", format!("{} ({build} build)", self.outflank.version));
        let models = self.models.as_ref().map(|folder| folder.display().to_string());
        line("models", models.unwrap_or_else(|| "none".to_string()));
        let libtorch = &self.libtorch;
        let version = libtorch.version.as_deref().unwrap_or("of unknown version");
        let path = libtorch.path.as_ref().map_or("?".into(), |path| path.display().to_string());
        let loaded = format!("{version} from {path}, {} threads", libtorch.threads);
        line("libtorch", if torch::IS_LINKED { loaded } else { "none".to_string() });
        line("devices", self.gpus.devices.join(", "));
        for gpu in &self.gpus.driver_lists {
            line("", gpu.clone());
        }
        let processor = &self.processor;
        line("processor", format!("{}, {} cores", processor.model, processor.cores));
        line("instructions", processor.instruction_sets().join(" "));
        let bf16 = &self.bf16;
        let speed = bf16.speed_against_float32;
        let speed = speed.map_or(String::new(), |speed| format!(", {speed:.1} times float32"));
        line("bf16", format!("{}{speed}", bf16.path));
        line("play", self.kernels.play.clone());
        line("learning", self.kernels.learning.clone());
        if let (Some(total), Some(free)) = (self.memory_total, self.memory_free) {
            line("memory", format!("{}, {} free", gibibytes(total), gibibytes(free)));
        }
        for finding in &self.findings {
            let kind = match finding.kind {
                FindingKind::Missing => "missing",
                FindingKind::Advice => "advice",
            };
            line(kind, finding.what.clone());
            line("  fix", finding.fix.to_string());
        }
        line("", (if self.ok { "nothing is missing" } else { "not ready" }).to_string());
        text
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound() -> Report {
        Report {
            version: 1,
            ok: true,
            outflank: Build {
                version: "0.1.0",
                optimised_for_speed: true,
                instruction_sets: vec!["avx2"],
            },
            models: Some("checkpoints".into()),
            libtorch: Libtorch {
                version: Some("2.11.0+cpu".into()),
                has_onednn: true,
                ..Libtorch::default()
            },
            gpus: Gpus { devices: vec!["cpu".into()], driver_lists: Vec::new() },
            processor: Processor { avx2: true, ..Processor::default() },
            bf16: Bf16::default(),
            kernels: Kernels::default(),
            memory_total: Some(8 << 30),
            memory_free: Some(8 << 30),
            findings: Vec::new(),
        }
    }

    fn kinds(report: &Report) -> Vec<FindingKind> {
        report.judge().iter().map(|finding| finding.kind).collect()
    }

    #[cfg(feature = "torch")]
    #[test]
    fn a_sound_machine_has_no_findings() {
        assert_eq!(sound().judge(), []);
    }

    #[cfg(feature = "torch")]
    #[test]
    fn a_libtorch_of_another_version_is_reported_as_missing() {
        let mut report = sound();
        report.libtorch.version = Some("2.10.0".into());
        assert_eq!(kinds(&report), [FindingKind::Missing]);
        assert!(report.judge()[0].what.contains("2.10.0"));
        report.libtorch.version = None;
        assert_eq!(kinds(&report), [FindingKind::Advice]);
    }

    #[cfg(feature = "torch")]
    #[test]
    fn a_gpu_without_cuda_libtorch_is_advice_and_an_unusable_one_is_missing() {
        let mut report = sound();
        report.gpus.driver_lists = vec!["Some GPU, 1 MiB, 1.0".into()];
        assert_eq!(kinds(&report), [FindingKind::Advice]);
        report.libtorch.has_cuda_part = true;
        assert_eq!(kinds(&report), [FindingKind::Missing]);
        report.gpus.devices.push("cuda:0".into());
        assert_eq!(kinds(&report), []);
    }

    #[test]
    fn slow_builds_and_little_memory_are_advice() {
        let mut report = sound();
        report.outflank.instruction_sets.clear();
        report.outflank.optimised_for_speed = false;
        report.libtorch.has_onednn = false;
        report.memory_free = Some(1 << 30);
        report.models = None;
        assert_eq!(kinds(&report), [FindingKind::Advice; 5]);
    }
}
