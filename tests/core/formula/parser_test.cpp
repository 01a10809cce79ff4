// The language: what is accepted, how it is read, and what is said where it is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/formula/launch_check.h"
#include "core/formula/tree.h"
#include "core/pattern/array_text.h"
#include "core/result/counter.h"
#include "core/text/error.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> parameters{"k", "pitch"};

// The value of a formula in one thread of 100 blocks of 8 x 8 threads, 10 blocks to a row; k is 3,
// pitch 1000.
std::int64_t value_in(const std::string& text, std::uint64_t thread = 0) {
    const ParsedFormula formula = parse_formula(text, parameters);
    Scope scope;
    scope.threads = 6400;
    scope.block = 64;
    scope.block_shape = {8, 8};
    scope.grid_shape = {10, 10};
    scope.values = {3, 1000};
    const ThreadValue value =
        evaluate_thread(formula.nodes, formula.accesses.front().index, scope, thread);
    EXPECT_EQ(value.fault, Fault::none) << text;
    return value.value;
}

TEST(FormulaLanguage, reads_numbers_in_three_bases) {
    EXPECT_EQ(value_in("1234567890123456789"), 1234567890123456789);
    EXPECT_EQ(value_in("0x1F"), 31);
    EXPECT_EQ(value_in("0XffFF"), 65535);
    EXPECT_EQ(value_in("0b1011"), 11);
    EXPECT_EQ(value_in("9223372036854775807"), INT64_MAX);
    EXPECT_EQ(value_in("0x7fffffffffffffff"), INT64_MAX);
    EXPECT_EQ(value_in("0"), 0);
}

TEST(FormulaLanguage, has_the_precedence_of_c) {
    EXPECT_EQ(value_in("2 + 3 * 4"), 14);
    EXPECT_EQ(value_in("(2 + 3) * 4"), 20);
    EXPECT_EQ(value_in("20 - 5 - 3"), 12);  // from the left
    EXPECT_EQ(value_in("100 / 5 / 2"), 10);
    EXPECT_EQ(value_in("1 << 2 + 3"), 32);    // + before <<
    EXPECT_EQ(value_in("1 | 6 ^ 3 & 2"), 5);  // 3 & 2 is 2, 6 ^ 2 is 4, 1 | 4 is 5
    EXPECT_EQ(value_in("1 < 2 && 0 || 1"), 1);
    EXPECT_EQ(value_in("0 ? 1 : 0 ? 2 : 3"), 3);  // from the right
    EXPECT_EQ(value_in("-2 * 3"), -6);
    EXPECT_EQ(value_in("~5 + 1"), -5);
    EXPECT_EQ(value_in("!3 + 1"), 1);
    EXPECT_EQ(value_in("- -3"), 3);
    EXPECT_EQ(value_in("+4"), 4);
    EXPECT_EQ(value_in("5 - -3"), 8);
}

TEST(FormulaLanguage, has_min_max_abs_and_hash) {
    EXPECT_EQ(value_in("min(3, 1, 2)"), 1);
    EXPECT_EQ(value_in("max(3, 7)"), 7);
    EXPECT_EQ(value_in("abs(-5) + abs(5)"), 10);
    // The bucket of pattern `scatter` with its default seed.
    EXPECT_EQ(value_in("hash(12345, 1000)"), static_cast<std::int64_t>(Scatter{1000, 1}(12345)));
    EXPECT_EQ(value_in("hash(12345, 1000, 9)"), static_cast<std::int64_t>(Scatter{1000, 9}(12345)));
}

TEST(FormulaLanguage, knows_the_thread_by_cudas_names) {
    // Thread 1000: block 15 (64 threads each), thread 40 of it, warp 1, lane 8; in an 8 x 8 block
    // column 0 of row 5; block 15 of rows of 10 is column 5 of row 1.
    EXPECT_EQ(value_in("i", 1000), 1000);
    EXPECT_EQ(value_in("bid", 1000), 15);
    EXPECT_EQ(value_in("tid", 1000), 40);
    EXPECT_EQ(value_in("warp", 1000), 1);
    EXPECT_EQ(value_in("lane", 1000), 8);
    EXPECT_EQ(value_in("tid.x", 1003), 3);
    EXPECT_EQ(value_in("tid.y", 1003), 5);
    EXPECT_EQ(value_in("bid.x", 1000), 5);
    EXPECT_EQ(value_in("bid.y", 1000), 1);
    EXPECT_EQ(value_in("bdim"), 64);
    EXPECT_EQ(value_in("bdim.x"), 8);
    EXPECT_EQ(value_in("bdim.y"), 8);
    EXPECT_EQ(value_in("gdim"), 100);
    EXPECT_EQ(value_in("gdim.x"), 10);
    EXPECT_EQ(value_in("gdim.y"), 10);
    EXPECT_EQ(value_in("n"), 6400);
    EXPECT_EQ(value_in("k + pitch"), 1003);
    EXPECT_EQ(value_in("blockIdx.x * blockDim.x + threadIdx.x", 1003), 5 * 8 + 3);
    EXPECT_EQ(value_in("blockIdx.y * blockDim.y + threadIdx.y", 1003), 1 * 8 + 5);
    EXPECT_EQ(value_in("gridDim.x * 10 + gridDim.y"), 110);
}

