#!/usr/bin/env bash
# One command from a fresh checkout to a net that plays: sets up, builds, trains, and measures
# the result against fixed opponents, from one that moves at random to alpha-beta to depth 6.
#
#   scripts/train.sh                           trains configs/quick.toml
#   scripts/train.sh configs/cpu.toml          trains another config
#   scripts/train.sh configs/cpu.toml ARGS...  the arguments go to `outflank train`, such as
#                                              --run-dir DIR, --resume, --set limits.minutes=5
#
# A run is resumed as it was configured, with what --set changed, unless a config is named again.
# Without --run-dir the run goes to runs/NAME-DATE-TIME; with --resume, the newest such is taken.
# Ctrl-C once ends the run in order, and it can be resumed; twice leaves at once.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

case "${1-}" in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
    '' | -*) config=$here/configs/quick.toml named=no ;;
    *) config=$1 named=yes; shift ;;
esac
[ -f "$config" ] || { echo "error: there is no config '$config'; see $here/configs" >&2; exit 2; }

run_dir='' resume=no previous=''
for argument in "$@"; do
    case "$argument" in
        --run-dir=*) run_dir=${argument#--run-dir=} ;;
        --resume) resume=yes ;;
        *) if [ "$previous" = --run-dir ]; then run_dir=$argument; fi ;;
    esac
    previous=$argument
done
if [ -z "$run_dir" ]; then
    name=$(basename "$config" .toml)
    if [ $resume = yes ]; then
        # The names end in the date and time, so the last in order is the newest. Nothing may stand
        # before these: `quick` does not go on with a run of `quick-big` or `quick-7`.
        for folder in "$here/runs/$name"-[0-9]*-[0-9]*/; do
            ending=${folder#"$here/runs/$name-"}
            if [[ $ending =~ ^[0-9]{8}-[0-9]{6}/$ ]]; then run_dir=${folder%/}; fi
        done
        [ -n "$run_dir" ] || { echo "error: there is no run of $name in $here/runs to resume" >&2; exit 2; }
    else
        run_dir=$here/runs/$name-$(date +%Y%m%d-%H%M%S)
    fi
    set -- "$@" --run-dir "$run_dir"
fi

"$here/scripts/setup.sh"
# Cargo reads its settings from the working folder, so it builds in the checkout; the program then
# runs in the caller's folder, where relative paths mean what they say.
outflank=$(cd "$here" && cargo build --release --locked --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)

where() {
    [ -d "$run_dir" ] || return 0
    cat >&2 << EOF

The run:      $run_dir
checkpoints   $run_dir/checkpoints
games         $run_dir/games
curves        tensorboard --logdir $run_dir/tensorboard   (pip install tensorboard)
EOF
    # Without a configuration the run goes on as it was configured, with what --set changed.
    printf 'to go on      %q train --resume --run-dir %q\n' "$outflank" "$run_dir" >&2
}

# The program ends a run in order on the first Ctrl-C, with exit code 0; the shell must only know.
interrupted=no
trap 'interrupted=yes' INT
if [ $resume = no ] || [ $named = yes ]; then set -- "$config" "$@"; fi
"$outflank" train "$@" || { code=$?; where; exit $code; }
if [ $interrupted = yes ]; then
    where
    exit 0
fi
against=()
for opponent in random greedy alphabeta:depth=2 alphabeta:depth=4 alphabeta:depth=6; do against+=(--against "$opponent"); done
"$outflank" eval "$run_dir" --games 200 --simulations 100 "${against[@]}" || { code=$?; where; exit $code; }
where
