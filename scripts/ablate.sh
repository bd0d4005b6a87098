#!/usr/bin/env bash
# What each learning method is worth: trains pairs of runs that differ in one method, each for the
# same time on equal cores, and plays paired matches between the final nets.
#
#   scripts/ablate.sh --list                         the rows, with what each asks and changes
#   scripts/ablate.sh --minutes 60 --seeds 1,2       all rows, an hour for each run
#   scripts/ablate.sh --rows no-ema,gumbel --jobs 2  two rows, two runs at a time
#   scripts/ablate.sh --rows no-ema --paired         a row beside its baseline, at the same time
#
# Options:
#   --minutes M        minutes of training for each run [60]
#   --seeds 1,2        seeds; each has a baseline of its own, which its rows share [1]; see --paired
#   --rows A,B         these rows only [all]
#   --games N          games of each match, half with each colour [200]
#   --simulations N    simulations a move in matches [100]
#   --base CONFIG      the baseline's config [configs/cpu.toml]
#   --set KEY=VALUE    changes the baseline, and so every run; may be repeated
#   --jobs N           runs at a time, each pinned to its own share of the cores [1]
#   --paired           each row and seed is trained beside a baseline of its own, at the same time
#                      on half of the cores each, so that neither has a quieter hour; if only one
#                      of the two failed, the same command trains that one alone
#   --out DIR          where runs, matches and tables go [runs/ablate]
#   --list             shows the rows and ends
#
# DIR/results.md, results.jsonl and results.svg are written anew after each match. Ctrl-C ends the
# runs in order; the same command goes on: what is finished is kept, a run that is not goes on from
# its last checkpoint. $OUTFLANK names the program, else it is target/release/outflank.
# Exit codes: 0 all is done, 1 a run or match failed, 2 a bad argument, 130 interrupted.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for argument in "$@"; do
    case "$argument" in
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
    esac
done
command -v python3 > /dev/null || { echo "error: python3 is not there; fix: install it" >&2; exit 2; }
exec python3 "$here/scripts/ablate.py" "$@"
