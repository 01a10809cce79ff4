"""`coalprof compare`, `coalprof check` and --budget: what is worse is found, and nothing passes unseen."""
import copy
import json
import os
import shlex
import tempfile
import xml.etree.ElementTree as xml

import harness
from harness import Case
from validate_json import check_document

WARP = " ".join(str(4 * lane) for lane in range(32))


def golden(name):
    with open(os.path.join(harness.SOURCE, "tests", "data", "golden", name), encoding="utf-8") as file:
        return json.load(file)


class Files(Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def save(self, name, document):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def sweep(self, name, *arguments):
        path = f"{self.folder}/{name}"
        with open(path, "wb") as file:
            file.write(self.run_ok(*arguments, "--json").out)
        return path


class Compare(Files):
    def compare(self, older, newer, *options, code):
        ran = self.check(harness.run("compare", older, newer, "--json", *options), code)
        return check_document(ran.out)["comparison"]

    def changed(self, change):
        """The measured golden result, and a copy that `change` was made to."""
        older = golden("measured.json")
        newer = copy.deepcopy(older)
        change(newer)
        return self.save("old.json", older), self.save("new.json", newer)

    def findings(self, comparison):
        return [(case["counter"], finding["kind"], finding["point"])
                for case in comparison["counters"] for finding in case["findings"]]

    def test_of_a_result_with_itself_finds_nothing(self):
        path = self.sweep("a.json", "stride", "--range", "1..8", "--machine", "c2050,h200")
        comparison = self.compare(path, path, code=harness.DONE)
        self.assertEqual((comparison["outcome"], comparison["points"]), ("kept", 16))
        self.assertEqual(self.findings(comparison), [])

    def test_of_axes_and_several_formulas_goes_point_by_point(self):
        for arguments in (("offset", "--range", "0..2", "--type", "f32,f64", "--grid", "64,8x8"),
                          ("formula", "i", "i*2", "--name", "a", "--name", "b", "--block", "64,128")):
            with self.subTest(arguments):
                path = self.sweep("a.json", *arguments)
                with open(path, encoding="utf-8") as file:
                    document = json.load(file)
                changed = document["points"][1]
                changed["predicted"]["load_sectors"] *= 2
                comparison = self.compare(path, self.save("b.json", document), code=harness.FINDING)
                self.assertEqual(comparison["points"], len(document["points"]))
                self.assertIn(("predicted load_sectors", "worse", changed["name"]), self.findings(comparison))

    def test_shows_the_time_of_kernels_in_each_format_for_people(self):
        source = os.path.join(harness.SOURCE, "tests", "data", "kernels", "natural.ptx")
        kernels = "kernel", source, "row_per_thread", "row_per_warp", "--grid", "8"
        older = self.sweep("a.json", *kernels, "--block", "128")
        with open(older, encoding="utf-8") as file:
            document = json.load(file)
        for point in document["points"]:
            point["predicted"]["duration_seconds"] *= 0.9  # within the interval
        newer = self.save("b.json", document)
        comparison = self.compare(older, newer, code=harness.DONE)
        self.assertEqual([(one["point"], one["kind"]) for one in comparison["times"]],
                         [("row_per_thread", "changed"), ("row_per_warp", "changed")])
        for form in ("text", "github"):
            told = harness.run("compare", older, newer, "--format", form).out_text
            self.assertEqual(told.count("1.11 times as fast"), 2, told)
        block = self.sweep("c.json", *kernels, "--block", "256")
        self.assertEqual(len(harness.run("compare", older, block, "--json").json["comparison"]["times"]), 2)

    def test_sees_one_sector_more_in_what_is_exact(self):
        def one_more(document):
            document["points"][1]["measured"]["load_sectors"] += 1
        comparison = self.compare(*self.changed(one_more), code=harness.FINDING)
        self.assertEqual(self.findings(comparison), [("measured load_sectors", "worse", "offset=1")])

    def test_lets_what_varies_vary_by_the_tolerance(self):
        # l2_read_sectors has no exact prediction there: 128, and 5 % of it are 6.4.
        def vary(by):
            def change(document):
                document["points"][0]["measured"]["l2_read_sectors"] += by
            return self.changed(change)
        self.compare(*vary(6), code=harness.DONE)
        self.compare(*vary(7), code=harness.FINDING)
        self.compare(*vary(20), "--tolerance", "20%", code=harness.DONE)

    def slower(self, by, spread=0.0):
        def change(document):
            timing = document["points"][0]["timing"]
            document["points"][0]["measured"]["duration_seconds"] *= by
            for key in ("median_seconds", "low_seconds", "high_seconds"):
                timing[key] *= by
            timing["low_seconds"] -= spread
        return self.changed(change)

    def test_calls_a_time_worse_where_quartiles_do_not_overlap(self):
        # The quartiles are 4.0 and 4.5 us of 4.096: times 1.2 they begin at 4.8.
        comparison = self.compare(*self.slower(1.2), code=harness.FINDING)
        self.assertEqual(self.findings(comparison), [("measured duration_seconds", "worse", "offset=0")])
        self.compare(*self.slower(1.2), "--max-slowdown", "25%", code=harness.DONE)
        self.compare(*self.slower(1.04), code=harness.DONE)
        self.compare(*self.slower(1.2, spread=1e-6), code=harness.DONE)

    def test_names_what_is_gone(self):
        def lose(document):
            del document["points"][3]
            document["points"][0]["measured"]["l2_read_sectors"] = None
        comparison = self.compare(*self.changed(lose), code=harness.PARTIAL)
        self.assertEqual(comparison["outcome"], "missing")
        self.assertIn("offset=32", comparison["losses"][0])
        self.assertEqual(self.findings(comparison),
                         [("measured l2_read_sectors", "missing", "offset=0")])

    def test_tells_points_that_fail_in_one_of_the_results(self):
        def fail(document):
            point = document["points"][-1]
            point["predicted"], point["measured"] = {}, None
            point["failure"] = "out of memory"
        whole, failing = self.changed(fail)
        name = golden("measured.json")["points"][-1]["name"]
        comparison = self.compare(whole, failing, code=harness.PARTIAL)
        self.assertIn(("missing", name), [(kind, point) for _, kind, point in self.findings(comparison)])
        comparison = self.compare(failing, whole, code=harness.DONE)
        self.assertIn(("better", name), [(kind, point) for _, kind, point in self.findings(comparison)])

    def test_refuses_other_machines_and_settings_unless_told(self):
        base = ("offset", "--range", "0..3", "--op", "load")
        h200 = self.sweep("a.json", *base)
        c2050 = self.sweep("b.json", *base, "--machine", "c2050")
        refusal = self.refuse("compare", h200, c2050).err_text
        self.assertIn("machine (h200 and c2050)", refusal)
        self.assertIn("--across machine", refusal)
        self.compare(h200, c2050, "--across", "all", code=harness.FINDING)
        told = self.check(harness.run("compare", h200, c2050, "--across", "all"), harness.FINDING)
        self.assertLessEqual(max(len(line) for line in told.out_text.splitlines()), 80)

    def test_says_in_a_line_that_results_are_of_other_sweeps(self):
        one = self.sweep("a.json", "offset", "--range", "0..3", "--op", "load")
        other = self.sweep("b.json", "transpose", "--type", "f64", "--machine", "c2050", "--size", "1MiB", "--block", "32x8", "--op", "copy")
        refusal = self.refuse("compare", one, other).err_text
        self.assertLess(len(refusal), 400)
        self.assertIn("--across all", refusal)

    def test_hints_can_be_pasted_into_a_shell(self):
        """A formula's name is anybody's text."""
        name = "it's scale.cu particles; $HOME"
        files = []
        for expression, kind in (("a[i]", "f32"), ("a[i*2]", "f64")):
            files.append(self.sweep(f"result{len(files)}.json", "formula", expression, "b[i]", "--name", name,
                                    "--name", "other", "--type", kind))
        refusal = self.refuse("compare", *files).err_text
        words = shlex.split(refusal[refusal.rindex("--across"):])
        self.assertIn(f"formula.{name}", words[1])
        self.assertNotEqual(harness.run("compare", *files, *words).code, harness.USAGE)

    def test_compares_a_formula_whose_index_changed(self):
        files = [self.sweep(f"{n}.json", "formula", f"a[i*{n}]") for n in (1, 2)]
        comparison = self.compare(*files, code=harness.FINDING)
        self.assertIn("load_sectors", str(self.findings(comparison)))
        (note,) = [note for note in comparison["notes"] if "a[i*1]" in note]
        self.assertIn("a[i*2]", note)
        # With another type as well it is another formula.
        self.refuse("compare", files[0], self.sweep("3.json", "formula", "a[i*2]", "--type", "f64"))

    def test_holds_one_instruction_against_a_budget(self):
        path = self.sweep("a.json", "formula", "load: a[i*8]; load: b[i]; store: c[i]")
        for budget, code in (("excess <= 5%", 1), ("excess <= 5% if array=b,c", 0), ("load_excess <= 5% if index=i*8", 1),
                             ("load_sectors <= 8*load_ideal_sectors", 0), ("load_sectors <= 1.25*load_ideal_sectors if array=b", 0),
                             ("sectors <= ideal_sectors if array=c", 0), ("load_sectors < 4*store_sectors", 1)):
            with self.subTest(budget):
                self.assertEqual(harness.run("check", path, "--budget", budget).code, code)

    # As `coalprof run` writes it: a kernel, its line, and why it wastes.
    def wasteful_run(self):
        path = self.sweep("run.json", "stride", "--range", "8", "--op", "load")
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        (point,) = document["points"]
        kernel = {**point, "name": "scale grid=1", "parameters": {"kernel": "scale", "verdict": "strided"}}
        line = {**point, "name": "app.cu:12 ld", "parameters": {"line": "app.cu:12", "kernel": "scale",
                                                                "source_file": os.getcwd() + "/src/app, 1.cu"}}
        document["points"] = [kernel, line]
        document["findings"] = [{"point": "app.cu:12 ld", "kernel": "scale", "cause": "strided", "text": "Lanes are apart.",
                                 "fix": "Bring them together.", "like": None, "saves_seconds": None}]
        return self.save("run.json", document)

    def test_annotations_stand_at_the_line_and_say_what_to_do(self):
        path = self.wasteful_run()
        env = harness.environment(GITHUB_WORKSPACE=os.getcwd())
        ran = harness.run("check", path, "--budget", "excess <= 5%", "--format", "github", env=env)
        errors = [line for line in ran.out_text.splitlines() if line.startswith("::error ")]
        (error,) = errors  # the kernel and its line break it for one cause
        self.assertTrue(error.startswith("::error file=src/app%2C 1.cu,line=12,title="), error)
        self.assertIn("Bring them together.", error)
        ran = harness.run("check", path, "--budget", "excess <= 5% if line=app.cu:12", "--format", "sarif", env=env)
        self.assertEqual(ran.code, harness.FINDING)
        (result,) = json.loads(ran.out)["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("src/app, 1.cu", 12))
        self.assertIn("Bring them together.", result["message"]["text"])

    # GitHub places what it finds from the repository's root, whatever the compiler was called in.
    def test_annotations_name_files_from_the_repository(self):
        path = self.wasteful_run()
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        root = os.path.realpath(self.folder)
        os.makedirs(f"{root}/build/deep")
        os.mkdir(f"{root}/.git")
        for name, file in ((f"{root}/build/../src/k.cu", "src/k.cu"), ("../src/k.cu", "src/k.cu"), ("k.cu", "build/k.cu"),
                           ("/elsewhere/x/../k.cu", "/elsewhere/k.cu")):
            document["points"][1]["parameters"]["source_file"] = name
            saved = self.save("other.json", document)
            for env in ({}, {"GITHUB_WORKSPACE": root}):
                with self.subTest(name, **env):
                    ran = harness.run("check", saved, "--budget", "excess <= 5%", "--format", "github",
                                      cwd=f"{root}/build", env=harness.environment(**env))
                    self.assertIn(f"::error file={file},line=12,", ran.out_text)

    def test_refuses_a_ratio_that_lacks_its_percent(self):
        file = self.sweep("a.json", "offset", "--range", "0", "--op", "load")
        refusal = self.refuse("check", file, "--budget", "load_efficiency >= 80 if offset=0").err_text
        corrected = refusal.split("of a hundred: ")[1].strip()
        self.assertEqual(corrected, "load_efficiency >= 80% if offset=0")
        for budget in (corrected, "load_efficiency >= 1", "load_sectors_per_request <= 80"):
            self.assertEqual(harness.run("check", file, "--budget", budget).code, harness.DONE)

    def test_what_the_other_machine_cannot_have_is_no_loss(self):
        base = ("stride", "--range", "1..8", "--op", "load")
        k80 = self.sweep("a.json", *base, "--machine", "k80")
        h200 = self.sweep("b.json", *base, "--machine", "h200")
        comparison = self.compare(k80, h200, "--across", "machine", code=harness.DONE)
        self.assertNotIn("missing", [kind for _, kind, _ in self.findings(comparison)])
        told = [note for note in comparison["notes"] if "load_transactions" in note]
        self.assertEqual(len(told), 1)
        self.assertIn("k80", told[0])

    def test_of_two_patterns_matches_points_by_their_values(self):
        offset = self.sweep("a.json", "offset", "--range", "1..4", "--op", "load")
        stride = self.sweep("b.json", "stride", "--range", "1..4", "--op", "load")
        comparison = self.compare(offset, stride, "--across", "pattern", code=harness.FINDING)
        self.assertEqual(comparison["points"], 4)

    def test_refuses_results_without_a_common_point(self):
        self.refuse("compare", self.sweep("a.json", "offset", "--range", "0..3"),
                    self.sweep("b.json", "offset", "--range", "4..7"))


class Check(Files):
    def judge(self, path, *budgets, code, options=()):
        words = [word for budget in budgets for word in ("--budget", budget)]
        ran = self.check(harness.run("check", path, *words, "--json", *options), code)
        return check_document(ran.out)["check"]

    def setUp(self):
        super().setUp()
        self.path = self.sweep("a.json", "offset", "--range", "0..8", "--op", "load")

    def test_knows_units_signs_and_conditions(self):
        for budget in ("load_efficiency >= 80%", "load_efficiency >= 0.8", "load_unique_bytes == 64MiB",
                       "load_sectors_per_request == 4 if offset=0..8:8",
                       "load_sectors_per_request == 5 if offset=1..7 and machine=h200 and pattern=off*",
                       "predicted load_sectors_per_request != 5 if name=offset=8",
                       "load_sectors_per_request<6", "load_efficiency > 79 %".replace(" %", "%")):
            with self.subTest(budget):
                self.judge(self.path, budget, code=harness.DONE)

    def test_never_passes_what_was_not_there(self):
        for budget in ("load_tag_wavefronts <= 1000",      # not predicted
                       "store_sectors <= 1",               # the sweep only loads
                       "measured load_sectors <= 1e9",     # nothing was measured
                       "load_sectors >= 1 if offset=99",   # no such point
                       "load_sectors >= 1 if stride=1"):   # no such parameter
            with self.subTest(budget):
                self.assertEqual(self.judge(self.path, budget, code=harness.PARTIAL)["outcome"], "missing")

    def test_says_which_condition_no_point_fulfils(self):
        path = self.sweep("rows.json", "row", "--op", "load", "--range", "96..128:8")
        for budget, facts in (("load_sectors > 0 if row_byts=384", ("row_byts", "'row_bytes'")),
                              ("load_sectors > 0 if row_bytes=96", ("row_bytes=96", "384, 416")),
                              ("load_sectors > 0 if row_bytes=384 and dlcm=cg", ("dlcm=cg", "ca")),
                              ("store_sectors > 0 if row_bytes=384", ("store_sectors",)),
                              ("load_sectors > 0 if row_bytes=384 and row_elements=128", ("all",))):
            with self.subTest(budget):
                check = self.judge(path, budget, code=harness.PARTIAL)
                for fact in facts:
                    self.assertIn(fact, check["budgets"][0]["findings"][0]["text"])

    def test_takes_sizes_in_conditions(self):
        path = self.sweep("rows.json", "row", "--op", "load", "--range", "1000,1024")
        for condition, held in (("row_bytes=4000B", 1), ("row_bytes=4KiB", 1), ("row_elements=1000", 1),
                                ("row_bytes=4000", 1), ("row_bytes=1KiB..1MiB*2", 1)):
            with self.subTest(condition):
                check = self.judge(path, f"load_sectors > 0 if {condition}", code=harness.DONE)
                self.assertEqual(check["budgets"][0]["held"], held)

    def test_holds_a_result_against_a_saved_one(self):
        worse = golden("measured.json")
        worse["points"][1]["predicted"]["load_sectors"] += 1
        base, now = self.save("base.json", golden("measured.json")), self.save("now.json", worse)
        for path, code in ((base, harness.DONE), (now, harness.FINDING)):
            ran = self.check(harness.run("check", path, "--budget-from", base, "--json"), code)
            case, = check_document(ran.out)["check"]["budgets"]
            self.assertEqual(case["budget"], f"no point worse than in {base}")
        self.assertEqual([one["point"] for one in case["findings"]], [worse["points"][1]["name"]])
        self.assertIn("app.cu:9", self.refuse("check", base, "--budget-from", base, "--allow", "app.cu").err_text)
        self.assertIn("--budget-from", self.refuse("check", self.path, "--budget-from", base).err_text)

    def test_prefers_what_was_measured(self):
        document = golden("measured.json")
        document["points"][0]["measured"]["load_sectors"] = 7
        path = self.save("m.json", document)
        self.judge(path, "load_sectors == 7 if offset=0", code=harness.DONE)
        self.judge(path, "predicted load_sectors == 7 if offset=0", code=harness.FINDING)

    def test_refuses_what_is_no_budget_and_shows_where(self):
        for budget in ("load_sectors 4", "load_sectors <= 4 if offset=3..1", ""):
            with self.subTest(budget):
                self.assertIn("--budget", self.refuse("check", self.path, "--budget", budget).err_text)
        self.assertIn("budget", self.refuse("check", self.path).err_text)

    def test_reads_budgets_of_a_file_and_names_the_wrong_line(self):
        path = f"{self.folder}/budgets.txt"
        with open(path, "w", encoding="utf-8") as file:
            file.write("# of the front\nload_sectors_per_request <= 4 if offset=0\n\nload_sectors > 0  # all\n")
        check = check_document(self.run_ok("check", self.path, "--budget-file", path, "--json").out)
        self.assertEqual([case["held"] for case in check["check"]["budgets"]], [1, 9])
        with open(path, "a", encoding="utf-8") as file:
            file.write("load_sectors >\n")
        self.assertIn("budgets.txt:5", self.refuse("check", self.path, "--budget-file", path).err_text)

    def test_of_a_cut_result_is_partial(self):
        with open(self.path, "rb") as file:
            cut = file.read()[:-700]
        ran = harness.run("check", "-", "--budget", "load_sectors > 0", stdin=cut)
        self.assertEqual(ran.code, harness.PARTIAL)
        self.assertIn("not whole", ran.out_text)


class Sweeps(Case):
    def test_with_budgets_answer_by_their_exit_code(self):
        for budget, code in (("load_sectors_per_request <= 5", harness.DONE),
                             ("load_sectors_per_request <= 4", harness.FINDING),
                             ("load_tag_wavefronts <= 1", harness.PARTIAL)):
            with self.subTest(budget):
                for command in (("offset", "--range", "0..3"), ("formula", "i+k", "--var", "k=0..3")):
                    ran = self.check(harness.run(*command, "--json", "--budget", budget, "-q"), code)
                    self.assertEqual(len(check_document(ran.out)["points"]), 4)
                    self.assertEqual(budget in ran.err_text, code != harness.DONE)

    def test_of_warps_too(self):
        ran = harness.run("warps", "-", "--budget", "load_sectors <= 3", stdin=f"w load 4 {WARP}\n")
        self.assertEqual(ran.code, harness.FINDING)
        self.refuse("offset", "--budget", "load_sectors")


class Formats(Files):
    NAME = "::error::x\x1b[31m<b>&\"|`=1+1`,%0A"

    def hostile(self):
        document = golden("measured.json")
        document["points"] = document["points"][:1]
        document["points"][0]["name"] = self.NAME
        return self.save("h.json", document)

    def run_format(self, name, **how):
        return self.check(harness.run("check", self.hostile(), "--budget", "load_sectors <= 1",
                                      "--format", name, **how), harness.FINDING).out_text

    def test_hold_hostile_names_without_an_escape(self):
        for name in ("text", "github", "junit", "json", "sarif"):
            with self.subTest(name):
                text = self.run_format(name)
                self.assertNotIn("\x1b", text)
                self.assertFalse([line for line in text.splitlines() if line.lstrip().startswith("::")
                                  and not line.startswith(("::error title=", "::notice title="))])

    def test_junit_is_xml_with_a_failure_for_each_broken_budget(self):
        suites = xml.fromstring(self.run_format("junit"))
        self.assertEqual((suites.get("tests"), suites.get("failures")), ("1", "1"))
        (failure,) = suites.iter("failure")
        self.assertIn("<b>", failure.text)

    def test_github_says_no_more_than_the_service_shows(self):
        path = self.sweep("a.json", "offset", "--range", "0..32", "--op", "load")
        ran = harness.run("check", path, "--budget", "load_sectors < 1", "--format", "github")
        errors = [line for line in ran.out_text.splitlines() if line.startswith("::error ")]
        self.assertEqual(len(errors), 10)
        self.assertIn("24 more", errors[-1])  # 33 points, 9 of them named

    def test_github_fills_the_summary_of_the_job(self):
        path = f"{self.folder}/summary.md"
        self.run_format("github", env=harness.environment(GITHUB_STEP_SUMMARY=path))
        with open(path, encoding="utf-8") as file:
            self.assertIn("broken at 1 of 1 point", file.read())

    def test_github_without_its_summary_is_an_output_that_failed(self):
        for path in ("/dev/full", f"{self.folder}/missing/summary.md", self.folder):
            with self.subTest(path):
                ran = harness.run("check", self.hostile(), "--budget", "load_sectors >= 0", "--format", "github",
                                  env=harness.environment(GITHUB_STEP_SUMMARY=path))
                self.assertEqual(ran.code, harness.OUTPUT)
                self.assertIn(b"::notice", ran.out)
                self.assertIn(path, ran.err_text)

    def test_github_does_not_take_the_result_for_the_summary(self):
        path = self.hostile()
        with open(path, encoding="utf-8") as file:
            before = file.read()
        ran = harness.run("check", path, "--budget", "load_sectors >= 0", "--format", "github",
                          env=harness.environment(GITHUB_STEP_SUMMARY=path))
        self.assertEqual(ran.code, harness.USAGE)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)

    def test_a_report_goes_to_a_file_that_is_not_the_input(self):
        path = self.hostile()
        self.refuse("check", path, "--budget", "load_sectors <= 1", "-o", path)
        out = f"{self.folder}/report.xml"
        ran = harness.run("check", path, "--budget", "load_sectors <= 1", "--format", "junit", "-o", out)
        self.assertEqual((ran.code, ran.out), (harness.FINDING, b""))
        xml.parse(out)


if __name__ == "__main__":
    harness.main()
