#!/usr/bin/env python3
"""Measures self-play with workers on this machine, and kills its parts at random.

    cluster_measure.py speed [PAIRS]      games/s of two workers against those of two local actors
    cluster_measure.py nets [SECONDS]     8 workers: time from a new net to the last worker that plays
                                          with it, and whether the counts add up
    cluster_measure.py kills [KILLS]      kills workers, learner and server at random instants; then
                                          counts the games

Options, before the command:
    --program FILE    the program (default: target/release/outflank)
    --dir DIR         folder for runs and logs, which is removed first (default: runs/cluster-measure)
    --seed N          seed of the instants of kills (default: 1)

It needs a NATS server: `scripts/nats_server.py` fetches one.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nats_server  # noqa: E402

CONF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nats.conf")
# A small net that trains at once, so that nets come often.
SMALL = """
board = "6x6"
seed = 3
device = "cpu"
[net]
blocks = 1
channels = 8
[search]
simulations = 4
[selfplay]
games_per_actor = 16
[replay]
min_positions = 300
max_positions = 50000
[learner]
batch = 32
steps_per_publish = 8
[checkpoint]
every_minutes = 0.1
[evaluation]
every_minutes = 0
"""
# The net and the searches of configs/quick.toml, without training: the learner only takes games.
SPEED = """
board = "8x8"
seed = 3
device = "cpu"
[net]
blocks = 2
channels = 32
[search]
simulations = 100
[selfplay]
actors = 2
games_per_actor = 64
[replay]
min_positions = 100000000
max_positions = 100000000
[evaluation]
every_minutes = 0
"""


class Cluster:
    """A server, a learner and workers on the loopback."""

    def __init__(self, args):
        self.args = args
        shutil.rmtree(args.dir, ignore_errors=True)
        os.makedirs(args.dir)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = "nats://127.0.0.1:{}".format(self.port)
        self.run = os.path.join(args.dir, "run")
        self.server = self.learner = None
        self.workers = {}

    def start(self, name, command, **more):
        log = open(os.path.join(self.args.dir, name + ".log"), "ab")
        return subprocess.Popen(command, stdout=log, stderr=log, **more)

    def start_server(self):
        environment = dict(os.environ, OUTFLANK_NATS_STORE=os.path.abspath(os.path.join(self.args.dir, "server")))
        self.server = self.start("server", [nats_server.server(), "-c", CONF, "-p", str(self.port)], env=environment)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)

    def start_learner(self, config=None, more=()):
        if config is None:
            command = ["train", "--resume", "--run-dir", self.run]
        else:
            path = os.path.join(self.args.dir, "config.toml")
            with open(path, "w") as file:
                file.write(config)
            command = ["train", path, "--run-dir", self.run]
        self.learner = self.start("learner", [self.args.program] + command + ["--nats", self.url, "--quiet"] + list(more),
                                  env=dict(os.environ, OUTFLANK_LOG="debug"))

    def start_worker(self, number):
        name = "worker-{}".format(number)
        self.workers[number] = self.start(name, [
            self.args.program, "worker", "--nats", self.url, "--name", name, "--actors", "1",
            "--outbox", os.path.join(self.args.dir, "outbox")], env=dict(os.environ, OUTFLANK_LOG="debug"))

    def stop(self):
        for worker in self.workers.values():
            worker.send_signal(signal.SIGINT)
        for worker in self.workers.values():
            worker.wait()
        if self.learner and self.learner.poll() is None:
            self.learner.send_signal(signal.SIGINT)
            self.learner.wait()
        self.server.kill()
        self.server.wait()


def games_of(args, run):
    """Numbers and workers of all stored games."""
    done = subprocess.run([args.program, "games", run, "--to", "json"], stdout=subprocess.PIPE, check=True)
    return [(game["id"], game.get("worker")) for game in map(json.loads, done.stdout.splitlines())]


def counters(run):
    with open(os.path.join(run, "run.json")) as file:
        return json.load(file)["summary"]


def check_counts(args, cluster):
    games = games_of(args, cluster.run)
    numbers = [number for number, _ in games]
    counted = counters(cluster.run)["games"]
    twice = len(numbers) - len(set(numbers))
    print("{} games stored, {} of workers, {} twice, run.json says {}".format(
        len(games), sum(worker is not None for _, worker in games), twice, counted))
    if twice or counted != len(games):
        sys.exit("error: the counts do not add up")
    return games


def processor_seconds(process):
    with open("/proc/{}/stat".format(process.pid)) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def speed(args):
    """Games a second over a minute each, in pairs."""
    seconds, warm_up, ratios, shares = 60, 15, [], []
    for pair in range(args.count or 3):
        figures = {}
        for kind in ("local", "workers"):
            cluster = Cluster(args)
            cluster.start_server()
            cluster.start_learner(SPEED, [] if kind == "local" else ["--no-actors"])
            if kind == "workers":
                cluster.start_worker(1)
                cluster.start_worker(2)
            time.sleep(warm_up)
            own = [cluster.server, cluster.learner]
            first, before = size_of_games(cluster.run), sum(map(processor_seconds, own))
            time.sleep(seconds)
            played = size_of_games(cluster.run) - first
            if kind == "workers":
                shares.append((sum(map(processor_seconds, own)) - before) / (2 * seconds))
            cluster.stop()
            figures[kind] = played / seconds
        ratios.append(figures["workers"] / figures["local"])
        print("pair {}: local {:.1f} KB of games/s, workers {:.1f}, ratio {:.3f}; learner and server take {:.2%} of both cores".format(
            pair + 1, figures["local"] / 1e3, figures["workers"] / 1e3, ratios[-1], shares[-1]), flush=True)
    print("median ratio {:.3f}".format(statistics.median(ratios)))


def size_of_games(run):
    folder = os.path.join(run, "games")
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def nets(args):
    seconds = args.count or 60
    cluster = Cluster(args)
    cluster.start_server()
    cluster.start_learner(SMALL, ["--no-actors"])
    for number in range(1, 9):
        cluster.start_worker(number)
    time.sleep(seconds)
    cluster.stop()
    published, loaded = {}, {}
    for name in os.listdir(args.dir):
        if not name.endswith(".log") or name == "server.log":
            continue
        with open(os.path.join(args.dir, name), errors="replace") as file:
            for line in file:
                found = re.search(r"net (\d+)-(\d+) (published|loaded) at (\d+) ms", line)
                if found:
                    key = (int(found[1]), int(found[2]))
                    table = published if found[3] == "published" else loaded
                    table.setdefault(key, []).append(int(found[4]))
    waits = []
    for key in sorted(published):
        # A worker may skip a net; then it has the next one by the time that counts.
        later = [max(times) for other, times in loaded.items() if other >= key and len(times) == 8]
        if later:
            waits.append((min(later) - published[key][0]) / 1000)
    waits.sort()
    print("{} nets, to the last of 8 workers: median {:.2f} s, 99 % {:.2f} s, longest {:.2f} s".format(
        len(waits), statistics.median(waits), waits[int(0.99 * (len(waits) - 1))], waits[-1]))
    check_counts(args, cluster)


def kills(args):
    chance = random.Random(args.seed)
    count = args.count or 20
    cluster = Cluster(args)
    cluster.start_server()
    # The workers play all games; else the learner's own actors leave them few.
    cluster.start_learner(SMALL, ["--no-actors"])
    for number in range(1, 5):
        cluster.start_worker(number)
    time.sleep(5)
    confirmed = set()
    for kill in range(count):
        time.sleep(chance.uniform(0.0, 2.0))
        kind = chance.choice(["learner", "server", "worker", "worker"])
        if kind == "learner":
            cluster.learner.kill()
            cluster.learner.wait()
            cluster.start_learner(more=["--no-actors"])
        elif kind == "server":
            cluster.server.kill()
            cluster.server.wait()
            cluster.start_server()
        else:
            number = chance.randint(1, 4)
            cluster.workers[number].kill()
            cluster.workers[number].wait()
            cluster.start_worker(number)
    time.sleep(25)
    # All that was confirmed to a worker must be there: the logs of the workers name these games.
    cluster.stop()
    for number in cluster.workers:
        with open(os.path.join(args.dir, "worker-{}.log".format(number)), errors="replace") as file:
            for line in file:
                found = re.search(r"stored games: \[([\d, ]*)\]", line)
                if found:
                    confirmed.update(int(part) for part in found[1].split(",") if part.strip())
    games = check_counts(args, cluster)
    missing = confirmed - {number for number, _ in games}
    print("{} kills; {} games were confirmed to workers, {} of them are missing".format(count, len(confirmed), len(missing)))
    left = sum(name.endswith(".games") for _, _, names in os.walk(os.path.join(args.dir, "outbox")) for name in names)
    print("{} messages are left in the outboxes".format(left))
    if missing:
        sys.exit("error: games were lost")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", default="target/release/outflank")
    parser.add_argument("--dir", default="runs/cluster-measure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", choices=["speed", "nets", "kills"])
    parser.add_argument("count", type=int, nargs="?")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    {"speed": speed, "nets": nets, "kills": kills}[args.command](args)


if __name__ == "__main__":
    main()
