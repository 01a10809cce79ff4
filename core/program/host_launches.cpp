#include "core/program/host_launches.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/text/number.h"

namespace coalprof {
namespace {

using Node = nlohmann::json;
using HostValue = HostTriple;  // one number is the first of three
// The key is the identity of the declaration.
using Variables = std::map<std::string, HostValue>;

constexpr int deepest_host_code = 200;  // depth of expressions and of calls
constexpr std::uint32_t most_host_steps = 1u << 18;
constexpr double most_whole = 9007199254740992;  // 2^53: up to it a double counts in ones

std::string text_of(const Node& node, const char* key) {
    const auto found = node.find(key);
    return found != node.end() && found->is_string() ? found->get<std::string>() : std::string();
}
std::string kind_of(const Node& node) { return text_of(node, "kind"); }
const Node& part_of(const Node& node, const char* key) {
    static const Node none = Node::object();
    const auto found = node.find(key);
    return found != node.end() ? *found : none;
}
std::string type_of(const Node& node, const char* key = "type") {
    const std::string plain = text_of(part_of(node, key), "desugaredQualType");
    return plain.empty() ? text_of(part_of(node, key), "qualType") : plain;
}
const Node& children(const Node& node) { return part_of(node, "inner"); }
const Node& child(const Node& node, std::size_t at) {
    const Node& all = children(node);
    return all.is_array() && at < all.size() ? all[at] : part_of(node, "");
}
bool has_part(const Node& node, const char* kind) {
    return std::ranges::any_of(children(node),
                               [&](const Node& part) { return kind_of(part) == kind; });
}

// "_Z20__device_stub__scalePf" of the host is "_Z5scalePf" of the device.
std::string device_symbol(std::string symbol) {
    constexpr std::string_view stub = "__device_stub__";
    const std::size_t at = symbol.find(stub);
    if (at == symbol.npos) return symbol;
    std::size_t digits = at, length = 0;
    while (digits > 0 && is_digit(symbol[digits - 1])) --digits;
    std::from_chars(symbol.data() + digits, symbol.data() + at, length);
    return symbol.substr(0, digits) +
           (digits == at ? std::string() : std::to_string(length - stub.size())) +
           symbol.substr(at + stub.size());
}

// 0: it is not known.
double bytes_of_host_type(std::string type) {
    if (type.ends_with('*')) return 8;
    if (const std::size_t bracket = type.find('['); bracket != type.npos && type.ends_with(']')) {
        double count = 0;
        std::from_chars(type.data() + bracket + 1, type.data() + type.size(), count);
        return count * bytes_of_host_type(type.substr(0, bracket));
    }
    for (const std::string_view word : {"const ", "unsigned ", "signed "})
        if (type.starts_with(word)) type.erase(0, word.size());
    const bool is_vector = type.size() > 3 && type.back() >= '2' && type.back() <= '4';
    const double lanes = is_vector ? type.back() - '0' : 1;
    if (is_vector) type.pop_back();
    for (const auto& [names, bytes] : {std::pair{" char uchar bool ", 1},
                                       {" short ushort __half half __nv_bfloat16 ", 2},
                                       {" int uint float unsigned ", 4},
                                       {" long ulong long long longlong ulonglong double ", 8}})
        if (std::string_view(names).find(' ' + type + ' ') != std::string_view::npos)
            return bytes * lanes;
    return 0;
}

bool is_real(const std::string& type) {
    return type.find("float") != type.npos || type.find("double") != type.npos;
}

// The value that a variable of this type holds.
HostValue as_type(HostValue one, const std::string& type) {
    if (!is_real(type) && bytes_of_host_type(type) > 0 && one[0]) one[0] = std::trunc(*one[0]);
    return one;
}

HostNumber of_numbers(const std::string& sign, double a, double b, bool are_whole) {
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (sign == "/" && b != 0) return are_whole ? std::trunc(a / b) : a / b;
    for (const auto& [name, holds] : {std::pair{"<", a < b},
                                      {">", a > b},
                                      {"<=", a <= b},
                                      {">=", a >= b},
                                      {"==", a == b},
                                      {"!=", a != b},
                                      {"&&", a != 0 && b != 0},
                                      {"||", a != 0 || b != 0}})
        if (sign == name) return holds;
    if (!are_whole || std::abs(a) > most_whole || std::abs(b) > most_whole) return {};
    const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
    if (sign == "%" && y != 0) return static_cast<double>(x % y);
    if (sign == "<<" && y >= 0 && y < 53) return std::ldexp(a, static_cast<int>(y));
    if (sign == ">>" && y >= 0 && y < 53) return static_cast<double>(x >> y);
    if (sign == "&") return static_cast<double>(x & y);
    if (sign == "|") return static_cast<double>(x | y);
    return sign == "^" ? HostNumber(static_cast<double>(x ^ y)) : HostNumber();
}

class HostProgram {
 public:
    HostProgram(std::string_view tree, std::string_view toolkit) {
        read(tree, toolkit);
        if (const auto main = functions_.find(main_); main != functions_.end()) {
            call(*main->second, {HostValue{1}});  // argc
            // It may ask for arguments.
            if (std::exchange(has_exited_, false) || launches_.empty()) call(*main->second, {});
            // Then kernels that other arguments would choose, with the same numbers.
            explores_ = true;
            met_ = launches_.size();
            steps_ = 0;
            call(*main->second, {HostValue{1}});
            explores_ = has_exited_ = false;
        }
        for (const auto& [id, function] : functions_)  // those that other files call
            if (!entered_.contains(function)) call(*function, {});
    }
    std::vector<HostLaunch> take() { return std::move(launches_); }

