"""What Prometheus itself makes of `--format openmetrics`, and of every query of the dashboard."""
import http.server
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

import harness
from harness import Case

PROMETHEUS = shutil.which("prometheus")
DASHBOARD = os.path.join(harness.SOURCE, "docs", "dashboards", "coalprof.json")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(text):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Dashboard(Case):
    def test_asks_for_metrics_that_there_are(self):
        with open(DASHBOARD, encoding="utf-8") as file:
            dashboard = json.load(file)
        page = self.run_ok("offset", "--range", "0..3", "--format", "openmetrics").out_text
        keys = {row["key"] for row in self.run_ok("counters", "--json").json["counters"]}
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                name = target["expr"].partition("coalprof_")[2].partition("{")[0]
                with self.subTest(name):
                    self.assertTrue(name in keys or f"# TYPE coalprof_{name} " in page)


@unittest.skipUnless(PROMETHEUS, "no prometheus (Debian: prometheus)")
class Scraped(Case):
    def setUp(self):
        page = self.run_ok("offset", "--range", "0..8", "--op", "load", "--size", "1GiB", "--format",
                           "openmetrics").out
        self.server = serve(page)
        self.addCleanup(self.server.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with open(f"{folder.name}/prometheus.yml", "w", encoding="ascii") as file:
            file.write("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: coalprof\n    static_configs:\n"
                       f"      - targets: ['127.0.0.1:{self.server.server_port}']\n")
        self.port = free_port()
        process = subprocess.Popen(
            [PROMETHEUS, f"--config.file={folder.name}/prometheus.yml", f"--storage.tsdb.path={folder.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def ask(self, query):
        url = f"http://127.0.0.1:{self.port}/api/v1/query?query={urllib.parse.quote(query)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            answer = json.load(answer)
        self.assertEqual(answer["status"], "success")
        return {sample["metric"].get("point"): float(sample["value"][1]) for sample in answer["data"]["result"]}

    def test_answers_with_the_numbers_of_the_result(self):
        query = 'coalprof_load_sectors_per_request{pattern="offset",source="predicted"}'
        values = {}
        for _ in range(100):
            try:
                values = self.ask(query)
            except OSError:
                pass
            if values:
                break
            time.sleep(0.3)
        # 4 sectors where the offset is a multiple of 8 elements, else 5.
        self.assertEqual(values, {f"offset={k}": 4 if k % 8 == 0 else 5 for k in range(9)})
        with open(DASHBOARD, encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        for panel in panels:
            for target in panel["targets"]:
                query = target["expr"].replace("$pattern", "offset").replace("$source_of_values", "predicted")
                with self.subTest(query):
                    self.assertEqual(bool(self.ask(query)), 'source="measured"' not in query)


if __name__ == "__main__":
    harness.main()
