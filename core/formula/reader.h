// Reads a formula: index expressions and instructions, or C as it stands in a kernel. It goes
// through the text once and executes it as far as possible: variables hold trees, loops are
// executed round by round, conditions guard the accesses under them. Only for the files of this
// folder.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/formula/c_types.h"
#include "core/formula/lexer.h"
#include "core/formula/operators.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"
#include "core/text/error.h"

namespace coalprof {

// Children before parents, the root last; numbered from 0.
using NodeTree = std::vector<Node>;

// C's arithmetic on a whole number: in 64 bits, as 32 unsigned bits that wrap around, or as its
// author left open.
enum class Arithmetic : std::uint8_t { plain, word, wide };

struct ReadValue {
    enum class Kind : std::uint8_t {
        number,   // tree
        data,     // unknown: an element of an array, a fraction
        pointer,  // into `array`, or perhaps: an undeclared name
        place,    // the target of a pointer, not read yet
    };
    Kind kind = Kind::data;
    std::size_t begin = 0;  // its text
    std::size_t end = 0;

    NodeTree tree = {};          // of a place or a pointer: units from the array's start; empty: 0
    bool is_comparison = false;  // not in parentheses
    std::size_t sign_at = 0;     // of its operator
    Arithmetic arithmetic = Arithmetic::plain;
    bool wraps = false;  // the tree's low 32 bits are meant

    std::shared_ptr<const UsageError> why = nullptr;  // thrown where a number is needed
    bool may_be_array = false;                        // undeclared

    std::string_view array = {};
    CTypeId type = CTypes::usual;  // of the place, of the pointer's target, of data if known
    std::uint64_t unit_bytes = 0;  // 0: an element of an undeclared array
    std::size_t index_begin = 0;   // the text in the brackets, if there is one pair
    std::size_t index_end = 0;

    std::optional<std::size_t> atomic = std::nullopt;  // the access whose result it is
    bool is_group = false;                             // a group of threads: the block, or
    std::shared_ptr<const NodeTree> tile = nullptr;    // a tile with that many values
    bool is_copy = false;    // a structure in a variable: stores to it stay there
    std::uint16_t part = 0;  // of a structure that is moved in parts

    bool is(Kind wanted) const { return kind == wanted; }
};

struct ReadVariable {
    std::string_view name;
    ReadValue value;
    CTypeId type = CTypes::none;  // none: as its value is
    std::size_t guards = 0;       // open at its declaration
    std::size_t assigned_at = 0;  // counts assignments
};

struct ReadArray {
    std::string_view name;
    CTypeId type = CTypes::usual;
    Space space = Space::global;
    bool is_local = false;  // in registers: no traffic
    const DeclaredArray* declared = nullptr;
    bool is_restrict = false;  // stores to other arrays do not change it
};

// A condition on the statements being read.
struct ReadGuard {
    NodeTree tree = {};
    std::shared_ptr<const UsageError> why = nullptr;  // it is not known
    bool is_of_loop = false;
    bool is_of_exit = false;  // the others have left
    std::size_t number = 0;
};

// An exit of threads: the condition under which they leave, from the beginning on.
struct ReadExit {
    enum class Of : std::uint8_t { function, loop, round } of = Of::function;
    std::size_t loop = 0;  // number of loops around it
    ReadGuard condition;
};

// A value that a thread has loaded or stored, and need not load while nothing else is stored there.
struct KnownLoad {
    std::string_view array;
    NodeTree index;
    CTypeId type = 0;
    std::vector<std::size_t> guards;
    ReadValue value;
    bool is_copy = false;
    std::size_t number = 0;
};

// A function that only returns an expression of its parameters: T f(int x, int y) { return y*8 + x;
// }
struct ReadFunction {
    std::string_view name;
    std::vector<std::string_view> parameters;
    std::size_t result_at = 0;  // where the expression begins
};

// Facts about the launch; without a scope loops are read once.
struct ReadLaunch {
    const Scope* scope = nullptr;
    ElementType type = ElementType::f32;
};

class FormulaReader {
 public:
    FormulaReader(std::string_view text, const FormulaContext& context, const ReadLaunch& launch);
    ParsedFormula read();

 private:
    using Kind = ReadValue::Kind;
    static constexpr int least_power_of_sum = 9;  // least power of operators within < >

    // ---- text ----
    std::string_view text() const { return text_; }
    UsageError error(std::size_t at, const std::string& sentence, const std::string& hint) const;
    void advance() { token_ = next_token(text_, token_.end()); }
    void advance_past_operand() {
        last_end_ = token_.end();
        advance();
    }
    void seek(std::size_t at) { token_ = next_token(text_, at); }
    Token peek() const { return next_token(text_, token_.end()); }
    static std::string named(const Token& token);
    std::string_view text_between(std::size_t begin, std::size_t end) const;
    bool is_word(std::string_view word) const {
        return token_.kind == TokenKind::name && token_.text == word;
    }
    bool take(std::string_view sign);
    void expect(std::string_view sign, const char* hint);
    std::size_t end_of_group(std::size_t open) const;  // after its closing sign
    std::size_t find_in_group(std::size_t from, std::string_view sign) const;

