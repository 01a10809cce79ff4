#include "core/formula/emit.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/formula/operators.h"

namespace coalprof {
namespace {

std::string literal(std::int64_t value) {
    // C++ has no negative literals, so the lowest number is written as a difference.
    if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
    return value < 0 ? fmt::format("({}ll)", value) : fmt::format("{}ll", value);
}

// One statement a node, in the order of the nodes; operands that a lazy operator may leave out are
// in the braces of an `if`. No nesting of parentheses: the compiler sees flat text, whatever the
// tree.
class FunctorWriter {
 public:
    FunctorWriter(const std::vector<Node>& nodes, const Scope& scope)
        : nodes_(nodes), scope_(scope), parent_(nodes.size(), no_parent) {
        for (std::size_t id = 0; id < nodes.size(); ++id)
            for (std::size_t k = 0; k < child_count(nodes[id].kind); ++k)
                parent_[nodes[id].children[k]] = static_cast<NodeId>(id);
    }

    std::string write(const FormulaAccess& access, const std::string& type_name) {
        line("struct {} {{", type_name);
        ++indent_;
        // Not constexpr: expressions that no thread evaluates may divide by 0, which compilers
        // refuse there.
        line("Index operator()(Index thread) const {{");
        ++indent_;
        if (access.condition) {
            write_subtree(*access.condition);
            line("if (v{} == 0) return idle_lane;", *access.condition);
        }
        write_subtree(access.index);
        line("return static_cast<Index>(v{});", access.index);
        --indent_;
        line("}}");
        --indent_;
        line("}};");
        return std::move(out_);
    }

 private:
    static constexpr NodeId no_parent = ~NodeId{0};

    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        out_.append(indent_ * 4, ' ');
        out_ += fmt::format(format, std::forward<Arguments>(arguments)...);
        out_ += '\n';
    }

    void write_subtree(NodeId root) {
        for (NodeId id = nodes_[root].first; id <= root; ++id) {
            if (!is_lazy(nodes_[id].kind)) write_value(id);
            if (id != root) write_around(id);
        }
    }

    // Opens and closes the braces of the lazy operator that has the node as an operand.
    void write_around(NodeId id) {
        const NodeId parent = parent_[id];
        const Node& node = nodes_[parent];
        if (!is_lazy(node.kind)) return;
        const bool is_conditional = node.kind == NodeKind::conditional;
        const bool is_or = node.kind == NodeKind::logical_or;
        if (id == node.children[0]) {
            line("long long v{} = {};", parent, is_or ? 1 : 0);
            line("if (v{} {} 0) {{", id, is_or ? "==" : "!=");
            ++indent_;
            return;
        }
        line("v{} = v{}{};", parent, id, is_conditional ? "" : " != 0");
        --indent_;
        if (is_conditional && id == node.children[1]) {
            line("}} else {{");
            ++indent_;
        } else {
            line("}}");
        }
    }

    void write_value(NodeId id) { line("const long long v{} = {};", id, expression(nodes_[id])); }

    std::string expression(const Node& node) const {
        switch (node.kind) {
            case NodeKind::literal:
                return literal(node.value);
            case NodeKind::parameter:
                return literal(scope_.values[static_cast<std::size_t>(node.value)]);
            case NodeKind::variable:
                return variable(static_cast<Variable>(node.value));
            default:
                return operation(node);
        }
    }

    static std::string operation(const Node& node) {
        const auto operand = [&](std::size_t k) { return fmt::format("v{}", node.children[k]); };
        // For display only: kernels have no tables, so such formulas are predicted only.
        if (node.kind == NodeKind::lookup)
            return fmt::format("table{}[{}]", node.value, operand(0));
        const OperatorInfo& info =
            *std::ranges::find(operator_table, node.kind, &OperatorInfo::kind);
        if (!info.source.empty())
            return fmt::format(fmt::runtime(info.source), operand(0), operand(1), operand(2));
        if (child_count(node.kind) == 1) return fmt::format("{}{}", info.name, operand(0));
        return fmt::format("{} {} {}", operand(0), info.name, operand(1));
    }

    // Unsigned arithmetic on numbers known here: the compiler turns it into shifts and masks, or
    // multiplications, as it does for a block size known at compile time.
    std::string variable(Variable variable) const {
        using Counter = VariablePart::Counter;
        const VariablePart part = part_of(variable, scope_);
        if (part.counter == Counter::none) return literal(static_cast<std::int64_t>(part.number));
        std::string value = "thread";
        const auto then = [&](char sign, std::uint64_t number) {
            value += fmt::format(" {} {}ull", sign, number);
        };
        if (part.counter == Counter::thread_in_block) then('%', scope_.block);
        if (part.counter == Counter::block) then('/', scope_.block);
        if (part.divisor != 1) then('/', part.divisor);
        if (part.modulus) then('%', *part.modulus);
        return fmt::format("static_cast<long long>({})", value);
    }

    const std::vector<Node>& nodes_;
    const Scope& scope_;
    std::vector<NodeId> parent_;
    std::string out_;
    std::size_t indent_ = 0;
};

}  // namespace

std::string emit_functor(const ParsedFormula& formula, const FormulaAccess& access,
                         const Scope& scope, const std::string& type_name) {
    return FunctorWriter(formula.nodes, scope).write(access, type_name);
}

}  // namespace coalprof
