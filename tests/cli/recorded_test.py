"""`coalprof run` of programs that told it on a GPU what tests/data/run holds: the same result without one."""
import gzip
import json
import os
import re
import sys
import tempfile
import unittest

import harness
from harness import Case

DATA = os.path.join(harness.SOURCE, "tests", "data", "run")

# Writes what the library wrote in this run of the program; of machine code, that of the kernel that is asked for.
PROGRAM = """
import gzip, json, os, sys
kernel = os.environ.get('COALPROF_ATTACH_ONE_KERNEL')
for run in json.loads(gzip.open(sys.argv[1]).read())['runs']:
    functions = {line.get('function') for trace in run['traces'] for line in trace}
    if run['pass'] == os.environ['COALPROF_ATTACH_PASS'] and (kernel is None or kernel in functions):
        for trace in run['traces']:
            path = f"{os.environ['COALPROF_ATTACH_FOLDER']}/{trace[0]['process']}.trace"
            trace[0]['coalprof_trace'] = 5  # it was 4, which lacked only times of other launches
            with open(path, 'w') as file:
                file.write(''.join(json.dumps(line) + chr(10) for line in trace))
        sys.exit()
sys.exit(f'no such run: {kernel}')
"""


def without_instance(name):
    """Names said nothing of template arguments, and more of namespaces, when these were recorded."""
    return re.sub(r"<.*>|\w+::", "", name)


class Recorded(Case):
    def setUp(self):
        if b"built without CUDA" in harness.run("run", "--", "true").err:
            self.skipTest("this coalprof was built without CUDA")

    def replayed(self, name, *options):
        """What was recorded, and what comes of it today."""
        path = os.path.join(DATA, name + ".json.gz")
        with gzip.open(path) as file:
            recorded = json.loads(file.read())["result"]
        ran = harness.run("run", "--json", *options, "--", sys.executable, "-c", PROGRAM, path)
        self.assertEqual(ran.code, 0, ran.err)
        result = json.loads(ran.err)
        self.assertEqual(result["meta"]["passes"], recorded["meta"]["passes"])
        self.assertEqual(result["status"], recorded["status"])
        # Their order depends on what conflicts of banks cost, which only a GPU's clock tells. Names became shorter, and
        # more is said of each since they were recorded.
        def counted(points):
            return sorted(json.dumps([without_instance(one["name"]), side,
                                      {key: value for key, value in (one[side] or {}).items() if "excess" not in key}])
                          for one in points for side in ("measured", "predicted"))
        self.assertEqual(counted(result["points"]), counted(recorded["points"]))
        return recorded, result

    def assert_same_findings(self, recorded, result):
        """What is saved of sectors follows from the traces. Causes of several lines were as many findings then."""
        def told(findings):
            return {(without_instance(point), one["cause"]) for one in findings
                    for point in (one["point"], *one.get("other_points", []))}

        def saved(findings):
            return sum(one["saves_seconds"] or 0 for one in findings if one["cause"] != "bank_conflict")
        self.assertEqual(told(result["findings"]), told(recorded["findings"]))
        # By the median of the counted launches then, by their sum now.
        self.assertAlmostEqual(saved(result["findings"]), saved(recorded["findings"]), delta=saved(recorded["findings"]) / 10)

    def test_lines_of_a_program_with_ptx(self):
        recorded, result = self.replayed("faults", "--lines")
        self.assert_same_findings(recorded, result)
        # By hand: what docs/examples/faults.cu is made to show, the worst first.
        self.assertEqual([one["like"] for one in result["findings"]][:3],
                         ["stride --at 4096 --type f32", "stride --at 4096 --type f32", "stride --at 3 --type f32"])

    def test_addresses_of_lines_are_a_warps_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "warps.txt")
            self.replayed("conflicts", "--lines", "--addresses", path)
            ran = harness.run("warps", path, "--machine", "h200", "--json")
        self.assertEqual(ran.code, 0, ran.err)
        warps = json.loads(ran.out)["points"]
        degrees = {one["predicted"].get("shared_load_wavefronts") for one in warps
                   if one["name"].startswith("conflicts.cu:22_ld.shared")}
        self.assertEqual(degrees, {32}, [one["name"] for one in warps][:5])

    def test_lines_of_machine_code(self):
        recorded, result = self.replayed("faults_sass", "--lines", "--machine-code", "3")
        self.assert_same_findings(recorded, result)

    def test_lines_of_pytorchs_kernels(self):
        self.replayed("torch", "--lines", "--machine-code", "2")

    def test_bank_conflicts(self):
        recorded, result = self.replayed("conflicts", "--lines")
        self.assert_same_findings(recorded, result)
        passes = {(one["parameters"]["kernel"], key): value for one in result["points"]
                  for key, value in (one["predicted"] or {}).items() if key.endswith("_wavefronts")}
        # Ten launches each. Nsight Compute counted in one of them (H200, 2026-11-23) 16,777,216,
        # 134,217,728 and 4,194,304 passes of loads.
        self.assertEqual(passes["transpose_conflicts", "shared_load_wavefronts"], 167772160)
        self.assertEqual(passes["smooth_conflicts", "shared_load_wavefronts"], 1342177280)
        self.assertEqual(passes["smooth_padded", "shared_load_wavefronts"], 41943040)


if __name__ == "__main__":
    unittest.main()
