"""What Prometheus itself makes of `--format openmetrics`, alone and beside other results in the folder of a node
exporter, and of every query of the dashboard. Without the programs the same properties are read from the files."""
import copy
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import harness
from harness import Case

PROMETHEUS = shutil.which("prometheus")
NODE_EXPORTER = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
PROMTOOL = shutil.which("promtool")
DASHBOARD = os.path.join(harness.SOURCE, "docs", "dashboards", "coalprof.json")
KERNELS = os.path.join(harness.SOURCE, "docs", "measurements", "h100", "run", "faults.json")

SAMPLE = re.compile(r'^(coalprof_[a-z_0-9]+)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def dashboard():
    with open(DASHBOARD, encoding="utf-8") as file:
        return json.load(file)


def kernels():
    with open(KERNELS, encoding="utf-8") as file:
        result = json.load(file)
    for point in result["points"]:
        point["parameters"] |= {"total_seconds": 1e-3, "time_percent": 20, "excess": 0.5, "cost_seconds": 1e-4, "verdict": "strided"}
    return result


def later(result):
    """The same program, run again: only what is measured differs."""
    result = copy.deepcopy(result)
    result["meta"]["time"] = "2026-11-30T00:00:00Z"
    for point in result["points"]:
        point["parameters"]["launches"] += 1
        point["parameters"]["counted"] += 1
        for name in ("total_seconds", "time_percent", "excess", "cost_seconds"):
            point["parameters"][name] *= 2
        point["parameters"]["verdict"] = "wasteful"
        point["measured"]["duration_seconds"] *= 2
    return result


class Folder(Case):
    """A folder as the textfile collector reads it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.collected = os.path.join(folder.name, "collected")
        os.mkdir(self.collected)

    def sweep(self, name, *words):
        self.run_ok(*words, "-q", "-o", os.path.join(self.collected, name))

    def report(self, name, result):
        self.run_ok("report", "-", "-q", "-o", os.path.join(self.collected, name), stdin=json.dumps(result))

    def samples(self, name):
        """Values by metric and labels; a file that repeats one fails."""
        found = {}
        with open(os.path.join(self.collected, name), encoding="utf-8") as file:
            for line in file:
                if line.startswith("#"):
                    continue
                metric, labels, value = SAMPLE.match(line).groups()
                labels = LABEL.findall(labels)
                self.assertEqual(len(labels), len(dict(labels)), line)
                key = (metric, frozenset(labels))
                self.assertNotIn(key, found)
                found[key] = float(value)
        return found

    def fill(self):
        """Sweeps that differ in what is no parameter of a point, one sweep twice, a program with other arguments."""
        self.sweep("small.prom", "offset", "--range", "0..4")
        self.sweep("again.prom", "offset", "--range", "0..8")
        self.sweep("large.prom", "offset", "--range", "0..4", "--size", "1GiB")
        self.sweep("blocks.prom", "offset", "--range", "0..4", "--block", "32x8", "--grid", "64")
        self.sweep("members.prom", "aos", "--range", "8..16:4", "--member", "1")
        self.sweep("formulas.prom", "formula", "a[i*k]", "b[i+k]", "--var", "k=1..2")
        self.report("run.prom", kernels())
        other = later(kernels())
        other["meta"]["argv"] += ["--size", "2"]
        self.report("other.prom", other)


class Labels(Folder):
    def test_results_of_one_folder_share_no_sample(self):
        self.fill()
        everything = set()
        for name in os.listdir(self.collected):
            for key in self.samples(name):
                self.assertNotIn(key, everything)
                everything.add(key)

    def test_say_what_was_run(self):
        self.fill()
        wanted = {
            "small.prom": {"result": "small", "pattern": "offset", "size_bytes": "67108864", "block": "256", "swept": "3",
                           "offset": "3", "point": "offset=3", "machine": "h200", "op": "rmw", "type": "f32"},
            "large.prom": {"size_bytes": "1073741824"},
            "blocks.prom": {"block": "32x8", "grid": "64"},
            "members.prom": {"pattern": "aos", "member": "1", "swept": "12"},
            "formulas.prom": {"formula": "a[i*k]", "swept": "2"},
            "run.prom": {"program": "faults", "gpu": "NVIDIA H100 80GB HBM3", "kernel": "transpose_naive"},
            "other.prom": {"program": "faults --size 2"},
        }
        for name, labels in wanted.items():
            with self.subTest(name):
                self.assertTrue(any(labels.items() <= set(key[1]) for key in self.samples(name)), labels)

    def test_stay_when_only_the_measured_values_change(self):
        self.report("run.prom", kernels())
        before = self.samples("run.prom")
        self.report("run.prom", later(kernels()))
        after = self.samples("run.prom")
        self.assertEqual(set(before), set(after))
        changed = {metric for metric, labels in before if before[metric, labels] != after[metric, labels]}
        self.assertLessEqual({"coalprof_launches", "coalprof_counted", "coalprof_time_seconds",
                              "coalprof_duration_seconds", "coalprof_total_seconds", "coalprof_time_percent",
                              "coalprof_excess", "coalprof_cost_seconds"}, changed)
        for (metric, _), value in after.items():
            if metric == "coalprof_time_seconds":
                self.assertEqual(value, 1795996800)  # date -ud 2026-11-30 +%s

    def test_are_a_users_own_variables_of_such_names(self):
        self.sweep("own.prom", "formula", "a[i*excess]", "--var", "excess=1..2")
        self.assertEqual({dict(labels).get("excess") for metric, labels in self.samples("own.prom")
                          if metric == "coalprof_load_sectors"}, {"1", "2"})

    def test_several_results_of_one_file_are_numbered(self):
        saved = [os.path.join(self.folder, name) for name in ("old.json", "new.json")]
        for file, result in zip(saved, (kernels(), later(kernels()))):
            with open(file, "w", encoding="utf-8") as out:
                json.dump(result, out)
        self.run_ok("report", *saved, "-q", "-o", os.path.join(self.collected, "both.prom"))
        parts = {dict(labels)["part"] for _, labels in self.samples("both.prom")}
        self.assertEqual(parts, {"1", "2"})

    @unittest.skipUnless(PROMTOOL, "no promtool (Debian: prometheus)")
    def test_pass_promtool(self):
        self.fill()
        for name in os.listdir(self.collected):
            with open(os.path.join(self.collected, name), "rb") as file:
                checked = subprocess.run([PROMTOOL, "check", "metrics"], check=False, capture_output=True, stdin=file)
            self.assertEqual((checked.returncode, checked.stderr), (0, b""), name)


class Dashboard(Case):
    def test_asks_for_metrics_that_there_are(self):
        page = self.run_ok("offset", "--range", "0..3", "--format", "openmetrics").out_text
        keys = {row["key"] for row in self.run_ok("counters", "--json").json["counters"]}
        for panel in dashboard()["panels"]:
            for target in panel["targets"]:
                for name in re.findall(r"coalprof_([a-z_]+)", target["expr"]):
                    with self.subTest(name):
                        self.assertTrue(name in keys or f"# TYPE coalprof_{name} " in page)

    def test_sorts_by_number(self):
        """Of the labels "10" and "9" the first would stand in front."""
        charts = [panel for panel in dashboard()["panels"] if panel["type"] == "barchart"]
        self.assertTrue(charts)
        for panel in charts:
            steps = [step["id"] for step in panel["transformations"]]
            self.assertEqual(steps, ["convertFieldType", "sortBy", "filterFieldsByName"])
            convert, sort, keep = (step["options"] for step in panel["transformations"])
            self.assertEqual(convert["conversions"], [{"targetField": "swept", "destinationType": "number"}])
            self.assertEqual(sort["sort"], [{"field": "swept"}])
            self.assertTrue(re.match(keep["include"]["pattern"], panel["options"]["xField"]))

    def test_shows_history(self):
        over_time = [panel for panel in dashboard()["panels"] if panel["type"] == "timeseries"]
        self.assertTrue(over_time)
        for panel in over_time:
            self.assertTrue(all(target["range"] for target in panel["targets"]))


@unittest.skipUnless(PROMETHEUS and NODE_EXPORTER, "no prometheus or no node exporter (Debian: prometheus, prometheus-node-exporter)")
class Scraped(Folder):
    def start(self, *words):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def setUp(self):
        super().setUp()
        self.exporter, self.port = free_port(), free_port()
        with open(f"{self.folder}/prometheus.yml", "w", encoding="ascii") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: node\n    static_configs:\n"
                       f"      - targets: ['127.0.0.1:{self.exporter}']\n")
        self.fill()
        self.start(NODE_EXPORTER, "--collector.disable-defaults", "--collector.textfile",
                   f"--collector.textfile.directory={self.collected}", f"--web.listen-address=127.0.0.1:{self.exporter}")
        self.start(PROMETHEUS, f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                   f"--web.listen-address=127.0.0.1:{self.port}")

    def ask(self, query):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?query={urllib.parse.quote(query)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            answer = json.load(answer)
        self.assertEqual(answer["status"], "success")
        return [(sample["metric"], float(sample["value"][1])) for sample in answer["data"]["result"]]

    def ask_until(self, query, is_enough):
        answer = []
        for _ in range(300):
            try:
                answer = self.ask(query)
            except OSError:  # it is still starting
                pass
            if is_enough(answer):
                return answer
            time.sleep(0.3)
        return self.fail(f"{query}: {answer[:3]}")

    def test_side_by_side_and_over_time(self):
        all_samples = sum(len(self.samples(name)) for name in os.listdir(self.collected))
        # None is lost, and the exporter has nothing to complain of.
        self.ask_until('count({__name__=~"coalprof_.*"})', lambda answer: answer and answer[0][1] == all_samples)
        self.assertEqual([value for _, value in self.ask("node_textfile_scrape_error")], [0])
        # 4 sectors where the offset is a multiple of 8 elements, else 5.
        values = {labels["swept"]: value
                  for labels, value in self.ask('coalprof_load_sectors_per_request{result="again"}')}
        self.assertEqual(values, {str(k): 4 if k % 8 == 0 else 5 for k in range(9)})
        # The same program again under the same name: the same series go on, with other values.
        series = 'coalprof_duration_seconds{result="run",kernel="transpose_naive"}'
        ((labels, before),) = self.ask(series)
        self.report("run.prom", later(kernels()))
        ((labels_then, after),) = self.ask_until(series, lambda answer: answer and answer[0][1] != before)
        self.assertEqual((labels_then, after), (labels, 2 * before))
        self.assertEqual([value for _, value in self.ask(f"changes({series}[10m])")], [1])
        self.ask_until("time() - coalprof_time_seconds", bool)

    def test_answers_the_dashboard(self):
        self.ask_until('coalprof_points{result="run"}', bool)
        for result, pattern, side in (("small", "offset", "predicted"), ("run", "run", "measured")):
            there = {metric for metric, labels in self.samples(f"{result}.prom")}
            for panel in dashboard()["panels"]:
                for target in panel["targets"]:
                    query = target["expr"]
                    for variable, value in (("$pattern", pattern), ("$result", result), ("$source_of_values", side)):
                        query = query.replace(variable, value)
                    with self.subTest(query):
                        # A run counts no efficiency without --counters memory.
                        self.assertEqual(bool(self.ask(query)), set(re.findall("coalprof_[a-z_0-9]+", query)) <= there)
            self.assertLessEqual({"coalprof_load_sectors_per_request", "coalprof_duration_seconds"}, there)


if __name__ == "__main__":
    harness.main()
