"""Every option an axis: lists and ranges sweep, several formulas are one table, one is called best."""
import csv
import io
import json
import tempfile

import harness
from harness import Case


def points_of_result(result):
    return [point["parameters"] for point in result["points"]]


def points_of(ran):
    return points_of_result(ran.json)


class Axes(Case):
    def swept(self, *arguments):
        return points_of(self.run_ok(*arguments, "--json"))

    def test_each_option_that_shapes_a_launch_is_one(self):
        for arguments, key, values in (
                (["--type", "f32,f64"], "type", ["f32", "f64"]),
                (["--op", "load,store"], "op", ["load", "store"]),
                (["--block", "64..256*2"], "block", [64, 128, 256]),
                (["--per-thread", "1..4*2"], "per_thread", [1, 2, 4]),
                (["--size", "1MiB..16MiB*4"], "size_bytes", [1 << 20, 1 << 22, 1 << 24])):
            with self.subTest(key):
                found = self.swept("offset", "--range", "1", *arguments)
                self.assertEqual([point[key] for point in found], values)

    def test_options_of_patterns_are_axes_too(self):
        for arguments, key, values in (
                (["transpose", "--range", "1024", "--variant", "naive,tile,padded,swizzled"], "variant",
                 ["naive", "tile", "padded", "swizzled"]),
                (["shared-pad", "--range", "1", "--tile", "16,32"], "tile", [16, 32]),
                (["aos", "--range", "16", "--member", "0..2"], "member", [0, 1, 2]),
                (["row", "--range", "1000", "--pitch", "none,auto,1024"], "pitch",
                 ["none", "auto", "1024"]),
                (["permute", "--range", "1", "--order", "xor,rotate"], "order", ["xor", "rotate"]),
                (["scatter", "--range", "4096", "--seed", "1..3"], "seed", [1, 2, 3])):
            with self.subTest(key):
                self.assertEqual([point[key] for point in self.swept(*arguments)], values)

    # The naive one has no tile: one point, not one for each, and its tile is null, never 0.
    def test_variants_and_tiles_mix(self):
        result = self.run_ok("transpose", "--range", "64,128", "--variant", "naive,tile,padded",
                             "--tile", "16,32", "--json").json
        self.assertEqual([(p["variant"], p["tile"]) for p in points_of_result(result)[::2]],
                         [("naive", None), ("tile", 16), ("tile", 32), ("padded", 16),
                          ("padded", 32)])
        names = [point["name"] for point in result["points"]]
        self.assertEqual(len(set(names)), 10)
        self.assertEqual(names[0], "width=64 variant=naive")

    def test_one_tile_is_of_the_variants_that_have_one(self):
        found = self.swept("transpose", "--range", "64", "--variant", "padded,naive", "--tile",
                           "16")
        self.assertEqual([(p["variant"], p["tile"]) for p in found],
                         [("padded", 16), ("naive", None)])
        for variant in ("naive", "naive,naive"):
            self.assertIn("no tile", self.refuse("transpose", "--variant", variant, "--tile",
                                                 "16").err_text)
        self.assertIn("16, 32 or 64", self.refuse("transpose", "--variant", "naive,tile",
                                                  "--tile", "16,48", "--range", "96").err_text)

    def test_rows_without_a_tile_survive_csv_and_being_read_again(self):
        arguments = ("transpose", "--range", "64", "--variant", "naive,padded", "--tile", "16")
        rows = list(csv.DictReader(io.StringIO(
            self.run_ok(*arguments, "--format", "csv").out_text)))
        self.assertEqual([row["tile"] for row in rows], ["", "16"])
        saved = self.run_ok(*arguments, "--json").out
        again = self.run_ok("report", "-", "--format", "csv", stdin=saved).out_text
        self.assertEqual([row["tile"] for row in csv.DictReader(io.StringIO(again))], ["", "16"])

    def test_an_axis_changes_what_is_launched(self):
        result = self.run_ok("offset", "--range", "0", "--op", "load", "--type", "f32,f64",
                             "--json").json
        sectors = [point["predicted"]["load_sectors_per_request"] for point in result["points"]]
        self.assertEqual(sectors, [4, 8])  # 32 lanes of 4 and of 8 bytes
        self.assertNotIn("type", result["sweep"])

    def test_several_axes_are_a_product_in_which_the_parameter_varies_fastest(self):
        found = self.swept("offset", "--range", "0..1", "--type", "f32,f64", "--block", "64,128")
        self.assertEqual([(point["type"], point["block"], point["offset"]) for point in found],
                         [(kind, block, offset) for kind in ("f32", "f64")
                          for block in (64, 128) for offset in (0, 1)])

    def test_grids_and_blocks_of_several_dimensions_are_axes(self):
        found = self.swept("formula", "bid.y*64 + i", "--grid", "8x4,32x1", "--block", "64,8x8")
        self.assertEqual([(point["block"], point["grid"]) for point in found],
                         [(64, "8x4"), (64, 32), ("8x8", "8x4"), ("8x8", 32)])
        # 32 blocks of 64 threads, each with an f32.
        self.assertEqual({point["size_bytes"] for point in found}, {32 * 64 * 4})

    def test_a_grid_decides_the_size_of_each_point(self):
        result = self.run_ok("offset", "--range", "1", "--grid", "64,128", "--type", "f32,f64",
                             "--best", "load_sectors", "--json").json
        self.assertEqual([point["parameters"]["size_bytes"] for point in result["points"]],
                         [64 * 256 * 4, 128 * 256 * 4, 64 * 256 * 8, 128 * 256 * 8])
        self.assertNotIn("size_bytes", result["sweep"])
        self.assertEqual(result["verdicts"][-1]["best"], [{"type": "f32", "grid": 64}])

    def test_a_grid_and_a_size_that_are_swept_contradict_each_other(self):
        self.refuse("offset", "--grid", "64,128", "--size", "1MiB")
        self.refuse("offset", "--grid", "64", "--size", "1MiB,2MiB")
        self.refuse("offset", "--grid", "64", "--size", "1MiB")  # 16384 f32 are 64 KiB
        self.run_ok("offset", "--range", "1", "--grid", "64", "--size", "64KiB")

    def test_words_of_one_meaning_are_one_value(self):
        result = self.run_ok("offset", "--range", "1", "--type", "float,f32", "--json").json
        self.assertEqual(result["sweep"]["type"], "f32")
        self.assertEqual(len(result["points"]), 1)

    def test_the_product_is_counted_before_anything_is_made(self):
        ran = self.refuse("scatter", "--range", "4..200000:4", "--seed", "1..90000")
        self.assertIn(str(50000 * 90000), ran.err_text)

    def test_one_warp_is_drawn_of_one_value(self):
        self.refuse("explain", "offset", "--block", "64,128")
        self.refuse("explain", "transpose", "--variant", "naive,tile")