 private:
    // ---- what clang prints

    // Files of declarations are printed where they change. Those of CUDA's headers, most of the
    // text, are dropped before they become a tree.
    void read(std::string_view tree, std::string_view toolkit) {
        constexpr std::string_view begin = "\n    {\n", file_mark = "\"file\": \"";
        std::string file;
        for (std::size_t at = tree.find(begin), next = 0; at != tree.npos; at = next) {
            next = tree.find(begin, at + 1);
            const std::string_view text = tree.substr(at, std::min(next, tree.rfind("\n  ]")) - at);
            const auto take_file = [&](std::string_view part) {
                const std::size_t found = part.rfind(file_mark);
                if (found == part.npos) return;
                part.remove_prefix(found + file_mark.size());
                file = part.substr(0, part.find('"'));
            };
            take_file(text.substr(0, text.find("\"range\": {")));
            const bool is_own =
                !file.empty() && !file.starts_with(toolkit) && !file.starts_with("/usr/");
            const std::size_t end = text.rfind('}');
            if (is_own && end != text.npos) {
                declarations_.push_back(Node::parse(text.substr(0, end + 1), nullptr, false));
                know(declarations_.back(), file);
            }
            take_file(text);
        }
    }
    void know(const Node& one, const std::string& file) {
        const std::string kind = kind_of(one), id = text_of(one, "id");
        if (kind == "VarDecl" || kind == "EnumConstantDecl") globals_[id] = &one;
        if (kind.ends_with("Decl") && one.contains("mangledName") && kind != "VarDecl") {
            symbols_[id] = device_symbol(text_of(one, "mangledName"));
            const bool is_of_device =
                has_part(one, "CUDAGlobalAttr") ||
                (has_part(one, "CUDADeviceAttr") && !has_part(one, "CUDAHostAttr"));
            if (is_of_device || !has_part(one, "CompoundStmt")) return;
            if (text_of(one, "name") == "main") main_ = id;
            functions_[id] = &one;
            files_[&one] = file;
            // Calls before it refer to its declaration.
            if (const std::string before = text_of(one, "previousDecl"); !before.empty())
                functions_[before] = &one;
        } else if (kind != "FunctionDecl") {  // a template, a class or a namespace
            for (const Node& part : children(one)) know(part, file);
        }
    }

