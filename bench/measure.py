# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""Shared by the benchmark scripts: runs in turns, memory that is touched before each run, and a Markdown page of the rows.
As a program: touches as many bytes as its argument says, prints "touched", and holds them until its standard input ends."""
import argparse
import contextlib
import dataclasses
import datetime
import glob
import json
import mmap
import multiprocessing
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from lab import processors

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
RECORD = 100
MIB = 1 << 20
GB = 10**9
SIZES = {"128M": 128 * MIB, "256M": 256 * MIB, "1G": 1024 * MIB, "4G": 4096 * MIB}
OVERHEAD = 64 * MIB  # resident memory that a process may have beyond --memory
HELD_SECONDS = 3  # the time in which a hypervisor reclaims freed pages
HELD_BYTES = 256 * MIB  # below this size reclaiming takes no noticeable time
POLL_SECONDS = 0.02  # between two looks at whether a launcher has started its first process
SHORT_KERNEL_TIME = 0.05  # seconds; below it the resolution of the clock decides, and no run is an outlier
SHORT_RUN = 0.3  # seconds; the same for the steal time
TURNS = 2  # a contender has at most this many times the rounds, until enough of its runs are no outliers


@dataclasses.dataclass
class Run:
    wall: float
    kernel: float  # seconds in the kernel, of the whole machine: rusage often misses the processes of a launcher
    stolen: float  # steal time, as a part of the processors' time
    resident: int = 0
    read: int = 0
    written: int = 0
    report: dict = dataclasses.field(default_factory=dict)  # the program's own report, if it writes one


@dataclasses.dataclass
class Contender:
    command: list
    output: str = ""  # removed before each run, and so are the files named output.*
    environment: dict = dataclasses.field(default_factory=dict)
    report: str = ""  # path of the program's report
    inputs: list = dataclasses.field(default_factory=list)  # patterns of files that are read into the page cache
    sorter: str = ""  # name of the processes that the command starts, if it is a launcher


@dataclasses.dataclass
class Series:
    """The runs of one contender, without outliers."""
    name: str
    command: list
    runs: list
    dropped: int

    def wall(self, quantile="quartile"):
        return _quantile([run.wall for run in self.runs], quantile)

    def reported(self, quantile="quartile"):
        """The same for the seconds that the program reports."""
        return _quantile([run.report["seconds"] for run in self.runs], quantile)


def lower_quartile(values):
    return statistics.quantiles(values, n=4, method="inclusive")[0] if len(values) > 1 else values[0]


def _quantile(values, quantile):
    return statistics.median(values) if quantile == "median" else lower_quartile(values)


def say(text):
    print(text, file=sys.stderr, flush=True)


def seconds(value):
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def mebibytes(value):
    return f"{value / MIB:.0f} MiB"


def processes_named(name):
    found = set()
    for path in glob.glob("/proc/[0-9]*/comm"):
        with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:  # the process may end
            if file.read().rstrip("\n") == name:
                found.add(path)
    return found


def ended(process):
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def timed(contender, touched=None):
    """Runs the command to its end and reads the kernel's accounts of the process before they vanish. Touched memory is
    released when the command starts. If the command is a launcher, it is released when the first sorter starts, because a
    launcher may need longer than a hypervisor needs to reclaim free pages."""
    before = processes_named(contender.sorter) if contender.sorter else set()
    if touched and not contender.sorter:
        touched.release()
    with tempfile.TemporaryFile() as errors:
        account_of_all, begin = processors.Account(), time.perf_counter()
        process = subprocess.Popen(contender.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                   env={**os.environ, **contender.environment})
        # Only root may open this file once the process has ended.
        with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
            if touched and contender.sorter:
                while not (processes_named(contender.sorter) - before or ended(process)):
                    time.sleep(POLL_SECONDS)
                touched.release()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - begin
            spent = account_of_all.spent()
            account = dict(line.split(": ") for line in file.read().splitlines())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            text = errors.read().decode(errors="replace")
            sys.exit(f"bench: {shlex.join(contender.command)} ended with {process.returncode}:\n{text}")
    return Run(wall, spent.kernel, spent.stolen_part(), usage.ru_maxrss * 1024, int(account["read_bytes"]),
               int(account["write_bytes"]))


def without_outliers(name, command, runs):
    """Discards a run whose steal time exceeds the lowest one's by more than MAX_STOLEN, and a run whose time in the kernel is
    more than twice the lowest of the others. The kernel takes longer if it has to get memory back from a hypervisor."""
    min_stolen = min(run.stolen for run in runs)
    calm = [run for run in runs if run.stolen <= min_stolen + processors.MAX_STOLEN or run.wall < SHORT_RUN]
    min_kernel = min(run.kernel for run in calm)
    kept = [run for run in calm if min_kernel < SHORT_KERNEL_TIME or run.kernel <= 2 * min_kernel]
    return Series(name, command, kept, len(runs) - len(kept))


def touch_part(size, all_touched, release):
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:  # shared memory has small pages
        with contextlib.suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for place in range(0, size, mmap.PAGESIZE):
            memory[place] = 1
        all_touched.wait()
        release.wait()


def touch(size):
    """One process per processor touches its part, so that afterwards free pages are on the lists of all processors. No
    process ends before all have touched their parts, because they would touch the same pages. Then they hold the memory:
    a hypervisor reclaims pages some seconds after they were freed, and it must be done with earlier ones."""
    parts = len(os.sched_getaffinity(0))
    all_touched, release = multiprocessing.Barrier(parts + 1), multiprocessing.Event()
    part = (max(mmap.PAGESIZE, size // parts), all_touched, release)
    processes = [multiprocessing.Process(target=touch_part, args=part, daemon=True) for _ in range(parts)]
    for process in processes:
        process.start()
    all_touched.wait()
    if size >= HELD_BYTES:
        time.sleep(HELD_SECONDS)
    print("touched", flush=True)
    sys.stdin.read()
    release.set()
    for process in processes:
        process.join()


class TouchedMemory:
    """As much memory as a run will use, or as is available: touched, and in use until the run begins."""

    def __init__(self, size):
        size = min(int(size), int(available_memory() * 0.6))
        self.process = subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), str(size)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if not self.process.stdout.readline():
            sys.exit(f"bench: {size} bytes could not be touched")

    def release(self):
        """The memory is free when this returns."""
        self.process.communicate()


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


def read_inputs(contender):
    """Reads the inputs into the page cache, from which the kernel may have removed them."""
    for pattern in contender.inputs:
        for path in glob.glob(pattern):
            with open(path, "rb", buffering=0) as file:
                while file.read(MIB):
                    pass


def remove_output(contender):
    if contender.output:
        for path in [contender.output, *glob.glob(glob.escape(contender.output) + ".*")]:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)


def in_turns(contenders, rounds, before):
    """The runs of each contender, A B A B ... Before each run its old output is removed, before() returns the memory that it
    has touched, and the inputs are read. Contenders with outliers get more turns."""
    runs = {name: [] for name in contenders}

    def incomplete(name):
        return len(without_outliers(name, [], runs[name]).runs) < rounds

    for turn in range(TURNS * rounds):
        for name, contender in contenders.items():
            if turn >= rounds and not incomplete(name):
                continue
            remove_output(contender)
            touched = before()
            read_inputs(contender)
            run = timed(contender, touched)
            if contender.report:
                with open(contender.report, encoding="utf-8") as file:
                    run.report = json.load(file)
            runs[name].append(run)
            say(f"  {turn + 1}/{rounds} {name}: {run.wall:.3f} s, kernel {run.kernel:.2f} s, stolen {run.stolen:.0%}")
    return runs


class Table:
    """Measured rows, and the page that shows them. A benchmark is a subclass that defines row_NAME(self)."""

    def __init__(self, arguments, name):
        self.arguments = arguments
        self.name = name
        self.program = os.path.abspath(arguments.program)
        self.rows = []  # (work, hetsort, peer, result, bar, passed)
        self.series = []
        self.notes = []
        self.folders = {}
        self.load = processors.load()

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            say(f"note: {text}")

    def records(self, gigabytes):
        return max(1000, int(gigabytes * GB / RECORD * self.arguments.scale))

    def rounds(self, count):
        return self.arguments.rounds or count

    @contextlib.contextmanager
    def folder(self, where, size):
        parent = self.arguments.shm if where == "shm" else self.arguments.disk
        free = shutil.disk_usage(parent).free
        if free < size * 1.05:
            sys.exit(f"bench: this row needs {size / GB:.1f} GB in {parent}, but only {free / GB:.1f} GB are free; use --scale")
        with tempfile.TemporaryDirectory(prefix="hetsort-bench.", dir=parent) as path:
            self.folders[path] = "SHM" if where == "shm" else "DISK"
            yield path

    def generate(self, path, records, *options):
        subprocess.run([self.program, "gen", *options, str(records), path], check=True)
        return path

    def drop_caches(self, inputs):
        if self.arguments.warm:
            return self.note("page caches were not dropped")
        os.sync()
        try:
            with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
                file.write("3\n")
        except OSError:
            self.note("not root: only the pages of the inputs were dropped from the page cache (POSIX_FADV_DONTNEED)")
            for path in inputs:
                with open(path, "rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def interleave(self, contenders, rounds, memory, cold=()):
        """The series of each contender. `cold`: inputs that must not be in the page cache."""
        def before():
            if cold:
                self.drop_caches(cold)
            return TouchedMemory(memory)

        runs = in_turns(contenders, rounds, before)
        found = {name: without_outliers(name, contenders[name].command, runs[name]) for name in contenders}
        self.series.extend(found.values())
        return found

    def add(self, work, hetsort, peer, result, bar, passed):
        self.rows.append((work, hetsort, peer, result, bar, passed))

    def compare(self, work, ours, peer, limit, bar=""):
        quotient = ours.wall() / peer.wall()
        self.add(work, seconds(ours.wall()), f"{peer.name} {seconds(peer.wall())}", f"{quotient:.2f}",
                 bar or f"<= {limit:g}", quotient <= limit)

    # --scale also scales -S, down to 1 MiB, so that a small trial takes the same code paths.

    def memory_bytes(self, size):
        return max(MIB, int(SIZES[size] * self.arguments.scale) // MIB * MIB)

    def memory(self, size):
        return size if self.arguments.scale == 1 else f"{self.memory_bytes(size) // MIB}M"

    def shown(self, command):
        text = shlex.join(["hetsort" if part == self.program else part.removeprefix(os.path.dirname(self.program) + "/")
                           for part in command])
        if command[0] == "cat":
            text += " > /dev/null"
        for folder, name in self.folders.items():
            text = text.replace(folder, name)
        return text

    def page(self):
        verdict = {True: "yes", False: "**no**"}
        warning = [caveat(self.load), ""] if caveat(self.load) else []
        lines = [*warning, *self.context(), "", "| work | hetsort | peer | result | bar | met |", "|---|---|---|---|---|---|"]
        for *cells, passed in self.rows:
            lines.append("| " + " | ".join(cells) + f" | {verdict[passed]} |")
        lines += ["", "Lower quartile, median and range of the wall time of each contender, and its lowest time in the kernel.", "",
                  "| contender | runs | dropped | quartile | median | range | kernel | command |",
                  "|---|---|---|---|---|---|---|---|"]
        for one in self.series:
            walls = [run.wall for run in one.runs]
            lines.append(f"| {one.name} | {len(walls)} | {one.dropped} | {seconds(one.wall())} | {seconds(one.wall('median'))} "
                         f"| {seconds(min(walls))} to {seconds(max(walls))} | {min(run.kernel for run in one.runs):.2f} s "
                         f"| `{self.shown(one.command)}` |")
        return "\n".join(lines)

    def context(self):
        given = {self.arguments.disk: "DISK", self.arguments.shm: "SHM"}
        command = shlex.join(["./dev", "bench", self.name, *(given.get(part, part) for part in self.arguments.given)])
        lines = [*machine(self.load), f"- DISK is {mount_of(self.arguments.disk)}; SHM is {mount_of(self.arguments.shm)}",
                 f"- command `{command}`; {output_of(['sort', '--version']).splitlines()[0]}"]
        if self.arguments.scale != 1:
            lines.append(f"- a trial: sizes and -S are multiplied by {self.arguments.scale:g}")
        return lines + [f"- {note}" for note in self.notes]


def uncommitted_changes():
    """Whether the tree differs from its commit. The pages of results do not count: `./dev experiment all` writes several."""
    return bool(output_of(["git", "-C", TOP, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/results"]))


def caveat(load):
    """The first line of a page whose figures must not be compared with others, else "". `load`: before the first run."""
    reasons = [f"the machine was busy (load {load:.1f})"] * (load > processors.BUSY_LOAD)
    reasons += ["the sources had uncommitted changes"] * uncommitted_changes()
    return f"**Do not compare these figures with others: {' and '.join(reasons)}.**" if reasons else ""


def machine(load):
    """Date, commit and machine: lines of every page. `load`: before the first run."""
    commit = output_of(["git", "-C", TOP, "rev-parse", "--short=12", "HEAD"]) or "not a git checkout"
    if uncommitted_changes():
        commit += " with changes"
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        models = [line.split(": ", 1)[1].strip() for line in file if line.startswith("model name")]
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return [f"- date {datetime.date.today().isoformat()}, commit {commit}",
            f"- {os.cpu_count()} processors, {models[0] if models else platform.machine()}; {total / 2**30:.0f} GiB; "
            f"Linux {platform.release()}; load before the first run {load:.1f}"]


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def mount_of(path):
    """Type and options of the file system that holds the path."""
    path = os.path.realpath(path)
    best = ("", "unknown", "")
    with open("/proc/self/mounts", encoding="utf-8") as file:
        for line in file:
            _, point, kind, options, *_ = line.split()
            if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best[0]):
                best = (point, kind, options)
    return f"{best[1]} ({best[2]})"


def writable(folder):
    """Returns why no file can be made in this folder, or ""."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"cannot write to the folder {folder}: {os.strerror(error.errno)}"


