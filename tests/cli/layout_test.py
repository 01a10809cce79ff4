"""coalprof layout: what layouts of CuTe and Triton cost is what comes of evaluating them lane by lane."""
import math
import random

import harness
from harness import Case

BYTES = {"u8": 1, "f16": 2, "f32": 4, "f64": 8}
LDMATRIX = ("--type", "f16", "--vector", "8", "--space", "shared", "--json")
BATCHES, OF_A_BATCH = (4, 5) if harness.IS_SANITIZED else (50, 20)


def offset(modes, position):
    """Of (size, stride) modes, the first fastest."""
    total = 0
    for size, stride in modes:
        total += position % size * stride
        position //= size
    return total


def written(modes):
    """Some neighbours in brackets of their own, some numbers as CuTe prints static ones."""
    def tuple_of(values):
        return "({})".format(",".join(map(str, values)))
    if len(modes) == 1 and random.random() < .5:
        return f"{modes[0][0]}:_{modes[0][1]}"
    parts = [tuple_of(of) for of in zip(*modes)]
    if len(modes) > 2 and random.random() < .5:
        cut = random.randrange(1, len(modes))
        parts = [f"({tuple_of(of[:cut])},{','.join(map(str, of[cut:]))})" for of in zip(*modes)]
    return ":".join(parts)


def sizes_of(elements):
    sizes = []
    while elements > 1:
        size = random.choice([s for s in range(2, elements + 1) if elements % s == 0])
        sizes.append(size)
        elements //= size
    random.shuffle(sizes)
    return sizes or [1]


def compact(sizes, unit=1):
    """Modes of these sizes that leave no gaps, in a random order, from `unit` on."""
    strides = {}
    for k in random.sample(range(len(sizes)), len(sizes)):
        strides[k] = unit
        unit *= sizes[k]
    return [(size, strides[k]) for k, size in enumerate(sizes)]


def swizzled(vector):
    """Text and function of a swizzle that keeps vectors together."""
    if random.random() < .5:
        return "", lambda x: x
    bits = random.randint(1, 3)
    base, shift = int(math.log2(vector)) + random.randint(0, 3), bits + random.randint(0, 3)
    mask = (2**bits - 1) << base
    name = random.choice(("Sw", "Swizzle"))
    return f"{name}<{bits},{base},{shift}> o {random.choice(('', '0 o '))}", lambda x: x ^ ((x >> shift) & mask)


def plain(vector):
    """Text, and the offsets of the lanes' vectors, access by access."""
    threads = random.choice((8, 24, 32, 96, 256, 512))
    sizes = sizes_of(threads)
    modes = compact(sizes, vector) if random.random() < .5 else \
        [(size, vector * random.choice((0, 1, 2, 3, 7, 16, 33))) for size in sizes]
    prefix, swizzle = swizzled(vector)
    offsets = [swizzle(offset(modes, thread)) for thread in range(threads)]
    where = random.randint(0, len(modes))
    return prefix + written(modes[:where] + ([(vector, 1)] if vector > 1 else []) + modes[where:]), [offsets]


def composed(vector):
    """Of a memory with padding and an order of its elements; without a vector of elements."""
    if vector > 1:
        return plain(vector)
    rows, columns = random.choice((8, 16, 32, 48)), random.choice((4, 8, 16))
    memory = [(rows, columns + random.randint(0, 3)), (columns, 1)]
    order = compact(sizes_of(rows * columns))
    prefix, swizzle = swizzled(1)
    return (f"{prefix}{written(memory)} o {written(order)}",
            [[swizzle(offset(memory, offset(order, k))) for k in range(rows * columns)]])


def of_values(vector):
    """Thread-value layouts, ((threads),((vector, values)))."""
    threads, values = random.choice((32, 64, 128)), random.choice((1, 2, 4))
    sizes = sizes_of(threads)
    modes = compact([*sizes, values], vector)
    prefix, swizzle = swizzled(vector)
    text = "(({}),({},{}))"
    shape = text.format(",".join(map(str, sizes)), vector, values)
    strides = text.format(",".join(str(stride) for _, stride in modes[:-1]), 1, modes[-1][1])
    return (f"{prefix}{shape}:{strides}",
            [[swizzle(offset(modes, thread + threads * value)) for thread in range(threads)] for value in range(values)])


