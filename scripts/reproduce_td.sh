#!/usr/bin/env bash
# Trains Perversi's evaluator as its paper describes it, and with settings of ours. Then plays the
# paper's experiments, and prints the results beside the paper's figures (docs/td.md).
#
#   scripts/reproduce_td.sh [--quick] [--dir DIR] [--factor N]
#
#   --quick      few games: a few minutes, with wide errors
#   --dir DIR    where models and results go [runs/perversi]
#   --factor N   all clocks are this many times shorter than the paper's [100]
#
# Models that are in DIR already are not trained again. The tables go to DIR/tables.txt and to
# standard output. On two cores the whole takes about half an hour.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

dir=$here/runs/perversi factor=100 games=400 selfplay=100 movetime=5ms searches=60 depth=6
while [ $# -gt 0 ]; do
    case "$1" in
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
        --quick) games=40 selfplay=10 movetime=2ms searches=6 depth=5; shift ;;
        --dir=* | --factor=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
        --dir | --factor)
            [ $# -ge 2 ] || { echo "error: $1 needs a value" >&2; exit 2; }
            if [ "$1" = --dir ]; then dir=$2; else factor=$2; fi
            shift 2 ;;
        *) echo "error: unknown option '$1'; allowed: --quick, --dir DIR, --factor N" >&2; exit 2 ;;
    esac
done
[[ $factor =~ ^[1-9][0-9]{0,3}$ ]] ||
    { echo "error: --factor '$factor': allowed: a whole number from 1 to 9999" >&2; exit 2; }

outflank=${OUTFLANK-} example=${PERVERSI-}
if [ -z "$outflank" ] || [ -z "$example" ]; then
    "$here/scripts/setup.sh"
    (cd "$here" && cargo build --release --locked --bin outflank --example perversi >&2)
    outflank=$here/target/release/outflank example=$here/target/release/examples/perversi
fi
for program in "$outflank" "$example"; do
    [ -x "$program" ] || { echo "error: there is no program '$program'" >&2; exit 2; }
done
mkdir -p "$dir"

# Trains run $1 with a configuration and further arguments, unless it is finished.
train() {
    local run=$dir/$1 config=$here/configs/$2.toml begin
    shift 2
    grep -qs '"state": "finished"' "$run/run.json" && return
    begin=("$config" "$@")
    [ -f "$run/run.json" ] && begin=(--resume)
    "$outflank" train "${begin[@]}" --run-dir "$run" --quiet >&2
}

# Plays a match of $1 against $2 and prints the first player's score, in %, with its interval.
match() {
    "$outflank" arena "$1" "$2" --shape cross92 --games "$games" --openings random:6 --seed 1 \
        --json --ladder "$dir/ladder.jsonl" 2>> "$dir/log.txt" |
        python3 -c '
import json, sys
found = [json.loads(line) for line in sys.stdin]
match = next(line for line in found if line["kind"] == "match")
print("%.1f %% (%.1f to %.1f)" % tuple(100 * match[key] for key in ("score", "low", "high")))'
}

player() { echo "alphabeta:movetime=$movetime,eval=$dir/$1,threads=1"; }

{
    train faithful perversi
    # A learning rate of 0 leaves the weights as they begin.
    train initial perversi --set td.rate=0 --set td.boards=1
    train boards-1000 perversi --set td.boards=1000
    train repeats-3 perversi --set td.repeats=3
    train tuned perversi-tuned

    echo "Training: $games games a match, $movetime a move, openings of 6 random moves"
    echo "  faithful (300 boards a stage) against its initial weights: $(match "$(player faithful)" "$(player initial)")"
    echo "  faithful against greedy: $(match "$(player faithful)" greedy)"
    echo "  1,000 boards a stage against faithful: $(match "$(player boards-1000)" "$(player faithful)")"
    echo "  each board three times against faithful: $(match "$(player repeats-3)" "$(player faithful)")"
    echo "  ours against its initial weights: $(match "$(player tuned)" "$(player initial)")"
    echo "  ours against greedy: $(match "$(player tuned)" greedy)"
    echo "  ours against faithful: $(match "$(player tuned)" "$(player faithful)")"
    echo "  ours against alphabeta with the positional evaluator: $(match "$(player tuned)" "alphabeta:movetime=$movetime,eval=positional,threads=1")"

    echo
    echo "Colours: the second player is Red in the paper. Openings of 2 random moves."
    for kind in random greedy; do
        echo "  paper: Red is better; $("$example" balance "$kind" $((10 * selfplay)))"
    done
    for clock in '150 59-67' '100 35-36' '75 12-31' '50 49-51'; do
        read -r seconds discs <<< "$clock"
        time=$((1000 * seconds / factor))ms
        spec="alphabeta:gametime=$time,allotment=falling,eval=$dir/faithful,threads=1"
        echo "  paper, $seconds s: Red has $discs discs of 92, over 30 % of the time is wasted"
        echo "    $("$example" balance "$spec" "$selfplay")"
    done

    echo
    echo "Search to depth $depth, plain alpha-beta. Paper: ordering saves 10 to 20 %, the hash table 10 to 40 %."
    "$example" search "$dir/faithful" "$depth" "$searches" | sed 's/^/  /'
} | tee "$dir/tables.part"
mv "$dir/tables.part" "$dir/tables.txt"