class Blocks(Case):
    def test_that_are_typed_like_dim3_are_refused(self):
        for option, text, meant in (("--block", "16,16", "16x16"), ("--grid", "64,64,64", "64x64x64")):
            self.assertIn(meant, self.refuse("offset", option, text).err_text)
        self.assertEqual([point["block"] for point in points_of(
            self.run_ok("offset", "--range", "0", "--block", "16,32", "--json"))], [16, 32])


class Grids(Case):
    def test_of_threads_have_as_many_blocks_as_hold_them(self):
        for command in (("formula", "i"), ("offset", "--range", "0")):
            points = self.run_ok(*command, "--grid", "1000/block", "--block", "64..256*2", "--json").json["points"]
            # 16, 8 and 4 blocks of 1024 threads in all.
            self.assertEqual([point["predicted"]["load_requests"] for point in points], [32, 32, 32])
        tiled = self.run_ok("formula", "a[y*64 + x]", "--grid", "60x20/block", "--block", "32x8", "--json").json
        self.assertEqual((tiled["sweep"]["grid_x"], tiled["sweep"]["grid_y"]), (2, 3))


class Titles(Case):
    """The settings that were chosen, whoever chose them."""
    def title(self, *arguments, **how):
        return self.run_ok("stride", "--range", "1", *arguments, **how).out_text.splitlines()[0]

    def test_name_a_modifier_that_was_chosen_and_no_other(self):
        self.assertNotIn("dlcm", self.title())
        self.assertIn("dlcm cg", self.title("--dlcm", "cg"))
        self.assertIn("dlcm cg", self.title(env=harness.environment(COALPROF_DLCM="cg")))
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as settings:
            settings.write("dlcm = 'cg'\n")
            settings.flush()
            self.assertIn("dlcm cg", self.title(env=harness.environment(COALPROF_CONFIG=settings.name)))

    def test_of_saved_results_do_so_too(self):
        for options, is_said in (((), False), (("--dlcm", "cg"), True), (("--dlcm", "ca"), True)):
            saved = self.run_ok("stride", "--range", "1", *options, "--json").out
            self.assertEqual("dlcm" in self.run_ok("report", "-", stdin=saved).out_text.splitlines()[0], is_said)


