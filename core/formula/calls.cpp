// Calls: functions of the language, CUDA's memory functions, and unknown ones.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 6> load_functions{"__ldg",  "__ldca", "__ldcg",
                                                         "__ldcs", "__ldcv", "__ldlu"};
constexpr std::array<std::string_view, 4> store_functions{"__stcs", "__stcg", "__stwb", "__stwt"};

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

bool folds(NodeKind kind) { return kind == NodeKind::minimum || kind == NodeKind::maximum; }

const OperatorInfo& info_of(NodeKind kind) {
    return *std::ranges::find(operator_table, kind, &OperatorInfo::kind);
}

}  // namespace

std::vector<ReadValue> FormulaReader::read_arguments(std::size_t most, std::string_view name,
                                                     std::string_view usage) {
    const std::size_t open = token_.at;
    expect("(", "a function is called f(a, b)");
    std::vector<ReadValue> arguments;
    while (!token_.is(")")) {
        arguments.push_back(loaded(read_whole()));
        if (!token_.is(",") || arguments.size() == most) break;
        advance();
    }
    if (token_.is(","))
        throw error(token_.at, fmt::format("too many arguments for '{}'", name),
                    fmt::format("it is written {}", usage));
    expect_closing(open);
    return arguments;
}

ReadValue FormulaReader::call_operator(const OperatorInfo& info, const Token& name,
                                       std::vector<ReadValue> arguments) {
    for (const ReadValue& argument : arguments)
        if (!argument.is(Kind::number))
            return data(
                name.at, last_end_,
                argument.why ? *argument.why : error(argument.begin, "a pointer is no number", ""));
    const bool takes_words = info.kind == NodeKind::population ||
                             info.kind == NodeKind::leading_zeros ||
                             info.kind == NodeKind::reversed;
    std::vector<NodeTree> trees;
    for (const ReadValue& argument : arguments)
        trees.push_back(takes_words ? argument.tree : whole(argument));
    if (info.kind == NodeKind::hash && trees.size() == 2)
        trees.push_back(leaf(NodeKind::literal, 1, name.at, last_end_));
    NodeTree tree = std::move(trees[0]);
    const auto call = [&](std::initializer_list<const NodeTree*> operands) {
        return combined(info.kind, name.at, name.at, last_end_, operands);
    };
    if (folds(info.kind))  // min(a, b, c) is min(min(a, b), c)
        for (std::size_t k = 1; k < trees.size(); ++k) tree = call({&tree, &trees[k]});
    else if (trees.size() == 1)
        tree = call({&tree});
    else
        tree = call({&tree, &trees[1], &trees[2]});
    ReadValue result = number(std::move(tree), name.at, last_end_);
    if (info.kind == NodeKind::reversed) result.arithmetic = Arithmetic::word;
    return result;
}

// Functions that operators express: clamp() is a min() of a max().
std::optional<ReadValue> FormulaReader::call_shorthand(const Token& name) {
    const std::string_view word = name.text;
    const bool is_product = word == "__umul24" || word == "__mul24" || word == "__umulhi";
    if (word != "clamp" && word != "__ffs" && !is_product) return std::nullopt;
    const std::size_t count = word == "clamp" ? 3 : is_product ? 2 : 1;
    advance();
    std::vector<ReadValue> given =
        read_arguments(count, word, word == "clamp" ? "clamp(a, low, high)" : "f(a, b)");
    if (given.size() < count)
        throw error(name.at, fmt::format("too few arguments for '{}'", word),
                    fmt::format("it takes {}", count));
    for (const ReadValue& argument : given)
        if (!argument.is(Kind::number))
            return call_operator(info_of(NodeKind::absolute), name, {argument});
    const auto join = [&](NodeKind kind, const NodeTree& a, const NodeTree& b) {
        return combined(kind, name.at, name.at, last_end_, {&a, &b});
    };
    NodeTree tree = whole(given[0]);
    if (word == "clamp") {
        tree = join(NodeKind::minimum, join(NodeKind::maximum, tree, whole(given[1])),
                    whole(given[2]));
    } else if (word == "__ffs") {  // the lowest bit, counted from 1
        const NodeTree minus = combined(NodeKind::negate, name.at, name.at, last_end_, {&tree});
        const NodeTree low = join(NodeKind::bit_and, tree, minus);
        tree = join(NodeKind::subtract, leaf(NodeKind::literal, 32, name.at, last_end_),
                    combined(NodeKind::leading_zeros, name.at, name.at, last_end_, {&low}));
    } else if (word == "__umulhi") {
        tree = with_number(NodeKind::shift_right,
                           join(NodeKind::multiply, masked(tree, 32), masked(whole(given[1]), 32)),
                           32);
    } else {
        tree = join(NodeKind::multiply, masked(tree, 24), masked(whole(given[1]), 24));
    }
    ReadValue result = number(std::move(tree), name.at, last_end_);
    if (word == "__umul24") {
        result.arithmetic = Arithmetic::word;
        result.wraps = true;
    }
    return result;
}

