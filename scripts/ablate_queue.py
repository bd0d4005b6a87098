"""A queue that runs tasks as child processes, each on a share of the cores.

A task has these members:

    name, log          for messages; the file for standard error
    turn               tasks with a higher turn wait for those with a lower one
    all_cores          it runs alone, on all cores
    ready(), done()    whether it can start; whether it was done before
    command(cores)     the command line
    conclude(stdout)   called after exit code 0; returns whether the task is complete

An interrupt stops the tasks normally, with their work saved.
"""

import os
import signal
import subprocess
import sys
import time


class Queue:
    """Starts tasks on free shares of the cores until all are done or an interrupt comes."""

    def __init__(self, tasks, shares):
        self.waiting = [task for task in tasks if not task.done()]
        self.free, self.running = list(shares), []
        self.cores = [core for share in shares for core in share]
        self.failed, self.interrupts = [], 0
        # If the terminal closes, the runs end too. Under nohup SIGHUP is ignored: they continue.
        hangup = signal.getsignal(signal.SIGHUP) != signal.SIG_IGN
        for number in [signal.SIGINT, signal.SIGTERM] + [signal.SIGHUP] * hangup:
            signal.signal(number, self.interrupt)

    def interrupt(self, _number, _frame):
        # Each child has its own session, so it gets a Ctrl-C only from here. The first one ends it
        # normally, the second one at once.
        self.interrupts += 1
        for _, child, _, _ in self.running:
            child.send_signal(signal.SIGINT)

    def start(self, task, share):
        cores = self.cores if task.all_cores else share

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
            reason = "stopped from outside" if child.returncode == 0 else "failed"
            print(f"{task.name}: {reason}: {' '.join(last)} (see {task.log})", file=sys.stderr)
            self.failed.append(task)

    def work(self):
        while self.running or (self.waiting and not self.interrupts):
            for entry in [entry for entry in self.running if entry[1].poll() is not None]:
                self.finish(entry)
            ready = [task for task in self.waiting if task.ready()]
            # The runs of a pair start together, so no task of a later turn may take their cores.
            turns = [task.turn for task in [*ready, *(entry[0] for entry in self.running)]]
            ready = [task for task in ready if task.turn == min(turns)]
            # A run writes that it has finished shortly before its process ends.
            ready = [task for task in ready if not (task.all_cores and self.running)]
            while ready and self.free and not self.interrupts:
                task = ready.pop(0)
                self.waiting.remove(task)
                self.start(task, self.free.pop(0))
            if self.waiting and not self.running and not ready and not self.interrupts:
                # The remaining tasks need runs that failed.
                break
            time.sleep(0.1)
