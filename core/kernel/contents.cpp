#include "core/kernel/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
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
    std::string_view plain() const override { return std::string_view(bytes_).substr(begin_); }

 private:
    std::string bytes_;
    std::size_t begin_;
};

// Numbers in binary have bytes below a blank soon.
bool holds_text(std::string_view bytes) {
    constexpr std::size_t enough = 4096;
    return std::ranges::none_of(bytes.substr(0, enough), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < ' ' && (byte < '\t' || byte > '\r')) || byte == 0x7F;
    });
}

double real_of(std::uint64_t bits, ElementKind kind) {
    if (kind.kind == 'f')
        return kind.bytes == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                               : std::bit_cast<double>(bits);
    if (kind.kind != 'i') return static_cast<double>(bits);
    const std::uint32_t unused = 64 - 8 * kind.bytes;
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

// A number as bits of another kind; nothing if that kind cannot hold it. Reals are rounded.
std::optional<std::uint64_t> converted(std::uint64_t bits, ElementKind from, ElementKind to) {
    const double real = real_of(bits, from);
    if (to.kind == 'f') {
        if (to.bytes == 8) return std::bit_cast<std::uint64_t>(real);
        if (std::isfinite(real) && std::abs(real) > std::numeric_limits<float>::max())
            return std::nullopt;
        return std::bit_cast<std::uint32_t>(static_cast<float>(real));
    }
    const bool is_negative = real < 0;
    std::uint64_t amount = bits;
    if (from.kind == 'f') {
        if (std::trunc(real) != real || std::abs(real) >= 0x1p64) return std::nullopt;
        amount = static_cast<std::uint64_t>(std::abs(real));
    } else if (is_negative) {
        const std::uint32_t unused = 64 - 8 * from.bytes;
        amount =
            ~static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused) + 1;
    }
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * to.bytes);
    const std::uint64_t most =
        to.kind == 'u' ? (is_negative ? 0 : mask) : (mask >> 1) + (is_negative ? 1u : 0u);
    if (amount > most) return std::nullopt;
    return (is_negative ? ~amount + 1 : amount) & mask;
}

class ConvertedFile : public Elements {
 public:
    // Throws UsageError.
    ConvertedFile(const ArrayFile& file, ElementKind from, ElementKind to, std::string_view option)
        : Elements(to), file_(file.contents), from_(from) {
        const auto fail = [&](const std::string& why) {
            const std::string dtype = dtype_of(to);
            throw UsageError(fmt::format("{}: the file holds {}, the kernel takes {}, and {}",
                                         option, dtype_of(from), dtype, why),
                             fmt::format("save what the kernel takes: array.astype('{}')", dtype));
        };
        const auto is_odd = [](ElementKind one) {
            return one.bytes > 8 || (one.kind == 'f' && one.bytes < 4);
        };
        if (is_odd(from) || is_odd(to)) fail("neither is converted");
        for (std::uint64_t i = 0; i < file.size_bytes / from.bytes; ++i)
            if (!converted(bits_at(i), from, to)) {
                const std::uint64_t bits = bits_at(i);
                fail(fmt::format("element {}, {}, is none", i, real_of(bits, from)));
            }
    }

 private:
    std::uint64_t bits_at(std::uint64_t number) const {
        return file_->number_at(number * from_.bytes, from_.bytes);
    }
    std::uint64_t element(std::uint64_t number) const override {
        return converted(bits_at(number), from_, kind_).value_or(0);
    }
    std::shared_ptr<const ArrayContents> file_;
    ElementKind from_;
};

}  // namespace

std::string dtype_of(ElementKind kind) {
    if (kind.kind == 'b') return "bool";
    return fmt::format("{}{}",
                       kind.kind == 'f'   ? "float"
                       : kind.kind == 'i' ? "int"
                                          : "uint",
                       8 * kind.bytes);
}