    // ---- statements

    // False where the statement leaves the function.
    bool execute(const Node& node) {
        if (++steps_ > most_host_steps) return false;
        const std::string kind = kind_of(node);
        if (kind == "CompoundStmt")
            return std::ranges::all_of(children(node),
                                       [&](const Node& one) { return execute(one); });
        if (kind == "DeclStmt") {
            for (const Node& one : children(node)) {
                variables_[text_of(one, "id")] =
                    children(one).empty() ? HostValue{}
                                          : as_type(value(children(one).back()), type_of(one));
                if (has_part(one, "InitListExpr")) arrays_[text_of(one, "id")] = &one;
            }
            return true;
        }
        if (kind == "ReturnStmt") {
            returned_ = value(child(node, 0));
            return false;
        }
        if (kind == "BreakStmt") {
            has_broken_ = true;
            return false;
        }
        if (kind == "CaseStmt" || kind == "DefaultStmt") return execute(children(node).back());
        if (kind == "IfStmt") return execute_if(node);
        if (kind == "SwitchStmt") return execute_switch(node);
        if (kind == "ForStmt") {
            execute(child(node, 0));
            return execute_loop(child(node, 2), child(node, 4), child(node, 3));
        }
        if (kind == "WhileStmt") return execute_loop(child(node, 0), child(node, 1), {});
        if (kind == "DoStmt")
            return execute(child(node, 0)) && execute_loop(child(node, 1), child(node, 0), {});
        value(node);
        return !has_exited_;
    }
    // Where it is not known which way the program goes, both are gone, and what they change is not
    // known afterwards.
    bool execute_if(const Node& node) {
        const Node& parts = children(node);
        const std::size_t ways = node.contains("hasElse") ? 2 : 1;
        if (parts.size() <= ways) return true;
        const std::size_t first = parts.size() - ways;
        const HostNumber condition = value(parts[first - 1])[0];
        const bool holds = condition && *condition != 0;
        if (condition && (!holds || ways == 2))
            explore([&] { execute(parts[first + (holds ? 1 : 0)]); });
        if (holds) return execute(parts[first]);
        if (condition) return ways == 1 || execute(parts[first + 1]);
        const Variables before = variables_;
        for (std::size_t i = first; i < parts.size(); ++i) {
            execute(parts[i]);
            has_exited_ = has_broken_ = false;
        }
        forget_changed(before);
        return true;
    }
    // A way that the program does not go leaves no trace but its launches.
    template <typename Way>
    void explore(const Way& way) {
        if (!explores_) return;
        const Variables before = variables_;
        const HostValue returned = returned_;
        way();
        variables_ = before;
        returned_ = returned;
        has_exited_ = has_broken_ = false;
    }
    bool is_case_of(const Node& one, const HostNumber& wanted) {
        return kind_of(one) == "CaseStmt" &&
               (value(child(one, 0))[0] == wanted || is_case_of(children(one).back(), wanted));
    }
    // Where it is not known which way the program goes, all are gone.
    bool execute_switch(const Node& node) {
        const HostNumber wanted = value(child(node, 0))[0];
        const Node& statements = children(children(node).back());
        auto first = statements.begin();
        if (wanted) {
            first = std::find_if(statements.begin(), statements.end(),
                                 [&](const Node& one) { return is_case_of(one, wanted); });
            if (first == statements.end())
                first = std::find_if(statements.begin(), statements.end(),
                                     [](const Node& one) { return kind_of(one) == "DefaultStmt"; });
        }
        if (wanted)
            explore([&] {
                for (const Node& one : statements) execute(one);
            });
        const Variables before = variables_;
        bool goes_on = true;
        for (; first != statements.end() && (goes_on || !wanted); ++first) {
            goes_on = execute(*first);
            if (!wanted) has_exited_ = false;
        }
        if (!wanted) forget_changed(before);
        return std::exchange(has_broken_, false) || goes_on || !wanted;
    }
    // A loop that launches is gone through once.
    bool execute_loop(const Node& condition, const Node& body, const Node& step) {
        const Variables before = variables_;
        for (const std::size_t launched = launches_.size();;) {
            const HostNumber goes_on = condition.empty() ? HostNumber(1) : value(condition)[0];
            if (goes_on && *goes_on == 0) return true;
            execute(body);
            if (std::exchange(has_broken_, false)) return true;
            value(step);
            if (goes_on && launches_.size() == launched && steps_ < most_host_steps / 2) continue;
            forget_changed(before);
            return true;
        }
    }
    void forget_changed(const Variables& before) {
        for (auto& [id, one] : variables_)
            if (const auto there = before.find(id); there != before.end() && there->second != one)
                one = {};
    }

