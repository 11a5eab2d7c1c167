# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""bench/experiments: pages and pictures of recorded measurements, and one small experiment from end to end."""
import contextlib
import glob
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "bench"))
import measure  # noqa: E402 (the path above first)
from lab import processors  # noqa: E402 (the path above first)
from lab.system import LabError  # noqa: E402 (the path above first)
from experiments import drift, emulated, main, mheta, page, picture, samples, scatter_2003, sorting_2006, stage, whole_run  # noqa: E402 (the path above first)

EXPERIMENT = os.path.join(TOP, "bench", "experiments", "experiment")


def recorded(name):
    with open(os.path.join(HERE, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def report(seconds, *ends, predicted=None):
    """A run in which rank r has formed its runs at ends[r]."""
    ranks = [{"rank": rank, "input_records": 100, "output_records": 100,
              "phases": [{"name": "form_runs", "begin": 0, "end": end}, {"name": "exchange", "begin": end, "end": seconds}]}
             for rank, end in enumerate(ends)]
    return {"seconds": seconds, "predicted_seconds": predicted, "ranks": ranks}


def setting(**reports):
    return {"title": "t", "reports": reports}


def processes_below(process):
    """The numbers of the process and its children."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
        return [process.pid, *map(int, file.read().split())]


def resident(process):
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Experiments(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def test_quotients_and_spreads_are_of_the_ranks_and_rounds(self):
        one = setting(a=[report(4, 1, 2), report(6, 1, 4), report(9, 3, 4)], b=[report(2, 1, 1)])
        self.assertEqual(samples.lower_quartile(one, "a"), 5)
        self.assertEqual(samples.median_finish_spread(one, "a", samples.FORMED), 0.5)
        self.assertEqual(samples.median_finish_spread(one, "a", samples.MERGED), 0)
        self.assertEqual(samples.median_last(one, "a", samples.FORMED), 4)
        self.assertEqual(samples.ratio_bar(one, "b", "a", 0.5), samples.Bar("t: b / a", "0.40 (0.22 to 0.50)", "<= 0.5", True))
        self.assertEqual(samples.likely([3], [2]), (1.5, 1.5))
        self.assertFalse(samples.ratio_bar(one, "a", "b", 0.5).met)
        self.assertFalse(samples.finish_spread_bar(one, "a", samples.FORMED).met)
        self.assertTrue(samples.finish_spread_bar(one, "b", samples.FORMED).met)
        self.assertTrue(samples.best_bar(one, "b", ["a", "b"]).met)
        self.assertFalse(samples.best_bar(one, "a", ["a", "b"]).met)

    def test_ranks_that_take_no_part_do_not_count_in_the_finish_spread(self):
        one = report(4, 0.1, 2, 4)
        self.assertEqual(samples.finish_spread(one, samples.FORMED), 0.975)
        one["ranks"][0]["input_records"] = 0
        self.assertEqual(samples.finish_spread(one, samples.FORMED), 0.5)
        self.assertEqual(samples.ends(one["ranks"], samples.FORMED), [0.1, 2, 4])
        one["ranks"][0]["phases"][1]["end"] = 1
        self.assertEqual(samples.finish_spread(one, samples.MERGED), 0.75)
        one["ranks"][0]["output_records"] = 0
        self.assertEqual(samples.finish_spread(one, samples.MERGED), 0)

    def test_a_plan_that_leaves_all_to_one_host_is_not_balanced(self):
        one = report(4, 2, 2)
        self.assertTrue(samples.finish_spread_bar(setting(a=[one]), "a", samples.FORMED).met)
        one["ranks"][1]["input_records"] = 0
        self.assertEqual(samples.finish_spread_bar(setting(a=[one]), "a", samples.FORMED),
                         samples.Bar("t: a, finish spread, runs formed, median", "one host did all", "<= 6%", False))

    def test_outliers_do_not_count(self):
        runs = [measure.Run(wall, kernel, 0.3) for wall, kernel in ((1, 0.2), (2, 0.4), (9, 0.41), (3, 0.3))]
        kept = measure.without_outliers("a", [], runs)
        self.assertEqual(([run.wall for run in kept.runs], kept.dropped), ([1, 2, 3], 1))
        self.assertEqual((kept.wall(), kept.wall("median")), (1.5, 2))
        # Steal time counts relative to the lowest, because some machines never get all of their processors.
        runs = [measure.Run(wall, kernel, stolen)
                for wall, kernel, stolen in ((1, 0.5, 0.14), (2, 0.1, 0.16), (3, 0.5, 0.05), (0.2, 0.5, 0.9), (4, 0.9, 0.14))]
        self.assertEqual([run.wall for run in measure.without_outliers("a", [], runs).runs], [1, 3, 0.2, 4])

    def test_outliers_are_repeated(self):
        stolen = {"a": [0.9, 0.05, 0.05, 0.06, 0.9], "b": [0.02, 0.03, 0.9, 0.02], "c": [0.01] * 3, "d": [0.01, *[0.9] * 5]}
        made, contenders = {name: [] for name in stolen}, {name: measure.Contender([name]) for name in stolen}

        def timed(contender, _touched):
            name = contender.command[0]
            made[name].append(measure.Run(1, 1, stolen[name][len(made[name])]))
            return made[name][-1]

        with mock.patch("measure.timed", timed), mock.patch("measure.say"):
            self.assertEqual(measure.in_turns(contenders, 3, lambda: None), made)
        self.assertEqual({name: len(runs) for name, runs in made.items()}, {"a": 4, "b": 4, "c": 3, "d": 6})

    def test_touched_memory_is_in_use_until_the_sorter_begins(self):
        class Touched:
            releases = []

            def release(self):
                self.releases.append(bool(measure.processes_named(name)))

        folder, name = tempfile.TemporaryDirectory(), f"sorter{os.getpid()}"  # a name that no other process has
        self.addCleanup(folder.cleanup)
        os.symlink(shutil.which("sleep"), os.path.join(folder.name, name))
        for sorter, begun in ((name, True), ("", False), ("no such sorter", False)):
            run = measure.timed(measure.Contender(["sh", "-c", f"{folder.name}/{name} 0.5; :"], sorter=sorter), Touched())
            self.assertGreaterEqual(run.wall, 0.5)
            self.assertEqual(Touched.releases.pop(), begun, sorter)
        self.assertEqual(Touched.releases, [])

    def test_memory_is_touched_and_kept_until_released(self):
        size = 64 * measure.MIB
        touched = measure.TouchedMemory(size)
        kept = processes_below(touched.process)
        self.assertGreaterEqual(sum(resident(process) for process in kept), size)
        touched.release()
        self.assertEqual([process for process in kept if os.path.exists(f"/proc/{process}")], [])

    def test_steal_time_is_a_part_of_all_processors_time(self):
        account = processors.Account()
        spent = account.spent()
        self.assertTrue(0 <= spent.wall < 60 and spent.kernel >= 0 and spent.stolen >= 0)
        self.assertEqual(processors.Spent(2, 0, 0.5 * os.cpu_count()).stolen_part(), 0.25)

    def test_predictions_are_met_from_both_sides(self):
        for predicted, met in ((10, True), (10.9, True), (9.2, True), (12, False), (8, False)):
            one = {**setting(a=[report(10, 1, predicted=predicted)]), "calibrate_seconds": [20]}
            self.assertEqual([bar.met for bar in samples.calibration_bars(one)], [met, True, True])
        self.assertEqual([bar.met for bar in samples.calibration_bars(setting(a=[report(10, 1)]))], [None])

    def test_accuracy_is_of_the_smaller_of_predicted_and_measured_seconds(self):
        one = {**setting(a=[report(10, 1, predicted=9)], b=[report(9, 1, predicted=10)], c=[report(10, 1, predicted=10)]),
               "title": "DC: rna"}
        self.assertEqual([round(error, 4) for error in mheta.errors(one)], [0.1111, 0.1111, 0.0])
        self.assertEqual([(bar.value, bar.met) for bar in mheta.bars([one])], [("92.6%", False), ("88.9%", True)])
        self.assertIn(["rna: minimum, mean, maximum error", "best of all", "0.0%, 7.4%, 11.1%"], mheta.beside_the_paper([one]))

    def test_calibrations_are_checked_together(self):
        one = {**setting(a=[report(10, 1, predicted=10), report(11, 1, predicted=10)], b=[report(9, 1, predicted=9.6)],
                         c=[report(10, 1, predicted=10.6)]), "calibrate_seconds": [10, 20.4, 11]}
        self.assertEqual([(bar.value, bar.met) for bar in samples.calibration_bars(one)],
                         [("0.97 (each: 1.05, 0.94, 0.94)", True), ("6.0%", False), ("20.4 s", False)])

    def test_whole_runs_are_judged_by_order_and_size_of_predictions(self):
        def of(title, predicted):
            return {**setting(**{name: [report(seconds, 1, predicted=predicted[name])] for name, seconds in times.items()}),
                    "title": title, "calibrate_seconds": [19]}

        times = {"equal": 10, "proportional": 8, "lambert": 8.1, "threshold": 8, "phases": 5, "auto": 5.1}
        right = of(f"unequal links, {whole_run.SHARED}", times)
        self.assertEqual([bar.met for bar in whole_run.bars([right])], [True] * 8)
        # "lambert" before "proportional" is no clear difference; "phases" after "equal" is.
        wrong = of("unequal disks", {**times, "phases": 11, "lambert": 7.9})
        self.assertEqual(whole_run.wrong_order(wrong), ["phases before equal", "phases before proportional", "phases before lambert",
                                                        "phases before threshold"])
        self.assertEqual([bar.met for bar in whole_run.bars([wrong])], [True, True, True, False, False, True])

    def test_predictions_are_checked_by_the_runs_directly_after_calibrating(self):
        settings = recorded("sorting-2006")["settings"]
        for one, times in zip(settings[:2], (1, 2)):
            for runs in one["reports"].values():
                for run in runs:
                    run["predicted_seconds"] = times * run["seconds"]
        self.assertEqual([bar.met for bar in sorting_2006.bars(settings)[-3:-1]], [False, True])

    def test_a_processor_for_communication_stands_beside_the_paper(self):
        settings = recorded("sorting-2006")["settings"]
        apart = f"{settings[0]['title']}: {sorting_2006.APART} / A.2"
        self.assertNotIn(apart, [row[0] for row in sorting_2006.beside_the_paper(settings)])
        settings[0]["reports"][sorting_2006.APART] = settings[0]["reports"][sorting_2006.PLANNED]
        self.assertIn([apart, "0.62", "1.00"], sorting_2006.beside_the_paper(settings))

    def test_a_plain_program_that_blocks_stands_beside_the_paper(self):
        settings = recorded("sorting-2006")["settings"]
        plain = {**setting(**{sorting_2006.BLOCKING: [report(10, 1)], sorting_2006.AT_ONCE: [report(6, 1)]}), "title": sorting_2006.PLAIN}
        self.assertIn([f"{sorting_2006.PLAIN}: A.3 / A.2", "0.62", "0.60"], sorting_2006.beside_the_paper([*settings, plain]))
        self.assertEqual(sorting_2006.bars([*settings, plain]), sorting_2006.bars(settings))

    def test_a_contender_that_did_not_run_meets_no_bar(self):
        bar = samples.ratio_bar(setting(a=[report(1, 1)]), "c", "a", 1)
        self.assertEqual((bar.value, bar.met), ("not measured: no c", None))

    def test_pages_hold_everything_that_was_measured(self):
        for name in ("sorting-2006", "scatter-2003", "emulated", "drift"):
            with self.subTest(name=name):
                experiment, measured = main.ALL[name], recorded(name)
                text = page.page(experiment, measured, f"{name}.svg")
                self.assertTrue(text.startswith(f"# {experiment.TITLE}\n"))
                for one in (f"![{experiment.TITLE}", "not measured", "commit 0123456789ab", f"`./dev experiment {name}`"):
                    self.assertIn(one, text)
                for one in measured["settings"]:
                    for contender, command in one["commands"].items():
                        self.assertIn(f"\n| {contender} | {len(one['reports'][contender])} | {one['dropped'][contender]} | ", text)
                        self.assertIn(command, text)
                for bar in experiment.bars(measured["settings"]):
                    self.assertIn(f"| {bar.what} | {bar.value} | {bar.bar} | {page.VERDICT[bar.met]} |", text)
                widths = {line.count("|") for line in text.splitlines() if line.startswith("| A.1")}
                self.assertLessEqual(len(widths), 1)

    def test_hosts_without_limits_have_no_table(self):
        measured = recorded("drift")
        self.assertIn("| host | cpu, nominal |", page.page(drift, measured, ""))
        for one in measured["settings"]:
            one["hosts"] = [{"name": host["name"], "cpu": None, "bandwidth": None} for host in one["hosts"]]
            one["commands"] = {}
        text = page.page(drift, measured, "")
        self.assertNotIn("| host |", text)
        self.assertNotIn("Commands:", text)

    def run_drift(self, *words, load=0.0, changed=False):
        """`./dev experiment drift` with recorded measurements. Returns the exit code and what it printed to stderr."""
        with mock.patch.object(processors, "load", return_value=load), mock.patch("builtins.print"), \
                mock.patch.object(measure, "uncommitted_changes", return_value=changed), \
                mock.patch.object(drift, "measure", return_value=recorded("drift")["settings"]) as measured, \
                mock.patch("measure.say") as said:
            code = main.main(["drift", "--output", self.scratch, "--keep", self.scratch, *words])
        return code, " ".join(call.args[0] for call in said.call_args_list), measured.called

    def head_of_page(self):
        with open(f"{self.scratch}/drift.md", encoding="utf-8") as file:
            return file.read().split("\n\n")

    def test_a_page_from_a_busy_machine_says_so_first(self):
        self.run_drift("--busy", load=3)
        title, first, *_ = self.head_of_page()
        self.assertEqual(title, f"# {drift.TITLE}")
        self.assertEqual(first, "**Do not compare these figures with others: the machine was busy (load 3.0).**")
        self.run_drift(load=0.1)
        self.assertNotIn("compare these figures", "".join(self.head_of_page()))

    def test_a_busy_machine_records_no_page_unless_asked(self):
        code, said, measured = self.run_drift(load=0.6)
        self.assertEqual((code, measured, os.listdir(self.scratch)), (2, False, []))
        self.assertIn("the machine is busy (load 0.6, above 0.5): wait, or measure nevertheless with --busy", said)
        self.assertTrue(self.run_drift(load=0.5)[2])
        self.assertNotEqual(self.run_drift("--again", load=0.6)[0], 2)

    def test_parts_come_together_on_one_page(self):
        ran = []

        def measured(options):
            ran.append(options.part)
            yield {**setting(**{"0": [report(len(ran), 1, predicted=1)]}), "title": f"{options.part}: rna", "notes": [],
                   "rounds": 1, "records": 1, "file": "f", "mode": "hosts", "hosts": [], "dropped": {"0": 0}, "commands": {}}

        with mock.patch.object(mheta, "measure", measured), mock.patch.object(processors, "load", return_value=0), \
                mock.patch("builtins.print"), mock.patch("measure.say"):
            for part in ("DC", "IO", "DC"):
                main.main(["mheta", "--part", part, "--output", self.scratch, "--keep", self.scratch])
        with open(f"{self.scratch}/mheta.md", encoding="utf-8") as file:
            text = file.read()
        with open(f"{self.scratch}/mheta.json", encoding="utf-8") as file:
            seconds = {one["title"]: one["reports"]["0"][0]["seconds"] for one in json.load(file)["settings"]}
        self.assertEqual((ran, seconds), (["DC", "IO", "DC"], {"IO: rna": 2, "DC: rna": 3}))
        for one in ("## DC: rna", "## IO: rna", "mheta --part IO"):
            self.assertIn(one, text)

    def test_results_are_of_committed_sources(self):
        with mock.patch.object(main, "RESULTS", os.path.realpath(self.scratch)):
            code, said, measured = self.run_drift(changed=True)
            self.assertEqual((code, measured), (2, False))
            self.assertIn("commit the changes, or choose another folder with --output", said)
            self.assertEqual(os.listdir(self.scratch), [])
            self.assertTrue(self.run_drift(changed=False)[2])
        self.run_drift(changed=True)
        self.assertIn("the sources had uncommitted changes", self.head_of_page()[1])
        self.assertIn(" with changes\n", "\n".join(self.head_of_page()))

    def test_a_folder_that_takes_no_page_is_reported_before_the_work(self):
        open(f"{self.scratch}/file", "w", encoding="ascii").close()
        for option, folder in (("--output", "missing"), ("--output", "file"), ("--keep", "file/below"), ("--output", "")):
            path = os.path.join(self.scratch, folder) if folder else "/proc"
            code, said, measured = self.run_drift(option, path)
            self.assertEqual((code, measured), (2, False), path)
            self.assertIn(path, said)

    def test_benchmarks_check_folders_and_program_before_the_work(self):
        for words, text in ((["--disk", "/missing"], "cannot write to the folder /missing: No such file or directory"),
                            (["--shm", "/proc"], "cannot write to the folder /proc: "),
                            (["--program", "/missing"], "/missing cannot be run")):
            done = subprocess.run([os.path.join(TOP, "bench", "single"), "--program", "/bin/true", *words], capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)

    def test_the_paper_stands_beside(self):
        text = page.page(main.ALL["sorting-2006"], recorded("sorting-2006"), "")
        self.assertNotIn("![", text)
        self.assertIn("| two speeds: seconds of A.1, A.2, A.3 | 125.4, 112.7, 69.4 | ", text)
        self.assertIn("| two speeds, links of 1 Gb/s: A.3 / A.2 | 0.62 | ", text)
        self.assertIn("| finish spread, planned, descending | 6 % (405 to 430 s) | ",
                      page.page(scatter_2003, recorded("scatter-2003"), ""))
        self.assertIn("| large: seconds of one, several, emulated | 5380, 4752, 4404 | ",
                      page.page(emulated, recorded("emulated"), ""))

    def test_a_page_and_a_picture_are_written_again_from_what_was_kept(self):
        shutil.copy(os.path.join(HERE, "drift.json"), self.scratch)
        with mock.patch("builtins.print"):
            self.assertIn(main.main(["drift", "--again", "--output", self.scratch, "--keep", self.scratch]), (0, 1))
        with open(f"{self.scratch}/drift.md", encoding="utf-8") as file:
            linked = "](drift.svg)" in file.read()
        self.assertEqual(linked, shutil.which("gnuplot") is not None)
        self.assertEqual(os.path.exists(f"{self.scratch}/drift.svg"), linked)

    def test_what_was_kept_by_another_version_or_broken_is_an_error(self):
        for text in ('{"schema": "hetsort.experiment/1"}', "[]", '{"schema"', "\xff"):
            with self.subTest(text=text), contextlib.redirect_stderr(io.StringIO()) as said:
                with open(f"{self.scratch}/drift.json", "w", encoding="latin-1") as file:
                    file.write(text)
                self.assertEqual(main.main(["drift", "--again", "--output", self.scratch, "--keep", self.scratch]), 2)
                self.assertIn(f"experiment: {self.scratch}/drift.json", said.getvalue())

    def test_names_do_not_reach_gnuplot_as_commands(self):
        hostile = "x'\n\"; system('touch pwned')\nEND_OF_DATA\n`touch pwned`"
        one = {"title": hostile, "reports": {hostile: [report(1, 1)]}}
        lines = picture.script(hostile, [one]).splitlines()
        self.assertEqual([line for line in lines if line.startswith(("system", "END_OF_DATA", '"', "`"))], ["END_OF_DATA"])
        with mock.patch.dict(os.environ, PATH=self.scratch):
            self.assertEqual(picture.draw("t", [one]), "")

    def test_costs_are_those_that_made_a_run(self):
        links, computes, counts = [0, 2e-6, 5e-6], [3e-6, 4e-6, 1e-6], [1000, 3000, 2000]
        served, ends = 0.5, []
        for link, compute, count in zip(links[1:], computes[1:], counts[1:]):
            served += link * count
            ends.append(served + compute * count)
        one = report(9, served + computes[0] * counts[0], *ends)
        one["ranks"][0]["phases"].insert(0, {"name": "scatter", "begin": 0.5, "end": served})
        for rank, count in zip(one["ranks"], counts):
            rank["input_records"] = count
        found = scatter_2003.costs(one, [None, scatter_2003.RECORD / 2e-6, scatter_2003.RECORD / 5e-6])
        for values, truth in zip(found, (links, computes)):
            for value, true in zip(values, truth):
                self.assertAlmostEqual(value, true, delta=1e-9)

    def test_a_plan_that_leaves_all_to_one_host_is_no_experiment(self):
        path, records = os.path.join(self.scratch, "measured.toml"), 1_000_000
        for compute, link, spread in ((1e-6, 1e-7, True), (1e-6, 5e-5, False)):
            scatter_2003.write_cluster(path, ["root", "one", "two"], [0, link, link], [compute] * 3)
            with self.subTest(link=link):
                if spread:
                    shares = scatter_2003.planned_shares(path, records)
                    self.assertEqual((list(sorted(shares)), sum(shares.values())), (["one", "root", "two"], records))
                else:
                    with self.assertRaisesRegex(LabError, "root would do best with [0-9]{6,7} of 1000000 records"):
                        scatter_2003.planned_shares(path, records)

    def test_commands_of_a_page_name_no_folder_of_this_machine(self):
        lab = stage.Stage(None, os.path.join(stage.TOP, "docs", "examples", "lab.toml"), {"disks": "/var/disks", "hosts": []}, 0)
        words = [stage.LAB, "run", os.path.join(stage.TOP, "docs", "examples", "lab.toml"), "--",
                 sorting_2006.PLAIN_PROGRAM, "/var/disks/_common/in"]
        self.assertEqual(lab.shown(words), "./dev lab run docs/examples/lab.toml -- build/release/bench/peers/plain_sample_sort "
                                           "DISKS/_common/in")

    def test_the_overhead_of_emulated_processes_is_a_quotient(self):
        settings = recorded("emulated")["settings"]
        overhead = {**setting(**{f"V = {count}": [report(4 + count / 62, 1)] for count in emulated.COUNTS}),
                    "title": emulated.OVERHEAD}
        self.assertEqual(emulated.beside_the_paper([*settings, overhead])[-1], [f"{emulated.OVERHEAD}: V = 64 / V = 2", "-", "1.25"])
        self.assertEqual(emulated.bars([*settings, overhead]), emulated.bars(settings))

    def test_processes_are_shared_by_largest_remainder(self):
        self.assertEqual(emulated.parts([1, 2, 4, 4]), [1, 2, 4, 4])
        self.assertEqual(emulated.parts([0.15, 0.31, 0.61, 0.58]), [1, 2, 4, 4])
        self.assertEqual(sum(emulated.parts([0.001, 1, 1, 1])), emulated.PROCESSES)

    def test_every_source_compiles_without_warnings(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for path in [*glob.glob(os.path.join(TOP, "bench", "experiments", "*.py")), EXPERIMENT]:
                with open(path, encoding="utf-8") as file:
                    compile(file.read(), path, "exec")

    def _run(self, *words):
        self.name = f"hetsort-lab-experiment-{os.getpid()}"
        environment = {**os.environ, "HETSORT_LAB_NAME": self.name, "HETSORT_LAB_DISKS": self.scratch, "TMPDIR": self.scratch,
                       "XDG_RUNTIME_DIR": self.scratch}
        return subprocess.run([EXPERIMENT, *words], env=environment, text=True, capture_output=True, timeout=110, check=False)

    def test_mistakes_end_with_2(self):
        for words in (["nothing"], [], ["drift", "--rounds", "0"], ["drift", "--part", "DC"], ["mheta", "--part", "XY"], ["drift", "--records", "x"], ["drift", "--output"]):
            with self.subTest(words=words):
                self.assertEqual(self._run(*words).returncode, 2)

    def test_what_is_about_links_is_not_measured_without(self):
        done = self._run("scatter-2003", "--busy", "--burners", "--rounds", "1", "--records", "20000", "--output", self.scratch)
        self.assertEqual((done.returncode, glob.glob(f"{self.scratch}/*.md")), (2, []))
        self.assertIn("scatter-2003 is about unequal links. bandwidth: left out, a lab of burners has none", done.stderr)
        measured, why = recorded("sorting-2006"), f"{sorting_2006.LINKED}: not measured. Why"
        measured["settings"][2] = {"title": sorting_2006.LINKED, "notes": [why], "reports": {}}
        self.assertNotIn("$data2", picture.script("t", measured["settings"]))
        text = page.page(sorting_2006, measured, "")
        self.assertIn(f"\n- {why}\n", text)
        self.assertIn(f"\n| {sorting_2006.LINKED}: {sorting_2006.THREAD} / {sorting_2006.PLANNED} | not measured: no ", text)
        for one in (f"## {sorting_2006.LINKED}", f"| {sorting_2006.LINKED}: A.3"):
            self.assertNotIn(one + "\n", text)

    def test_an_experiment_runs_to_its_page_and_leaves_no_lab(self):
        done = self._run("drift", "--busy", "--burners", "--rounds", "1", "--records", "20000", "--output", self.scratch, "--keep",
                         self.scratch)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        with open(f"{self.scratch}/drift.md", encoding="utf-8") as file:
            text = file.read()
        with open(f"{self.scratch}/drift.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["schema"], main.SCHEMA)
        for one in ("mode burners", "| stale plan | 1 | 0 |", "| auto | 1 | 0 |", "| learned | 1 | 0 |"):
            self.assertIn(one, text)
        self.assertEqual(glob.glob(f"/run/{self.name}*") + glob.glob(f"{self.scratch}/{self.name}*"), [])


if __name__ == "__main__":
    unittest.main()