TEST(FormulaLanguage, evaluates_only_the_branch_that_is_taken) {
    EXPECT_EQ(value_in("1 ? 5 : 1 / 0"), 5);
    EXPECT_EQ(value_in("0 ? 1 << 99 : 6"), 6);
    EXPECT_EQ(value_in("0 && 1 / 0"), 0);
    EXPECT_EQ(value_in("7 || 1 / 0"), 1);
    EXPECT_EQ(value_in("7 && 2"), 1);
}

TEST(FormulaLanguage, reads_several_instructions_with_arrays_types_and_conditions) {
    const ParsedFormula formula = parse_formula(
        "load.u64: table[i / 64]; a[i*3] if i < n / 2; ; reduce: out[lane]; i ;", parameters);
    ASSERT_EQ(formula.accesses.size(), 4u);
    EXPECT_EQ(formula.accesses[0].kind, AccessKind::load);
    EXPECT_EQ(formula.accesses[0].type, ElementType::u64);
    EXPECT_EQ(formula.accesses[0].array, "table");
    EXPECT_FALSE(formula.accesses[0].condition);
    EXPECT_FALSE(formula.accesses[1].kind);
    EXPECT_FALSE(formula.accesses[1].type);
    EXPECT_EQ(formula.accesses[1].array, "a");
    ASSERT_TRUE(formula.accesses[1].condition);
    EXPECT_EQ(formula.text_of(formula.nodes[*formula.accesses[1].condition]), "i < n / 2");
    EXPECT_EQ(formula.accesses[2].kind, AccessKind::reduce);
    EXPECT_EQ(formula.accesses[3].array, "a");
}

TEST(FormulaLanguage, names_parts_that_stand_for_their_expression) {
    EXPECT_EQ(value_in("row = i / 64; col = i % 64; a[row*pitch + col]", 130), 2 * 1000 + 2);
    // In parentheses, wherever it is used.
    EXPECT_EQ(value_in("s = 2 + 3; s * s"), 25);
    EXPECT_EQ(value_in("s = 2; t = s + 1; t * t"), 9);
}

// "load a if i < 4; store c": kinds, arrays and conditions.
std::string accesses_of(const std::string& text, const FormulaContext& context = {}) {
    const ParsedFormula formula = read_formula(text, context);
    std::string accesses;
    for (const FormulaAccess& access : formula.accesses) {
        if (!accesses.empty()) accesses += "; ";
        accesses += access.kind ? std::string(name_of(*access.kind)) : "?";
        accesses += " " + access.array;
        if (access.condition)
            accesses += " if " + std::string(formula.text_of(formula.nodes[*access.condition]));
    }
    return accesses;
}

TEST(FormulaLanguage, an_assignment_makes_the_accesses_of_its_expression) {
    EXPECT_EQ(accesses_of("c[i] = a[2*i] + b[i];"), "load a; load b; store c");
    EXPECT_EQ(accesses_of("s += a[i]"), "load a");
    EXPECT_EQ(accesses_of("a[i] += 2.0f * b[i]"), "load a; load b; store a");
    EXPECT_EQ(accesses_of("h[i]++"), "load h; store h");
    EXPECT_EQ(accesses_of("y[i] = alpha * x[i] + beta"), "load x; store y");
    // What a thread has loaded it has, until something is stored.
    EXPECT_EQ(accesses_of("c[i] = a[i] * a[i]; d[i] = a[i]"), "load a; store c; load a; store d");
    EXPECT_EQ(accesses_of("c[i] = a[i]; d[i] = c[i]"), "load a; store c; store d");
    EXPECT_EQ(accesses_of("v = a[i]; b[i] = v; c[i] = v"), "load a; store b; store c");
}

