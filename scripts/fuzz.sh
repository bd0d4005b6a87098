#!/usr/bin/env bash
# Runs every fuzz target of tests/fuzz on many random inputs, one target after another. Prints the
# number of inputs and the time of each.
#
#   scripts/fuzz.sh                    a million inputs for each target
#   scripts/fuzz.sh 100000             100,000 inputs for each target
#   scripts/fuzz.sh 100000 ladders     only the targets whose names contain `ladders`
#
# A failure prints the input and BOLERO_RANDOM_SEED. To repeat it:
#   BOLERO_RANDOM_SEED=N BOLERO_RANDOM_ITERATIONS=0 cargo test --test fuzz NAME
# Exit codes: 0 no target failed, 1 a target failed, 2 a bad argument.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1-}" in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$0"; exit ;;
esac
inputs=${1-1000000}
filter=${2-}
case "$inputs" in
    '' | *[!0-9]* | 0) echo "error: '$inputs' is not a number of inputs; allowed: a whole number from 1" >&2; exit 2 ;;
esac

cargo test --locked --test fuzz --no-run
targets=$(cargo test --locked --test fuzz -- --list 2> /dev/null | sed -n 's/: test$//p')
chosen=$(grep -F -- "$filter" <<< "$targets") || {
    echo "error: no target's name contains '$filter'; targets:" "$targets" >&2
    exit 2
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
for target in $chosen; do
    start=$SECONDS
    if BOLERO_RANDOM_ITERATIONS=$inputs cargo test --locked --test fuzz -- --exact "$target" > "$log" 2>&1; then
        printf '%-32s %9d inputs in %6d s, passed\n' "$target" "$inputs" $((SECONDS - start))
    else
        cat "$log"
        printf '%-32s FAILED after %d s\n' "$target" $((SECONDS - start))
        code=1
    fi
done
exit $code