class Units(Case):
    def row_of(self, *arguments):
        return points_of(self.run_ok("row", *arguments, "--json"))[0]

    def test_widths_are_elements_and_with_a_unit_bytes(self):
        for text in ("1000", "4000B"):
            self.assertEqual(self.row_of("--range", text),
                             {"row_bytes": 4000, "row_elements": 1000})
        self.assertEqual(self.row_of("--range", "1000", "--type", "f64")["row_bytes"], 8000)
        self.assertEqual(self.row_of("--range", "4KiB")["row_elements"], 1024)

    def test_so_are_those_of_a_transpose_and_pitches(self):
        found = points_of(self.run_ok("transpose", "--range", "4KiB", "--variant", "naive", "--json"))
        self.assertEqual(found[0]["width"], 1024)
        same = [self.run_ok("row", "--range", "1000", "--pitch", pitch, "--json").json["points"][0]
                ["predicted"] for pitch in ("1024", "4096B", "4KiB")]
        self.assertEqual(same[0], same[1])
        self.assertEqual(same[0], same[2])

    def test_bytes_that_are_no_whole_elements_are_refused(self):
        self.refuse("transpose", "--range", "4001B")
        self.refuse("row", "--range", "4001B")
        self.refuse("row", "--range", "1000,4KiB")  # some with units and some without

    def test_types_have_the_names_that_numpy_gives_them(self):
        for theirs, ours in (("float32", "f32"), ("int8", "s8"), ("uint8", "u8"), ("float16", "f16"),
                             ("int32", "s32"), ("float64", "f64"), ("complex64", "f32x2")):
            sweep = self.run_ok("offset", "--range", "0", "--type", theirs, "--json").json["sweep"]
            self.assertEqual(sweep["type"], ours)

    def test_a_default_launch_takes_longer_than_its_start(self):
        """Where there is a time: one pass of shared memory is never long."""
        for pattern in self.run_ok("patterns", "--json").json["patterns"]:
            name = pattern["name"]
            with self.subTest(name):
                if name.startswith("shared"):
                    self.assertNotRegex(self.run_ok(name).out_text, "µs|limited")
                elif name != "scatter":  # whose warps are evaluated one by one
                    times = [point["predicted"]["duration_seconds"]
                             for point in self.run_ok(name, "--json").json["points"]]
                    self.assertGreater(min(times), 20e-6)
                    self.assertRegex(self.run_ok(name).out_text, r"(?m)every row: time ~|\btime( |$)")

    def test_a_variant_whose_numbers_are_those_of_each_width_has_one_row(self):
        rows = self.run_ok("transpose", "--columns", "shared_load_conflict_degree,store_sectors_per_request").out_text
        self.assertEqual(rows.count("256..4096*4"), 4)  # variants

    def test_the_default_range_can_be_typed(self):
        for pattern in self.run_ok("patterns", "--json").json["patterns"]:
            with self.subTest(pattern["name"]):
                typed = self.run_ok(pattern["name"], "--range", pattern["default_range"], "--json")
                self.assertEqual(points_of(typed),
                                 points_of(self.run_ok(pattern["name"], "--json")))


