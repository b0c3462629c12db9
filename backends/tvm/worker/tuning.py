"""Schedules for the kernels of a module: MetaSchedule, with a builder and a runner in this process.

Kernels are compiled by LLVM in memory and run a few times; a schedule that crashes ends this process. Records of the
fastest schedules are kept in a folder, one file for each kernel, so that more trials begin where fewer ended.
"""
import os
import shutil
import time

import numpy
import tvm
import tvm_ffi
from tvm.s_tir import meta_schedule as ms

AT_ONCE = 16
# Children of a round: each is built anew from its trace, which takes as long as measuring a small kernel.
POPULATION = 32
KEPT = 16
# Trials of what has no sum over an axis: its schedules hardly differ.
FEW = 8
RUNS = 3


@tvm_ffi.register_global_func("s_tir.meta_schedule.cpu.meta_schedule.pool_max")
def schedule_of_pooling(schedule, block):
    """The library asks for this rule, and has it for other devices. Channels are last: a vector of them at a time."""
    loops = schedule.get_loops(block)
    if len(loops) != 6:  # not an image, or fused with something
        return [schedule]
    *_, channels, rows, columns = loops
    schedule.reorder(rows, columns, channels)
    _, lanes = schedule.split(channels, [None, 16])
    schedule.vectorize(lanes)
    schedule.decompose_reduction(block, rows)
    return [schedule]


class Task:
    """A kernel to be tuned: a function of the module."""

    def __init__(self, module, weight, target, database, records, trials):
        self.module, self.target, self.database, self.records = module, target, database, records
        self.weight = weight
        self.most = trials if has_sum(module) else min(trials, FEW)
        self.workload = database.commit_workload(module)
        self.tried, self.best = 0, float("inf")
        if records:
            self.tried = records.read(self)
        self.is_over = self.tried >= self.most
        self.context = None

    def note(self, record):
        self.database.commit_tuning_record(record)
        self.best = min(self.best, min(float(one) for one in record.run_secs))

    def worth(self):
        """Of the next trials: the kernel's share of the time, less for each trial that it had."""
        return self.weight * self.best / (self.tried + AT_ONCE)

    def begin(self, seed):
        self.context = ms.TuneContext(
            mod=self.module, target=self.target, space_generator="post-order-apply",
            search_strategy=ms.search_strategy.EvolutionarySearch(population_size=POPULATION, genetic_num_iters=1),
            rand_state=seed, num_threads=1)
        left = self.most - self.tried
        self.context.pre_tuning(left, min(left, AT_ONCE), self.context.generate_design_space(), self.database,
                                ms.cost_model.RandomModel())

    def round(self, until):
        """Tries up to AT_ONCE schedules; the task is over when there are no more."""
        candidates = self.context.generate_measure_candidates()
        if not candidates:
            self.is_over = True
            return
        results = []
        for candidate in candidates:
            if self.tried >= self.most or time.monotonic() > until:
                results.append(ms.runner.RunnerResult(None, "no time"))
                continue
            self.tried += 1
            results.append(self.trial(candidate))
        self.context.notify_runner_results(candidates, results)
        self.is_over = self.tried >= self.most

    def trial(self, candidate):
        try:
            seconds = seconds_of(candidate, self.target)
        except Exception as error:
            return ms.runner.RunnerResult(None, str(error))
        self.note(ms.database.TuningRecord(candidate.sch.trace, self.workload, [seconds], self.target,
                                           candidate.args_info))
        return ms.runner.RunnerResult([seconds], None)


class Records:
    """The fastest schedules of kernels, each kernel in a folder HASH-TRIALS, which is complete when it has its name."""

    def __init__(self, folder):
        self.folder = folder

    def found(self, task):
        """The folders of the kernel, the one with the most trials last."""
        name = f"{tvm_ffi.structural_hash(task.module) & (2**64 - 1):016x}-"
        every = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        found = [one for one in every if one.startswith(name) and one[len(name):].isdigit()]
        return name, sorted(found, key=lambda one: int(one[len(name):]))

    def read(self, task):
        """Gives the kernel its schedules; after how many trials they were found."""
        name, found = self.found(task)
        if not found:
            return 0
        try:
            for record in opened(os.path.join(self.folder, found[-1])).get_all_tuning_records():
                task.note(ms.database.TuningRecord(record.trace, task.workload, record.run_secs, task.target,
                                                   record.args_info))
        except Exception as error:  # damaged: begin anew
            print("records that cannot be used:", error)
            return 0
        return int(found[-1][len(name):])

    def write(self, task):
        name, found = self.found(task)
        whole, part = os.path.join(self.folder, name + str(task.tried)), os.path.join(self.folder, f"part{os.getpid()}")
        try:
            shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
            os.makedirs(part)
            database = opened(part)
            workload = database.commit_workload(task.module)
            for record in task.database.get_top_k(task.workload, KEPT):
                database.commit_tuning_record(ms.database.TuningRecord(
                    record.trace, workload, record.run_secs, task.target, record.args_info))
            os.rename(part, whole)
            for old in found:
                shutil.rmtree(os.path.join(self.folder, old), ignore_errors=True)
        except OSError as error:  # another process has them too, or there is no place: they are worth time only
            print("records are not kept:", error)
            shutil.rmtree(part, ignore_errors=True)


def opened(folder):
    return ms.database.JSONDatabase(work_dir=folder)


def has_sum(module):
    """Whether a block of the kernel reduces."""
    return "with T.init()" in module.script()


def seconds_of(candidate, target):
    module = tvm.s_tir.transform.RemoveWeightLayoutRewriteBlock(skip_tensor_rewrite=True)(candidate.sch.mod)
    function = tvm.tirx.build(module, target=target)["main"]
    arguments = [tvm.runtime.tensor(numpy.random.rand(*[int(extent) for extent in one.shape]).astype("float32"))
                 for one in candidate.args_info]
    function(*arguments)
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - begin)
    return min(times)


def tune(module, target, trials, seconds, folder, seed):
    """The database with the schedules of all kernels, after so many trials of each or so many seconds. Kernels
    that take the most time get the most trials, where there is not enough for all."""
    until = time.monotonic() + seconds
    database = ms.database.MemoryDatabase()
    records = Records(folder) if folder else None
    tasks = [Task(task.dispatched[0], task.weight, target, database, records, trials)
             for task in ms.relax_integration.extract_tasks(module, target)]
    for task in tasks:
        if not task.is_over:
            task.begin(seed)
    while time.monotonic() < until:
        left = [task for task in tasks if not task.is_over]
        if not left:
            break
        task = max(left, key=Task.worth)
        before = task.tried
        task.round(until)
        if records and task.tried > before:
            records.write(task)
    return database
