#include "core/kernel/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "core/access/npy.h"
#include "core/pattern/plan.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

// More would not leave room for anything else: a smaller array shows the same.
constexpr std::size_t most_file_bytes = std::size_t{1} << 29;

class Zeros : public ArrayContents {
 public:
    std::uint64_t number_at(std::uint64_t, std::uint32_t) const override { return 0; }
    bool is_constant() const override { return true; }
};

// Elements by a rule of their number.
class Elements : public ArrayContents {
 public:
    explicit Elements(ElementKind kind) : kind_(kind) {}
    std::uint64_t number_at(std::uint64_t at, std::uint32_t bytes) const override {
        const std::uint64_t inside = at % kind_.bytes;
        if (bytes == kind_.bytes && inside == 0) return element(at / kind_.bytes);
        std::uint64_t value = 0;
        for (std::uint32_t i = 0; i < bytes; ++i) value |= byte_at(at + i) << (8 * i);
        return value;
    }

 protected:
    std::uint64_t byte_at(std::uint64_t at) const {
        const std::uint64_t inside = at % kind_.bytes;
        return inside < 8 ? element(at / kind_.bytes) >> (8 * inside) & 0xFF : 0;
    }
    virtual std::uint64_t element(std::uint64_t number) const = 0;
    std::uint64_t real(double value) const {
        return kind_.bytes == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                : std::bit_cast<std::uint64_t>(value);
    }
    ElementKind kind_;
};

class Iota : public Elements {
 public:
    using Elements::Elements;

 private:
    std::uint64_t element(std::uint64_t number) const override {
        const std::uint64_t mask = kind_.bytes >= 8 ? ~0ull : (1ull << (8 * kind_.bytes)) - 1;
        return kind_.kind == 'f' ? real(static_cast<double>(number)) : number & mask;
    }
};

class Random : public Elements {
 public:
    Random(ElementKind kind, std::uint64_t elements, std::uint64_t seed)
        : Elements(kind), elements_(std::max<std::uint64_t>(1, elements)), seed_(seed) {}

 private:
    // splitmix64 (Steele, Lea and Flood, 2014).
    std::uint64_t element(std::uint64_t number) const override {
        std::uint64_t bits = (number + 1) * 0x9E37'79B9'7F4A'7C15u + seed_ * 0xBF58'476D'1CE4'E5B9u;
        bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9u;
        bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EBu;
        bits ^= bits >> 31;
        if (kind_.kind == 'f') return real(static_cast<double>(bits >> 11) * 0x1p-53);
        // The high half of a product: a quotient takes four times as long.
        __extension__ using WideNatural = unsigned __int128;
        const auto below =
            static_cast<std::uint64_t>(static_cast<WideNatural>(bits) * elements_ >> 64);
        return kind_.bytes >= 8 ? below : below & ((1ull << (8 * kind_.bytes)) - 1);
    }
    std::uint64_t elements_;
    std::uint64_t seed_;
};

class FileBytes : public ArrayContents {
 public:
    explicit FileBytes(std::string bytes, std::size_t begin = 0)
        : bytes_(std::move(bytes)), begin_(begin) {}
    std::uint64_t number_at(std::uint64_t at, std::uint32_t bytes) const override {
        std::uint64_t value = 0;
        const std::uint64_t size_bytes = bytes_.size() - begin_;
        if (at < size_bytes)
            std::memcpy(&value, bytes_.data() + begin_ + at,
                        std::min<std::uint64_t>(bytes, size_bytes - at));
        return value;
    }

 private:
    std::string bytes_;
    std::size_t begin_;
};

}  // namespace

ElementKind read_element_kind(std::string_view word, std::string_view option) {
    // "i32" as NumPy has it, beside "s32".
    const bool is_numpy = word.size() > 1 && word.front() == 'i' && is_digit(word[1]);
    const auto type =
        find_element_type(is_numpy ? "s" + std::string(word.substr(1)) : std::string(word));
    if (!type)
        throw UsageError(fmt::format("{}: '{}' is no element type", option, shown(word)), {},
                         UsageError::no_caret, "for example x=f32[1048576] or x=i32[4096]=iota");
    const bool is_real = *type == ElementType::f32 || *type == ElementType::f64;
    const bool is_signed = name_of(*type).front() == 's';
    return {is_real ? 'f' : is_signed ? 'i' : 'u', bytes_of(*type)};
}

std::shared_ptr<const ArrayContents> contents_of_bytes(std::string bytes) {
    return std::make_shared<FileBytes>(std::move(bytes));
}

ArrayFile contents_of_file(const std::string& path) {
    const auto source = open_bytes(path);
    std::optional<std::string> bytes = read_whole(*source, most_file_bytes);
    if (!bytes)
        throw UsageError(
            fmt::format("{}: it holds more than {} MiB", shown(path), most_file_bytes >> 20), {},
            UsageError::no_caret, "a smaller array shows the same");
    const std::uint64_t size_bytes =
        is_npy(*bytes) ? read_npy(*bytes, path).data.size() : bytes->size();
    const std::size_t begin = bytes->size() - size_bytes;
    return {std::make_shared<FileBytes>(std::move(*bytes), begin), size_bytes};
}

std::shared_ptr<const ArrayContents> contents_by_rule(std::string_view rule, ElementKind kind,
                                                      std::uint64_t elements,
                                                      std::string_view option) {
    if (rule == "0") return std::make_shared<Zeros>();
    if (rule == "iota") return std::make_shared<Iota>(kind);
    if (rule == "random") return std::make_shared<Random>(kind, elements, 1);
    if (rule.starts_with("random:"))
        return std::make_shared<Random>(kind, elements, parse_integer(rule.substr(7), option));
    throw UsageError(fmt::format("{}: '{}' does not say what the array holds", option, shown(rule)),
                     {}, UsageError::no_caret,
                     "0, iota, random, random:SEED, @file.npy or @raw.bin");
}

}  // namespace coalprof