TEST(FormulaLanguage, a_condition_at_the_end_guards_all_accesses_of_its_statement) {
    EXPECT_EQ(accesses_of("c[i] = a[i] + b[i] if i < 9; d[i] = 1"),
              "load a if i < 9; load b if i < 9; store c if i < 9; store d");
    EXPECT_EQ(accesses_of("s += i < 4 ? a[i] : b[i] if lane"), "load a if i < 4; load b if i < 4");
    EXPECT_EQ(accesses_of("i < 4 && a[i]"), "load a if i < 4");
    FormulaContext context;
    context.arrays = {read_declared_array("flag=i32[64]=iota")};
    // The condition is loaded before what it guards.
    EXPECT_EQ(accesses_of("c[i] = 1 if flag[i] < 5", context), "load flag; store c if flag[i] < 5");
}

TEST(FormulaLanguage, flattens_the_indices_of_declared_arrays) {
    FormulaContext context;
    context.arrays = {read_declared_array("t=f32[4][5][6]")};
    const ParsedFormula formula = read_formula("t[tid][i][3]", context);
    Scope scope;
    scope.threads = 64;
    scope.block = 4;
    // Thread 6 is thread 2 of its block: (2*5 + 6)*6 + 3.
    EXPECT_EQ(evaluate_thread(formula.nodes, formula.accesses.front().index, scope, 6).value,
              (2 * 5 + 6) * 6 + 3);
    const ParsedFormula other = read_formula("t[tid, i, 3]", context);
    EXPECT_EQ(evaluate_thread(other.nodes, other.accesses.front().index, scope, 6).value,
              (2 * 5 + 6) * 6 + 3);
    EXPECT_THROW(read_formula("t[tid][i]", context), UsageError);
}

TEST(FormulaLanguage, takes_strides_and_the_order_of_fortran) {
    FormulaContext context;
    context.arrays = {read_declared_array("t=bf16[8,8]:1,4096"),
                      read_declared_array("x=f64(10,20)"), read_declared_array("e=i32[3,5]:0,2")};
    Scope scope;
    scope.threads = 64;
    scope.block = 4;
    const auto index_of = [&](const char* text) {
        const ParsedFormula formula = read_formula(text, context);
        return evaluate_thread(formula.nodes, formula.accesses.front().index, scope, 6).value;
    };
    EXPECT_EQ(index_of("t[i, tid]"), 6 + 2 * 4096);  // thread 6 is thread 2 of its block
    EXPECT_EQ(index_of("x(i, tid)"), (6 - 1) + (2 - 1) * 10);
    EXPECT_EQ(index_of("e[tid][i]"), 6 * 2);
    EXPECT_THROW(index_of("x[i, tid]"), UsageError);
    EXPECT_THROW(index_of("x(i)"), UsageError);
    for (const char* wrong : {"t=f32[8,8]:1", "t=f32[8]:1,2", "t=f32[8]:", "t=f32:1", "t=f32(8",
                              "t=f32(8]", "t=f32(8):1"})
        EXPECT_THROW(read_declared_array(wrong), UsageError) << wrong;
    // From the first element to the last.
    EXPECT_EQ(read_array_text("f32[8,8]:1,4096", "--array", "").elements(), 7 * 4097 + 1u);
}

TEST(FormulaLanguage, computes_in_the_types_of_c) {
    EXPECT_EQ(value_in("4294967295u + 2"), 1);  // 32 unsigned bits wrap around
    EXPECT_EQ(value_in("4294967295u + 2ull"), 4294967297);
    EXPECT_EQ(value_in("(unsigned)-1 >> 4"), 0x0FFFFFFF);
    EXPECT_EQ(value_in("static_cast<size_t>(4294967295u) + 2"), 4294967297);
    EXPECT_EQ(value_in("(unsigned char)(300) + size_t(1)"), 45);
    EXPECT_EQ(value_in("(signed char)200"), 200 - 256);
    EXPECT_EQ(value_in("sizeof(float4) + sizeof(unsigned long long) + sizeof(half)"), 26);
    EXPECT_EQ(value_in("std::min(7, clamp(k, 4, 9)) + warpSize"), 4 + 32);
}