    // ---- statements (statements.cpp) ----
    void read_statements(std::string_view end);
    void read_statement();
    bool read_control();
    bool begins_structure() const;
    void read_if();
    void read_for();
    void read_while();
    void read_do();
    void read_switch();
    void end_loop(std::size_t exits);
    void read_template();
    void read_using();
    struct Loop;
    void read_loop(Loop loop);
    bool read_round(Loop& loop);
    bool is_unrolled(const Loop& loop) const;
    void guard_round(Loop& loop, const ReadValue& test);
    void read_exit(ReadExit::Of of);
    void read_simple();
    void read_assignment(ReadValue target);
    void assign_name(const Token& name, const Token& sign, ReadValue value);
    void read_assigned_name();
    void define(const Token& name, ReadValue value);
    void read_access();
    void finish_expression(ReadValue value, std::size_t touched);
    void read_statement_end();
    std::size_t variables_below() const { return variables_.size() - implied_; }
    void leave(std::size_t below) { variables_.resize(below + implied_); }
    void read_instruction();
    FormulaAccess read_prefix();
    void read_end_of_access(FormulaAccess access, const NodeTree& index);
    [[noreturn]] void fail_after_statement();
    void require_conditions_behind_if() const;

    // ---- declarations (declarations.cpp) ----
    struct TypeWords {
        CTypeId type = CTypes::none;
        Space space = Space::global;
        bool is_auto = false;
        bool is_constant = false;  // in constant memory
        bool is_device = false;    // a function that kernels call
    };
    bool begins_declaration() const;
    void read_declaration();
    void read_declarator(const TypeWords& words);
    void read_parameters();
    void read_function(std::string_view name);
    void read_structure(bool is_typedef);
    std::vector<CMember> read_members();
    void read_initializer(const ReadVariable& variable);
    TypeWords read_type_words();
    CTypeId read_stars(CTypeId type);
    CTypeId read_type() { return read_stars(read_type_words().type); }
    CTypeId read_extents(CTypeId element);
    std::int64_t constant(const ReadValue& value) const;
    void declare_arrays(const std::vector<DeclaredArray>& arrays);
    void declare_array(std::string_view name, CTypeId type, Space space);

    // ---- expressions (expressions.cpp) ----
    ReadValue read_expression(int least_power);
    ReadValue read_whole() { return read_expression(0); }
    ReadValue read_right_of(const OperatorInfo& info, const ReadValue& left);
    ReadValue read_conditional(const ReadValue& test);
    ReadValue read_operand();
    ReadValue read_unary();
    ReadValue read_primary();
    ReadValue read_postfix(ReadValue value);
    ReadValue read_parentheses();
    ReadValue read_name();
    ReadValue value_of_name(const Token& name);
    ReadValue read_named_cast();
    ReadValue read_sizeof();
    bool at_cast() const;
    void require_parentheses(const OperatorInfo& info, const Token& sign, const ReadValue& left,
                             const ReadValue& right) const;
    [[noreturn]] void fail_before_operand() const;
    std::string hint_for_two_operands() const;
    std::string hint_to_close(const std::string& at_the_end) const;
    void expect_closing(std::size_t open);

    // ---- calls (calls.cpp) ----
    ReadValue read_call();
    std::vector<ReadValue> read_arguments(std::size_t most, std::string_view name,
                                          std::string_view usage);
    ReadValue call_operator(const OperatorInfo& info, const Token& name,
                            std::vector<ReadValue> arguments);
    std::optional<ReadValue> call_memory(const Token& name);
    std::optional<ReadValue> call_function(const Token& name);
    std::optional<ReadValue> call_shorthand(const Token& name);

    // ---- groups of threads (groups.cpp) ----
    ReadValue group(std::size_t begin) const;
    ReadValue read_tile();
    std::optional<ReadValue> call_group(const Token& name);
    void skip_template_arguments();

    // ---- places (places.cpp) ----
    ReadValue element(ReadValue pointer, ReadValue index, std::size_t at);
    ReadValue pointee(const ReadValue& pointer, std::size_t at);
    ReadValue moved(ReadValue pointer, const ReadValue& by, NodeKind kind, std::size_t at);
    ReadValue member(ReadValue place, const Token& name);
    ReadValue part_at(ReadValue place, std::uint64_t offset_bytes, CTypeId type) const;
    std::vector<ReadValue> parts_of(const ReadValue& place) const;
    void settle(ReadValue& place, CTypeId type);
    ReadValue taken(ReadValue value, CTypeId type, std::string_view name);
    ReadValue cast(ReadValue value, CTypeId type, std::size_t at);
    ReadValue loaded(ReadValue value);
    ReadValue value_of_load(const ReadValue& place, const NodeTree& index);
    void require_address(const ReadValue& pointer, std::size_t at) const;
    std::size_t add_access(AccessKind kind, const ReadValue& place,
                           std::optional<ElementType> type = std::nullopt);
    FormulaAccess access_at(const ReadValue& value) const;
    void store(const ReadValue& place);
    bool may_alias(std::string_view a, std::string_view b) const;
    void remember(const ReadValue& place, ReadValue value);
    void forget_loads() {
        std::erase_if(loads_, [](auto& known) { return !known.is_copy; });
    }
    void finish_access(FormulaAccess access, const NodeTree& index, NodeTree condition);
    NodeTree index_of(const ReadValue& place) const;
    std::optional<ElementType> type_of(const ReadValue& place) const;
    const ReadArray* find_array(std::string_view name) const;
    std::uint64_t unit_of(const ReadValue& value) const;
    ReadValue data(std::size_t begin, std::size_t end, const UsageError& why) const;

