//! The machine's CPU, and the check that this program was built for its CPU.
//!
//! A build uses all instructions of the machine that builds it (`.cargo/config.toml`). On a CPU
//! that lacks some of them it would crash with an illegal instruction. [`refuse_foreign_build`]
//! runs first and prints an error instead. It must not use such instructions itself. So it formats
//! and allocates nothing and is not inlined, which leaves the compiler nothing to vectorise.

use std::process::ExitCode;

use crate::store::run_dir::Machine;

/// The instruction sets that this program was built for, by the compiler's names.
pub fn built_for() -> Vec<&'static str> {
    env!("OUTFLANK_TARGET_FEATURES").split(',').filter(|name| !name.is_empty()).collect()
}

/// Prints an error and returns exit code 2 if this build uses instructions that the CPU lacks. Else
/// returns `None`.
#[inline(never)]
pub fn refuse_foreign_build() -> Option<ExitCode> {
    let missing = first_missing()?;
    print_missing(missing);
    Some(ExitCode::from(2))
}

#[inline(never)]
fn print_missing(missing: &'static str) {
    use std::io::Write;
    let mut stderr = std::io::stderr();
    for text in [
        "error: this program was built on another machine, for a processor with ",
        missing,
        ", which this one lacks\n  fix: build it here with `cargo build --release`, or for more machines (docs/cluster.md)\n",
    ] {
        // An error of standard error cannot be reported anywhere.
        let _ = stderr.write_all(text.as_bytes());
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn first_missing() -> Option<&'static str> {
    None
}

#[cfg(target_arch = "x86_64")]
use x86::first_missing;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::__cpuid_count;

    /// An instruction set and its bit in CPUID.
    pub(super) struct InstructionSet {
        pub(super) name: &'static str,
        /// Whether this build uses it.
        pub(super) is_built_in: bool,
        leaf: u32,
        subleaf: u32,
        register: Register,
        bit: u32,
    }

    enum Register {
        Eax,
        Ebx,
        Ecx,
        Edx,
    }

    /// The table of instruction sets. The standard library's detection cannot be used here: it
    /// assumes that the CPU has every instruction that the build may use.
    macro_rules! instruction_sets {
        ($($leaf:literal . $subleaf:literal $register:ident: $($name:literal $bit:literal),+;)+) => {
            &[$($(InstructionSet {
                name: $name,
                is_built_in: cfg!(target_feature = $name),
                leaf: $leaf,
                subleaf: $subleaf,
                register: Register::$register,
                bit: $bit,
            },)+)+]
        };
    }

    /// Bits from Intel's Software Developer's Manual, volume 2A, CPUID, and AMD's APM, volume 3.
    pub(super) const INSTRUCTION_SETS: &[InstructionSet] = instruction_sets! {
        1 . 0 Ecx: "sse3" 0, "pclmulqdq" 1, "ssse3" 9, "fma" 12, "cmpxchg16b" 13, "sse4.1" 19,
            "sse4.2" 20, "movbe" 22, "popcnt" 23, "aes" 25, "xsave" 26, "avx" 28, "f16c" 29,
            "rdrand" 30;
        7 . 0 Ebx: "bmi1" 3, "avx2" 5, "bmi2" 8, "avx512f" 16, "avx512dq" 17, "rdseed" 18,
            "adx" 19, "avx512ifma" 21, "avx512cd" 28, "sha" 29, "avx512bw" 30, "avx512vl" 31;
        7 . 0 Ecx: "avx512vbmi" 1, "avx512vbmi2" 6, "gfni" 8, "vaes" 9, "vpclmulqdq" 10,
            "avx512vnni" 11, "avx512bitalg" 12, "avx512vpopcntdq" 14;
        7 . 0 Edx: "avx512vp2intersect" 8, "avx512fp16" 23;
        7 . 1 Eax: "avxvnni" 4, "avx512bf16" 5, "avxifma" 23;
        7 . 1 Edx: "avxvnniint8" 4, "avxneconvert" 5, "avxvnniint16" 10;
        0xD . 1 Eax: "xsaveopt" 0, "xsavec" 1, "xsaves" 3;
        0x8000_0001 . 0 Ecx: "lzcnt" 5, "sse4a" 6;
    };

    impl InstructionSet {
        pub(super) fn is_present(&self) -> bool {
            let highest = __cpuid_count(self.leaf & 0x8000_0000, 0).eax;
            // Leaf 7 gives the number of its subleaves. Behind them the bits of other leaves
            // appear.
            let is_absent =
                self.leaf > highest || (self.leaf == 7 && self.subleaf > __cpuid_count(7, 0).eax);
            if is_absent {
                return false;
            }
            let answer = __cpuid_count(self.leaf, self.subleaf);
            let register = match self.register {
                Register::Eax => answer.eax,
                Register::Ebx => answer.ebx,
                Register::Ecx => answer.ecx,
                Register::Edx => answer.edx,
            };
            register >> self.bit & 1 == 1
        }
    }

    #[inline(never)]
    pub(super) fn first_missing() -> Option<&'static str> {
        for set in INSTRUCTION_SETS {
            if set.is_built_in && !set.is_present() {
                return Some(set.name);
            }
        }
        None
    }
}

/// The CPU as `/proc/cpuinfo` describes it; empty if there is no such file.
#[derive(Debug, Default, PartialEq)]
pub struct Cpuinfo {
    /// The CPU's name.
    pub model: String,
    /// The instruction sets that programs may use, by the kernel's names.
    pub flags: Vec<String>,
}

impl Cpuinfo {
    /// Reads the first CPU in the text of `/proc/cpuinfo`. It is assumed that all are alike.
    pub fn parse(text: &str) -> Self {
        let field = |names: &[&str]| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(key, _)| names.contains(&key.trim())).map_or("", |(_, value)| value.trim())
        };
        Self {
            model: field(&["model name", "Model"]).to_string(),
            flags: field(&["flags", "Features"]).split_whitespace().map(String::from).collect(),
        }
    }

    /// Whether `flag` is among the flags.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }
}

/// The CPU's name and the number of cores that this process may use.
pub fn processor() -> Machine {
    let cpu = Cpuinfo::parse(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()).model;
    Machine { cpu, cores: cores() }
}

/// The number of cores that this process may use; at least 1.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_build_is_for_this_machine() {
        assert_eq!(first_missing(), None);
        assert!(refuse_foreign_build().is_none());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_table_agrees_with_the_compiler_and_the_kernel() {
        let cpuinfo = Cpuinfo::parse(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
        for set in x86::INSTRUCTION_SETS {
            assert_eq!(set.is_built_in, built_for().contains(&set.name), "{}", set.name);
            // Many names of the kernel differ from the compiler's. These are the same.
            let alike =
                ["avx", "avx2", "bmi1", "bmi2", "fma", "avx512f", "avx512vl", "gfni", "sha_ni"];
            if alike.contains(&set.name) && !cpuinfo.flags.is_empty() {
                assert_eq!(set.is_present(), cpuinfo.has(set.name), "{}", set.name);
            }
        }
    }

    #[test]
    fn cpuinfo_gives_the_model_and_the_flags() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu avx2 amx_bf16\n\nprocessor\t: 1\n";
        let cpuinfo = Cpuinfo::parse(text);
        assert_eq!(cpuinfo.model, "Some CPU @ 2 GHz");
        assert!(cpuinfo.has("amx_bf16") && !cpuinfo.has("avx"));
        assert_eq!(Cpuinfo::parse(""), Cpuinfo::default());
    }
}