TEST(FormulaLanguage, keeps_subtrees_in_one_piece_children_first) {
    const ParsedFormula formula =
        parse_formula("row = i / 64; a[row*pitch + min(row, 3, k)] if row ? lane : 7", parameters);
    for (NodeId id = 0; id < formula.nodes.size(); ++id) {
        const Node& node = formula.nodes[id];
        NodeId next = node.first;
        for (std::size_t k = 0; k < child_count(node.kind); ++k) {
            EXPECT_EQ(formula.nodes[node.children[k]].first, next);
            next = static_cast<NodeId>(node.children[k] + 1);
        }
        EXPECT_EQ(next, id);
    }
}

TEST(FormulaLanguage, says_which_parameters_occur) {
    const ParsedFormula formula = parse_formula("i + pitch", parameters);
    EXPECT_FALSE(formula.uses_parameter[0]);
    EXPECT_TRUE(formula.uses_parameter[1]);
}

// ---- wrong formulas, one by one ----

struct Wrong {
    const char* text;
    std::size_t caret;
    const char* sentence;
    const char* hint;
};

class WrongFormula : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongFormula, gets_a_caret_and_a_hint) {
    const Wrong& wrong = GetParam();
    const UsageError error = usage_error_of([&] { parse_formula(wrong.text, parameters); });
    EXPECT_EQ(error.text(), wrong.text);
    EXPECT_EQ(error.caret(), wrong.caret) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(wrong.sentence));
    EXPECT_THAT(error.hint(), HasSubstr(wrong.hint));
    EXPECT_EQ(error.code(), ExitCode::usage);
}

