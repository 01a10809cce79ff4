"""What the README shows is what the program prints; what it names is there."""
import os
import re

import documented
import harness
from harness import Case

README = os.path.join(harness.SOURCE, "README.md")


class Readme(Case):
    def setUp(self):
        if os.environ.get("COALPROF_UPDATE_DOCS"):
            documented.rewrite(README)
        with open(README, encoding="utf-8") as file:
            self.text = file.read()

    def test_shows_what_the_program_prints(self):
        sessions = documented.sessions_of(README)
        self.assertGreaterEqual(len(sessions), 2)
        for session in sessions:
            with self.subTest(session.place):
                self.assertTrue(session.is_ours, session.command)
                self.assertEqual(session.shown, documented.printed(session))

    def test_starts_with_what_the_tool_shows(self):
        self.assertLess(self.text.index("```console"), self.text.index("\n## "))

    def test_names_its_two_commands_and_they_are_there(self):
        for command in ("scripts/run offset --range 0..32", "scripts/test"):
            with self.subTest(command):
                self.assertIn(f"\n{command}\n", self.text)
                self.assertTrue(os.access(os.path.join(harness.SOURCE, command.split()[0]), os.X_OK))

    def test_takes_its_figures_of_accuracy_from_their_page(self):
        section = re.search(r"\n## How far to trust it\n(.*?)\n## ", self.text, re.DOTALL).group(1)
        with open(os.path.join(harness.SOURCE, "docs", "accuracy.md"), encoding="utf-8") as page:
            known = set(re.findall(r"\d[\d,.]*\d|\d", page.read()))
        figures = set(re.findall(r"\d[\d,.]*\d(?= %| counters)|\d(?= %)", section))
        self.assertEqual(figures, {"47,481", "6", "13", "9.7", "17.8"})
        self.assertLessEqual(figures, known)

    def test_names_the_version_that_is_built(self):
        version = harness.run("--version").out_text.split()[1]
        with open(os.path.join(harness.SOURCE, "CITATION.cff"), encoding="utf-8") as file:
            self.assertIn(f"\nversion: {version}\n", file.read())
        self.assertEqual(set(re.findall(r"coalprof[-_](\d+\.\d+\.\d+)", self.text)), {version})

    def test_links_lead_to_files_that_exist(self):
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", self.text)
        self.assertTrue(links)
        for target in links:
            with self.subTest(target):
                self.assertTrue(os.path.exists(os.path.join(harness.SOURCE, target)))


if __name__ == "__main__":
    harness.main()