    // ---- expressions

    HostValue value(const Node& node) {
        if (depth_ >= deepest_host_code || ++steps_ > most_host_steps) return {};
        ++depth_;
        HostValue result = value_of(node);
        --depth_;
        return result;
    }
    HostValue value_of(const Node& node) {
        const std::string kind = kind_of(node);
        if (kind == "IntegerLiteral" || kind == "FloatingLiteral") {
            const std::string text = text_of(node, "value");
            double number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            return {number};
        }
        if (kind == "CXXBoolLiteralExpr") return {part_of(node, "value") == true ? 1.0 : 0.0};
        if (kind == "CXXDefaultArgExpr") return {0};
        if (kind == "DeclRefExpr") return variable(text_of(part_of(node, "referencedDecl"), "id"));
        if (kind == "ArraySubscriptExpr") return element(node);
        if (kind == "BinaryOperator" || kind == "CompoundAssignOperator") return binary(node);
        if (kind == "UnaryOperator") return unary(node);
        if (kind == "ConditionalOperator") {
            const HostNumber condition = value(child(node, 0))[0];
            return condition ? value(child(node, *condition != 0 ? 1 : 2)) : HostValue{};
        }
        if (kind == "UnaryExprOrTypeTraitExpr") {
            const double bytes = bytes_of_host_type(
                node.contains("argType") ? type_of(node, "argType") : type_of(child(node, 0)));
            return bytes > 0 ? HostValue{bytes} : HostValue{};
        }
        if (kind == "MemberExpr") {
            const HostValue of = value(child(node, 0));
            const std::size_t at = std::string_view("xyz").find(text_of(node, "name"));
            return at < of.size() ? HostValue{of[at]} : HostValue{};
        }
        if (kind == "CUDAKernelCallExpr") return launch(node);
        // A call of what is declared nowhere is one that clang recovers from.
        if (kind.ends_with("CallExpr") || kind == "RecoveryExpr") return call_in(node);
        if (kind == "LambdaExpr") return {};
        if (type_of(node).ends_with("dim3")) return triple(node);
        HostValue last;
        for (const Node& one : children(node)) last = value(one);
        return children(node).size() > 1 && kind != "SubstNonTypeTemplateParmExpr"
                   ? HostValue{}
                   : as_type(last, type_of(node));
    }
    // The numbers of dim3(32, 8), or those of the dim3 that this one is made of.
    HostValue triple(const Node& node) {
        HostValue all{1, 1, 1};
        std::size_t at = 0;
        for (const Node& one : children(node)) {
            if (kind_of(one) == "CXXDefaultArgExpr") break;
            const HostValue given = value(one);
            if (type_of(one).ends_with("dim3")) return given;
            if (at < all.size()) all[at++] = given[0];
        }
        return all;
    }
    HostValue variable(const std::string& id) {
        const auto known = variables_.find(id);
        if (known != variables_.end()) return known->second;
        const auto global = globals_.find(id);
        if (global == globals_.end() || children(*global->second).empty()) return {};
        const Node& one = *global->second;
        return variables_[id] = as_type(value(children(one).back()), type_of(one));
    }
    static const Node& without_casts(const Node& node) {
        const Node* at = &node;
        while (kind_of(*at).ends_with("CastExpr") || kind_of(*at) == "ParenExpr")
            at = &child(*at, 0);
        return *at;
    }
    static std::string array_of(const Node& subscript) {
        return text_of(part_of(without_casts(child(subscript, 0)), "referencedDecl"), "id");
    }
    // The value of a[i], where the elements of the array are listed.
    HostValue element(const Node& node) {
        const std::string id = array_of(node);
        const HostNumber index = value(child(node, 1))[0];
        const auto local = arrays_.find(id), global = globals_.find(id);
        const Node* array = local != arrays_.end()     ? local->second
                            : global != globals_.end() ? global->second
                                                       : nullptr;
        if (!array || !index || *index < 0 || !has_part(*array, "InitListExpr")) return {};
        return value(child(children(*array).back(), static_cast<std::size_t>(*index)));
    }
    void assign(const Node& to, const HostValue& what) {
        const Node* at = &without_casts(to);
        if (kind_of(*at) == "ArraySubscriptExpr") {
            arrays_[array_of(*at)] = nullptr;  // its elements are not followed
            return;
        }
        const std::string name = text_of(*at, "name");
        const bool is_member = kind_of(*at) == "MemberExpr";
        HostValue& there =
            variables_[text_of(part_of(is_member ? child(*at, 0) : *at, "referencedDecl"), "id")];
        if (!is_member)
            there = as_type(what, type_of(*at));
        else if (const std::size_t part = std::string_view("xyz").find(name); part < there.size())
            there[part] = what[0];
    }
    HostValue unary(const Node& node) {
        const std::string sign = text_of(node, "opcode");
        const HostValue one = value(child(node, 0));
        if (sign == "&" || sign == "*" || !one[0]) return {};
        if (sign == "-") return {-*one[0]};
        if (sign == "!") return {*one[0] == 0 ? 1.0 : 0.0};
        if (sign == "~") return {-*one[0] - 1};
        if (sign != "++" && sign != "--") return one;
        const HostValue changed{*one[0] + (sign == "++" ? 1 : -1)};
        assign(child(node, 0), changed);
        return part_of(node, "isPostfix") == true ? one : changed;
    }
    HostValue binary(const Node& node) {
        std::string sign = text_of(node, "opcode");
        const Node &to = child(node, 0), &from = child(node, 1);
        if (sign == "=") {
            const HostValue what = value(from);
            assign(to, what);
            return what;
        }
        const HostNumber left = value(to)[0];
        if (left && ((sign == "&&" && *left == 0) || (sign == "||" && *left != 0)))
            return {sign == "||" ? 1.0 : 0.0};
        const HostValue right = value(from);
        if (sign == ",") return right;
        const bool assigns = kind_of(node) == "CompoundAssignOperator";
        if (assigns) sign.pop_back();
        HostValue result;
        if (left && right[0])
            result[0] = of_numbers(sign, *left, *right[0],
                                   !is_real(type_of(to)) && !is_real(type_of(from)));
        if (assigns) assign(to, result);
        return result;
    }