const Wrong wrong_formulas[] = {
    {"", 0, "there is no index", "i*3"},
    {" ; ", 3, "there is no index", "i*3"},
    {"row = i / 64", 12, "there is no index", "a[row]"},
    {"i +", 3, "at the end", "complete or remove"},
    {"i i", 2, "found 'i'", "with *"},
    {"2i", 1, "'2i' is not an integer", "2*i"},
    {"1.5*i", 1, "'1.5' is not an integer", "i*3/2 is i*1.5"},
    {"a[i*2.5]", 5, "'2.5' is not an integer", "write a[i*5/2]"},
    {"i * 0.3f", 5, "'0.3f' is not an integer", "write i * 3/10"},
    {"i*3.14159", 3, "'3.14159' is not an integer", "i*3/2 is i*1.5"},
    {"010 + i", 0, "octal", "write 10"},
    {"0x + i", 2, "expected digits", "0x1F"},
    {"0b102", 4, "not an integer", "0 and 1"},
    {"i + 99999999999999999999", 4, "does not fit 64 signed bits", "9223372036854775807"},
    {"p = i if i < 4; a[p]", 6, "switches accesses off", "i < 32 ? i : 0"},
    {"a[i", 3, "expected ']' for the '[' in column 2", "a[i]"},
    {"a[i//2]", 7, "expected ']'", "// begins a comment; a whole division is /: a[i/2]"},
    {"row = i//64; a[row]", 19, "there is no index", "a whole division is /: row = i/64; a[row]"},
    {"(i // 2)*4", 10, "expected ')'", "a whole division is /: (i / 2)*4"},
    {"i//2", 1, "a comment begins", "a whole division is /: i/2"},
    {"a[i]]", 4, "no opening sign", "remove"},
    {"(i + 1", 6, "expected ')' for the '(' in column 1", "its ')'"},
    {"i + 1)", 5, "no opening sign", "remove"},
    {"i * / 2", 4, "found '/'", "an index looks like"},
    {"idx * 2", 0, "unknown name 'idx'", "is 'i'"},
    {"tile[ty*16 + 1]", 5, "unknown name 'ty'", "threadIdx"},
    {"i + pich", 4, "unknown name 'pich'", "did you mean 'pitch'?"},
    {"i + lanes", 4, "unknown name 'lanes'", "did you mean 'lane'?"},
    {"row * 100", 0, "unknown name 'row'", "--var row=64"},
    {"threadIdx + 1", 0, "unknown name 'threadIdx'", "threadIdx.x"},
    {"tid.w", 0, "unknown name 'tid.w'", "did you mean 'tid.x'"},
    {"mim(i, 2)", 0, "unknown function 'mim'", "did you mean 'min'?"},
    {"sqrt(i)", 0, "unknown function 'sqrt'", "only whole numbers"},
    {"log2(i)", 0, "unknown function 'log2'", "min, max, abs and hash"},
    {"s += log2(i)", 5, "unknown function 'log2'", "min, max, abs and hash"},
    {"min(i)", 5, "too few arguments for 'min'", "min(a, b)"},
    {"abs(i, 2)", 5, "too many arguments for 'abs'", "abs(a)"},
    {"abs i", 0, "unknown name 'abs'", "abs(a)"},
    {"a[i][k]", 4, "no further index", "--array a=f32[1024][1024]"},
    {"a[i, k]", 1, "no further index", "--array a=f32[1024][1024]"},
    {"a[k*2 + i", 9, "expected ']'", "a[k*2 + i]"},
    // A size, and not the number of all threads.
    {"A[tid*N + 1]", 6, "unknown name 'N'", "--var N=1024"},
    {"A[M]", 2, "unknown name 'M'", "--var M=1024"},
    {"I + 1", 0, "unknown name 'I'", "did you mean 'i'"},
    {"i*K", 2, "unknown name 'K'", "did you mean 'k'"},
    {"load.f32x3: a[i]", 5, "unknown type 'f32x3'", "a[i*3]"},
    {"a[b[i]]", 2, "the value of b[...] is not known", "instruction of its own"},
    {"laod: a[i]", 0, "unknown instruction 'laod:'", "did you mean 'load'?"},
    {"load a[i]", 0, "unknown name 'load'", "load: a[...]"},
    {"load.f23: a[i]", 5, "unknown type 'f23'", "did you mean 'f32'?"},
    {"i = 3", 0, "'i' cannot be a name", "word of the formula language"},
    {"k = 3; k", 0, "'k' cannot be a name", "already has a meaning"},
    {"a[i = 3]", 4, "found '='", "write =="},
    {"n[i]", 0, "'n' cannot be an array", "call it a"},
    {"lane & 3 == 0", 5, "comparisons bind tighter than '&'", "write (lane & 3) == 0,"},
    {"(bid + 1) ^ tid/2 < (n - 1) / 3", 10, "comparisons bind tighter than '^'",
     "write ((bid + 1) ^ tid/2) < (n - 1) / 3,"},
    {"i & (k + 1) == (2)", 2, "comparisons bind", "write (i & (k + 1)) == (2),"},
    {"lane == 0 | 3", 10, "comparisons bind tighter than '|'", "in parentheses"},
    {"0 <= i < n", 7, "cannot be compared", "write 0 <= i && i < n,"},
    {"k*2 > tid >= 3 ? 1 : 2", 10, "cannot be compared", "write k*2 > tid && tid >= 3,"},
    {"i =< 3", 2, "found '=<'", "write <="},
    {"i => 3", 2, "found '=>'", "write >="},
    {"i <> 3", 2, "found '<>'", "write !="},
    {"i ^^ 3", 2, "found '^^'", "write !="},
    {"i ** 2", 2, "found '**'", "1 << k"},
    {"i and 3", 2, "found 'and'", "write &&"},
    {"i ? 1", 5, "expected ':' for the '?' in column 3", "test ? then : otherwise"},
    {"a[i] if", 7, "at the end", "complete or remove"},
    {"a[i] if i < 3 if i > 2", 14, "one condition", "join two with &&"},
    {"load: a[i] store: b[i]", 11, "expected ';', found 'store'", "separated by ;"},
    {"a[i] b[i]", 5, "expected ';', found 'b'", "separated by ;"},
    {"&a[i]", 0, "'&' is C", "coalprof kernel --code"},
    {"*i", 0, "'*' is C", "coalprof kernel --code"},
    {"*p++", 0, "'*' is C", "coalprof kernel --code"},
    {"load: a[i] + 1", 6, "one access", "write only the index"},
    {"a[i++]", 3, "found '++'", "write i + 1"},
    {"i++; a[i]", 1, "found '++'", "write i + 1"},
    {"--3", 0, "found '--'", "write i + 1"},
    {"lane < 27; b[i]", 0, "is a condition, and no index", "b[i] if lane < 27"},
    {"a[i] > 0 && b[i]", 0, "which threads fulfil", "--array"},
    {"f(&a[i])", 2, "'&' is C", "coalprof kernel --code"},
    {"a[i] /* x", 5, "has no end", "*/"},
    {"p->x", 1, "'->' is C", "coalprof kernel --code"},
    {"p.x[i]", 0, "'p.x' cannot be an array", "i*3 + 1"},
    {"p[i].x", 4, "'.' is C", "coalprof kernel --code"},
    {"if (i < 3) a[i]", 0, "'if' is C", "coalprof kernel --code"},
    {"for (;;) a[i]", 0, "'for' is C", "coalprof kernel --code"},
    {"int k2 = 3; a[k2]", 0, "'int' is C", "coalprof kernel --code"},
    {"float4* p = a; p[i]", 0, "'float4' is C", "coalprof kernel --code"},
    {"((float4*)a)[i]", 8, "'*' is C", "coalprof kernel --code"},
    {"reinterpret_cast<int*>(a)[i]", 0, "'reinterpret_cast' is C", "coalprof kernel --code"},
    {"#define N 3", 0, "unexpected '#'", "coalprof kernel --code"},
    {"{ a[i]", 0, "'{' is C", "coalprof kernel --code"},
    {"__syncthreads()", 0, "unknown function", "coalprof kernel --code"},
    {"a(i)", 0, "unknown function 'a'", "an array is written a[index]"},
    {"a{i}", 1, "'{' is C", "coalprof kernel --code"},
    {"pow(2, i)", 0, "unknown function 'pow'", "1 << k"},
    {"floor(i/2)", 0, "unknown function 'floor'", "/ already divides"},
    {"1e3 * i", 1, "'1e3' is not an integer", "write 1000 * i"},
    {"a[\"x\"]", 2, "unexpected '\"'", "no strings"},
    {"i $ 2", 2, "unexpected '$'", "letters, digits and _"},
    {"i \xC3\xA9", 2, "unexpected '\xC3\xA9'", "ASCII"},
    {"i \xFF", 2, "unexpected '\\xff'", "ASCII"},
};
INSTANTIATE_TEST_SUITE_P(One, WrongFormula, ::testing::ValuesIn(wrong_formulas));