// __ldg(&a[i]), __stcs(p, v), atomicAdd(&a[i], 1)
std::optional<ReadValue> FormulaReader::call_memory(const Token& name) {
    const bool loads = is_one_of(load_functions, name.text);
    const bool stores = is_one_of(store_functions, name.text);
    const bool is_atomic = name.text.starts_with("atomic");
    if (!loads && !stores && !is_atomic) return std::nullopt;
    advance();
    const std::size_t at = token_.at;
    const std::vector<ReadValue> given = read_arguments(4, name.text, "f(&a[i], value)");
    if (given.empty() || (!loads && given.size() < 2))
        throw error(at, fmt::format("too few arguments for '{}'", name.text),
                    fmt::format("it is written {}(&a[i]{})", name.text, loads ? "" : ", value"));
    ReadValue place = pointee(given[0], given[0].begin);
    place.end = given[0].end;
    if (loads) {
        ReadValue value = loaded(place);
        value.begin = name.at;
        value.end = last_end_;
        return value;
    }
    ReadValue result = data(name.at, last_end_,
                            error(name.at, fmt::format("what {} answers is not known", name.text),
                                  "it depends on the order in which threads run"));
    if (stores) {
        store(place);
        return result;
    }
    forget_loads();
    // Undeclared names are counted in whole numbers, or in --type where fractions are added.
    std::optional<ElementType> type;
    if (place.type == CTypes::usual && given[1].is(Kind::number)) type = ElementType::u32;
    result.atomic = add_access(AccessKind::atomic, place, type);
    return result;
}

// A function of the text itself, with its parameters as variables.
std::optional<ReadValue> FormulaReader::call_function(const Token& name) {
    const auto function = std::ranges::find(functions_, name.text, &ReadFunction::name);
    if (function == functions_.end()) return std::nullopt;
    const ReadFunction called = *function;
    advance();
    std::vector<ReadValue> given =
        read_arguments(called.parameters.size(), name.text, "with all of its parameters");
    if (given.size() < called.parameters.size())
        throw error(name.at, fmt::format("too few arguments for '{}'", shown(name.text)),
                    fmt::format("it takes {}", called.parameters.size()));
    const Token behind = token_;
    const std::size_t end = last_end_;
    const std::size_t below = variables_below();
    for (std::size_t k = 0; k < given.size(); ++k)
        declare(called.parameters[k], std::move(given[k]), CTypes::none);
    seek(called.result_at);
    ReadValue result = loaded(read_whole());
    leave(below);
    token_ = behind;
    last_end_ = end;
    result.begin = name.at;
    result.end = end;
    return result;
}

ReadValue FormulaReader::read_call() {
    const Token name = token_;
    if (auto value = call_function(name)) return std::move(*value);
    if (auto value = call_group(name)) return std::move(*value);
    const OperatorInfo* function = find_function(name.text);
    if (name.text == "umin" || name.text == "umax") function = find_function(name.text.substr(1));
    if (function != nullptr) {
        advance();
        std::vector<ReadValue> arguments =
            read_arguments(function->most_arguments, function->name, function->usage);
        if (arguments.size() < function->fewest_arguments)
            throw error(last_end_ - 1, fmt::format("too few arguments for '{}'", function->name),
                        fmt::format("it is written {}", function->usage));
        return call_operator(*function, name, std::move(arguments));
    }
    if (auto value = call_shorthand(name)) return std::move(*value);
    if (auto value = call_memory(name)) return std::move(*value);
    if (const auto type = types_.find(name.text)) {  // size_t(i)
        advance();
        const std::size_t open = token_.at;
        advance();
        ReadValue value = cast(read_whole(), *type, open);
        expect_closing(open);
        value.begin = name.at;
        value.end = last_end_;
        return value;
    }
    if (name.text.starts_with("tex") || name.text.starts_with("surf"))
        throw error(name.at, "fetches through textures have no sectors that are known",
                    "write the load, a[i], and measure it with --path tex");
    advance();
    const std::vector<ReadValue> arguments = read_arguments(64, name.text, "f(a, b)");
    const UsageError unknown =
        error(name.at, fmt::format("unknown function '{}'", shown(name.text)),
              hint_for_function(name.text, arguments.size()));
    for (const ReadValue& argument : arguments)
        if (argument.is(Kind::pointer) && !argument.may_be_array)
            throw error(name.at,
                        fmt::format("what '{}' does with memory is not known", shown(name.text)),
                        "write out its accesses; `coalprof kernel` takes whole kernels");
    if (name.text == "__syncthreads" || name.text == "sync") forget_loads();
    if (name.text == "this_thread_block" || name.text == "sync") return group(name.at);
    ReadValue result = data(name.at, last_end_, unknown);
    if (!unknown_call_) unknown_call_ = result.why;
    if (name.text.starts_with("make_"))  // make_float4(x, y, z, w)
        result.type = types_.find(name.text.substr(5)).value_or(result.type);
    return result;
}

}  // namespace coalprof
