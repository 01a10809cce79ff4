// Reads a formula once from left to right: index expressions, each the access of an instruction,
// and assignments, whose accesses follow from their expression. Only for the files of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/formula/lexer.h"
#include "core/formula/value.h"

namespace coalprof {

class FormulaReader {
 public:
    FormulaReader(std::string_view text, const FormulaContext& context);
    ParsedFormula read();

 private:
    using Kind = ReadValue::Kind;

    // A part of the formula with a name, or a variable that takes data.
    struct NamedPart {
        std::string_view name;
        ReadValue value;
    };
    // A condition on what is being read: the first operand of && or ?:.
    struct Guard {
        NodeTree tree = {};
        std::shared_ptr<const UsageError> why = nullptr;  // it is not known
        std::size_t number = 0;
    };
    // An element that a thread has loaded or stored: it need not load it again until something
    // else is stored, as any array may overlap any other.
    struct KnownElement {
        std::string_view array;
        NodeTree index;
        std::vector<std::size_t> guards;  // their numbers
        ReadValue value;
    };
    // An access of the current statement.
    struct PendingAccess {
        FormulaAccess access;
        NodeTree index;
        NodeTree condition;
    };

    // ---- text ----
    UsageError error(std::size_t at, const std::string& sentence, const std::string& hint) const {
        return formula_error(text_, at, sentence, hint);
    }
    [[noreturn]] void fail_as_c(const Token& token) const;
    void advance() { token_ = next_token(text_, token_.end()); }
    void advance_past_operand() {
        last_end_ = token_.end();
        advance();
    }
    Token peek() const { return next_token(text_, token_.end()); }
    static std::string named(const Token& token);
    std::string_view text_between(std::size_t begin, std::size_t end) const;
    std::string_view text_of(TextSpan span) const { return text_between(span.begin, span.end); }
    bool is_word(std::string_view word) const {
        return token_.kind == TokenKind::name && token_.text == word;
    }
    void expect(std::string_view sign, const char* hint);

    // ---- statements (statements.cpp) ----
    void read_statement();
    void require_no_c() const;
    void read_instruction();
    FormulaAccess read_prefix();
    void read_named_part();
    void read_expression_statement();
    void read_assignment(ReadValue target);
    void read_index(const ReadValue& value);
    void read_condition();
    void finish_statement();
    FormulaAccess access_at(const ReadValue& value);
    void add_access(AccessKind kind, const ReadValue& element);
    void store(const ReadValue& element);
    NodeId condition_node(const NodeTree& condition);
    [[noreturn]] void fail_after_statement() const;
    void require_conditions_behind_if() const;

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
    ReadValue read_named_cast();
    ReadValue read_sizeof();
    ReadValue read_cast_of(const ValueType& type, std::size_t begin, ReadValue value);
    ReadValue value_of_name(const Token& name);
    ReadValue place_in_launch(const Token& name) const;
    bool at_type() const;
    ValueType read_type();
    void require_parentheses(const OperatorInfo& info, const Token& sign, const ReadValue& left,
                             const ReadValue& right) const;
    void expect_closing(std::size_t open);
    [[noreturn]] void fail_before_operand() const;
    std::string hint_for_two_operands() const;
    std::string hint_to_close(const std::string& at_the_end) const;
    std::string hint_at_end(const std::string& otherwise) const;

    // ---- calls (expressions.cpp) ----
    ReadValue read_call();
    std::vector<ReadValue> read_arguments(std::size_t most, std::string_view name,
                                          std::string_view usage);
    ReadValue call(const OperatorInfo& info, const Token& name,
                   const std::vector<ReadValue>& arguments);
    ReadValue call_clamp(const Token& name);

    // ---- elements (elements.cpp) ----
    ReadValue element(const ReadValue& array, ReadValue index, std::size_t at);
    ReadValue loaded(ReadValue value);
    ReadValue value_of_load(const ReadValue& element) const;
    const DeclaredArray* find_array(std::string_view name) const;
    bool is_fortran_array(std::string_view name) const;
    std::string access_of(const DeclaredArray& array, std::string_view index) const;
    void remember(const ReadValue& element, const ReadValue& value);
    Guard guard_of(const ReadValue& test, bool is_met) const;
    void push_guard(Guard guard);
    NodeTree condition() const;  // all guards

    // ---- names ----
    NamedPart* find_part(std::string_view name);
    bool is_known(std::string_view name) const;
    std::vector<std::string> own_names() const;

    std::string_view text_;
    const FormulaContext& context_;
    TreeMaker trees_;
    ParsedFormula formula_;
    std::vector<NamedPart> parts_;
    std::vector<Guard> guards_;
    std::vector<KnownElement> known_;
    std::vector<PendingAccess> pending_;
    Token token_;
    std::size_t last_end_ = 0;
    std::size_t nesting_ = 0;  // depth of expressions
    std::size_t guards_made_ = 0;
    std::size_t loads_read_ = 0;                      // loads read so far, repeated ones included
    std::shared_ptr<const UsageError> unknown_call_;  // the first
};

// The likely meaning of a sign that the language does not have, or that is out of place.
std::string hint_for_sign(std::string_view sign);

}  // namespace coalprof
