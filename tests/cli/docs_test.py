"""What the documents show is what the program prints.

Every session of docs/*.md that needs no GPU is run again and compared, byte for byte.
COALPROF_UPDATE_DOCS=1 in the environment writes the documents anew instead.
"""
import glob
import json
import os
import re
import subprocess
import tempfile

import documented
import harness
import machine_tables
from documented import arguments_of
from harness import Case

DOCS = os.path.join(harness.SOURCE, "docs")
SKILL = os.path.join(harness.SOURCE, "skills", "coalprof", "SKILL.md")


class Sessions(Case):
    def test_print_what_the_documents_show(self):
        if os.environ.get("COALPROF_UPDATE_DOCS"):
            for path in [*sorted(glob.glob(os.path.join(DOCS, "*.md"))), SKILL]:
                if documented.rewrite(path):
                    print(f"rewrote {path}")
        for session in [*documented.sessions_below(DOCS), *documented.sessions_of(SKILL)]:
            with self.subTest(session.place):
                self.assertTrue(session.is_ours, f"not a command of coalprof: {session.command}")
                if session.can_run:
                    self.assertEqual(session.shown, documented.printed(session))

    def test_are_there(self):
        """An empty comparison would pass unseen."""
        shown = {os.path.basename(session.path) for session in documented.sessions_below(DOCS)}
        self.assertLessEqual({"tutorial.md", "patterns.md", "kernel.md"}, shown)
        self.assertEqual(len(documented.sessions_of(SKILL)), 3)

    def test_of_the_patterns_page_cover_the_catalog(self):
        commands = [session.command for session in documented.sessions_of(f"{DOCS}/patterns.md")]
        for pattern in self.run_ok("patterns", "--json").json["patterns"]:
            name = pattern["name"]
            with self.subTest(name):
                self.assertTrue(any(name in command.split() for command in commands),
                                f"docs/patterns.md shows no command of {name}")


class MachineTables(Case):
    def test_say_what_the_program_knows_of_gpus(self):
        tables = 0
        for name in ("machines.md", "memories.md"):
            path = os.path.join(DOCS, name)
            with open(path, encoding="utf-8") as document:
                text = document.read()
            now = machine_tables.renewed(text)
            tables += len(machine_tables.MARK.findall(text))
            if os.environ.get("COALPROF_UPDATE_DOCS") and now != text:
                with open(path, "w", encoding="utf-8") as document:
                    document.write(now)
            else:
                with self.subTest(name):
                    self.assertEqual(text, now)
        self.assertEqual(tables, len(machine_tables.TABLES))


class Links(Case):
    def test_lead_to_files_that_exist(self):
        for path in glob.glob(os.path.join(DOCS, "*.md")):
            with open(path, encoding="utf-8") as document:
                text = re.sub(r"```.*?```", "", document.read(), flags=re.DOTALL)
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
                with self.subTest(f"{os.path.basename(path)} -> {target}"):
                    self.assertTrue(os.path.exists(os.path.join(DOCS, target)))
            for page, section in re.findall(r"\]\(([\w-]+\.md)?#([^)]+)\)", text):
                with self.subTest(f"{os.path.basename(path)} -> {page}#{section}"):
                    self.assertIn(section, self.sections_of(os.path.join(DOCS, page or path)))

    @staticmethod
    def sections_of(path):
        """The headings of a page as GitHub makes them anchors."""
        with open(path, encoding="utf-8") as document:
            text = re.sub(r"```.*?```", "", document.read(), flags=re.DOTALL)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
                for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


class Warnings(Case):
    def test_that_the_program_has_stand_in_the_table_of_codes(self):
        with open(os.path.join(DOCS, "result-file.md"), encoding="utf-8") as document:
            known = set(re.findall(r"`(W-[A-Z-]+)`", "".join(line for line in document if line.startswith("| `W-"))))
        used = set()
        for room in ("core", "cli", "kernels", "cupti"):
            for path in glob.glob(os.path.join(harness.SOURCE, room, "**", "*.cpp"), recursive=True):
                with open(path, encoding="utf-8") as source:
                    used |= set(re.findall(r'"(W-[A-Z-]+)"', source.read()))
        self.assertGreater(len(used), 20)
        self.assertEqual(known, used)


class FromCode(Case):
    def test_formulas_beside_code_are_those_of_the_file_and_cost_what_the_page_says(self):
        with open(f"{DOCS}/from-code.md", encoding="utf-8") as page:
            rows = re.findall(r"^\| (\d+) \|.*\| `([^`]*)` \| ([^|]*) \|$", page.read(), re.MULTILINE)
        with open(f"{DOCS}/examples/from-code.json", encoding="utf-8") as file:
            saved = json.load(file)["formula"]
        self.assertEqual([row[0] for row in rows], [one["name"] for one in saved])
        for (number, formula, shown), one in zip(rows, saved, strict=True):
            point, = self.run_ok("formula", *arguments_of(one), "--json").json["points"]
            parts = point.get("instructions", [point])
            costs = [reading for part in parts for key, reading in part["predicted"].items()
                     if key.endswith(("sectors_per_request", "conflict_degree"))]
            with self.subTest(number):
                self.assertEqual(formula, one["expr"])
                self.assertEqual(shown, ", ".join(f"{cost:.3g}" for cost in costs))


class ExamplesOnGpus(Case):
    def test_fail_on_a_node_without_a_driver_and_predict_nothing(self):
        with open(f"{DOCS}/examples/kubernetes-job.yaml", encoding="utf-8") as file:
            pod = re.search(r'args: \["(.*)"\]', file.read()).group(1)
        with open(f"{DOCS}/examples/slurm-array.sh", encoding="utf-8") as file:
            task = file.read()
        with open(f"{DOCS}/result-file.md", encoding="utf-8") as file:
            recipe = re.search(r"```sh\n(#SBATCH.*?)```", file.read(), re.DOTALL).group(1)
        with tempfile.TemporaryDirectory() as folder:
            array = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "8", "SLURM_ARRAY_TASK_MIN": "1",
                     "SLURM_ARRAY_TASK_MAX": "8", "SLURM_ARRAY_TASK_STEP": "1", "SLURM_ARRAY_JOB_ID": "7"}
            path = f"{os.path.dirname(harness.PROGRAM)}:{os.environ['PATH']}"
            for name, script, launched in (("pod", pod, {"JOB_COMPLETION_INDEX": "0"}), ("task", task, array),
                                           ("recipe", recipe, array)):
                surroundings = harness.environment(PATH=path, **launched)
                with self.subTest(name):
                    ran = subprocess.run(["bash", "-c", script.replace("/results/", f"{folder}/")],
                                         cwd=folder, env=surroundings, capture_output=True, text=True,
                                         check=False, timeout=harness.PATIENCE)
                    self.assertEqual(ran.returncode, harness.ENVIRONMENT, ran.stderr)
                    self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    harness.main()
