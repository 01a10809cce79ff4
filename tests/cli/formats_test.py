"""openmetrics, svg and html of `coalprof report`: well-formed, escaped, and what the numbers say."""
import copy
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

import browser
import harness
from harness import Case

# Line 2 of k.cu: y[i] = x[3 * i].
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr.global x, .param .u64 .ptr.global y)
{
  .reg .b32 %r<2>; .reg .f32 %f<2>; .reg .b64 %rd<8>;
  .loc 1 2 1
  mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mul.wide.u32 %rd3, %r1, 12; add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f1, [%rd4];
  mul.wide.u32 %rd5, %r1, 4; add.s64 %rd6, %rd2, %rd5; st.global.f32 [%rd6], %f1;
  ret;
}
.file 1 "/src/k.cu"
"""
HOSTILE = "=1+1::error::</script><script>alert(1)</script>\"'&\x1b[31m\\\n{}"


def golden(name):
    with open(os.path.join(harness.SOURCE, "tests", "data", "golden", name), encoding="utf-8") as file:
        return json.load(file)


def hostile():
    document = golden("measured.json")
    document["points"][0]["name"] = HOSTILE
    document["points"][0]["parameters"]["dlcm"] = HOSTILE
    document["points"][0]["parameters"]["1 bad key\""] = 3
    document["sweep"]["pattern"] = HOSTILE
    document["warnings"].append({"code": "W-X", "point": None, "text": HOSTILE})
    return document


class Report(Case):
    def report(self, document, name, *more):
        return self.run_ok("report", "-", "--format", name, "-q", *more,
                           stdin=json.dumps(document)).out_text


    def lines_page(self, folder, text):
        """A saved `run --lines` whose source is this text, and where that is."""
        with open(os.path.join(harness.SOURCE, "docs/measurements/h100/run/lines.json"), encoding="utf-8") as file:
            document = json.load(file)
        path = f"{folder}/faults.cu"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        for point in document["points"]:
            point["parameters"]["source_file"] = path
        return document, path


class Source(Report):
    """Of programs whose lines were counted: a result may come from anybody, and its page go to anybody."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        os.mkdir(f"{self.folder}/project")

    def shows(self, *more, file=None, text="\n" * 17 + "SECRET\n" * 80):
        document, path = self.lines_page(f"{self.folder}/project", text)
        document["meta"]["time"] = "9999-12-31T23:59:59Z"
        for point in document["points"]:
            point["parameters"]["source_file"] = file or path
        return "SECRET" in self.report(document, "html", *more)

    def test_is_read_only_below_the_folder_that_is_named(self):
        self.assertFalse(self.shows())
        self.assertTrue(self.shows("--source", f"{self.folder}/project"))
        self.assertTrue(self.shows("--source", self.folder, file="/elsewhere/project/faults.cu"))
        self.assertFalse(self.shows("--source", f"{self.folder}/project", text=""))
        os.mkdir(f"{self.folder}/other")
        self.assertFalse(self.shows("--source", f"{self.folder}/other"))
        self.assertFalse(self.shows("--source", f"{self.folder}/other", file="../project/faults.cu"))

    def test_behind_links_is_read_only_below_the_folder(self):
        self.assertTrue(self.shows("--source", f"{self.folder}/project"))
        for name, target in (("in.cu", "faults.cu"), ("out.cu", "../out/faults.cu"), ("linked", "../out")):
            os.symlink(target, f"{self.folder}/project/{name}")
        os.mkdir(f"{self.folder}/out")
        shutil.copy(f"{self.folder}/project/faults.cu", f"{self.folder}/out/faults.cu")
        shutil.copy(f"{self.folder}/project/faults.cu", f"{self.folder}/out/other.cu")
        os.symlink("project", f"{self.folder}/link")
        for file, is_shown in (("in.cu", True), ("out.cu", False), ("linked/other.cu", False)):
            for folder in ("project", "link"):
                with self.subTest(file=file, folder=folder):
                    self.assertEqual(self.shows("--source", f"{self.folder}/{folder}", file=file), is_shown)

    def test_is_none_without_a_suffix_of_source(self):
        secret = f"{self.folder}/project/id_rsa"
        with open(secret, "w", encoding="ascii") as file:
            file.write("SECRET\n" * 90)
        os.symlink("id_rsa", f"{self.folder}/project/link.cu")
        for file in (secret, "link.cu", "../" * 20 + secret, "/dev/zero", "/proc/self/environ", self.folder, "", "/",
                     "x" * 5000):
            with self.subTest(file[:40]):
                self.assertFalse(self.shows("--source", f"{self.folder}/project", file=file or "/", text=""))

    def test_of_fewer_lines_or_a_pipe_is_not_shown(self):
        self.assertFalse(self.shows("--source", self.folder, text="SECRET\n"))  # too short for what was counted
        os.mkfifo(f"{self.folder}/project/pipe.cu")  # waits for nobody
        self.assertFalse(self.shows("--source", self.folder, file="pipe.cu"))


