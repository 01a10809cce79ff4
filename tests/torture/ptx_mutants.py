"""PTX by grammar: kernels of instructions that exist, of which a few have a word, an operand or a width that does not
fit. What must be true: each is refused with a sentence or executed, as tests/fuzz/ptx_fuzz.cpp claims; no process ends
otherwise. Its program reads folders of files; built with sanitizers it finds more (cmake --preset asan)."""
import os
import random
import subprocess
import tempfile

import runs

# T: a type; d: a register as wide; e: one twice as wide; a: as d, or a number; p: a predicate; m: an address;
# S: a memory; v, w: vectors of two and four. One letter behind $ each.
FORMS = """mov.$T $d,$a;add.$T $d,$a,$a;sub.sat.$T $d,$a,$a;add.rn.ftz.$T $d,$a,$a;mul.lo.$T $d,$a,$a;mul.hi.$T $d,$a,$a
mul.wide.$T $e,$a,$a;mad.lo.$T $d,$a,$a,$a;mad.wide.$T $e,$a,$a,$e;div.$T $d,$a,$a;rem.$T $d,$a,$a;div.rn.$T $d,$a,$a
fma.rn.$T $d,$a,$a,$a;min.$T $d,$a,$a;abs.$T $d,$a;neg.$T $d,$a;and.$T $d,$a,$a;xor.$T $d,$a,$a;not.$T $d,$a;shl.$T $d,$a,$a
shr.$T $d,$a,$a;setp.lt.$T $p,$a,$a;setp.ne.and.$T $p|$p,$a,$a,$p;set.eq.$T.$T $d,$a,$a;selp.$T $d,$a,$a,$p
slct.$T.s32 $d,$a,$a,$a;cvt.$T.$T $d,$a;cvt.rzi.$T.$T $d,$a;cvt.rn.sat.$T.$T $d,$a;popc.$T $d,$a;clz.$T $d,$a
bfe.$T $d,$a,$a,$a;bfi.$T $d,$a,$a,$a,$a;bfind.shiftamt.$T $d,$a;brev.$T $d,$a;prmt.b32 $d,$a,$a,$a;lop3.b32 $d,$a,$a,$a,27
shf.r.clamp.b32 $d,$a,$a,$a;mul24.hi.$T $d,$a,$a;mad24.lo.$T $d,$a,$a,$a;sad.$T $d,$a,$a,$a;dp4a.u32.s32 $d,$a,$a,$a
dp2a.hi.u32.s32 $d,$a,$a,$a;sqrt.rn.$T $d,$a;ex2.approx.ftz.$T $d,$a;rcp.rn.$T $d,$a;copysign.$T $d,$a,$a;tanh.approx.$T $d,$a
ld.$S.$T $d,$m;ld.$S.v2.$T $v,$m;ld.$S.v4.$T $w,$m;st.$S.$T $m,$a;st.$S.v4.$T $m,$w;ld.param.$T $d,[p0+$a]
ld.global.nc.L1::no_allocate.$T $d,$m;ld.relaxed.gpu.global.$T $d,$m;st.volatile.$S.$T $m,$a;ldu.global.$T $d,$m
atom.$S.add.$T $d,$m,$a;atom.$S.cas.$T $d,$m,$a,$a;red.$S.max.$T $m,$a;atom.global.exch.$T $d,$m,$a;red.shared.inc.u32 $m,$a
cp.async.ca.shared.global [%r1],$m,16,$a;cp.async.cg.shared.global.L2::128B [%r1],$m,16;cp.async.wait_all;bar.sync 0
shfl.sync.bfly.b32 $d|$p,$a,$a,31,-1;shfl.sync.idx.b32 $d,$a,$a,$a,$a;vote.sync.ballot.b32 $d,$p,-1;vote.sync.all.pred $p,$p,$a
match.any.sync.$T $d,$a,-1;redux.sync.add.$T $d,$a,$a;activemask.b32 $d;elect.sync $d|$p,-1;bar.warp.sync $a;fence.acq_rel.gpu
ldmatrix.sync.aligned.m8n8.x4.shared.b16 $w,[%r1];stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r1],$v
cvta.to.$S.u64 $d,$a;cvta.$S.u64 $d,$a;isspacep.$S $p,$a;mov.$T $v,$a;mov.$T $d,$w;bra L0;bra L9;call f,($a);ret;exit
wmma.load.a.sync.aligned.m16n16k16.row.f16 {%r0,%r1,%r2,%r3,%r0,%r1,%r2,%r3},$m,$a;brx.idx $a,T0
mbarrier.init.shared.b64 $m,$a;cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1],$m,$a,[%r2]"""
FORMS = FORMS.replace("\n", ";").split(";")
TYPES = "u8 s8 u16 s16 b16 f16 u32 s32 b32 f32 u64 s64 b64 f64 u32 u64 s32 b32 b128 f16x2 bf16 pred".split()
NUMBERS = ("0", "1", "-1", "4", "31", "255", "65536", "0x7FFFFFFF", "0x80000000", "0x8000000000000000", "1048576", "0f7F800000",
           "0f00000000", "0d7FF8000000000000", "%tid.x", "%ctaid.y", "%laneid", "WARP_SZ", "s", "p0", "_", "!%p1", "f")