def parse(table, name, description):
    rows = [row[4:] for row in vars(table) if row.startswith("row_")]
    listing = "\n".join(f"  {row:10}{getattr(table, 'row_' + row).__doc__}" for row in rows)
    parser = argparse.ArgumentParser(prog=name, description=description, epilog=f"rows:\n{listing}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/hetsort", help="the hetsort to measure (%(default)s)")
    parser.add_argument("--row", action="append", choices=rows, help="measure only this row; may be repeated")
    parser.add_argument("--scale", type=float, default=1, help="multiply sizes and -S by this, as in 0.01 for a trial")
    parser.add_argument("--rounds", type=int, help="runs of each contender, instead of the number that the row defines")
    parser.add_argument("--warm", action="store_true", help="do not drop page caches")
    parser.add_argument("--disk", default=os.environ.get("TMPDIR", "/var/tmp"), help="a folder on disk (%(default)s)")
    parser.add_argument("--shm", default="/dev/shm", help="a folder on a tmpfs (%(default)s)")
    arguments = parser.parse_args()
    arguments.row = arguments.row or rows
    if arguments.scale <= 0 or (arguments.rounds or 1) < 1:
        parser.error("--scale and --rounds must be positive")
    if not os.access(arguments.program, os.X_OK):
        parser.error(f"--program: {arguments.program} cannot be run; './dev build' builds it")
    for problem in filter(None, map(writable, (arguments.disk, arguments.shm))):
        parser.error(f"{problem}; choose others with --disk and --shm")
    given = sys.argv[1:]
    arguments.given = given[2:] if given[:1] == ["--program"] else given
    return arguments


def main(table, name, description):
    """Measures the rows that the command line asks for. Returns the exit code."""
    arguments = parse(table, name, description)
    bench = table(arguments, name)
    if "huge=" in mount_of(arguments.shm):
        bench.note("the tmpfs uses huge pages; the bars are for one without")
    for one in arguments.row:
        row = getattr(bench, "row_" + one)
        say(f"{one}: {row.__doc__}")
        row()
    print(bench.page())
    return 0 if all(row[-1] for row in bench.rows) else 1


if __name__ == "__main__":
    touch(int(sys.argv[1]))
