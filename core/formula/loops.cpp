// Loops of pasted C, executed round by round, and exits from them.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/formula/reader.h"
#include "core/runtime/signal.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

// True if every thread that fulfils `next` fulfilled `last`: i + 512 < n after i + 256 < n.
bool implies(const NodeTree& next, const NodeTree& last) {
    if (next.empty() || last.empty() || next.back().kind != last.back().kind) return false;
    const NodeKind kind = next.back().kind;
    const bool rises = kind == NodeKind::less || kind == NodeKind::less_equal;
    if (!rises && kind != NodeKind::greater && kind != NodeKind::greater_equal) return false;
    // left = base + number, where only the number differs
    std::int64_t added[2] = {0, 0};
    std::vector<std::pair<NodeKind, std::int64_t>> rest[2];
    for (int which = 0; which < 2; ++which) {
        const NodeTree& tree = which == 0 ? last : next;
        const NodeId left = tree.back().children[0];
        const bool has_number = tree[left].kind == NodeKind::add &&
                                tree[tree[left].children[1]].kind == NodeKind::literal;
        if (has_number) added[which] = tree[tree[left].children[1]].value;
        for (NodeId id = 0; id < tree.size(); ++id)
            if (!has_number || (id != left && id != tree[left].children[1]))
                rest[which].emplace_back(tree[id].kind, tree[id].value);
    }
    return rest[0] == rest[1] && (rises ? added[1] >= added[0] : added[1] <= added[0]);
}

}  // namespace

struct FormulaReader::Loop {
    std::size_t begin = 0;  // where its text begins
    std::size_t test_at = 0;
    std::size_t step_at = 0;       // 0: none
    bool begins_untested = false;  // do { } while ()
    std::size_t body_at = 0;
    std::size_t guards = 0;
    std::size_t exits = 0;
    std::size_t variables = 0;
    std::size_t below = 0;    // variables declared before it
    NodeTree last = {};       // of the last round
    NodeTree condition = {};  // for another round
    bool varies = false;      // threads make different numbers of rounds
};

void FormulaReader::read_for() {
    Loop loop;
    loop.begin = token_.at;
    loop.below = variables_below();
    advance();
    const std::size_t open = token_.at;
    if (!token_.is("("))
        throw error(open, "expected '(' after 'for'", "for (int k = 0; k < 16; ++k) a[i*16 + k];");
    loop.body_at = end_of_group(open);
    advance();
    if (!token_.is(";")) {
        if (begins_declaration()) {
            read_declaration();
        } else {
            do read_simple();
            while (take(","));
        }
    }
    expect(";", "for (int k = 0; k < 16; ++k) a[i*16 + k];");
    loop.test_at = token_.at;
    loop.step_at = find_in_group(loop.test_at, ";") + 1;
    const std::size_t below = loop.below;
    read_loop(std::move(loop));
    leave(below);
}

void FormulaReader::read_while() {
    Loop loop;
    loop.begin = token_.at;
    advance();
    const std::size_t open = token_.at;
    if (!token_.is("(")) throw error(open, "expected '(' after 'while'", "while (i < n) { ... }");
    loop.below = variables_below();
    loop.test_at = open + 1;
    loop.body_at = end_of_group(open);
    read_loop(std::move(loop));
}

void FormulaReader::read_do() {
    Loop loop;
    loop.begin = token_.at;
    advance();
    loop.body_at = token_.at;
    loop.begins_untested = true;
    loop.below = variables_below();
    if (!token_.is("{"))
        throw error(token_.at, "expected '{' after 'do'", "do { ... } while (i < n);");
    seek(end_of_group(token_.at));
    const std::size_t open = peek().at;
    if (!is_word("while") || !peek().is("("))
        throw error(token_.at, "expected 'while'", "do { ... } while (i < n);");
    loop.test_at = open + 1;
    read_loop(std::move(loop));
    seek(open + 1);
    ++dead_;  // its last test
    read_whole();
    --dead_;
    expect_closing(open);
}

void FormulaReader::read_loop(Loop loop) {
    has_loops_ = true;
    formula_.is_settled = false;
    loop.guards = guards_.size();
    loop.exits = exits_.size();
    loop.variables = variables_below();
    open_loops_.push_back({loop.guards});
    ++loops_;
    const std::size_t before = numbers_;
    while (read_round(loop)) {
    }
    guards_.resize(loop.guards);
    // Registers do not hold the values that the rounds have loaded one after the other.
    if (!is_unrolled(loop))
        std::erase_if(loads_, [&](const KnownLoad& known) {
            return known.number > before && !known.is_copy;
        });
    ++dead_;  // the text after it is found by reading the body once more
    seek(loop.body_at);
    read_statement();
    --dead_;
    leave(loop.variables);
    end_loop(loop.exits);
    if (!loop.varies) return;
    for (ReadVariable& variable : variables_)
        if (variable.assigned_at > before && variable.value.is(Kind::number))
            variable.value =
                data(loop.begin, loop.begin,
                     error(loop.begin,
                           fmt::format("the value of '{}' after the loop depends on the "
                                       "thread",
                                       shown(variable.name)),
                           "measure the rest in a separate formula"));
}

