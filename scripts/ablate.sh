#!/usr/bin/env bash
# Measures how much each learning method helps. Trains pairs of runs that differ in one method, each
# for the same time on equally many cores, and plays matches of paired games between the final nets.
#
#   scripts/ablate.sh --list                         the rows: name, question, changed keys
#   scripts/ablate.sh --minutes 60 --seeds 1,2       all rows, an hour for each run
#   scripts/ablate.sh --rows no-ema,gumbel --jobs 2  two rows, two runs at a time
#   scripts/ablate.sh --rows no-ema --paired         a row and its baseline at the same time
#
# Options:
#   --minutes M        minutes of training for each run [60]
#   --seeds 1,2        seeds; the rows of a seed share one baseline, unless --paired is given [1]
#   --rows A,B         only these rows [all]
#   --games N          games of each match, half with each colour [200]
#   --simulations N    simulations of each move in matches [100]
#   --base CONFIG      the baseline's config [configs/cpu.toml]
#   --set KEY=VALUE    changes a key of every run, also of the baseline; may be repeated
#   --jobs N           runs at a time, each on its own share of the cores [1]
#   --paired           trains a baseline for each row and seed at the same time as the row, each on
#                      half of the cores, so that other programs slow both down equally; if only
#                      one of the two runs failed, the same command trains that one alone
#   --out DIR          folder for runs, matches and tables [runs/ablate]
#   --list             prints the rows and ends
#
# DIR/results.md, results.jsonl and results.svg are rewritten after each match. Ctrl-C stops the runs
# normally, with a checkpoint. The same command then continues: it keeps finished runs and matches,
# and resumes the others. The program is $OUTFLANK, or target/release/outflank if that is unset.
# Exit codes: 0 all done, 1 a run or match failed, 2 a bad argument, 130 interrupted.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for argument in "$@"; do
    case "$argument" in
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
    esac
done
command -v python3 > /dev/null || { echo "error: python3 is missing; fix: install it" >&2; exit 2; }
exec python3 "$here/scripts/ablate.py" "$@"