std::string element_of_type(std::string_view type) {
    if (type.find('*') != type.rfind('*')) return {};  // it points to pointers
    std::string word(type.substr(0, type.find('*')));
    for (const std::string_view part : {"const", "volatile", " "})
        for (std::size_t at = word.find(part); at != word.npos; at = word.find(part))
            word.erase(at, part.size());
    return word;
}

std::optional<ElementKind> kind_of_type(std::string_view type) {
    std::string word = element_of_type(type);
    if (word.size() < 2) return std::nullopt;
    if (word.starts_with("unsigned")) word.replace(0, 8, "u");
    if (word.starts_with("signed")) word.erase(0, 6);
    if (word.front() == 'i' && is_digit(word[1])) word.front() = 's';
    // A vector's element: "int4", "f32x4".
    if (word.size() > 2 && !is_digit(word[word.size() - 2]) && word.back() >= '1' &&
        word.back() <= '4')
        word.resize(word.size() - (word[word.size() - 2] == 'x' ? 2 : 1));
    const auto known = find_element_type(word);
    if (!known || bytes_of(*known) > 8 || name_of(*known).find('x') != std::string_view::npos)
        return std::nullopt;
    const char letter = name_of(*known).front();
    if (letter == 'b') return std::nullopt;  // bf16, which NumPy does not have
    return ElementKind{letter == 's' ? 'i' : letter, bytes_of(*known)};
}

ElementKind read_element_kind(std::string_view word, std::string_view option) {
    const auto type = element_type_of_array(word);
    if (!type)
        throw UsageError(fmt::format("{}: '{}' is no element type", option, shown(word)),
                         "for example x=f32[1048576] or x=i32[4096]=iota");
    const bool is_real = *type == ElementType::f32 || *type == ElementType::f64;
    const bool is_signed = name_of(*type).front() == 's';
    return {is_real ? 'f' : is_signed ? 'i' : 'u', bytes_of(*type)};
}

std::shared_ptr<const ArrayContents> contents_of_bytes(std::string bytes) {
    return std::make_shared<FileBytes>(std::move(bytes));
}

ArrayFile contents_of_file(const std::string& path, const std::optional<ElementKind>& wanted,
                           std::string_view option) {
    const auto source = open_bytes(path);
    std::optional<std::string> bytes = read_whole(*source, most_file_bytes);
    if (!bytes)
        throw UsageError(
            fmt::format("{}: it holds more than {} MiB", shown(path), most_file_bytes >> 20),
            "a smaller array shows the same");
    const auto require_elements = [&](std::uint64_t size_bytes) {
        if (size_bytes == 0)
            throw UsageError(fmt::format("{}: {} holds no elements", option, shown(path)));
        return size_bytes;
    };
    if (!is_npy(*bytes)) {
        const std::uint64_t size_bytes = require_elements(bytes->size());
        const bool is_text = holds_text(*bytes);
        return {.contents = contents_of_bytes(std::move(*bytes)),
                .size_bytes = size_bytes,
                .is_text = is_text};
    }
    const NpyArray npy = read_npy(*bytes, path);
    const ElementKind kind{npy.kind, npy.element_bytes};
    const std::uint64_t size_bytes = require_elements(npy.data.size());
    const auto begin = static_cast<std::size_t>(npy.data.data() - bytes->data());
    ArrayFile file{std::make_shared<FileBytes>(std::move(*bytes), begin), size_bytes, kind};
    if (!wanted || (kind.kind == wanted->kind && kind.bytes == wanted->bytes)) return file;
    return {.contents = std::make_shared<ConvertedFile>(file, kind, *wanted, option),
            .size_bytes = size_bytes / kind.bytes * wanted->bytes};
}

std::shared_ptr<const ArrayContents> contents_by_rule(ArrayRule rule, std::uint64_t seed,
                                                      ElementKind kind, std::uint64_t elements) {
    if (rule == ArrayRule::zeros) return std::make_shared<Zeros>();
    if (rule == ArrayRule::iota) return std::make_shared<Iota>(kind);
    return std::make_shared<Random>(kind, elements, seed);
}

}  // namespace coalprof
