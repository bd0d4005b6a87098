#!/usr/bin/env bash
# One command from a fresh checkout to a net that plays: sets up, builds, trains, and plays matches
# of the trained net against fixed opponents, from random moves to alpha-beta of depth 6.
#
#   scripts/train.sh                           trains configs/quick.toml
#   scripts/train.sh configs/cpu.toml          trains another config
#   scripts/train.sh configs/cpu.toml ARGS...  passes ARGS to `outflank train`, such as
#                                              --run-dir DIR, --resume, --set limits.minutes=5
#
# A resumed run keeps its configuration, with what --set changed, unless a config is given again.
# Without --run-dir a new run goes to runs/NAME-DATE-TIME (NAME is the config's), and --resume takes
# the newest of these. One Ctrl-C stops the run normally, so it can be resumed; a second one ends the
# program at once.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

case "${1-}" in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;;
    '' | -*) config=$here/configs/quick.toml config_given=no ;;
    *) config=$1 config_given=yes; shift ;;
esac
[ -f "$config" ] || { echo "error: there is no config '$config'; configs are in $here/configs" >&2; exit 2; }

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
        # Names end in date and time, so the last in alphabetical order is the newest. The pattern
        # leaves out runs of other configs, such as `quick-big` or `quick-7` for `quick`.
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
# Cargo reads its settings from the working folder, so it builds in the checkout. The program runs in
# the caller's folder, to which relative paths refer.
outflank=$(cd "$here" && cargo build --release --locked --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)

show_files() {
    [ -d "$run_dir" ] || return 0
    cat >&2 << EOF

run           $run_dir
checkpoints   $run_dir/checkpoints
games         $run_dir/games
curves        tensorboard --logdir $run_dir   (pip install tensorboard)
EOF
    # This command names no config, so the run keeps its own, with what --set changed.
    printf 'to resume     %q train --resume --run-dir %q\n' "$outflank" "$run_dir" >&2
}

# After the first Ctrl-C the program stops the run normally, with exit code 0. The script must notice
# the signal, since it then plays no matches.
interrupted=no
trap 'interrupted=yes' INT
if [ $resume = no ] || [ $config_given = yes ]; then set -- "$config" "$@"; fi
"$outflank" train "$@" || { code=$?; show_files; exit $code; }
if [ $interrupted = yes ]; then
    show_files
    exit 0
fi
against=()
for opponent in random greedy; do against+=(--against "$opponent"); done
for depth in 2 4 6; do against+=(--against "alphabeta:depth=$depth,eval=positional"); done
echo "playing 200 games against each of 5 opponents; the results come in some minutes" >&2
"$outflank" eval "$run_dir" --games 200 --simulations 100 "${against[@]}" || { code=$?; show_files; exit $code; }
show_files
