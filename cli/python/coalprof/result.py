"""What calls give: the program's JSON document with views of it."""
from __future__ import annotations

import json
from typing import Any

from .program import Ran, call


class Document:
    """`document`: docs/result-file.md describes it. `code`: the exit code; `said`: notes and warnings."""

    def __init__(self, ran: Ran) -> None:
        self._json, self.said, self.code = ran.out, ran.said, ran.code
        self.document: dict[str, Any] = json.loads(ran.out)

    @property
    def ok(self) -> bool:
        return self.code == 0

    def save(self, path: Any) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._json)


class Result(Document):
    """Of a sweep, a kernel or a program; str() is the table, a notebook shows the page."""

    @property
    def points(self) -> list[dict[str, Any]]:
        return self.document["points"]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        return self.document.get("warnings", [])

    def frame(self) -> Any:
        """A DataFrame of pandas: columns parameters.NAME, predicted.KEY, measured.KEY."""
        import pandas
        return pandas.json_normalize(self.points)

    def report(self, format: str = "table", **options: Any) -> str:
        """In any format of `coalprof report`: md, csv, html, svg, ..."""
        return call("report", ["-"], {"format": format, **options}, stdin=self._json, wanted=()).out

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        sweep = self.document.get("sweep", {})
        return f"<coalprof.Result: {sweep.get('pattern')}, {len(self.points)} points, {self.document.get('status')}>"

    def _repr_html_(self) -> str:
        page = self.report("html").replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 36em; border: 0"></iframe>'


class Verdict(Document):
    """Of `check` and `compare`: `ok`, and what was found."""

    @property
    def findings(self) -> list[dict[str, Any]]:
        judged = self.document.get("check") or self.document["comparison"]
        return [one for part in judged.get("budgets") or judged["counters"] for one in part["findings"]]

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(f"{one['point']}: {one['text']}" for one in self.findings)
