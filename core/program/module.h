// A PTX module, read for execution: its kernels and functions with their parameters, variables and
// statements. core/program/code.h gives statements their meaning.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/debug_names.h"
#include "core/program/site.h"

namespace coalprof {

// The state spaces of PTX that variables and accesses can be in; generic: the address decides.
enum class PtxState : std::uint8_t { generic, global, shared, local, constant, param };

struct PtxVariable {
    std::string name;
    PtxState state = PtxState::global;
    std::uint32_t align_bytes = 1;
    std::uint64_t size_bytes = 0;             // 0: "extern .shared", sized by the launch
    std::vector<std::uint8_t> contents = {};  // the initialised part
};

struct PtxParameter {
    std::string name;  // "_Z4copyPKf_param_0"
    std::string type;  // "u64"; "b8" for structures
    std::uint32_t size_bytes = 0;
    bool is_pointer = false;      // it says so itself
    SourceParameter source = {};  // names and types as far as they are known
};

// A source line by the number of its file, to save memory: programs have millions of statements.
struct PtxPlace {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
};

struct PtxStatement {
    std::string_view text;    // text from the guard or opcode up to the semicolon
    std::uint32_t scope = 0;  // scope whose registers and labels it sees, with the scopes around it
    PtxPlace source = {};
    PtxPlace inlined_at = {};
};

struct PtxLabel {
    std::string name;
    std::uint32_t scope = 0;
    std::size_t statement = 0;           // the one after it
    std::vector<std::string> targets{};  // names after a label's ".branchtargets"
};

struct PtxRegister {
    std::string name;         // its name; the prefix of a range "%r<15>"
    std::uint32_t bits = 32;  // 1: a predicate
    std::uint32_t count = 0;  // 0: a single one
};

struct PtxScope {
    std::uint32_t parent = 0;  // scope around it; scope 0 has itself
    std::vector<PtxRegister> registers = {};
    std::vector<PtxVariable> variables = {};  // .shared, .local and .param ones
};

struct PtxFunction {
    std::string name;  // mangled
    bool is_entry = false;
    bool has_body = false;
    std::uint32_t most_threads = 0;  // a block's limit; 0: not given
    // The only block that it runs with, ".reqntid"; zeros: any.
    std::array<std::uint32_t, 3> required_block{};
    bool has_clusters = false;      // its clusters have several blocks
    bool limits_registers = false;  // it limits registers, by their number or that of threads
    std::vector<PtxParameter> parameters = {};
    std::vector<PtxParameter> returns = {};
    std::size_t body_at = 0;  // place in the text after its brace
};

// The content of a function's braces.
struct PtxBody {
    std::vector<PtxScope> scopes;
    std::vector<PtxStatement> statements;
    std::vector<PtxLabel> labels;
};

// Views into the text that it was read from, which it does not own. Files have 100 MB and 50,000
// kernels, of which one is wanted: bodies are read on demand.
struct PtxModule {
    std::string_view text;
    std::string source;  // name of the source in errors
    std::vector<PtxFunction> functions;
    std::vector<PtxVariable> variables;  // variables of the module
    std::vector<PtxRegister> registers;  // declared for all functions
    std::string_view version;            // "8.0"
    std::uint32_t architecture = 0;      // number in ".target sm_90": 90
    std::size_t address_size_at = 0;     // place behind the line of ".address_size"; 0: it has none
    std::map<std::uint32_t, std::string> files;
    std::set<std::uint32_t> files_of_toolkit;
    // Index in `functions`, of the one with a body if there is one; index in `variables`.
    std::map<std::string, std::size_t, std::less<>> function_numbers;
    std::map<std::string, std::size_t, std::less<>> variable_numbers;
    SourceLine line_at(const PtxPlace& place) const;
    const PtxFunction* find(std::string_view name) const;
    std::vector<const PtxFunction*> kernels() const;
};

// Gives functions the names that `debug`, of the same source, has for their parameters.
void take_source_names(PtxModule& module, std::string_view debug);

// Parameters have names and types of the source where the text has debug information. Throws
// UsageError, naming `source` and the line of PTX, for incomplete text or other text than
// PTX.
PtxModule read_module(std::string_view text, const std::string& source);
// Throws UsageError, likewise.
PtxBody read_body(const PtxModule& module, const PtxFunction& function);

// The bytes of a type, "f32" 4, "pred" 0; nothing if it is unknown.
std::optional<std::uint32_t> bytes_of_type(std::string_view type);

}  // namespace coalprof
