#include "core/program/opcodes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/name_list.h"

namespace coalprof {
namespace {

// Widths that an instruction's type may have: PTX ISA 9.0, "Instruction Set".
constexpr std::uint8_t of_1 = 1, of_8 = 2, of_16 = 4, of_32 = 8, of_64 = 16, of_128 = 32,
                       of_any = 63, of_words = of_16 | of_32 | of_64;
constexpr std::uint8_t width_bit(std::uint8_t bits) {
    switch (bits) {
        case 1: return of_1;
        case 8: return of_8;
        case 16: return of_16;
        case 32: return of_32;
        case 64: return of_64;
        default: return of_128;
    }
}

struct Row {
    std::string_view name;
    Opcode opcode;
    std::size_t inputs;
    std::uint8_t widths;
};
constexpr std::array rows{
    Row{"mov", Opcode::move, 1, of_words | of_128 | of_1},
    Row{"add", Opcode::add, 2, of_words},
    Row{"sub", Opcode::sub, 2, of_words},
    Row{"mul", Opcode::multiply, 2, of_words},
    Row{"mad", Opcode::mad, 3, of_words},
    Row{"fma", Opcode::mad, 3, of_words},
    Row{"addc", Opcode::add, 2, of_32 | of_64},
    Row{"subc", Opcode::sub, 2, of_32 | of_64},
    Row{"madc", Opcode::mad, 3, of_32 | of_64},
    Row{"mul24", Opcode::mul24, 2, of_32},
    Row{"mad24", Opcode::mad24, 3, of_32},
    Row{"sad", Opcode::sad, 3, of_words},
    Row{"div", Opcode::divide, 2, of_words},
    Row{"rem", Opcode::remainder, 2, of_words},
    Row{"abs", Opcode::absolute, 1, of_words},
    Row{"neg", Opcode::negate, 1, of_words},
    Row{"min", Opcode::minimum, 2, of_words},
    Row{"max", Opcode::maximum, 2, of_words},
    Row{"popc", Opcode::popc, 1, of_32 | of_64},
    Row{"clz", Opcode::clz, 1, of_32 | of_64},
    Row{"bfind", Opcode::bfind, 1, of_32 | of_64},
    Row{"brev", Opcode::brev, 1, of_32 | of_64},
    Row{"bfe", Opcode::bfe, 3, of_32 | of_64},
    Row{"bfi", Opcode::bfi, 4, of_32 | of_64},
    Row{"prmt", Opcode::prmt, 3, of_32},
    Row{"dp4a", Opcode::dot4, 3, of_32},
    Row{"dp2a", Opcode::dot2, 3, of_32},
    Row{"and", Opcode::bit_and, 2, of_words | of_1},
    Row{"or", Opcode::bit_or, 2, of_words | of_1},
    Row{"xor", Opcode::bit_xor, 2, of_words | of_1},
    Row{"not", Opcode::bit_not, 1, of_words | of_1},
    Row{"cnot", Opcode::logical_not, 1, of_words},
    Row{"lop3", Opcode::lop3, 4, of_32},
    Row{"shl", Opcode::shift_left, 2, of_words},
    Row{"shr", Opcode::shift_right, 2, of_words},
    Row{"shf", Opcode::funnel_left, 3, of_32},
    Row{"setp", Opcode::compare, 2, of_words},
    Row{"set", Opcode::compare, 2, of_words},
    Row{"selp", Opcode::select, 3, of_words},
    Row{"slct", Opcode::slct, 3, of_words},
    Row{"cvt", Opcode::convert, 1, of_8 | of_words},
    Row{"cvta", Opcode::to_generic, 1, of_32 | of_64},
    Row{"isspacep", Opcode::is_space, 1, of_any},
    Row{"rcp", Opcode::reciprocal, 1, of_32 | of_64},
    Row{"sqrt", Opcode::square_root, 1, of_32 | of_64},
    Row{"rsqrt", Opcode::inverse_root, 1, of_32 | of_64},
    Row{"sin", Opcode::sine, 1, of_32},
    Row{"cos", Opcode::cosine, 1, of_32},
    Row{"lg2", Opcode::log2, 1, of_32},
    Row{"ex2", Opcode::exp2, 1, of_16 | of_32},
    Row{"tanh", Opcode::hyperbolic_tangent, 1, of_16 | of_32},
    Row{"copysign", Opcode::copy_sign, 2, of_32 | of_64},
    Row{"shfl", Opcode::shuffle, 3, of_any},
    Row{"vote", Opcode::vote, 1, of_any},
    Row{"elect", Opcode::vote, 1, of_any},
    Row{"match", Opcode::match, 2, of_32 | of_64},
    Row{"activemask", Opcode::active_mask, 0, of_32},
    Row{"redux", Opcode::reduce_warp, 2, of_32},
    Row{"exit", Opcode::exit, 0, of_any},
    Row{"trap", Opcode::trap, 0, of_any},
    Row{"bar", Opcode::barrier, 0, of_any},
    Row{"barrier", Opcode::barrier, 0, of_any},
    Row{"membar", Opcode::nothing, 0, of_any},
    Row{"fence", Opcode::nothing, 0, of_any},
    Row{"nanosleep", Opcode::nothing, 0, of_any},
    Row{"griddepcontrol", Opcode::nothing, 0, of_any},
    Row{"setmaxnreg", Opcode::nothing, 0, of_any},
    Row{"pmevent", Opcode::nothing, 0, of_any},
    Row{"brkpt", Opcode::nothing, 0, of_any},
};

// Instructions, and the words that PTX has in them beside types and those with "::".
constexpr std::pair<std::string_view, std::string_view> words_of_bases[] = {
    {"add sub addc subc", "rn rz rm rp ftz sat cc"},
    {"mul mad fma madc", "hi lo wide sat rn rz rm rp ftz cc relu oob"},
    {"mul24 mad24 dp2a", "hi lo sat"},
    {"div rcp sqrt rsqrt sin cos lg2 ex2 tanh", "approx full rn rz rm rp ftz"},
    {"abs neg slct", "ftz"},
    {"min max", "ftz NaN xorsign abs relu"},
    {"bfind", "shiftamt"},
    {"prmt", "f4e b4e rc8 ecl ecr rc16"},
    {"lop3", "and or"},
    {"shf", "l r wrap clamp"},
    {"setp set", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz"},
    {"cvt", "rn rna rz rm rp rs rni rzi rmi rpi ftz sat relu satfinite pack"},
    {"cvta isspacep", "to global shared local const param"},
    {"shfl", "sync up down bfly idx"},
    {"vote match elect", "sync all any uni ballot"},
    {"redux", "sync add min max and or xor abs NaN"},
    {"bar barrier", "sync arrive red warp cta cluster aligned popc and or wait acquire release"},
    {"ld ldu st atom red ldmatrix stmatrix cp",
     "global shared local const param weak volatile relaxed acquire release acq_rel mmio cta "
     "cluster gpu sys ca cg cs lu cv nc wb wt v2 v4 v8 add min max and or xor exch cas inc dec "
     "noftz sync aligned m8n8 m16n16 m8n16 x1 x2 x4 trans b8x16 b6x16_p32 b4x16_p64 async unified"},
};

constexpr std::array<std::pair<std::string_view, SlotKind>, 48> specials{{
    {"%tid.x", SlotKind::tid_x},
    {"%tid.y", SlotKind::tid_y},
    {"%tid.z", SlotKind::tid_z},
    {"%ntid.x", SlotKind::ntid_x},
    {"%ntid.y", SlotKind::ntid_y},
    {"%ntid.z", SlotKind::ntid_z},
    {"%ctaid.x", SlotKind::ctaid_x},
    {"%ctaid.y", SlotKind::ctaid_y},
    {"%ctaid.z", SlotKind::ctaid_z},
    {"%nctaid.x", SlotKind::nctaid_x},
    {"%nctaid.y", SlotKind::nctaid_y},
    {"%nctaid.z", SlotKind::nctaid_z},
    {"%laneid", SlotKind::laneid},
    {"%warpid", SlotKind::warpid},
    {"%nwarpid", SlotKind::nwarpid},
    {"%smid", SlotKind::smid},
    {"%nsmid", SlotKind::nsmid},
    {"%gridid", SlotKind::gridid},
    {"%lanemask_eq", SlotKind::lanemask_eq},
    {"%lanemask_le", SlotKind::lanemask_le},
    {"%lanemask_lt", SlotKind::lanemask_lt},
    {"%lanemask_ge", SlotKind::lanemask_ge},
    {"%lanemask_gt", SlotKind::lanemask_gt},
    {"%clock", SlotKind::clock},
    {"%clock_hi", SlotKind::clock},
    {"%clock64", SlotKind::clock},
    {"%globaltimer", SlotKind::clock},
    {"%globaltimer_lo", SlotKind::clock},
    {"WARP_SZ", SlotKind::warp_size},
    {"%dynamic_smem_size", SlotKind::dynamic_smem},
    {"%total_smem_size", SlotKind::total_smem},
    {"%envreg1", SlotKind::grid_barrier},  // as cooperative_groups of CUDA 13.0 reads it
    {"%envreg2", SlotKind::grid_barrier},
    // For a cluster of one block; others are refused.
    {"%cluster_ctaid.x", SlotKind::zero},
    {"%cluster_ctaid.y", SlotKind::zero},
    {"%cluster_ctaid.z", SlotKind::zero},
    {"%cluster_nctaid.x", SlotKind::one},
    {"%cluster_nctaid.y", SlotKind::one},
    {"%cluster_nctaid.z", SlotKind::one},
    {"%cluster_ctarank", SlotKind::zero},
    {"%cluster_nctarank", SlotKind::one},
    {"%is_explicit_cluster", SlotKind::zero},
    {"%clusterid.x", SlotKind::ctaid_x},
    {"%clusterid.y", SlotKind::ctaid_y},
    {"%clusterid.z", SlotKind::ctaid_z},
    {"%nclusterid.x", SlotKind::nctaid_x},
    {"%nclusterid.y", SlotKind::nctaid_y},
    {"%nclusterid.z", SlotKind::nctaid_z},
}};

std::optional<PtxType> type_named(std::string_view word) {
    if (word == "pred") return PtxType{'p', 1};
    if (word == "bf16") return PtxType{'g', 16};
    if (word == "tf32" || word.ends_with("x2") || word.ends_with("x4"))
        return PtxType{'h', static_cast<std::uint8_t>(bytes_of_type(word).value_or(4) * 8)};
    const auto size = bytes_of_type(word);
    if (!size) return std::nullopt;
    return PtxType{word.front(), static_cast<std::uint8_t>(*size * 8)};
}

const Row* row_of(std::string_view base) {
    const auto row = std::ranges::find(rows, base, &Row::name);
    return row == rows.end() ? nullptr : &*row;
}

char atomic_variant(const OpcodeWords& words) {
    constexpr std::array<std::pair<std::string_view, char>, 10> names{{{"add", '+'},
                                                                       {"min", '<'},
                                                                       {"max", '>'},
                                                                       {"and", '&'},
                                                                       {"or", '|'},
                                                                       {"xor", '^'},
                                                                       {"exch", 'x'},
                                                                       {"cas", 'c'},
                                                                       {"inc", 'i'},
                                                                       {"dec", 'd'}}};
    for (const auto& [name, variant] : names)
        if (words.has(name)) return variant;
    return 0;
}

PtxState state_in(const OpcodeWords& words) {
    if (words.has("global")) return PtxState::global;
    if (words.has("shared") || words.has("shared::cta") || words.has("shared::cluster"))
        return PtxState::shared;
    if (words.has("local")) return PtxState::local;
    if (words.has("const")) return PtxState::constant;
    if (words.has("param") || words.has("param::entry") || words.has("param::func"))
        return PtxState::param;
    return PtxState::generic;
}

}  // namespace

std::optional<SlotKind> special_register(std::string_view name) {
    const auto found =
        std::ranges::find(specials, name, &std::pair<std::string_view, SlotKind>::first);
    if (found == specials.end()) return std::nullopt;
    return found->second;
}

OpcodeWords::OpcodeWords(std::string_view opcode) : text_(opcode) {
    while (true) {
        const std::size_t dot = opcode.find('.');
        parts_.push_back(opcode.substr(0, dot));
        if (dot == opcode.npos) return;
        opcode.remove_prefix(dot + 1);
    }
}

bool OpcodeWords::has(std::string_view word) const {
    return std::ranges::find(parts_.begin() + 1, parts_.end(), word) != parts_.end();
}

std::vector<PtxType> OpcodeWords::types() const {
    std::vector<PtxType> all;
    for (std::size_t i = 1; i < parts_.size(); ++i)
        if (const auto type = type_named(parts_[i])) all.push_back(*type);
    return all;
}

bool OpcodeWords::is_memory() const {
    constexpr std::array names{
        "ld",        "ldu",           "st",       "atom",      "red",       "cp",
        "ldmatrix",  "stmatrix",      "prefetch", "prefetchu", "discard",   "mbarrier",
        "tensormap", "applypriority", "multimem", "tex",       "tld4",      "txq",
        "suld",      "sust",          "sured",    "suq",       "movmatrix", "clusterlaunchcontrol",
        "wmma",      "wgmma",         "tcgen05"};
    return std::ranges::find(names, base()) != names.end() && !(base() == "wmma" && has("mma"));
}

// "cp.async.bulk.tensor.2d.shared::cluster.global..."
bool OpcodeWords::is_tensor_copy() const {
    return base() == "cp" && parts_.size() > 5 && parts_[3] == "tensor" &&
           parts_[5].starts_with("shared");
}

MemoryWords OpcodeWords::memory() const {
    MemoryWords words{.state = state_in(*this), .variant = atomic_variant(*this)};
    const auto all = types();
    if (!all.empty()) words.type = all.back();
    words.types = all.size();
    for (const auto& [name, count] : {std::pair{"v2", 2u}, {"v4", 4u}, {"v8", 8u}})
        if (has(name)) words.elements = words.elements == 1 ? count : 0;
    words.width_bytes = words.type.bytes() * words.elements;
    const bool is_async = has("async") || has("bulk");
    if (base() == "cp" && is_async && !has("bulk") && (has("ca") || has("cg")) && has("global")) {
        words.opcode = Opcode::load;
        words.state = PtxState::global;
        words.is_copy = true;
        words.width_bytes = 16;
    } else if (base() == "cp" && parts_.size() > 4 && parts_[2] == "bulk" &&
               parts_[3].starts_with("shared") && parts_[4] == "global") {
        words.opcode = Opcode::load;
        words.state = PtxState::global;
        words.is_copy = words.is_uncounted = true;
        words.variant = 'b';
    } else if (is_tensor_copy()) {
        words.opcode = Opcode::store;
        words.state = PtxState::shared;
        words.is_uncounted = true;
        words.variant = 't';
    } else if (base() == "ld" || base() == "ldu") {
        words.opcode = Opcode::load;
    } else if (base() == "st" && !is_async) {
        words.opcode = Opcode::store;
        words.kind = AccessKind::store;
    } else if (base() == "atom" || (base() == "red" && !is_async)) {
        words.opcode = Opcode::atomic;
        words.is_reduction = base() == "red";
        words.kind = words.is_reduction ? AccessKind::reduce : AccessKind::atomic;
    } else if (base() == "ldmatrix" || base() == "stmatrix") {
        words.opcode = base() == "ldmatrix" ? Opcode::load : Opcode::store;
        words.kind = base() == "ldmatrix" ? AccessKind::load : AccessKind::store;
        words.state = PtxState::shared;
        words.width_bytes = 16;
        words.variant = has("x4") ? 'M' : has("x2") ? 'm' : 'n';
        words.is_transposed = has("trans");
    } else if (base() == "wmma") {  // see statement.h for its matrices
        words.opcode = has("load") ? Opcode::load : Opcode::store;
        words.kind = has("load") ? AccessKind::load : AccessKind::store;
    } else {
        const bool has_result = base() == "mbarrier" || base().starts_with("t") ||
                                base().starts_with("su") || base() == "movmatrix" ||
                                base() == "multimem";
        words.opcode = has_result ? Opcode::unknown : Opcode::nothing;
        constexpr std::array counted_nowhere{"cp",   "st",   "red",   "multimem", "tex",    "tld4",
                                             "suld", "sust", "sured", "wgmma",    "tcgen05"};
        const bool waits = has("wait") || has("commit_group") || has("wait_group") ||
                           has("wait_all") || has("fence") || has("mma");
        words.is_uncounted = std::ranges::find(counted_nowhere, base()) != counted_nowhere.end() &&
                             (!waits || base() == "wgmma") &&
                             !(base() == "wgmma" && !has("mma_async"));
    }
    return words;
}

void OpcodeWords::describe(PtxInstruction& instruction) const {
    const Row* row = row_of(base());
    instruction.opcode = row ? row->opcode : Opcode::unknown;
    const std::vector<PtxType> all = types();
    if (!all.empty()) instruction.type = all.back();
    switch (instruction.opcode) {
        case Opcode::multiply:
        case Opcode::mad: {
            const bool is_mad = instruction.opcode == Opcode::mad;
            if (has("hi")) instruction.opcode = is_mad ? Opcode::mad_high : Opcode::multiply_high;
            if (has("wide")) instruction.opcode = is_mad ? Opcode::mad_wide : Opcode::multiply_wide;
            break;
        }
        case Opcode::funnel_left:
            if (has("r")) instruction.opcode = Opcode::funnel_right;
            instruction.variant = has("clamp") ? 'c' : 'w';
            break;
        case Opcode::compare: describe_comparison(instruction); break;
        case Opcode::convert: describe_conversion(instruction); break;
        case Opcode::dot4:
        case Opcode::dot2:
            if (all.size() == 2) instruction.from = all.front();
            instruction.variant = has("hi") ? 'h' : 'l';
            break;
        case Opcode::slct:
            if (all.size() == 2) instruction.type = all.front(), instruction.from = all.back();
            break;
        case Opcode::to_generic:
            if (has("to")) instruction.opcode = Opcode::from_generic;
            instruction.state = state_in(*this);
            break;
        case Opcode::is_space:
            instruction.state = state_in(*this);
            instruction.type = {'p', 1};
            break;
        case Opcode::shuffle:
            instruction.variant = has("up") ? 'u' : has("down") ? 'd' : has("bfly") ? 'b' : 'i';
            break;
        case Opcode::vote:
            instruction.variant = base() == "elect" ? 'e'
                                  : has("ballot")   ? 'b'
                                  : has("all")      ? 'a'
                                  : has("any")      ? 'o'
                                                    : 'u';
            break;
        case Opcode::match: instruction.variant = has("all") ? 'a' : 'o'; break;
        case Opcode::bfind: instruction.variant = has("shiftamt") ? 's' : 0; break;
        case Opcode::reduce_warp: instruction.variant = atomic_variant(*this); break;
        case Opcode::barrier:
            if (has("red")) instruction.variant = has("popc") ? 'c' : has("and") ? 'a' : 'o';
            if (has("arrive")) instruction.opcode = Opcode::nothing;
            if (has("warp")) instruction.opcode = Opcode::warp_barrier;
            break;
        default: break;
    }
    instruction.rounding = has("rz") ? 'z' : has("rm") ? 'm' : has("rp") ? 'p' : 0;
    instruction.is_saturated = has("sat");
    instruction.gathers = instruction.opcode == Opcode::warp_barrier ||
                          (has("sync") && instruction.opcode != Opcode::barrier);
    const bool has_mode = instruction.opcode == Opcode::prmt && parts_.size() > 2;
    const bool is_packed = instruction.type.kind == 'h' && instruction.opcode != Opcode::move &&
                           instruction.opcode != Opcode::convert;
    const bool can_saturate = instruction.type.is_real() || instruction.opcode == Opcode::add ||
                              instruction.opcode == Opcode::sub ||
                              instruction.opcode == Opcode::convert;
    const bool is_wide = instruction.type.bits > 64 || instruction.from.bits > 64;
    if (is_packed || has_mode || is_wide || (has("sat") && !can_saturate))
        instruction.opcode = Opcode::unknown;
}

void OpcodeWords::describe_comparison(PtxInstruction& instruction) const {
    const std::vector<PtxType> all = types();
    instruction.from = instruction.type;
    instruction.type = base() == "setp" ? PtxType{'p', 1}
                       : all.size() > 1 ? all.front()
                                        : PtxType{};
    const std::string_view word = parts_.size() > 1 ? parts_[1] : std::string_view();
    instruction.is_ordered = !(word.size() == 3 && word.ends_with('u')) || word == "neu";
    std::string_view plain = word;
    if (word == "equ" || word == "neu" || word == "ltu" || word == "leu" || word == "gtu" ||
        word == "geu") {
        plain.remove_suffix(1);
        instruction.is_ordered = false;
    }
    constexpr std::array<std::pair<std::string_view, PtxRelation>, 12> names{
        {{"eq", PtxRelation::eq},
         {"ne", PtxRelation::ne},
         {"lt", PtxRelation::lt},
         {"le", PtxRelation::le},
         {"gt", PtxRelation::gt},
         {"ge", PtxRelation::ge},
         {"lo", PtxRelation::lt},
         {"ls", PtxRelation::le},
         {"hi", PtxRelation::gt},
         {"hs", PtxRelation::ge},
         {"num", PtxRelation::is_number},
         {"nan", PtxRelation::is_nan}}};
    const auto found =
        std::ranges::find(names, plain, &std::pair<std::string_view, PtxRelation>::first);
    if (found == names.end())
        instruction.opcode = Opcode::unknown;
    else
        instruction.relation = found->second;
    instruction.variant = has("and") ? '&' : has("or") ? '|' : has("xor") ? '^' : 0;
}

void OpcodeWords::describe_conversion(PtxInstruction& instruction) const {
    const std::vector<PtxType> all = types();
    if (all.size() < 2 || has("pack")) {
        instruction.opcode = Opcode::unknown;
        return;
    }
    instruction.type = all[all.size() - 2];
    instruction.from = all.back();
    instruction.variant = has("rni")   ? 'n'
                          : has("rmi") ? 'm'
                          : has("rpi") ? 'p'
                          : has("rzi") ? 'z'
                                       : 0;
    const auto is_known = [](PtxType type) { return type.kind != 'h' && type.bits <= 64; };
    if (!is_known(instruction.type) || !is_known(instruction.from))
        instruction.opcode = Opcode::unknown;
}

std::size_t OpcodeWords::results(std::size_t operands) const {
    const auto rest = [&](std::size_t inputs) {
        return operands > inputs ? operands - inputs : std::size_t{1};
    };
    if (base() == "setp") return rest(2 + (has("and") || has("or") || has("xor") ? 1u : 0u));
    if (base() == "shfl") return rest(has("sync") ? 4 : 3);
    if (base() == "match") return rest(2);
    if (base() == "elect") return rest(1);
    return 1;
}

std::string_view OpcodeWords::unknown_word() const {
    const Row* row = row_of(base());
    std::string_view known;
    for (const auto& [bases, words] : words_of_bases)
        if (has_word(bases, base())) known = words;
    const Opcode opcode = row ? row->opcode : memory().opcode;
    if (opcode == Opcode::nothing || opcode == Opcode::unknown) return {};
    if (!row && (known.empty() || memory().is_uncounted)) return {};
    for (std::size_t i = 1; i < parts_.size(); ++i)
        if (const std::string_view word = parts_[i];
            !has_word(known, word) && !type_named(word) && word.find("::") == word.npos)
            return word;
    return {};
}

std::string_view OpcodeWords::fault(const PtxInstruction& instruction) const {
    const Row* row = row_of(base());
    if (!row) return {};
    const PtxType type =
        instruction.opcode == Opcode::compare ? instruction.from : instruction.type;
    const bool is_doubled =
        instruction.opcode == Opcode::multiply_wide || instruction.opcode == Opcode::mad_wide;
    if ((row->widths & width_bit(type.bits)) == 0 || (is_doubled && type.bits > 32))
        return "PTX has no such type of this instruction";
    if (row->widths != of_any && (types().empty() || types().size() > 2))
        return "it has a type in PTX, or two where they differ";
    return {};
}

std::string_view MemoryWords::fault() const {
    const bool counts =
        opcode == Opcode::load || opcode == Opcode::store || opcode == Opcode::atomic;
    if (!counts || is_copy || is_uncounted) return {};
    const bool is_matrix = variant == 'n' || variant == 'm' || variant == 'M';
    if (types != 1 && !is_matrix) return "it has one type in PTX";
    if (elements == 0) return "it has one vector size at most in PTX";
    if (opcode == Opcode::atomic && variant == 0) return "PTX has no such operation";
    constexpr std::uint32_t widest = 16, widest_global = 32;
    const bool may_be_global = state == PtxState::global || state == PtxState::generic;
    if (width_bytes > (may_be_global && opcode != Opcode::atomic ? widest_global : widest))
        return "PTX has no such wide access";
    return {};
}

bool OpcodeWords::takes_carry() const {
    return base() == "addc" || base() == "subc" || base() == "madc";
}

std::size_t OpcodeWords::least_inputs() const {
    const Row* row = row_of(base());
    return row ? row->inputs : 0;
}

}  // namespace coalprof
