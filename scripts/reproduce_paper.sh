#!/usr/bin/env bash
# Trains the system of Fu and Xu as their paper describes it (configs/paper.toml). Then plays the
# matches of their Tables 1 to 4 and prints the results beside the paper's figures.
#
#   scripts/reproduce_paper.sh [--run-dir DIR] [--episodes N] [ARGS...]
#
#   --run-dir DIR   the run directory [runs/paper]
#   --episodes N    games of self-play [100, as in the paper]
#   ARGS            further arguments for `outflank train`, such as --set net.channels=512
#
# A second call resumes the run. If the run has all its episodes, the call only plays the tables;
# with a larger N it trains further. N changes nothing else: learning rate, replay window and all
# other keys are those of the config. The tables go to DIR/tables.txt and to standard output. With
# the 128 channels of the config all this takes about forty minutes on a processor core (see
# docs/journal/paper-tables.md). Ctrl-C stops training or tables normally. The same command then
# continues; tables that were finished are not played again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

run_dir=$here/runs/paper episodes=100 extra=()
while [ $# -gt 0 ]; do
    case "$1" in
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
        --run-dir=* | --episodes=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
        --run-dir | --episodes)
            [ $# -ge 2 ] || { echo "error: $1 needs a value" >&2; exit 2; }
            if [ "$1" = --run-dir ]; then run_dir=$2; else episodes=$2; fi
            shift 2 ;;
        *) extra+=("$1"); shift ;;
    esac
done
[[ $episodes =~ ^[1-9][0-9]{0,8}$ ]] ||
    { echo "error: --episodes '$episodes': allowed: a whole number from 1" >&2; exit 2; }

outflank=${OUTFLANK-}
if [ -z "$outflank" ]; then
    "$here/scripts/setup.sh"
    outflank=$(cd "$here" && cargo build --release --locked --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
fi
[ -x "$outflank" ] || { echo "error: there is no program '$outflank'; fix: scripts/setup.sh" >&2; exit 2; }

# Prints the value of key $1 in `run.json`, which has one key on each line.
run_value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$run_dir/run.json" | head -n 1; }

# A resumed run keeps its configuration, with the changes of the first call.
begin=("$here/configs/paper.toml")
[ -f "$run_dir/run.json" ] && begin=(--resume)
if [ ${begin[0]} != --resume ] || [ "$(run_value state)" != finished ] || [ "$(run_value games)" -lt "$episodes" ]; then
    # Ctrl-C also reaches the program, which then stops normally. The script must continue after it,
    # to read the state of the run.
    trap 'true' INT
    "$outflank" train "${begin[@]}" --run-dir "$run_dir" \
        --set "limits.games=$episodes" ${extra[@]+"${extra[@]}"}
    trap - INT
    [ "$(run_value state)" = finished ] || { echo "interrupted; the same command continues" >&2; exit 130; }
fi
minutes=$(LC_ALL=C printf '%.1f' "$(run_value minutes)")
echo "$(run_value games) games, $(run_value positions) positions, $(run_value steps) steps in $minutes minutes"
tables=()
for number in 1 2 3 4; do
    table=$run_dir/table-$number-step-$(run_value steps).txt
    if [ ! -f "$table" ]; then
        "$outflank" eval "$run_dir" --table "paper-$number" --simulations 100 > "$table.part"
        mv "$table.part" "$table"
    fi
    tables+=("$table")
done
cat "${tables[@]}" > "$run_dir/tables.txt"
cat "$run_dir/tables.txt"