TEST(FormulaLimits, refuse_what_is_too_long_too_deep_or_too_many) {
    const auto sentence_of = [](const std::string& text) -> std::string {
        return std::string(usage_error_of([&] { parse_formula(text, parameters); }).what());
    };
    const auto repeated = [](const std::string& piece, int times) {
        std::string text;
        for (int k = 0; k < times; ++k) text += piece;
        return text;
    };
    EXPECT_THAT(sentence_of(std::string(5000, ' ') + "i"), HasSubstr("longer than 4096"));
    EXPECT_EQ(sentence_of(std::string(4095, ' ') + "i"), "(accepted)");
    EXPECT_EQ(sentence_of(repeated("(", 63) + "i" + repeated(")", 63)), "(accepted)");
    EXPECT_THAT(sentence_of(repeated("(", 64) + "i" + repeated(")", 64)), HasSubstr("64 levels"));
    EXPECT_THAT(sentence_of(repeated("(", 4000)), HasSubstr("64 levels"));
    EXPECT_THAT(sentence_of(repeated("~", 4000) + "i"), HasSubstr("64 levels"));
    EXPECT_THAT(sentence_of(repeated("i ? ", 1000) + "i"), HasSubstr("64 levels"));
    EXPECT_EQ(sentence_of("i" + repeated(" + i", 63)), "(accepted)");
    EXPECT_THAT(sentence_of("i" + repeated(" + i", 64)), HasSubstr("64 levels"));
    // 16 instructions of 31 nodes are 496; one node more in each are 512.
    EXPECT_EQ(sentence_of(repeated("i" + repeated(" + i", 15) + ";", 16)), "(accepted)");
    EXPECT_EQ(sentence_of(repeated("-i" + repeated(" + i", 15) + ";", 16)), "(accepted)");
    EXPECT_THAT(sentence_of(repeated("- -i" + repeated(" + i", 15) + ";", 16)),
                HasSubstr("more than 512"));
    EXPECT_THAT(sentence_of(repeated("i;", 17)), HasSubstr("more than 16 instructions"));
    // A named part counts wherever it stands: it cannot grow beyond the bound by doubling.
    std::string doubling = "p0 = i + i;";
    for (int k = 1; k < 40; ++k)
        doubling += "p" + std::to_string(k) + " = p" + std::to_string(k - 1) + " + p" +
                    std::to_string(k - 1) + ";";
    EXPECT_THAT(sentence_of(doubling + "p39"), HasSubstr("more than 512"));
}

TEST(FormulaParameters, have_names_that_mean_nothing_else) {
    EXPECT_NO_THROW(require_parameter_name("pitch_2"));
    for (const char* name : {"", "2k", "tid", "tid.x", "min", "load", "if", "a-b",
                             "a_name_of_more_than_32_characters"})
        EXPECT_THROW(require_parameter_name(name), UsageError) << name;
}

}  // namespace
}  // namespace coalprof
