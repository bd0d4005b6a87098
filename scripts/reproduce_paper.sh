#!/usr/bin/env bash
# Trains the system of Fu and Xu as they wrote it (configs/paper.toml) and prints their Tables 1
# to 4, played again, beside the paper's figures.
#
#   scripts/reproduce_paper.sh [--run-dir DIR] [--episodes N] [ARGS...]
#
#   --run-dir DIR   the run [runs/paper]
#   --episodes N    episodes of self-play [100, as in the paper]
#   ARGS            further arguments for `outflank train`, such as --set net.channels=512
#
# A second call goes on with the run, and only plays the tables if it is finished; more episodes
# than before train it further. The tables go to DIR/tables.txt and to the standard output. The
# learning rate, the window and all else are the config's whatever N is. With the 128 channels of the
# config it takes about forty minutes on a processor core: see docs/results.md. Ctrl-C ends training
# or tables in order; the same command goes on, with the tables at the first one that was not finished.
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
    { echo "error: --episodes '$episodes': allowed is a whole number from 1" >&2; exit 2; }

outflank=${OUTFLANK-}
if [ -z "$outflank" ]; then
    "$here/scripts/setup.sh"
    outflank=$(cd "$here" && cargo build --release --locked --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
fi
[ -x "$outflank" ] || { echo "error: there is no program '$outflank'; fix: scripts/setup.sh" >&2; exit 2; }

# What `run.json` says of a key, which stands on a line of its own.
told() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$run_dir/run.json" | head -n 1; }

# A run goes on as it was configured, with what the first call changed.
begin=("$here/configs/paper.toml")
[ -f "$run_dir/run.json" ] && begin=(--resume)
if [ ${begin[0]} != --resume ] || [ "$(told state)" != finished ] || [ "$(told games)" -lt "$episodes" ]; then
    # Ctrl-C goes to the program too, which ends in order; the shell then looks how far it came.
    trap 'true' INT
    "$outflank" train "${begin[@]}" --run-dir "$run_dir" \
        --set "limits.games=$episodes" ${extra[@]+"${extra[@]}"}
    trap - INT
    [ "$(told state)" = finished ] || { echo "the same command goes on" >&2; exit 130; }
fi
minutes=$(LC_ALL=C printf '%.1f' "$(told minutes)")
echo "$(told games) games, $(told positions) positions, $(told steps) steps in $minutes minutes"
tables=()
for number in 1 2 3 4; do
    table=$run_dir/table-$number-step-$(told steps).txt
    if [ ! -f "$table" ]; then
        "$outflank" eval "$run_dir" --table "paper-$number" --simulations 100 > "$table.part"
        mv "$table.part" "$table"
    fi
    tables+=("$table")
done
cat "${tables[@]}" > "$run_dir/tables.txt"
cat "$run_dir/tables.txt"
