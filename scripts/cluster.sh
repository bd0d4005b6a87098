#!/usr/bin/env bash
# A learner and its workers on this machine: fetches and starts a NATS server, starts all, shows them, and
# ends them all with Ctrl-C or when the run has ended.
#
#   scripts/cluster.sh CONFIG [WORKERS] [OPTION...]    a new run with WORKERS workers (default 2), each
#                                                      with one actor; OPTIONs are those of `outflank train`
#   scripts/cluster.sh --resume DIR [WORKERS]          continues a run
#
# OUTFLANK    the program (default: target/release/outflank, built if it is missing)
# PORT        the port of the server on the loopback (default 4222)
# NATS_SERVER a server of your own; else one is fetched into the cache (7 MB)
#
# The server's files, its login, logs and outboxes are in runs/cluster. Games that are on their way are kept there
# until the next start.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$0"; }
die() { printf 'error: %s\n' "$*" >&2; exit 2; }

run=()
case "${1-}" in
    '' | -h | --help) usage; exit ;;
    --resume)
        [ $# -ge 2 ] || die '--resume needs the run directory'
        run=(--resume --run-dir "$2")
        shift 2
        ;;
    *)
        [ -f "$1" ] || die "$1 is no file; give a configuration such as configs/quick.toml"
        run=("$1")
        shift
        ;;
esac
workers=2
case "${1-}" in
    '' | -*) ;;
    *[!0-9]*) die "$1 is no number of workers; allowed: 1 to 64" ;;
    *) workers=$1; shift ;;
esac
if [ "$workers" -lt 1 ] || [ "$workers" -gt 64 ]; then die "$workers workers; allowed: 1 to 64"; fi

outflank=${OUTFLANK:-target/release/outflank}
if [ ! -x "$outflank" ]; then
    [ -z "${OUTFLANK-}" ] || die "$outflank does not exist"
    scripts/setup.sh
    cargo build --release --locked
fi
server=$(python3 scripts/nats_server.py)
port=${PORT:-4222}
url=nats://127.0.0.1:$port
folder=runs/cluster
mkdir -p "$folder"
export OUTFLANK_NATS_STORE=$PWD/$folder/server
# A new login at each start: other users of this machine can neither confirm games nor end workers. The letter
# in front keeps the server from reading a number.
OUTFLANK_NATS_PASSWORD=p$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
export OUTFLANK_NATS_PASSWORD
login=$folder/login
rm -f "$login"
(umask 077 && echo "outflank:$OUTFLANK_NATS_PASSWORD" > "$login")

children=()
finish() {
    trap - EXIT INT TERM
    # Workers first: their last games are stored by the learner.
    for child in "${children[@]:1}"; do kill -INT "$child" 2> /dev/null || true; done
    for child in "${children[@]:1}"; do wait "$child" 2> /dev/null || true; done
    if [ -n "${learner-}" ]; then
        kill -INT "$learner" 2> /dev/null || true
        wait "$learner" 2> /dev/null || true
    fi
    if [ -n "${children[0]-}" ]; then kill "${children[0]}" 2> /dev/null || true; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

"$server" -c scripts/nats.conf -p "$port" > "$folder/server.log" 2>&1 &
children+=($!)
for _ in $(seq 50); do
    if grep -q 'Server is ready' "$folder/server.log"; then break; fi
    kill -0 "${children[0]}" 2> /dev/null || die "the server has ended; $folder/server.log says why: $(tail -n 1 "$folder/server.log")"
    sleep 0.1
done

# All games are the workers': this machine's cores are theirs.
"$outflank" train "${run[@]}" --nats "$url" --login "$login" --no-actors "$@" &
learner=$!
for number in $(seq "$workers"); do
    "$outflank" worker --nats "$url" --login "$login" --name "worker-$number" --actors 1 --outbox "$folder/outbox" \
        > "$folder/worker-$number.log" 2>&1 &
    children+=($!)
done
echo "server: $url, $folder/server.log; workers: $folder/worker-N.log; page: $outflank web --runs runs" >&2
code=0
wait "$learner" || code=$?
learner=
exit $code
