// The emitted source, really compiled (as host C++) and run, against the evaluator.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/formula/launch_check.h"
#include "core/formula/random_formula.h"
#include "core/formula/user_formula.h"
#include "core/pattern/formulas.h"
#include "test_data.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RandomFormulas;

Scope small_scope() {
    Scope scope;
    scope.threads = 1 << 20;
    scope.block = 256;
    scope.block_shape = {16, 8, 2};
    scope.grid_shape = {64, 16, 4};
    scope.values = {3, 1000};
    return scope;
}

Functor functor_of(const ParsedFormula& formula, const Scope& scope, const std::string& name) {
    return emit_functor(formula, formula.accesses.front(), scope,
                        short_divisions(formula.nodes, prove_facts(formula.nodes, scope)), name);
}

Functor functor_of(const std::string& text, std::vector<std::int64_t> values = {3, 1000}) {
    Scope scope = small_scope();
    scope.values = std::move(values);
    return functor_of(parse_formula(text, RandomFormulas::parameters()), scope, "Pattern");
}
std::string emitted(const std::string& text) { return functor_of(text).source; }

// k and pitch are 3 and 1000.
TEST(EmittedSource, is_the_same_for_all_values_of_parameters) {
    const std::string text = "(i*k + n*pitch/8) % (pitch + 1) if tid < pitch*pitch";
    const Functor functor = functor_of(text);
    EXPECT_EQ(functor.source, functor_of(text, {5, 77}).source);
    EXPECT_EQ(functor.numbers, (std::vector<Index>{1000 * 1000, 3, (1 << 20) * 1000ull / 8,
                                                   1000 + 1, ~Index{0} / 1001}));
    EXPECT_EQ(functor_of("i*4 + n/2").numbers, (std::vector<Index>{0}));  // none, and one at least
}