WORDS = ("sat ftz rn rz hi wide x4 v2 v8 trans sync aligned cc global shared relaxed noftz fast u64 b128 L2::evict_last cluster "
         "approx all b1 s4 e4m3x2 ::").split()
REGISTERS = ("%b", "%rs", "%r", "%rd", "%q")
HEAD = (".version 8.6\n.target sm_90\n.address_size 64\n.func f(.param .b32 x){{ret;}}\n.visible .entry k(.param .u64 p0, .param .u32 n){{\n"
        ".reg .pred %p<4>;.reg .b8 %b<4>;.reg .b16 %rs<4>;.reg .b32 %r<4>;.reg .b64 %rd<4>;.reg .b128 %q<4>;\n"
        ".shared .align 16 .b8 s[512];.local .align 8 .b8 l[64];\nld.param.u64 %rd1,[p0];mov.u32 %r1,s;mov.u32 %r2,%tid.x;"
        "cvt.u16.u32 %rs1,%r2;\nmad.wide.u32 %rd2,%r2,4,%rd1;setp.lt.u32 %p1,%r2,20;\nL0:\n{}L9:ret;\nT0: .branchtargets L0, L9;\n}}\n")


class Maker:
    def __init__(self, chance):
        self.chance, self.width = chance, 2

    def register(self, more=0):
        width = self.chance.randrange(5) if self.chance.random() < 0.04 else min(4, self.width + more)
        return f"{REGISTERS[width]}{self.chance.randrange(4)}"

    def value(self):
        return self.chance.choice(NUMBERS) if self.chance.random() < 0.3 else self.register()

    def part(self, letter):
        if letter == "T":
            name = self.chance.choice(TYPES)
            self.width = {"8": 0, "16": 1, "32": 2, "64": 3, "128": 4}.get(name.lstrip("busf"), 2)
            return name
        vector = {"v": 2, "w": 4}.get(letter)
        if vector:
            return "{" + ",".join(self.register() for _ in range(vector + (self.chance.random() < 0.03))) + "}"
        return {"d": self.register, "e": lambda: self.register(1), "a": self.value, "p": lambda: f"%p{self.chance.randrange(4)}",
                "m": lambda: f"[{self.chance.choice(('%rd1', '%rd2', '%r1', '%rd0', 's', 'l', 'p0', '0'))}+{self.chance.choice(NUMBERS[:11])}]",
                "S": lambda: self.chance.choice("global shared local const param shared::cta relaxed".split())}[letter]()

    def statement(self):
        form = self.chance.choice(FORMS)
        if self.chance.random() < 0.1:  # a word more, or one less
            words, _, operands = form.partition(" ")
            words = words.split(".")
            at = self.chance.randrange(len(words))
            words[at:at + self.chance.randrange(2)] = [self.chance.choice(WORDS)] if self.chance.random() < 0.7 else []
            form = f"{'.'.join(words)} {operands}"
        if self.chance.random() < 0.05:  # an operand more, or one less
            form = form + ",$a" if self.chance.random() < 0.5 else form.rpartition(",")[0] or form
        first, *parts = form.split("$")
        guard = self.chance.choice(("@%p1 ", "@!%p2 ")) if self.chance.random() < 0.1 else ""
        return guard + first + "".join(self.part(one[0]) + one[1:] for one in parts if one) + ";\n"


def kernel(seed):
    chance = random.Random(seed)
    maker = Maker(chance)
    # A refused statement hides what follows it: most kernels have one or two.
    return HEAD.format("".join(maker.statement() for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 6)))))


def play(count, seed=1, program=os.environ.get("COALPROF_PTX_FUZZ")):
    tally = runs.Tally()

    def ends(texts):
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(texts):
                with open(f"{folder}/{number}", "w", encoding="ascii") as file:
                    file.write(text)
            ran = subprocess.run([program, folder], cwd=folder, capture_output=True, timeout=runs.HANGS_AFTER + len(texts), check=False)
            return ran.returncode, ran.stderr
    for begin in range(0, count, 250):
        texts = [kernel(f"{seed} {number}") for number in range(begin, min(count, begin + 250))]
        code, _ = ends(texts)
        tally.ends[code] += len(texts)
        for text in texts if code else ():
            code, err = ends([text])
            if code:
                tally.findings.append(f"exit code {code} of\n{text}{err[-3000:].decode(errors='replace')}")
    return tally