def blocked(vector):
    """#ttg.blocked on a matrix: each dimension is made of registers, lanes, warps and repetitions."""
    order = random.choice(([1, 0], [0, 1]))
    fast, slow = order
    sizes, lanes, warps, tiles = [1, 1], [1, 1], [1, 1], [1, 1]
    sizes[fast], sizes[slow] = vector, random.choice((1, 2))
    lanes[fast] = random.choice((1, 4, 8, 32))
    lanes[slow] = 32 // lanes[fast]
    warps[slow], tiles[fast] = random.choice((1, 4)), random.choice((1, 2))
    shape = [sizes[d] * lanes[d] * warps[d] * tiles[d] for d in (0, 1)]
    strides = [1, 1]
    strides[slow] = shape[fast] + vector * random.randint(0, 2)
    accesses = []
    for tile in range(tiles[fast]):
        for register in range(sizes[slow]):
            offsets = []
            for thread in range(32 * warps[slow]):
                lane, warp = thread % 32, thread // 32
                place = [0, 0]
                place[fast] = (tile * lanes[fast] + lane % lanes[fast]) * vector
                place[slow] = (warp * lanes[slow] + lane // lanes[fast]) * sizes[slow] + register
                offsets.append(place[0] * strides[0] + place[1] * strides[1])
            accesses.append(offsets)
    keys = {"sizePerThread": sizes, "threadsPerWarp": lanes, "warpsPerCTA": warps, "order": order}
    text = random.choice(("#blocked = #ttg.blocked<{{{}}}>", "#ttg.blocked<{{{}}}>")).format(
        ", ".join(f"{key} = {value}" for key, value in keys.items()))
    if random.random() < .3:
        text = f"gl.BlockedLayout({', '.join(map(str, keys.values()))})"
    return f"({shape[0]},{shape[1]}):({strides[0]},{strides[1]}) o {text}", accesses


def passes(words, width, is_load):
    """Of shared memory on an H200: 32, 16 or 8 lanes go together, each bank gives one word a pass. Loads of 8
    bytes and more whose neighbouring lanes want the same take twice as many lanes."""
    together = 32 // max(width // 4, 1)
    agree = any(all(words[k] == words[k ^ step] for k in range(len(words)) if k ^ step < len(words)) for step in (1, 2))
    if is_load and width >= 8 and agree:
        together *= 2
    total = 0
    for first in range(0, len(words), together):
        banks = {}
        for word in words[first:first + together]:
            for k in range(max(width // 4, 1)):
                banks.setdefault((word + k) % 32, set()).add(word + k)
        total += max(map(len, banks.values()))
    return total


def cost(accesses, width, unit, space, op):
    """`unit`: bytes of an element. The counters of all warps of all accesses."""
    requests = sectors = lines = wavefronts = 0
    for offsets in accesses:
        for first in range(0, len(offsets), 32):
            places = [offset * unit for offset in offsets[first:first + 32]]
            requests += 1
            covered = {place + k for place in places for k in range(width)}
            sectors += len({byte // 32 for byte in covered})
            lines += len({byte // 128 for byte in covered})
            wavefronts += passes([place // 4 for place in places], width, op == "load")
    if space == "shared":
        return {f"shared_{op}_requests": requests, f"shared_{op}_wavefronts": wavefronts}
    return {f"{op}_requests": requests, f"{op}_sectors": sectors, f"{op}_lines": lines}


class Layouts(Case):
    def test_cost_what_evaluating_them_says(self):
        """A thousand: elements of 1 to 8 bytes, 1 to 16 bytes a lane, global and shared memory."""
        random.seed(53)
        seen = 0
        for batch in range(BATCHES):
            unit_name, space, op = random.choice(list(BYTES)), ("shared", "global")[batch % 2], random.choice(("load", "store"))
            unit = BYTES[unit_name]
            vector = 2**random.randint(0, int(math.log2(16 // unit)))
            makes = ((plain, composed), (of_values, blocked))[batch % 4 // 2]
            layouts = dict(random.choice(makes)(vector) for _ in range(OF_A_BATCH))
            command = ("layout", *layouts, "--type", unit_name, "--vector", str(vector), "--space", space, "--op", op,
                       *(["--tv"] if of_values in makes else []))
            points = self.run_ok(*command, "--json", "-q").json["points"]
            points = points if len(layouts) > 1 else [{**points[0], "parameters": {"formula": next(iter(layouts))}}]
            for point in points:
                text = point["parameters"]["formula"]
                expected = cost(layouts[text], vector * unit, unit, space, op)
                with self.subTest(text, command=command[len(layouts) + 1:]):
                    self.assertEqual({key: point["predicted"][key] for key in expected}, expected)
                seen += 1
        self.assertGreater(seen, BATCHES * OF_A_BATCH * .9)  # some come twice

    def test_of_a_tile_are_what_ldmatrix_reads(self):
        """Lanes 0 to 7 take rows of 8 halves: in rows of 128 bytes all of the same banks, swizzled of all banks."""
        points = self.run_ok("layout", "(64,64):(64,1)", "Sw<3,3,3> o (64,64):(64,1)", "256:1", *LDMATRIX).json["points"]
        self.assertEqual([point["predicted"]["shared_load_conflict_degree"] for point in points], [32, 4, 4])
        self.assertEqual([point["predicted"]["shared_load_conflicts"] for point in points], [16 * 28, 0, 0])

    def test_are_read_as_cutlass_prints_them(self):
        """Behind smem_ptr a swizzle is of bytes: 4 bits of 16 are a vector of 8 halves."""
        pasted, own = ("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)", "Sw<3,3,3> o _0 o (8,64):(64,1)")
        points = self.run_ok("layout", pasted, own, *LDMATRIX).json["points"]
        self.assertEqual(points[0]["predicted"], points[1]["predicted"])

    def test_are_drawn_compared_and_asked_of_every_machine(self):
        pair = ("(64,64):(64,1)", "Sw<3,3,3> o (64,64):(64,1)")
        drawn = self.run_ok("explain", "layout", pair[1], *LDMATRIX[:-1]).out_text
        self.assertIn("layout Sw<3,3,3> o (64,64):(64,1): p0 = ", drawn)
        self.assertIn("conflicts         0 ", drawn)
        self.assertIn("<svg", self.run_ok("explain", "layout", *pair, *LDMATRIX[:-1], "--format", "svg").out_text)
        best = self.run_ok("layout", *pair, *LDMATRIX[:-1], "--best", "shared_load_wavefronts").out_text
        self.assertIn("Best: formula Sw<3,3,3>", best)
        self.assertEqual(len(self.run_ok("layout", *pair, *LDMATRIX, "--machine", "v100,h200").json["points"]), 4)

    def test_take_as_many_values_together_as_lie_side_by_side(self):
        """A row of 8 halves is an access of 16 bytes, of 8 floats two."""
        for unit, accesses in (("f16", 1), ("f32", 2), ("f64", 4)):
            point, = self.run_ok("layout", f"BlockedLayout({'[1, 8], [4, 8], [1, 1], [1, 0]'})", "--type", unit, "--json").json["points"]
            self.assertEqual(point["predicted"]["load_requests"], accesses)

    def test_that_mean_nothing_are_refused_in_a_sentence(self):
        blocked = "sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1]"
        for words, sentence in (
                ((), "there is no layout"), (("(8,4)",), "expected ':'"), (("(8,4):(4,1",), "expected ')'"),
                (("(8,4):(4)",), "2 sizes and 1 stride, and each size has its stride"),
                (("(8,4):(4)",), "for example '(8,4):(4,1)'"), (("(8,4):((4,1))",), "not nested as the sizes are"),
                (("Sw<1,0,2> o (_2,(_8,4)):(4) o 64:1",), "for example 'Sw<1,0,2> o (_2,(_8,4)):(_32,(_4,1)) o 64:1'"), (("(8,0):(4,1)",), "1 to 2147483648 elements"), (("8:1 x",), "expected ' o '"),
                (("Sw<3,3,3>",), "expected ' o '"), (("Sw<3,3,2> o 8:1",), "at least B"), (("Sw<3,3,99> o 8:1",), "at most 30"),
                ((f"{'(' * 99}8",), "16 deep"), ((f"{'0 o ' * 9}8:1",), "at most 8"), (("99999999999:1",), "at most 2147483648"),
                (("8:1" * 2000,), "4096"), (("2097152:1",), "at most 1048576"), (("8:1 o 16:1",), "'8:1' has the elements 0 to 7, and what is right of it asks for its element 15 hint: give it 16"),
                ((f"#ttg.blocked<{{{blocked}, order = [1, 1]}}>",), "each dimension once"),
                ((f"#ttg.blocked<{{{blocked}, order = [0]}}>",), "each dimension"),
                ((f"#ttg.blocked<{{{blocked.replace('8]', '16]')}, order = [1, 0]}}>",),
                 "[4,16] makes 64 lanes, and a warp has 32"), (("BlockedLayout([1,8],[4,4],[4,1],[1,0])",), "hint: [8,4] or [4,8] makes 32"),
                ((f"(8,8):(8,1) o #ttg.blocked<{{{blocked}, order = [1, 0]}}>",), "no multiple"),
                (("#ttg.mma<{}>",), "expected a layout"), (("8:1", "--tv"), "((threads),(values))"),
                (("(64,32):(1,64)", "--tv", "--vector", "1"), "32 accesses"), (("(64,2):(1,64)", "--tv", "--block", "32"), "64 threads"),
                (("(8,4):(4,2)", "--vector", "2"), "vectors of 2"), (("8:1", "--vector", "3"), "12"), (("8:1", "--vector", "64"), "256"),
                (("Sw<1,0,2> o 8:1", "--vector", "4"), "vectors of 4"), (("8:1", "--space", "L1"), "--space"),
                (("8:1", "--space", "shared", "--op", "rmw"), "--op"), (("8:1", "--type", "f16,f32"), "one type"),
                (("8:1", "8:1"), "twice"), (("Sw<3,4,3> o smem_ptr[16b](unset) o 64:1",), "16 bits"),
                (("Sw<3,0,3> o smem_ptr[32b](unset) o 64:1",), "less than an element")):
            with self.subTest(words):
                self.assertIn(sentence, " ".join(self.refuse("layout", *words).err_text.split()))
        self.assertIn("--size", self.refuse("explain", "layout", "8:1", "--size", "1MiB").err_text)
        self.assertIn("--vector", self.refuse("explain", "formula", "i", "--vector", "2").err_text)

    def test_however_mangled_are_a_result_or_a_sentence(self):
        random.seed(54)
        seeds = ["Sw<3,3,3> o (64,(8,8)):(8,(1,512))", "((4,8),(2,2)):((32,1),(16,8))", "8:1 o 0 o (2,4):(4,1)",
                 "#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>",
                 "Sw<2,4,3> o smem_ptr[16b](unset) o (_8,_4):(_4,_1)"]
        for _ in range(30 if harness.IS_SANITIZED else 200):
            text = list(random.choice(seeds))
            for _ in range(random.randint(1, 4)):
                text[random.randrange(len(text))] = random.choice(["", *"()[]<>{}:,_=#o 0123456789", "\n", "\x1b", "é", "4294967296"])
            ran = harness.run("layout", "".join(text), "--json", "-q", *random.choice(((), ("--tv",), ("--vector", "8"))))
            self.assertIn(ran.code, (harness.DONE, harness.USAGE), text)
            self.assertEqual(ran.code == harness.DONE, not ran.err_text.startswith("coalprof: "), text)


if __name__ == "__main__":
    harness.main()
