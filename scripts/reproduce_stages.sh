#!/usr/bin/env bash
# Trains the models of Engel's paper (docs/stages.md), plays its matches, and prints its Tables I to
# VI and VIII to X beside the paper's figures, ours with their standard errors. Then it plays our
# best setting against the paper's.
#
#   scripts/reproduce_stages.sh [--quick] [--games N] [--wthor DIR] [--dir DIR]
#
#   --quick      200 games a cell instead of 8,000, and plies 1 to 3 instead of 1 to 5
#   --games N    games a cell, an even number [8000]
#   --wthor DIR  the folder of the WTHOR archive, for Tables VI and X; without it they are left out
#   --dir DIR    the folder for runs and games [runs/stages-paper]
#
# A second call continues: models that are trained and matches that are played are not repeated.
# `outflank train` and `outflank arena` do all the work; scripts/reproduce_stages.py prints.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "${1-}" in -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit ;; esac

outflank=${OUTFLANK-}
if [ -z "$outflank" ]; then
    "$here/scripts/setup.sh"
    outflank=$(cd "$here" && cargo build --release --locked --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
fi
[ -x "$outflank" ] || { echo "error: there is no program '$outflank'; fix: scripts/setup.sh" >&2; exit 2; }
OUTFLANK=$outflank exec python3 "$here/scripts/reproduce_stages.py" "$@"
