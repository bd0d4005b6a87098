//! What this machine has: libtorch, GPUs, the CPU's instruction sets, and the kernels in use.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use super::torch;
use crate::cli::machine::{Cpuinfo, cores};
use crate::game::Shape;
use crate::net::{NetSpec, TowerOptions, inference, initial_weights};

/// The libtorch that the dynamic linker loaded, which may differ from that of the build.
#[derive(Clone, Default, Serialize)]
pub(super) struct Libtorch {
    pub(super) path: Option<PathBuf>,
    pub(super) version: Option<String>,
    pub(super) has_cuda_part: bool,
    pub(super) has_onednn: bool,
    pub(super) threads: i32,
}

#[derive(Clone, Default, Serialize)]
pub(super) struct Gpus {
    /// The devices that libtorch can use, in the form of `--device`.
    pub(super) devices: Vec<String>,
    /// The GPUs that NVIDIA's driver lists: name, memory, driver version.
    pub(super) driver_lists: Vec<String>,
}

#[derive(Clone, Default, Serialize)]
pub(super) struct Processor {
    pub(super) model: String,
    pub(super) cores: usize,
    pub(super) avx2: bool,
    pub(super) avx512: bool,
    pub(super) avx512_bf16: bool,
    pub(super) amx_bf16: bool,
    pub(super) amx_int8: bool,
}

/// How this CPU computes bfloat16 convolutions.
#[derive(Clone, Default, Serialize)]
pub(super) struct Bf16 {
    pub(super) path: &'static str,
    /// The time of a convolution in float32 divided by its time in bfloat16, on one thread. It is a
    /// rough figure. `None` without libtorch.
    pub(super) speed_against_float32: Option<f64>,
}

impl Libtorch {
    pub(super) fn loaded() -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let path = mapped(&maps, "libtorch_cpu.so");
        Self {
            version: path.as_deref().and_then(version_beside),
            path,
            has_cuda_part: mapped(&maps, "libtorch_cuda.so").is_some(),
            has_onednn: torch::has_onednn(),
            threads: torch::threads(),
        }
    }
}

/// The path of the mapped file called `name` in a `/proc/PID/maps`.
fn mapped(maps: &str, name: &str) -> Option<PathBuf> {
    // The path is the sixth column and may contain spaces.
    let paths =
        maps.lines().filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])));
    paths.into_iter().find(|path| path.ends_with(name)).map(Path::to_path_buf)
}

/// The version of the libtorch that `library` belongs to. It is in a file beside the folder `lib`:
/// `build-version` in a libtorch archive, `version.py` in a Python wheel.
fn version_beside(library: &Path) -> Option<String> {
    let folder = library.parent()?.parent()?;
    if let Ok(text) = std::fs::read_to_string(folder.join("build-version")) {
        return Some(text.trim().to_string());
    }
    let text = std::fs::read_to_string(folder.join("version.py")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("__version__ ="))?;
    Some(line.trim().trim_matches(['\'', '"']).to_string())
}

impl Gpus {
    pub(super) fn found() -> Self {
        let devices = std::iter::once("cpu".to_string()).chain(torch::gpus()).collect();
        let answer = Command::new("nvidia-smi")
            .args(["--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"])
            .output();
        let driver_lists = match answer {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout);
                text.lines()
                    .map(|line| line.trim().to_string())
                    .filter(|line| !line.is_empty())
                    .collect()
            }
            _ => Vec::new(),
        };
        Self { devices, driver_lists }
    }
}

impl Processor {
    pub(super) fn new(cpuinfo: &Cpuinfo) -> Self {
        Self {
            model: cpuinfo.model.clone(),
            cores: cores(),
            avx2: cpuinfo.has("avx2"),
            avx512: ["avx512f", "avx512bw", "avx512dq", "avx512vl"]
                .iter()
                .all(|flag| cpuinfo.has(flag)),
            avx512_bf16: cpuinfo.has("avx512_bf16"),
            amx_bf16: cpuinfo.has("amx_bf16"),
            amx_int8: cpuinfo.has("amx_int8"),
        }
    }

    pub(super) fn instruction_sets(&self) -> Vec<&'static str> {
        let all = [
            ("avx2", self.avx2),
            ("avx512", self.avx512),
            ("avx512_bf16", self.avx512_bf16),
            ("amx_bf16", self.amx_bf16),
            ("amx_int8", self.amx_int8),
        ];
        all.into_iter().filter(|(_, is_present)| *is_present).map(|(name, _)| name).collect()
    }
}

impl Bf16 {
    pub(super) fn measured(processor: &Processor) -> Self {
        let path = match processor {
            Processor { amx_bf16: true, .. } => "AMX tiles",
            Processor { avx512_bf16: true, .. } => "AVX-512 bf16",
            Processor { avx512: true, .. } => "emulated with AVX-512",
            _ => "none, float32 is used",
        };
        Self { path, speed_against_float32: torch::bf16_speed() }
    }
}

/// The code that computes and trains a default residual net on this machine with `auto`.
#[derive(Serialize, Debug, Default, PartialEq)]
pub(super) struct Kernels {
    pub(super) play: String,
    pub(super) learning: String,
}

impl Kernels {
    pub(super) fn chosen() -> Self {
        let options = TowerOptions::default();
        let spec = NetSpec { shape: Shape::Square8, options, evaluator: None };
        let weights = initial_weights(&spec, 0);
        let play = inference::open(&spec, &weights, &inference::Options::default(), "auto");
        Self {
            play: play.map_or_else(|error| error.to_string(), |backend| backend.describe()),
            learning: torch::learning(&spec),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaded_library_is_found_by_its_full_name() {
        let maps = "7f00-7f01 r--p 00000000 08:01 42 /a b/lib/libtorch_cpu.so.old\n\
                    7f01-7f02 r-xp 00000000 08:01 43 /a b/lib/libtorch_cpu.so\n\
                    7f02-7f03 rw-p 00000000 00:00 0\n";
        assert_eq!(mapped(maps, "libtorch_cpu.so"), Some("/a b/lib/libtorch_cpu.so".into()));
        assert_eq!(mapped(maps, "libtorch_cuda.so"), None);
    }

    #[test]
    fn the_version_is_read_from_both_layouts() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("lib/libtorch_cpu.so");
        assert_eq!(version_beside(&library), None);
        std::fs::write(folder.path().join("version.py"), "x = 1\n__version__ = '2.11.0+cu130'\n")
            .unwrap();
        assert_eq!(version_beside(&library).as_deref(), Some("2.11.0+cu130"));
        std::fs::write(folder.path().join("build-version"), "2.11.0+cpu\n").unwrap();
        assert_eq!(version_beside(&library).as_deref(), Some("2.11.0+cpu"));
    }
}
