"""PTX of small kernels, and what the tests of `coalprof kernel` share."""

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"


def kernel_of(body):
    """A kernel of these instructions behind `ld.param.u64 %rd1, [p]`, with the thread's number in %r1."""
    return (HEADER + ".file 1 \"k.cu\"\n"
            ".extern .func __assertfail (.param .b64 a);\n.extern .func (.param .b32 r) vprintf (.param .b64 a);\n"
            ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>; "
            ".reg .b128 %rq<2>;\nld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n" + body + "\nret;\n}\n")


def codes_of(document):
    """Of warnings, less that of bounds, which most tests do not give."""
    return [one["code"] for one in document["warnings"] if one["code"] != "W-BOUNDS"]
