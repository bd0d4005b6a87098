#!/usr/bin/env bash
# Rates all systems at equal time a move, on one core each, and prints one table a board: ratings in
# Elo by time, with half of their 95 % intervals. Alpha-beta with the positional evaluator has 0.
#
#   scripts/ladder.sh [--times LIST] [--games N] [--boards LIST] [--dir DIR]
#
#   --times LIST   times a move [10ms,100ms]; 1s takes hours
#   --games N      games of each pair of systems, an even number [20]
#   --boards LIST  boards: 8x8, 6x6, 7x7, octagon88, cross92, 8x8-fewest [8x8]
#   --dir DIR      the folder for ladders, tables and pictures [runs/ladder]
#
# Two games are played at a time. A second call continues: games that are played are not repeated.
# On 8x8, 10ms takes four minutes on two cores, 100ms half an hour, and 1s some five hours.
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
OUTFLANK=$outflank exec python3 "$here/scripts/ladder.py" "$@"