SAMPLE = re.compile(r'^([a-z_0-9]+)\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+)$')


class OpenMetrics(Report):
    def samples(self, text):
        lines = text.splitlines()
        self.assertEqual(lines[-1], "# EOF")
        seen = set()
        family = None
        samples = {}
        for line in lines[:-1]:
            if line.startswith("# HELP "):
                family = line.split()[2]
                self.assertNotIn(family, seen)
                seen.add(family)
            elif line.startswith("# TYPE "):
                self.assertEqual(line, f"# TYPE {family} gauge")
            else:
                match = SAMPLE.match(line)
                self.assertTrue(match, line)
                self.assertEqual(match[1], family)
                key = (match[1], match[2])
                self.assertNotIn(key, samples)
                samples[key] = float(match[3])
        return samples

    def test_has_a_sample_for_each_number(self):
        document = golden("measured.json")
        samples = self.samples(self.report(document, "openmetrics"))
        numbers = [value for point in document["points"] for side in ("predicted", "measured")
                   for value in (point[side] or {}).values() if value is not None]
        self.assertEqual(len([key for key in samples if "point=" in key[1]]), len(numbers))
        key = next(key for key in samples if key[0] == "coalprof_load_sectors" and
                   'point="offset=1"' in key[1] and 'source="measured"' in key[1])
        self.assertEqual(samples[key], 160)
        self.assertIn('offset="1"', key[1])

    def test_tells_points_of_one_name_apart(self):
        warp = "w load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
        self.samples(self.run_ok("warps", "-", "--format", "openmetrics", stdin=3 * warp).out_text)

    def test_holds_hostile_text(self):
        self.samples(self.report(hostile(), "openmetrics"))

    def test_passes_promtool(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("no promtool (Debian: prometheus)")
        for document in (golden("measured.json"), golden("predicted.json"), hostile()):
            checked = subprocess.run([promtool, "check", "metrics"], check=False, capture_output=True,
                                     input=self.report(document, "openmetrics").encode())
            # 3: style, as that a gauge ends in _info.
            self.assertIn(checked.returncode, (0, 3), checked.stderr)
            self.assertNotIn(b"parsing", checked.stderr)


class Svg(Report):
    def test_of_two_parameters_is_a_map(self):
        text = self.run_ok("formula", "i*k+m", "--var", "k=1..4", "--var", "m=0..4", "--format", "svg").out_text
        panels = xml.fromstring(text).findall("{http://www.w3.org/2000/svg}g")
        for panel in panels:
            self.assertEqual(sum(node.get("class") == "cell" for node in panel), 4 * 5)
        self.assertGreater(len(panels), 1)

    def test_names_what_stands_along_no_number(self):
        for values, command in ((4, ("transpose", "--range", "256")),
                                (8, ("report", "docs/measurements/h100/run/faults.json"))):
            svg = xml.fromstring(self.run_ok(*command, "--format", "svg", cwd=harness.SOURCE).out_text)
            first = svg.find("{http://www.w3.org/2000/svg}g")
            texts = [node.text for node in first if node.get("text-anchor") == "end"]
            self.assertEqual(len(texts), values)
            self.assertTrue(any("naive" in text for text in texts), texts)
            self.assertEqual(sum(node.get("class", "").startswith("bar ") for node in first), values)

    def test_draws_no_bar_alone(self):
        svg = self.run_ok("formula", "a[i]", "--format", "svg").out_text
        self.assertNotIn('class="bar ', svg)
        self.assertIn(">4</text>", svg)  # its sectors a request

    def test_shows_each_of_curves_that_lie_on_each_other(self):
        """Loads of f32 and s32 cost the same, those of f64 do not: of two curves each has every other dash."""
        svg = self.run_ok("offset", "--type", "f32,f64,s32", "--op", "load", "--columns", "load_sectors_per_request",
                          "--format", "svg").out_text
        dashes = dict(re.findall(r'<path class="predicted (s[0-2])"(?: style="([^"]*)")? d="M[^h"]*"', svg))
        self.assertEqual(dashes["s1"], "")
        self.assertEqual({dashes["s0"], dashes["s2"]},
                         {"stroke-dasharray:8 8;stroke-dashoffset:-0", "stroke-dasharray:8 8;stroke-dashoffset:-8"})

    def test_has_no_name_for_what_follows_from_a_variant(self):
        text = self.run_ok("transpose", "--range", "256..1024*2", "--format", "svg").out_text
        self.assertIn("variant=naive<", text)
        self.assertNotIn("tile_pitch", text)

    def test_is_xml_with_a_curve_for_each_side(self):
        text = self.report(golden("measured.json"), "svg", )
        root = xml.fromstring(text)
        curves = [node.get("class") for node in root.iter() if node.get("class", "").startswith(("measured", "predicted"))]
        self.assertIn("measured s0", curves)
        self.assertIn("predicted s0", curves)

    def test_holds_hostile_text(self):
        root = xml.fromstring(self.report(hostile(), "svg"))
        self.assertEqual([node for node in root.iter() if node.tag.endswith("script")], [])

    def test_has_equal_steps_where_the_sweep_multiplies(self):
        """1, 2, 4, ... 64: seven values, six equal steps; 0, 8, ... 48 has them anyhow."""
        for values in ("1..64*2", "0..48:8"):
            text = self.run_ok("stride" if values[0] == "1" else "offset", "--range", values, "--op", "load",
                               "--counters", "load_requests", "--format", "svg").out_text
            (path,) = re.findall(r'<path class="predicted s0"[^>]* d="([^"]+)"', text)
            places = [float(x) for x in re.findall(r"[ML]([\d.]+)", path)]
            self.assertEqual(len(places), 7)
            steps = [right - left for left, right in zip(places, places[1:])]
            self.assertLessEqual(max(steps) - min(steps), 1)

    def test_stands_numbers_of_any_size(self):
        document = golden("predicted.json")
        for value in (0, 1e308, 5e-324, 2 ** 64 - 1):
            document["points"][0]["parameters"]["offset"] = int(value) if value < 2 ** 64 else 1
            document["points"][0]["predicted"]["load_sectors"] = int(min(value, 2 ** 64 - 1))
            document["points"][0]["predicted"]["load_efficiency"] = value
            text = self.report(document, "svg")
            xml.fromstring(text)
            self.assertNotIn("nan", text)
            self.assertNotIn("inf", text)

    def test_draws_several_results_and_each_has_its_table(self):
        with tempfile.TemporaryDirectory() as folder:
            for machine in ("h200", "c870"):
                self.run_ok("offset", "--machine", machine, "-o", f"{machine}.json", "-q", cwd=folder)
            text = self.run_ok("report", "h200.json", "c870.json", "--format", "svg", cwd=folder).out_text
            self.assertIn("Tesla C870", text)
            one, other = (self.run_ok("report", f"{machine}.json", cwd=folder).out for machine in ("h200", "c870"))
            # With -o as without, for several results as for one.
            self.assertEqual(self.run_ok("report", "h200.json", "-o", "x.svg", cwd=folder).out, one)
            for more in ((), ("-o", "x.svg"), ("-o", "x.svg", "-o", "-")):
                self.assertEqual(self.run_ok("report", "h200.json", "c870.json", *more, cwd=folder).out, one + b"\n" + other)
            self.refuse("report", "h200.json", "c870.json", "-o", "x.csv", cwd=folder)


    def test_of_a_prediction_says_so_and_names_intervals_only_where_they_are_drawn(self):
        sweep = ("stride", "--range", "1..4", "--machine", "c870,h200", "--format", "svg")
        exact = self.run_ok(*sweep, "--columns", "load_efficiency").out_text
        self.assertIn("predicted</title>", exact)
        self.assertNotIn("intervals", exact)
        self.assertIn("intervals", self.run_ok(*sweep, "--columns", "duration_seconds").out_text)


class Drawings(Case):
    def test_of_two_formulas_are_beside_each_other_where_there_is_room(self):
        both = ("explain", "formula", "a[i*3]", "b[i]")
        alone = [self.run_ok(*both[:2], text, "--brief").out_text for text in both[2:]]
        self.assertEqual(self.run_ok(*both, "--brief").out_text, "\n".join(alone))
        for line in self.run_ok(*both, "--brief", env=harness.environment(COLUMNS="130")).out_text.splitlines()[:2]:
            self.assertRegex(line, r"^(formula: a\[i\*3\]|op load, .*) +(formula: b\[i\]|op load, .*)$")
        with tempfile.TemporaryDirectory() as folder:
            self.run_ok(*both, "-o", "both.svg", cwd=folder)
            with open(f"{folder}/both.svg", encoding="utf-8") as file:
                root = xml.fromstring(file.read())
        starts = {node.text: float(node.get("x")) for node in root.iter() if node.get("class") == "heading"}
        self.assertLess(starts["formula: a[i*3]"] + 400, starts["formula: b[i]"])
        self.refuse(*both, "--json")
        self.refuse("explain", "formula", "a[i]", "a[")

    def test_that_are_brief_have_no_sentences(self):
        whole, brief = (self.run_ok("explain", "offset", "--at", "11", *more).out_text for more in ((), ("--brief",)))
        self.assertTrue(whole.startswith(brief.removesuffix("\n")), brief)
        self.assertIn("\nwhy ", whole)
        self.assertNotIn("\nwhy ", brief)


class Html(Report):
    def test_of_a_thousand_points_is_small_and_asks_no_network(self):
        saved = self.run_ok("offset", "--range", "0..999", "--size", "4MiB", "--json").out
        page = self.run_ok("report", "-", "--format", "html", stdin=saved).out
        self.assertLess(len(page), 400_000)
        self.assertNotRegex(page.decode(), r"(src|href)=\"(?!data:)")

    def test_shows_commands_that_can_be_pasted_into_a_shell(self):
        formula = "a[i*k + j] if (i < n/2 && j > 0)"
        words = ("formula", formula, "--var", "k=1,2", "--var", "j=0")
        result = json.loads(self.run_ok(*words, "--json").out)
        result["findings"] = [{"point": "k=1", "cause": "strided", "text": "Wasted.", "fix": "Mend it.",
                               "like": "stride --at 3; $(reboot)", "saves_seconds": None}]
        page = self.report(result, "html")
        data = json.loads(re.search(r'class="result">\n(.*?)\n</script>', page, re.DOTALL).group(1))
        self.assertEqual(shlex.split(data["command"])[1:], [*words, "--json"])
        drawn = data["findings"][0]["drawn_by"]
        self.assertEqual(shlex.split(drawn), ["coalprof", "explain", "stride", "--at", "3;", "$(reboot)"])
        self.assertNotIn(" $", drawn)
        told = self.report(result, "md")
        self.assertNotIn(" \\$(", told)

    def test_holds_hostile_text_as_data(self):
        page = self.report(hostile(), "html")
        self.assertNotIn("<script>alert", page)
        self.assertEqual(page.count("</script>"), 2)


@unittest.skipUnless(browser.find(), "no Chromium")
class Page(Report):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.browser = browser.Browser()
        self.addCleanup(self.browser.close)

    def load(self, page):
        path = f"{self.folder}/page.html"
        with open(path, "wb") as file:
            file.write(page)
        self.browser.load(path)

    def test_draws_sorts_and_shows_a_point(self):
        measured = golden("measured.json")
        other = copy.deepcopy(measured)
        other["sweep"]["type"] = "f64"
        with open(f"{self.folder}/a.json", "w", encoding="utf-8") as a, \
                open(f"{self.folder}/b.json", "w", encoding="utf-8") as b:
            json.dump(measured, a)
            json.dump(other, b)
        self.load(self.run_ok("report", f"{self.folder}/a.json", f"{self.folder}/b.json", "--format", "html").out)
        run = self.browser.run
        self.assertGreater(run("document.querySelectorAll('#charts path.measured').length"), 0)
        self.assertEqual(run("document.querySelectorAll('#points tbody tr').length"), 8)
        run("document.querySelector('#points tbody tr').click()")
        self.assertTrue(run("document.querySelector('dialog').open"))
        self.assertIn("load sectors", run("document.querySelector('dialog').textContent"))
        self.assertIn("coalprof explain offset --op rmw", run("document.querySelector('dialog code').textContent"))
        run("document.querySelector('dialog').close()")
        columns = run("document.querySelectorAll('#points thead th').length")
        run("document.querySelector('input[type=checkbox]:not(:checked)').click()")
        self.assertGreater(run("document.querySelectorAll('#points thead th').length"), columns)
        by_name = "document.querySelector('#points thead th button').click()"
        run(by_name)
        first = run("document.querySelector('#points tbody tr').textContent")
        run(by_name)
        self.assertEqual(run("document.querySelectorAll('th[aria-sort]').length"), 1)
        self.assertNotEqual(run("document.querySelector('#points tbody tr').textContent"), first)
        self.assertEqual(self.browser.errors, [])

    def test_holds_hostile_text(self):
        self.load(self.report(hostile(), "html").encode())
        self.assertIn("</script><script>alert(1)", self.browser.run("document.querySelector('h1').textContent"))
        self.assertEqual(self.browser.run("document.querySelectorAll('main script').length"), 0)
        self.assertEqual(self.browser.errors, [])

    def test_draws_two_parameters_as_a_map(self):
        saved = self.run_ok("formula", "i*k+m", "--var", "k=1..12", "--var", "m=0..11", "--format", "html").out
        self.load(saved)
        self.assertGreaterEqual(self.browser.run("document.querySelectorAll('figure svg rect').length"), 144)
        self.assertEqual(self.browser.errors, [])

    def test_has_bars_for_what_has_names(self):
        with open(os.path.join(harness.SOURCE, "docs/measurements/h100/run/faults.json"), "rb") as file:
            saved = file.read()
        self.load(self.run_ok("report", "-", "--format", "html", stdin=saved).out)
        widths = self.browser.run("[...document.querySelectorAll('#charts rect.bar')].map(i => i.getBoundingClientRect().width)")
        self.assertGreaterEqual(len(widths), 8)
        self.assertAlmostEqual(widths[0] / widths[1], 8, delta=0.5)  # 32 and 4 sectors
        self.assertEqual(self.browser.errors, [])

    def test_draws_and_sorts_the_lines_of_a_program(self):
        with open(os.path.join(harness.SOURCE, "docs/measurements/h100/run/lines.json"), "rb") as file:
            saved = json.load(file)
        # Lane 31 is the last of 32 lines.
        saved["findings"][0]["warp"] = "x load 4 " + " ".join(str(128 * lane) for lane in range(32))
        folder = os.path.join(harness.SOURCE, "docs/examples")
        self.load(self.run_ok("report", "-", "--source", folder, "--format", "html", stdin=json.dumps(saved)).out)
        run = self.browser.run
        self.assertEqual(run("document.querySelectorAll('.finding svg.warp rect.lane').length"), 16, "of 16 lines")
        first = "document.querySelector('.source tr.counted:not(.harmless)').id"
        self.assertNotEqual(run(first), "source-0-0", "the costliest is not the first in the file")
        run("document.querySelector('.by-cost').click()")
        self.assertEqual(run(first), "source-0-0")
        self.assertEqual(self.browser.errors, [])

    def test_shows_the_source_of_a_kernel_beside_what_it_costs(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/k.ptx", "w", encoding="utf-8") as file:
                file.write(PTX)
            with open(f"{folder}/k.cu", "w", encoding="utf-8") as file:
                file.write("// a kernel\ny[i] = x[3 * i];\n")
            ran = self.run_ok("kernel", f"{folder}/k.ptx", "--grid", "4", "--block", "64", "--format", "html")
            self.load(ran.out)
        run = self.browser.run
        self.assertIn("y[i] = x[3 * i];", run("document.querySelector('.source tbody').textContent"))
        self.assertEqual(run("document.querySelectorAll('.source tr.counted').length"), 2, "a load and a store, and no row of all")
        self.assertEqual(run("document.querySelectorAll('.finding svg.warp rect.lane').length"), 32)
        # The same ranking, by time, as in the table above, whatever wastes more.
        run("document.querySelector('.by-cost').click()")
        table = run("[...document.querySelectorAll('.answer tbody tr')].slice(1).map(r => r.cells[1].textContent)")
        source = "[...document.querySelectorAll('.source tr.counted .instruction button')].map(b => b.textContent.slice(0, 2))"
        self.assertEqual([{"load": "ld", "store": "st"}[op] for op in table], run(source))
        self.assertEqual(self.browser.errors, [])

    def test_opens_with_the_answer(self):
        sweep = self.run_ok("offset", "--range", "0..16", "--op", "load", "--type", "f32", "--format", "html").out
        self.load(sweep)
        run = self.browser.run
        self.assertIn("no multiple of 8", run("document.querySelector('main h1 + .answer .verdict').textContent"))
        rows = run("[...document.querySelectorAll('.answer tbody tr')].map(r => r.cells[0].textContent)")
        self.assertEqual(rows, ["0", "1..7", "8", "9..15", "16"])
        self.assertEqual(self.browser.errors, [])

    def test_tells_results_apart_that_say_the_same_of_themselves(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.json", "b.json"):
                self.run_ok("offset", "--range", "0..9", "-o", name, "-q", cwd=folder)
            self.run_ok("report", "a.json", "b.json", "-o", "x.html", cwd=folder)
            with open(f"{folder}/x.html", "rb") as file:
                self.load(file.read())
        run = self.browser.run
        self.assertEqual(len(set(run("[...document.querySelectorAll('main h2')].map(s => s.textContent)"))), 3)
        self.assertGreaterEqual(run("document.querySelectorAll('#charts path.predicted').length"), 2)

    def test_shows_the_source_with_its_waste(self):
        with open(os.path.join(harness.SOURCE, "docs/examples/faults.cu"), encoding="utf-8") as file:
            text = file.read()
        document, path = self.lines_page(self.folder, text)
        self.load(self.report(document, "html", "--source", self.folder).encode())
        run = self.browser.run
        rows = {row[0]: row for row in run(
            "[...document.querySelectorAll('.source tr.counted')].map(r => [...r.cells].map(c => c.innerText))")}
        # 5,242,880 warps with 32 sectors where 4 would do; the kernel's only waste.
        self.assertEqual(rows["19"][1].strip(), "out[x * side + y] = in[y * side + x];")
        saved = {one["point"].split()[0]: 1e3 * one["saves_seconds"] for one in document["findings"]}
        self.assertEqual([cell.replace("\xa0", " ") for cell in rows["19"][3:]],
                         ["5,242,880", "32 sectors ideal 4", "146,800,640 sectors", f"{saved['faults.cu:19']:.3g} ms"])
        self.assertEqual(rows["39"][6].replace("\xa0", " "), f"{1000 * saved['faults.cu:39']:.3g} µs")
        self.assertEqual(rows["44"][6], "0")  # folded
        heat = "getComputedStyle([...document.querySelectorAll('tr.counted')].find(r => r.cells[0].innerText === '{}')).backgroundColor"
        self.assertNotEqual(run(heat.format(19)), run(heat.format(39)))
        self.assertIn("/ 0)" if "/" in run(heat.format(44)) else ", 0)", run(heat.format(44)))
        self.assertEqual(run("document.querySelectorAll('.source tr.finding').length"), 5)
        self.assertEqual(run("document.querySelectorAll('ol.findings a').length"), 5)
        run("document.querySelector('ol.findings a').click()")
        self.assertIn("ld.global.f32", run("document.querySelector('tr:target').innerText"))
        self.assertLessEqual(run("document.documentElement.scrollWidth"), run("document.documentElement.clientWidth"))
        self.browser.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        self.assertLessEqual(run("document.documentElement.scrollWidth"), run("document.documentElement.clientWidth"))
        self.assertEqual(self.browser.errors, [])

    def test_holds_hostile_source(self):
        line = "x</script><script>alert(1)</script><!--&amp;\x1b[31m\u202e\t" + "y" * 2000
        document, _ = self.lines_page(self.folder, (line + "\n") * 100)
        for point in document["points"]:
            point["parameters"]["kernel"] = HOSTILE
        document["findings"][0].update(text=HOSTILE, fix=HOSTILE, cause=HOSTILE, like=HOSTILE)
        page = self.report(document, "html", "--source", self.folder)
        self.assertEqual(page.count("</script>"), 2)
        self.load(page.encode())
        self.assertIn("x</script><script>alert(1)</script><!--&amp;\\x1b[31m",
                      self.browser.run("document.querySelector('.source .code').textContent"))
        self.assertEqual(self.browser.run("document.querySelectorAll('main script').length"), 0)
        self.assertEqual(self.browser.errors, [])

    def test_of_warps_and_of_nothing_stands(self):
        warp = "w load 4 " + " ".join(str(4 * lane) for lane in range(32)) + "\n"
        self.load(self.run_ok("warps", "-", "--format", "html", stdin=warp).out)
        self.assertEqual(self.browser.run("document.querySelectorAll('#points tbody tr').length"), 1)
        empty = golden("predicted.json")
        empty["points"] = []
        self.load(self.report(empty, "html").encode())
        self.assertEqual(self.browser.errors, [])


if __name__ == "__main__":
    harness.main()