// True if compilers know its number of rounds: the test names only what the loop declares.
bool FormulaReader::is_unrolled(const Loop& loop) const {
    const std::size_t end = find_in_group(loop.test_at, loop.step_at != 0 ? ";" : ")");
    for (Token token = next_token(text_, loop.test_at); token.at < end;
         token = next_token(text_, token.end()))
        if (token.kind == TokenKind::name &&
            std::none_of(variables_.begin() + static_cast<std::ptrdiff_t>(loop.below + implied_),
                         variables_.end(),
                         [&](const ReadVariable& own) { return own.name == token.text; }))
            return false;
    return true;
}

// False: no thread executes it.
bool FormulaReader::read_round(Loop& loop) {
    stop_if_asked();
    guards_.resize(loop.guards);
    apply_exits(loop.exits);
    if (is_dead()) return false;
    seek(loop.test_at);
    if (!std::exchange(loop.begins_untested, false) && !token_.is(";") && !token_.is(")")) {
        const ReadValue test = loaded(read_whole());
        if (!test.is(Kind::number))
            throw error(test.begin, "how many rounds the loop makes is not known",
                        test.why ? std::string(test.why->what()) +
                                       "; say what it holds with --array, or its number with --var"
                                 : "its condition is a pointer");
        const Truth truth = decided(whole(test));
        if (truth == Truth::never) return false;
        if (truth == Truth::sometimes) guard_round(loop, test);
    }
    if (++rounds_ > max_rounds)
        throw error(loop.begin, fmt::format("the loops make more than {} rounds", max_rounds),
                    "fewer show the same, e.g. --var K=64; `coalprof kernel` takes whole kernels");
    seek(loop.body_at);
    read_statement();
    leave(loop.variables);
    std::erase_if(exits_, [&](const ReadExit& exit) {
        return exit.of == ReadExit::Of::round && exit.loop == loops_;
    });
    guards_.resize(loop.guards);
    if (loop.step_at != 0 && (seek(loop.step_at), !token_.is(")"))) {
        do read_simple();
        while (take(","));
    }
    return launch_.scope != nullptr;
}

void FormulaReader::guard_round(Loop& loop, const ReadValue& test) {
    NodeTree tree = whole(test);
    loop.varies = true;
    loop.condition = implies(tree, loop.last) ? tree : both(loop.condition, tree);
    loop.last = std::move(tree);
    ReadGuard guard;
    guard.tree = loop.condition;
    guard.is_of_loop = true;
    push_guard(std::move(guard));
}

// Threads enter at their label and go on until they leave: exits track those that have entered, as
// in a loop of one round.
void FormulaReader::read_switch() {
    advance();
    const std::size_t open = token_.at;
    expect("(", "switch (mode) { case 0: a[i]; break; default: b[i]; }");
    const ReadValue test = loaded(read_whole());
    expect_closing(open);
    expect("{", "switch (mode) { case 0: a[i]; break; default: b[i]; }");
    const std::size_t guards = guards_.size();
    const std::size_t exits = exits_.size();
    open_loops_.push_back({guards, true});
    ++loops_;
    NodeTree inside = leaf(NodeKind::literal, 0, open, open);
    bool has_default = false;
    while (token_.kind != TokenKind::end && !token_.is("}")) {
        if (!is_word("case") && !is_word("default")) {
            read_statement();
            continue;
        }
        if (has_default)
            throw error(token_.at, "a case follows 'default'", "let 'default' be the last");
        const std::size_t at = token_.at;
        has_default = is_word("default");
        advance();
        NodeTree label = leaf(NodeKind::literal, 1, at, at);
        if (!has_default) {
            const NodeTree value = whole(loaded(read_whole()));
            const NodeTree tested = whole(test);
            label = combined(NodeKind::equal, at, at, last_end_, {&tested, &value});
        }
        expect(":", "a label is written case 0:");
        inside = combined(NodeKind::logical_or, at, at, last_end_, {&inside, &label});
        guards_.resize(guards);
        apply_exits(exits);
        ReadGuard guard;
        guard.tree = inside;
        push_guard(std::move(guard));
    }
    expect("}", "every '{' needs its '}'");
    guards_.resize(guards);
    end_loop(exits);
}

// Threads that have left it continue after it, unless they have left the kernel.
void FormulaReader::end_loop(std::size_t exits) {
    std::erase_if(exits_, [&](const ReadExit& exit) {
        return exit.of != ReadExit::Of::function && exit.loop == loops_;
    });
    --loops_;
    open_loops_.pop_back();
    apply_exits(exits);
}

void FormulaReader::read_exit(ReadExit::Of of) {
    const Token word = token_;
    advance();
    if (of == ReadExit::Of::function && !token_.is(";") && token_.kind != TokenKind::end)
        loaded(read_whole());
    const bool is_return = of == ReadExit::Of::function;
    std::size_t loop = loops_;
    while (of == ReadExit::Of::round && loop > 0 && open_loops_[loop - 1].is_switch) --loop;
    if (!is_return && loop == 0)
        throw error(word.at, fmt::format("'{}' stands in no loop", word.text), "remove it");
    const std::size_t from = is_return ? 0 : open_loops_[loop - 1].guards;
    if (!is_dead()) {
        ReadExit exit{of, loop, {}};
        // The exits of other threads do not matter: those threads are gone.
        const Guards which = is_return ? Guards::of_loops_too : Guards::of_ifs;
        exit.condition.tree = condition_from(from, which);
        exit.condition.why = doubt_from(from, which);
        exits_.push_back(std::move(exit));
    }
    ReadGuard nobody;
    nobody.tree = leaf(NodeKind::literal, 0, word.at, word.end());
    push_guard(std::move(nobody));
}

}  // namespace coalprof