TEST(Reciprocal, divides_every_number_of_32_bits) {
    for (const unsigned b : {1u, 2u, 3u, 7u, 641u, 65'537u, 1u << 31, ~0u - 1, ~0u})
        for (const unsigned a : {0u, 1u, b - 1, b, b + 1, 2 * b - 1, (1u << 31) - 1, ~0u - 1, ~0u})
            EXPECT_EQ(Reciprocal::quotient(a, ~Index{0} / b), a / b) << a << " / " << b;
}

// One operation a statement: a compiler meets neither deep nesting nor long lines.
TEST(EmittedSource, is_flat_however_deep_the_formula) {
    std::string deep = "i";
    for (int level = 0; level < 30; ++level) deep = "(" + deep + " + k) * pitch";
    const std::string source = emitted(deep);
    EXPECT_GT(std::count(source.begin(), source.end(), '\n'), 60);
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 100u) << line;
}

// Every word the emitter may print; what a user typed (names of arrays, parameters and parts) is
// none of them.
TEST(EmittedSource, holds_no_word_that_a_user_typed) {
    const std::string source = emitted(
        "evil = hash(i, 9) + min(i, k); load: evil_array[(evil ? abs(evil) : tid.y) << 2] if warp "
        "&& bid.x || pitch");
    EXPECT_THAT(source, Not(HasSubstr("evil")));
    EXPECT_THAT(source, Not(HasSubstr("pitch")));
    const std::set<std::string> allowed{"struct", "Pattern",     "Index",   "operator",  "thread",
                                        "const",  "long",        "return",  "idle_lane", "if",
                                        "else",   "static_cast", "Scatter", "unsigned",  "number"};
    const std::regex value("v[0-9]+");
    const std::regex word("[A-Za-z_][A-Za-z0-9_]*");
    // Numbers first: the ll of 3ll is no word.
    const std::string words = std::regex_replace(source, std::regex("\\b[0-9]+u?(ll)?\\b"), "");
    for (std::sregex_iterator at(words.begin(), words.end(), word), end; at != end; ++at)
        EXPECT_TRUE(allowed.count(at->str()) == 1 || std::regex_match(at->str(), value))
            << at->str();
}

// ---- compiled ----

// Without optimisation clang compiles a formula three times as fast as g++, which tells where there
// are 100,000 of them; CXX would choose what coalprof is built by as well.
const char* named_compiler() {
    for (const char* name : {"COALPROF_EMITTED_CXX", "CXX"})
        if (const char* compiler = std::getenv(name)) return compiler;
    return nullptr;
}

struct EmitSubject {
    std::unique_ptr<ParsedFormula> formula;
    Scope scope;
};

class CompiledBatch {
 public:
    CompiledBatch(const std::vector<EmitSubject>& subjects, const std::string& flags)
        : folder_(::testing::TempDir() + "/coalprof-emit-" + std::to_string(getpid())) {
        std::filesystem::create_directories(folder_);
        write_source(subjects);
        const char* compiler = named_compiler();
        const std::string command = std::string(compiler != nullptr ? compiler : "c++") +
                                    " -std=c++17 -shared -fPIC -w " + flags + " -o " + folder_ +
                                    "/batch.so " + folder_ + "/batch.cpp";
        if (std::system(command.c_str()) != 0) return;
        handle_ = dlopen((folder_ + "/batch.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_ != nullptr) table_ = static_cast<Function**>(dlsym(handle_, "table"));
    }
    CompiledBatch(const CompiledBatch&) = delete;
    CompiledBatch& operator=(const CompiledBatch&) = delete;
    ~CompiledBatch() {
        if (handle_ != nullptr) dlclose(handle_);
        std::filesystem::remove_all(folder_);
    }
    bool is_ready() const { return table_ != nullptr; }
    std::uint64_t operator()(std::size_t which, std::uint64_t thread) const {
        return table_[which](thread);
    }

 private:
    using Function = Index(Index);

    void write_source(const std::vector<EmitSubject>& subjects) const {
        std::ofstream source(folder_ + "/batch.cpp");
        source << "#include \"" << test_data_folder() << "/../../core/pattern/formulas.h\"\n"
               << "using namespace coalprof;\n";
        for (std::size_t k = 0; k < subjects.size(); ++k) {
            const Functor functor =
                functor_of(*subjects[k].formula, subjects[k].scope, "F" + std::to_string(k));
            source << functor.source << "static Index f" << k << "(Index i) { return F" << k
                   << "{{";
            for (const Index number : functor.numbers) source << number << "ull, ";
            source << "}}(i); }\n";
        }
        source << "extern \"C\" {\nIndex (*table[])(Index) = {";
        for (std::size_t k = 0; k < subjects.size(); ++k) source << "f" << k << ",";
        source << "};\n}\n";
    }

    std::string folder_;
    void* handle_ = nullptr;
    Function** table_ = nullptr;
};

// What the evaluator says of one thread: idle, an index, or nothing where it fails.
std::optional<std::uint64_t> expected_of(const EmitSubject& subject, std::uint64_t thread) {
    const FormulaAccess& access = subject.formula->accesses.front();
    if (access.condition) {
        const ThreadValue test =
            evaluate_thread(subject.formula->nodes, *access.condition, subject.scope, thread);
        if (test.fault != Fault::none) return std::nullopt;
        if (test.value == 0) return idle_lane;
    }
    const ThreadValue index =
        evaluate_thread(subject.formula->nodes, access.index, subject.scope, thread);
    if (index.fault != Fault::none) return std::nullopt;
    return static_cast<std::uint64_t>(index.value);
}

std::uint64_t compare_batch(std::size_t formulas, std::uint64_t seed, const std::string& flags) {
    RandomFormulas random(seed);
    std::vector<EmitSubject> subjects;
    for (std::size_t k = 0; k < formulas; ++k) {
        const std::string text = random.with_condition(2 + static_cast<int>(random.below(4)));
        subjects.push_back(
            {std::make_unique<ParsedFormula>(parse_formula(text, RandomFormulas::parameters())),
             random.scope(5000)});
    }
    const CompiledBatch compiled(subjects, flags);
    EXPECT_TRUE(compiled.is_ready()) << "the emitted source does not compile";
    if (!compiled.is_ready()) return 0;
    std::uint64_t compared = 0;
    for (std::size_t k = 0; k < formulas; ++k) {
        for (int sample = 0; sample < 24; ++sample) {
            const std::uint64_t thread = random.below(subjects[k].scope.threads);
            const auto expected = expected_of(subjects[k], thread);
            if (!expected) continue;
            const std::uint64_t found = compiled(k, thread);
            ++compared;
            if (found == *expected) continue;
            ADD_FAILURE() << subjects[k].formula->text << " in thread " << thread << ": "
                          << static_cast<std::int64_t>(found) << " instead of "
                          << static_cast<std::int64_t>(*expected);
            return compared;
        }
    }
    return compared;
}

bool has_compiler() {
    return named_compiler() != nullptr || std::system("c++ --version > /dev/null 2>&1") == 0;
}

const char* const trapping = "-O2 -fsanitize=undefined -fsanitize-undefined-trap-on-error";

// 100 / 0 would trap.
TEST(EmittedSource, does_not_evaluate_what_is_not_chosen) {
    if (!has_compiler()) GTEST_SKIP() << "no C++ compiler is at hand as c++";
    std::vector<EmitSubject> subjects;
    subjects.push_back({std::make_unique<ParsedFormula>(parse_formula(
                            "tid ? 100 / tid : 7 if i < n", RandomFormulas::parameters())),
                        small_scope()});
    const CompiledBatch compiled(subjects, trapping);
    ASSERT_TRUE(compiled.is_ready());
    EXPECT_EQ(compiled(0, 0), 7u);
    EXPECT_EQ(compiled(0, 5), 20u);
    EXPECT_EQ(compiled(0, 256), 7u);  // of the next block
    EXPECT_EQ(compiled(0, small_scope().threads), idle_lane);
}

// COALPROF_DIFFERENTIAL=100000 compares that many formulas; a few thousand in every run.
TEST(EmittedSource, computes_what_the_evaluator_computes) {
    if (!has_compiler()) GTEST_SKIP() << "no C++ compiler is at hand as c++";
    const char* wanted = std::getenv("COALPROF_DIFFERENTIAL");
    const std::size_t formulas = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 2000;
    constexpr std::size_t batch = 5000;
    std::uint64_t compared = 0;
    for (std::size_t done = 0; done < formulas && !HasFailure(); done += batch)
        compared += compare_batch(std::min(batch, formulas - done), 100 + done, "-O0");
    EXPECT_GT(compared, formulas * 12);  // most threads of most formulas do not fail
}

// Optimised, and with every undefined operation a trap: what the evaluator accepts is defined.
TEST(EmittedSource, is_defined_behaviour_wherever_the_evaluator_accepts_it) {
    if (!has_compiler()) GTEST_SKIP() << "no C++ compiler is at hand as c++";
    EXPECT_GT(compare_batch(500, 7, trapping), 5'000u);
}

}  // namespace
}  // namespace coalprof
