#!/usr/bin/env bash
# All checks that a change must pass: format, lints, tests, documentation, the page in a browser, the packages,
# a training run of one minute, half a minute of kills and interrupts, and the tests without libtorch and of the
# Python module. All are built in one profile (dev, optimised), so dependencies are built once.
#
#   scripts/test.sh              all checks
#   scripts/test.sh --no-smoke   without the training run
#
# It runs scripts/setup.sh first. It needs no GPU, and the network only for libtorch, the crates and a NATS
# server (7 MB).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

smoke=yes
case "${1-}" in
    '') ;;
    --no-smoke) smoke=no ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$0"; exit ;;
    *) echo "error: unknown argument '$1'; allowed: --no-smoke, --help" >&2; exit 2 ;;
esac

work=$(mktemp -d)
current=start
finish() {
    local code=$?
    rm -rf "$work"
    [ $code = 0 ] || printf '\n== FAILED: %s\n' "$current" >&2
}
trap finish EXIT

step() {
    current=$1
    shift
    printf '\n== %s: %s\n' "$current" "$*"
    local start=$SECONDS
    "$@"
    printf '== %s: passed in %d s\n' "$current" $((SECONDS - start))
}

# The tests of workers need a server. Without one they say that they are skipped.
nats_server() { python3 scripts/nats_server.py || echo 'there is no NATS server'; }

# All failures are shown, not only those of the first failing test program.
tests() { cargo test --locked --no-fail-fast 2>&1 | tee "$work/tests"; }

# The feature `torch` holds all that needs libtorch. This build must not even look for it. Unit tests and
# examples of the documentation are the same with libtorch and have run there; to build the library a second
# time for them takes minutes. The Python module and its tests are built from the same library.
without_libtorch() {
    local programs
    programs=$(cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    for target in package["targets"]:
        if target["kind"] == ["test"] and "torch" not in target.get("required-features", []):
            print("--test", target["name"])
')
    # shellcheck disable=SC2086 # Names of test programs have no blanks.
    LIBTORCH=/nowhere cargo test --locked --no-default-features --features outflank/program -p outflank -p outflank-python $programs &&
        scripts/package.sh --try "$(built)" && other_crate
}

documentation() { RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps; }

# Prints the path of the program that was built last.
built() {
    local target
    target=$(cargo metadata --locked --no-deps --format-version 1 | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')
    echo "$target/debug/outflank"
}

# Runs a command, ended after 600 s if this system has `timeout`.
limited() {
    if command -v timeout > /dev/null; then timeout 600 "$@"; else "$@"; fi
}

# Uses the page in a browser. It ends with 3, and says so, where no Chromium is installed.
page() { python3 tests/web/check.py --program "$work/outflank" || [ $? = 3 ]; }

# Trains for a minute and checks that the run has written all its files.
smoke_run() {
    local run=$work/run name
    limited "$work/outflank" train configs/smoke.toml --run-dir "$run"
    for name in config.toml run.json metrics.jsonl games checkpoints tensorboard; do
        if [ -z "$(find "$run/$name" -type f -size +0 2> /dev/null | head -n 1)" ]; then
            echo "the run wrote nothing to $name" >&2
            return 1
        fi
    done
}

# As anybody would use the library: no feature, no libtorch, and none of this checkout's settings, which cargo
# looks for in the current folder. It shares no build with the others.
other_crate() {
    local root=$PWD
    (cd "$work" && CARGO_PROFILE_DEV_DEBUG=false cargo run --locked --manifest-path "$root/examples/other-crate/Cargo.toml" \
        --target-dir "$root/target/other-crate")
}

package() { scripts/package.sh --try "$work/outflank"; }

step set-up scripts/setup.sh
step 'NATS server' nats_server
step format cargo fmt --check
step 'picture of the code' python3 scripts/architecture.py --check
step lints cargo clippy --locked --all-targets -- -D warnings
step tests tests
step documentation documentation
cp "$(built)" "$work/outflank"
step page page
# The steps after this one wait more than they compute, so this build runs beside them.
without_libtorch > "$work/without_libtorch" 2>&1 &
without=$!
step package package
if [ $smoke = yes ]; then step 'training run' smoke_run; fi
waited() {
    local code=0
    wait $without || code=$?
    cat "$work/without_libtorch"
    return $code
}
step 'tests without libtorch' waited
if command -v cargo-deny > /dev/null; then step dependencies cargo deny check; fi
if command -v shellcheck > /dev/null; then step scripts shellcheck scripts/*.sh .ci/run; fi

printf '\n== all passed in %d s; results of the tests:\n' $SECONDS
grep '^test result:' "$work/tests"