class Formulas(Case):
    def test_several_are_one_result(self):
        result = self.run_ok("formula", "i", "i*k", "--var", "k=2,4", "--json").json
        self.assertEqual([point["parameters"] for point in result["points"]],
                         [{"formula": "i"}, {"formula": "i*k", "k": 2}, {"formula": "i*k", "k": 4}])

    def test_names_stand_for_them(self):
        result = self.run_ok("formula", "i", "i*2", "--name", "near", "--name", "far",
                             "--json").json
        self.assertEqual([point["parameters"]["formula"] for point in result["points"]],
                         ["near", "far"])
        self.assertEqual(result["sweep"]["formula.far"], "i*2")

    def test_the_op_is_what_the_instructions_do(self):
        def op_of(text):
            return self.run_ok("formula", text, "--json").json["sweep"]["op"]
        self.assertEqual(op_of("i"), "load")
        self.assertEqual(op_of("reduce: h[i % 64]"), "reduce")
        self.assertEqual(op_of("load: a[i]; store: b[i]"), "load+store")
        self.assertEqual(op_of("load: a[i]; shared.store: t[tid]"), "load+shared.store")


class Best(Case):
    def verdict_of(self, *arguments):
        return self.run_ok(*arguments, "--json").json["verdicts"][-1]

    # 1000 floats are 4000 bytes: rows straddle lines. 1024 do not.
    def test_is_the_combination_with_the_fewest(self):
        verdict = self.verdict_of("row", "--range", "1000", "--pitch", "none,1024", "--best",
                                  "load_lines")
        self.assertEqual(verdict["best"], [{"pitch": "1024"}])
        self.assertGreater(verdict["gain"], 1)
        self.assertEqual(verdict["scope"], {"counter": "load_lines"})

    # A naive transpose has no shared memory; the others have.
    def test_may_be_a_counter_that_the_first_variant_has_not(self):
        verdict = self.verdict_of("transpose", "--range", "64", "--variant", "naive,tile,padded",
                                  "--tile", "32", "--best", "shared_load_wavefronts")
        self.assertEqual(verdict["best"], [{"variant": "padded", "tile": 32}])
        self.assertEqual(verdict["gain"], 32)

    # Settings that are compared have a verdict of their own, which stays in JSON.
    def test_is_a_verdict_where_it_is_asked_for(self):
        sweep = ["formula", "a[i*2]; a[i*2+1]", "--dlcm=ca,cg"]
        def told(*arguments):
            return self.run_ok(*sweep, *arguments).out_text.count("\nBest")
        asked = ("--best", "l2_read_sectors")
        self.assertEqual((told(), told(*asked)), (0, 1))
        self.assertEqual(len(self.run_ok(*sweep, *asked, "--json").json["verdicts"]), 1)

    def test_of_a_counter_that_is_not_there_is_an_error(self):
        self.refuse("offset", "--best", "load_sector")
        self.refuse("offset", "--op", "load", "--best", "shared_load_wavefronts")

    def test_columns_are_what_is_shown(self):
        command = ("stride", "--range", "1", "--columns", "load_lines")
        rows = list(csv.DictReader(io.StringIO(self.run_ok(*command, "--csv").out_text)))
        self.assertEqual(rows[0]["load_lines"], "524288")
        self.assertNotIn("load_sectors", rows[0])
        self.refuse("stride", "--columns", "load_line")

    # --columns is about tables: what a program reads beside one is whole.
    def test_columns_take_nothing_from_json(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = self.run_ok("stride", "--range", "1", "--json").json["points"]
            for command in (("stride", "--range", "1"), ("report", f"{folder}/0.json")):
                names = [f"{folder}/{number}.json" for number in (0, 1)]
                self.run_ok(*command, "--columns", "load_lines", "-o", names[command[0] == "report"])
                with open(names[command[0] == "report"], encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["points"], whole)
        listed = self.run_ok("stride", "--range", "1", "--counters", "load_lines", "--json").json
        self.assertEqual(list(listed["points"][0]["predicted"]), ["load_lines"])


class Formats(Case):
    def test_rows_of_csv_say_what_they_belong_to(self):
        rows = list(csv.DictReader(io.StringIO(
            self.run_ok("stride", "--range", "3", "--machine", "k80", "--format", "csv").out_text)))
        self.assertEqual({key: rows[0][key] for key in
                          ("pattern", "op", "type", "size_bytes", "machine", "stride")},
                         {"pattern": "stride", "op": "rmw", "type": "f32", "size_bytes": "67108864",
                          "machine": "k80", "stride": "3"})

    def test_they_do_so_whatever_else_is_swept(self):
        rows = list(csv.DictReader(io.StringIO(self.run_ok(
            "stride", "--range", "3", "--type", "f32,f64", "--per-thread", "4",
            "--format", "csv").out_text)))
        self.assertEqual(["4", "4"], [row["per_thread"] for row in rows])

    def test_what_is_swept_stands_once_in_csv(self):
        rows = csv.reader(io.StringIO(self.run_ok(
            "stride", "--range", "3", "--type", "f32,f64", "--machine", "k80,h200",
            "--format", "csv").out_text))
        names = next(rows)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([row[names.index("type")] for row in rows], ["f32", "f64", "f32", "f64"])

    def test_rows_of_csv_have_the_text_of_formulas(self):
        def rows(*arguments):
            return [(row["formula_name"], row["formula"]) for row in csv.DictReader(
                io.StringIO(self.run_ok(*arguments, "--csv").out_text))]
        self.assertEqual(rows("formula", "p[i*3]", "x[i]", "--name", "aos", "--name", "soa"),
                         [("aos", "p[i*3]"), ("soa", "x[i]")])
        self.assertEqual(rows("formula", "p[i*3]", "x[i]"), [("", "p[i*3]"), ("", "x[i]")])
        pattern = self.run_ok("stride", "--range", "3", "--json").json["sweep"]["formula"]
        self.assertEqual(rows("stride", "--range", "3"), [("", pattern)])

    def test_what_was_run_stands_in_one_order_in_csv_whatever_is_swept(self):
        def names(*arguments):
            first = self.run_ok(*arguments, "--csv", "--columns", "load_sectors").out_text
            return first.splitlines()[0]
        for pattern, axes in ((["stride", "--range", "3"], ["--dlcm", "ca,cg", "--type", "f32,f64"]),
                              (["row", "--range", "64"], ["--pitch", "none,auto", "--block", "64,128"]),
                              (["transpose", "--range", "64"], ["--variant", "naive,tile"]),
                              (["formula", "i"], ["--op", "load,store", "--grid", "8,16"])):
            self.assertEqual(names(*pattern), names(*pattern, *axes))
        self.assertTrue(names("formula", "i").startswith("name,pattern,formula_name,formula,op,type,"))

    def test_the_title_says_what_is_not_at_its_default(self):
        def title(*arguments):
            return self.run_ok(*arguments, env=harness.environment(COLUMNS="200")) \
                .out_text.splitlines()[0]
        self.assertIn("i*3", title("formula", "i*3"))
        self.assertNotEqual(title("offset", "--dlcm", "cg"), title("offset", "--dlcm", "ca"))
        self.assertIn("dlcm cg", title("offset", "--dlcm", "cg"))
        self.assertIn("blocks of 64", title("offset", "--block", "64"))
        self.assertIn("pitch auto", title("row", "--pitch", "auto"))


if __name__ == "__main__":
    harness.main()
