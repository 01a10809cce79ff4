#include "core/program/debug_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/program/dwarf_bytes.h"

namespace coalprof {
namespace {

// ".b8 102,108" and ".b32 291" of a section, as bytes; labels are zeros.
std::string bytes_of_section(std::string_view ptx, std::string_view name) {
    std::string bytes;
    std::size_t at = ptx.find(fmt::format(".section\t{}", name));
    if (at == ptx.npos) at = ptx.find(fmt::format(".section {}", name));
    at = ptx.find('{', at);
    const std::size_t end = at == ptx.npos ? 0 : std::min(ptx.find('}', at), ptx.size());
    std::size_t width = 1;
    while (++at < end) {
        const char before = ptx[at - 1], c = ptx[at];
        if (c == '.' && ptx[at + 1] == 'b') {
            std::from_chars(ptx.data() + at + 2, ptx.data() + end, width);
            width = std::min<std::size_t>(width / 8, 8);
            at = std::min(ptx.find_first_of(" \t", at), end);
        } else if ((before == ' ' || before == '\t' || before == ',') && c != ' ' && c != '\t') {
            std::int64_t number = 0;
            std::from_chars(ptx.data() + at, ptx.data() + end, number);
            for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i));
        }
    }
    return bytes;
}

// DWARF 4, 7.5.4: numbers of tags and attributes.
constexpr std::uint64_t tag_array = 0x01, tag_class = 0x02, tag_parameter = 0x05, tag_member = 0x0d,
                        tag_pointer = 0x0f, tag_reference = 0x10, tag_structure = 0x13,
                        tag_typedef = 0x16, tag_union = 0x17, tag_inheritance = 0x1c,
                        tag_subrange = 0x21, tag_const = 0x26, tag_function = 0x2e,
                        tag_volatile = 0x35, tag_right_reference = 0x42;
constexpr std::uint64_t has_name = 0x03, has_size = 0x0b, has_upper_bound = 0x2f, has_count = 0x37,
                        has_place = 0x38, has_type = 0x49, has_linkage = 0x6e,
                        has_old_linkage = 0x2007;

struct Entry {
    std::uint64_t tag = 0;
    std::string_view name = {}, symbol = {};
    std::size_t type = 0;  // where that entry begins; 0: none
    std::uint64_t size = 0, place = 0, count = 0;
    std::vector<std::size_t> children = {};
};

constexpr std::size_t most_members = 1024;  // members of a structure
constexpr int deepest = 16;                 // types in types

class DebugInfo {
 public:
    DebugInfo(std::string_view info, std::string_view abbreviations)
        : info_(info), abbreviations_(abbreviations) {
        for (Bytes units(info_, 0); !units.at_end();) {
            const std::uint64_t size = units.number(4);
            const std::size_t begin = units.at() - 4;
            units.take(size);
            read_unit(begin, units.at());
        }
    }

    std::map<std::string, std::vector<SourceParameter>, std::less<>> parameters() const {
        std::map<std::string, std::vector<SourceParameter>, std::less<>> all;
        for (const auto& [at, one] : entries_) {
            if (one.tag != tag_function) continue;
            std::vector<SourceParameter> own;
            for (const std::size_t child : one.children)
                if (const Entry& parameter = entries_.at(child); parameter.tag == tag_parameter)
                    own.push_back(parameter_of(parameter));
            const std::string_view symbol = one.symbol.empty() ? one.name : one.symbol;
            if (auto& known = all[std::string(symbol)]; known.size() < own.size())
                known = std::move(own);
        }
        return all;
    }

 private:
    using Attributes = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // and their forms
    struct Abbreviation {
        std::uint64_t tag = 0;
        bool has_children = false;
        Attributes attributes = {};
    };

    static std::map<std::uint64_t, Abbreviation> read_abbreviations(std::string_view text) {
        std::map<std::uint64_t, Abbreviation> all;
        Bytes bytes(text, 0);
        while (!bytes.at_end()) {
            const std::uint64_t code = bytes.leb();
            if (code == 0) break;
            Abbreviation& one = all[code];
            one.tag = bytes.leb();
            one.has_children = bytes.number(1) != 0;
            for (;;) {
                const std::uint64_t attribute = bytes.leb(), form = bytes.leb();
                if (attribute == 0 && form == 0) break;
                one.attributes.emplace_back(attribute, form);
            }
        }
        return all;
    }

    void read_unit(std::size_t unit, std::size_t end) {
        const auto abbreviations = read_abbreviations(abbreviations_);
        Bytes bytes(info_.substr(0, end), unit + 4 + 2 + 4 + 1);
        std::vector<std::size_t> parents;
        while (!bytes.at_end()) {
            const std::size_t at = bytes.at();
            const std::uint64_t code = bytes.leb();
            if (code == 0) {
                if (!parents.empty()) parents.pop_back();
                continue;
            }
            const auto known = abbreviations.find(code);
            if (known == abbreviations.end()) throw OutOfBytes{};
            Entry& entry = entries_[at];
            entry.tag = known->second.tag;
            for (const auto& [attribute, form] : known->second.attributes)
                read_attribute(entry, attribute, form, unit, bytes);
            if (!parents.empty()) entries_[parents.back()].children.push_back(at);
            if (known->second.has_children) parents.push_back(at);
        }
    }