    // ---- guards ----
    ReadGuard guard_of(const ReadValue& test, bool is_met) const;
    void push_guard(ReadGuard guard);
    void apply_exits(std::size_t from);
    bool is_dead() const;
    enum class Guards : std::uint8_t { all, of_loops_too, of_ifs };  // only `all` includes exits
    bool counts(const ReadGuard& guard, Guards which) const;
    NodeTree condition_from(std::size_t guard, Guards which) const;
    std::shared_ptr<const UsageError> doubt_from(std::size_t guard, Guards which) const;
    Truth decided(const NodeTree& test) const;

    // ---- variables ----
    ReadVariable* find_variable_of_text(std::string_view name);
    const ReadVariable* find_variable_of_text(std::string_view name) const {
        return const_cast<FormulaReader*>(this)->find_variable_of_text(name);
    }
    void declare(std::string_view name, ReadValue value, CTypeId type);
    void declare_first(std::string_view name, ReadValue value);
    void assign(ReadVariable& variable, ReadValue value);
    ReadValue converted(ReadValue value, CTypeId type) const;
    bool is_known(std::string_view name) const;
    std::vector<std::string> own_names() const;

    // ---- trees (values.cpp) ----
    NodeTree leaf(NodeKind kind, std::int64_t value, std::size_t begin, std::size_t end) const;
    NodeTree combined(NodeKind kind, std::size_t at, std::size_t begin, std::size_t end,
                      std::initializer_list<const NodeTree*> children,
                      std::int64_t value = 0) const;
    NodeTree with_number(NodeKind kind, NodeTree tree, std::int64_t number) const;
    NodeTree negated(const NodeTree& tree) const;
    NodeTree both(const NodeTree& a, const NodeTree& b) const;
    NodeTree masked(const NodeTree& tree, std::uint32_t bits) const;
    std::optional<NodeTree> exact_quotient(const NodeTree& tree, std::int64_t divisor) const;
    NodeTree scaled(NodeTree tree, std::uint64_t from_bytes, std::uint64_t to_bytes) const;
    ReadValue number(NodeTree tree, std::size_t begin, std::size_t end) const;
    ReadValue binary(const OperatorInfo& info, std::size_t at, ReadValue left, ReadValue right);
    std::optional<ReadValue> compared(const OperatorInfo& info, std::size_t at,
                                      const ReadValue& left, const ReadValue& right) const;
    ReadValue arithmetic(const OperatorInfo& info, std::size_t at, const ReadValue& left,
                         const ReadValue& right) const;
    NodeTree whole(const ReadValue& value) const;  // throws its `why`
    NodeId append(const NodeTree& tree);
    NodeId condition_node(const NodeTree& condition);

    std::string code_;  // without macros
    std::string_view text_;
    const FormulaContext& context_;
    ReadLaunch launch_;
    ParsedFormula formula_;
    CTypes types_;
    std::vector<ReadArray> arrays_;
    std::vector<ReadVariable> variables_;
    std::vector<ReadGuard> guards_;
    std::vector<ReadExit> exits_;
    std::vector<KnownLoad> loads_;
    std::vector<ReadFunction> functions_;
    Token token_;
    std::size_t last_end_ = 0;
    std::size_t nesting_ = 0;  // of expressions
    std::size_t blocks_ = 0;   // of statements
    std::size_t loops_ = 0;    // around the current text
    std::size_t rounds_ = 0;   // of all loops
    std::size_t dead_ = 0;     // the current text is not executed
    std::size_t numbers_ = 0;
    mutable std::uint64_t walked_warps_ = 0;  // to decide whether a round has threads
    std::size_t implied_ = 0;                 // undeclared variables
    std::size_t touched_ = 0;                 // loads that were read, with repeated ones
    struct Left {
        std::size_t guards = 0;  // that are open at its beginning
        bool is_switch = false;  // `continue` leaves it, too
    };
    std::vector<Left> open_loops_;  // the first loops_ are open
    bool has_loops_ = false;
    bool ended_function_ = false;                     // no ';' follows its '}'
    bool saw_restrict_ = false;                       // among the last declarator's stars
    std::shared_ptr<const UsageError> unknown_call_;  // the first
};

// The likely meaning of a sign that the language does not have, or that is out of place.
std::string hint_for_sign(std::string_view sign);

}  // namespace coalprof
