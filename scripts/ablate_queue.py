"""A queue of tasks over shares of the cores, which an interrupt ends in order.

A task has `name`, `log`, `turn`, `everywhere`, `ready()`, `done()`, `command(cores)` and
`conclude(stdout)`.
"""

import os
import signal
import subprocess
import sys
import time


class Queue:
    """Gives tasks to shares of the cores until all are done, or somebody interrupts."""

    def __init__(self, tasks, shares):
        self.waiting = [task for task in tasks if not task.done()]
        self.free, self.running = list(shares), []
        self.cores = [core for share in shares for core in share]
        self.failed, self.interrupts = [], 0
        # A terminal that goes away must not leave runs behind, which nobody would end; under
        # nohup it is not heard of.
        hangup = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        for number in [signal.SIGINT, signal.SIGTERM] + [signal.SIGHUP] * hangup:
            signal.signal(number, self.interrupt)

    def interrupt(self, _number, _frame):
        # Each child has a session of its own, so it hears of a Ctrl-C from here alone: the first
        # ends it in order, the second at once.
        self.interrupts += 1
        for _, child, _, _ in self.running:
            child.send_signal(signal.SIGINT)

    def start(self, task, share):
        cores = self.cores if task.everywhere else share

        def own_cores():
            if cores:
                os.sched_setaffinity(0, cores)

        print(f"{task.name}: starts{f' on cores {cores}' if cores else ''}", file=sys.stderr)
        output = task.log.with_suffix(".out")
        with open(task.log, "a") as log, open(output, "w") as out:
            child = subprocess.Popen(
                task.command(cores), stdout=out, stderr=log, stdin=subprocess.DEVNULL,
                start_new_session=True, preexec_fn=own_cores,
            )
        self.running.append((task, child, share, output))
        if self.interrupts:
            child.send_signal(signal.SIGINT)

    def finish(self, entry):
        task, child, share, output = entry
        self.running.remove(entry)
        self.free.append(share)
        if child.returncode == 0 and task.conclude(output.read_text()):
            print(f"{task.name}: done", file=sys.stderr)
        elif not self.interrupts:
            last = task.log.read_text(errors="replace").strip().splitlines()[-1:]
            told = "stopped from outside" if child.returncode == 0 else "failed"
            print(f"{task.name}: {told}: {' '.join(last)} (see {task.log})", file=sys.stderr)
            self.failed.append(task)

    def work(self):
        while self.running or (self.waiting and not self.interrupts):
            for entry in [entry for entry in self.running if entry[1].poll() is not None]:
                self.finish(entry)
            ready = [task for task in self.waiting if task.ready()]
            # The runs of a pair begin together: nothing of a later turn may have their cores.
            turns = [task.turn for task in [*ready, *(entry[0] for entry in self.running)]]
            ready = [task for task in ready if task.turn == min(turns)]
            # A run says that it has finished somewhat before its process ends.
            ready = [task for task in ready if not (task.everywhere and self.running)]
            while ready and self.free and not self.interrupts:
                task = ready.pop(0)
                self.waiting.remove(task)
                self.start(task, self.free.pop(0))
            if self.waiting and not self.running and not ready and not self.interrupts:
                # What is left waits for runs that failed.
                break
            time.sleep(0.1)