    // ---- calls

    static const Node& callee(const Node& call) {
        const Node* at = &child(call, 0);
        while (kind_of(*at).ends_with("CastExpr")) at = &child(*at, 0);
        return *at;
    }
    HostValue call_in(const Node& node) {
        const Node& called = callee(node);
        const Node& declared = part_of(called, "referencedDecl");
        const std::string name = text_of(declared.empty() ? called : declared, "name");
        std::vector<HostValue> given;
        for (std::size_t i = 1; i < children(node).size(); ++i)
            given.push_back(value(child(node, i)));
        if (name.starts_with("cuda")) return {0};  // cudaSuccess
        has_exited_ = has_exited_ || name == "exit" || name == "abort";
        const HostNumber first = given.empty() ? HostNumber() : given[0][0];
        if (given.size() == 2 && first && given[1][0]) {
            if (name == "min") return {std::min(*first, *given[1][0])};
            if (name == "max") return {std::max(*first, *given[1][0])};
        }
        if (first && (name == "ceil" || name == "ceilf")) return {std::ceil(*first)};
        if (first && (name == "floor" || name == "floorf")) return {std::floor(*first)};
        const auto function = functions_.find(kind_of(called) == "MemberExpr"
                                                  ? text_of(called, "referencedMemberDecl")
                                                  : text_of(declared, "id"));
        return function == functions_.end() ? HostValue{} : call(*function->second, given);
    }
    HostValue call(const Node& function, const std::vector<HostValue>& given) {
        if (depth_ >= deepest_host_code || !open_.insert(&function).second) return {};
        ++depth_;
        entered_.insert(&function);
        const std::string before = std::exchange(file_, files_[&function]);
        returned_ = {};
        std::size_t at = 0;
        for (const Node& one : children(function)) {
            if (kind_of(one) == "CompoundStmt") execute(one);
            if (kind_of(one) != "ParmVarDecl") continue;
            variables_[text_of(one, "id")] =
                at < given.size() ? as_type(given[at], type_of(one)) : HostValue{};
            ++at;
        }
        file_ = before;
        open_.erase(&function);
        --depth_;
        return std::exchange(returned_, {});
    }
    HostValue launch(const Node& node) {
        const Node &configuration = child(node, 1),
                   &kernel = part_of(callee(node), "referencedDecl");
        const auto symbol = symbols_.find(text_of(kernel, "id"));
        const Node& begin = part_of(part_of(node, "range"), "begin");
        HostLaunch one{
            .kernel = symbol != symbols_.end() ? symbol->second : text_of(kernel, "name"),
            .place = (begin.contains("expansionLoc") ? begin["expansionLoc"] : begin)
                         .value("offset", std::size_t{0}),
            .file = file_,
            .grid = triple_in(child(configuration, 1)),
            .block = triple_in(child(configuration, 2)),
            .shared_bytes = value(child(configuration, 3))[0],
            .arguments = {}};
        for (std::size_t i = 2; i < children(node).size(); ++i)
            one.arguments.push_back(value(child(node, i))[0]);
        const bool is_known = std::ranges::any_of(launches_, [&](const HostLaunch& other) {
            const bool is_met = explores_ && &other < launches_.data() + met_;
            return other.kernel == one.kernel &&
                   (is_met || (other.place == one.place && other.file == one.file));
        });
        if (!is_known) launches_.push_back(std::move(one));
        return {};
    }
    HostTriple triple_in(const Node& node) {
        const HostValue all = value(node);
        return type_of(node).ends_with("dim3") ? all : HostTriple{all[0], 1, 1};
    }

    std::list<Node> declarations_;
    std::map<const Node*, std::string> files_;
    std::map<std::string, const Node*> globals_, functions_, arrays_;
    std::map<std::string, std::string> symbols_;
    std::string main_, file_;
    Variables variables_;
    HostValue returned_;
    std::set<const Node*> entered_, open_;
    bool has_exited_ = false, has_broken_ = false, explores_ = false;
    int depth_ = 0;
    std::uint32_t steps_ = 0;
    std::vector<HostLaunch> launches_;
    std::size_t met_ = 0;  // so many were met before others are explored
};

}  // namespace

std::vector<HostLaunch> launches_in(std::string_view tree, std::string_view toolkit) {
    try {
        return HostProgram(tree, toolkit).take();
    } catch (const Node::exception&) {  // another tree than clang's of today
        return {};
    }
}

}  // namespace coalprof