    static void read_attribute(Entry& entry, std::uint64_t attribute, std::uint64_t form,
                               std::size_t unit, Bytes& bytes) {
        std::string_view text;
        const std::uint64_t number = value_of(form, unit, bytes, text);
        switch (attribute) {
            case has_name: entry.name = text; break;
            case has_linkage:
            case has_old_linkage: entry.symbol = text; break;
            case has_size: entry.size = number; break;
            case has_upper_bound: entry.count = number + 1; break;
            case has_count: entry.count = number; break;
            case has_place: entry.place = number; break;
            case has_type: entry.type = number; break;
            default: break;
        }
    }
    // DWARF 4, 7.5.4: forms. References become places in the section.
    static std::uint64_t value_of(std::uint64_t form, std::size_t unit, Bytes& bytes,
                                  std::string_view& text) {
        constexpr std::pair<std::uint64_t, std::uint64_t> numbers[] = {
            {0x0b, 1}, {0x0c, 1}, {0x05, 2}, {0x06, 4}, {0x0e, 4},
            {0x10, 4}, {0x17, 4}, {0x01, 8}, {0x07, 8}, {0x19, 0}};
        for (const auto& [known, size] : numbers)
            if (form == known) return bytes.number(size);
        constexpr std::uint64_t first_reference = 0x11, last_reference = 0x14;
        if (form >= first_reference && form <= last_reference)
            return unit + bytes.number(std::size_t{1} << (form - first_reference));
        switch (form) {
            case 0x08: text = bytes.text(); return 0;
            case 0x0d:
            case 0x0f: return bytes.leb();
            case 0x03: return number_of_block(bytes.take(bytes.number(2)));
            case 0x04: return number_of_block(bytes.take(bytes.number(4)));
            case 0x09:
            case 0x18: return number_of_block(bytes.take(bytes.leb()));
            case 0x0a: return number_of_block(bytes.take(bytes.number(1)));
            default: throw OutOfBytes{};
        }
    }
    // "plus this": the place of a member.
    static std::uint64_t number_of_block(std::string_view block) {
        constexpr char plus = 0x23;
        return block.starts_with(plus) ? Bytes(block, 1).leb() : 0;
    }

    const Entry* entry_at(std::size_t at) const {
        const auto found = entries_.find(at);
        return at == 0 || found == entries_.end() ? nullptr : &found->second;
    }
    SourceParameter parameter_of(const Entry& entry) const {
        SourceParameter one{.name = std::string(entry.name), .type = text_of_type(entry.type, 0)};
        const Entry* type = plain_type(entry.type);
        if (type && is_structure(*type)) add_members(*type, 0, {}, 0, one.members);
        return one;
    }
    static bool is_structure(const Entry& type) {
        return type.tag == tag_structure || type.tag == tag_class || type.tag == tag_union;
    }
    // Without const, volatile and other names.
    const Entry* plain_type(std::size_t at) const {
        const Entry* type = entry_at(at);
        for (int depth = 0; type && depth < deepest; ++depth) {
            if (type->tag != tag_const && type->tag != tag_volatile && type->tag != tag_typedef)
                return type;
            type = entry_at(type->type);
        }
        return type;
    }
    std::string text_of_type(std::size_t at, int depth) const {
        const Entry* type = entry_at(at);
        if (!type) return "void";
        if (depth == deepest) return {};
        const auto inner = [&] { return text_of_type(type->type, depth + 1); };
        switch (type->tag) {
            case tag_pointer: return inner() + '*';
            case tag_reference:
            case tag_right_reference: return inner() + '&';
            case tag_const: return inner() + " const";
            case tag_volatile: return inner() + " volatile";
            default:
                return type->name.empty() || type->tag == tag_typedef ? inner()
                                                                      : std::string(type->name);
        }
    }
    std::uint64_t size_of(const Entry* type) const {
        if (!type) return 0;
        return type->tag == tag_array ? elements_of(*type) * size_of(plain_type(type->type))
                                      : type->size;
    }
    std::uint64_t elements_of(const Entry& array) const {
        std::uint64_t count = 1;
        for (const std::size_t child : array.children)
            if (const Entry* range = entry_at(child); range && range->tag == tag_subrange)
                count *= range->count;
        return std::min<std::uint64_t>(count, most_members);
    }
    void add_members(const Entry& type, std::uint64_t offset, const std::string& prefix, int depth,
                     std::vector<SourceMember>& members) const {
        for (const std::size_t child : type.children) {
            const Entry& one = entries_.at(child);
            if (one.tag != tag_member && one.tag != tag_inheritance) continue;
            const bool has_own_name = one.tag == tag_member && !one.name.empty();
            const std::string name =
                !has_own_name ? prefix
                              : fmt::format("{}{}{}", prefix, prefix.empty() ? "" : ".", one.name);
            add_value(one.type, offset + one.place, name, depth + 1, members);
        }
    }
    void add_value(std::size_t at, std::uint64_t offset, const std::string& name, int depth,
                   std::vector<SourceMember>& members) const {
        const Entry* type = plain_type(at);
        if (!type || depth > deepest || members.size() >= most_members) return;
        if (is_structure(*type)) {
            add_members(*type, offset, name, depth, members);
        } else if (type->tag == tag_array) {
            const std::uint64_t bytes = size_of(plain_type(type->type));
            for (std::uint64_t i = 0, count = elements_of(*type); i < count; ++i)
                add_value(type->type, offset + i * bytes, fmt::format("{}[{}]", name, i), depth + 1,
                          members);
        } else {
            members.push_back({offset, name, text_of_type(at, 0)});
        }
    }

    std::string_view info_, abbreviations_;
    std::map<std::size_t, Entry> entries_;
};

}  // namespace

std::map<std::string, std::vector<SourceParameter>, std::less<>> parameters_in_debug(
    std::string_view ptx) {
    const std::string info = bytes_of_section(ptx, ".debug_info");
    const std::string abbreviations = bytes_of_section(ptx, ".debug_abbrev");
    try {
        return DebugInfo(info, abbreviations).parameters();
    } catch (const OutOfBytes&) {
        return {};
    }
}

}  // namespace coalprof
