// The readers of fields, sixteen characters at a time, find the same ends and the same numbers as
// the ones that go character by character.
#include <string>

#include "core/access/fields.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;
using fuzz::claim;

// Of the `count` characters in front of `end`.
template <typename Fast, typename Portable>
void claim_same(const Fast& fast_read, const Portable& plain_read, const char* end,
                std::size_t count, const char* what) {
    std::uint64_t value = 0;
    std::uint64_t plain = 0;
    const bool is_number = fast_read(end, count, value);
    claim(is_number == plain_read(end, count, plain), what);
    claim(!is_number || value == plain, what);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string margin(field_margin_bytes, size % 2 == 0 ? '9' : 'f');
    const std::string text = margin + std::string(fuzz::text_of(data, size)) + ' ' + margin + ' ';
    const char* begin = text.data() + margin.size();
    const char* last = begin + size;  // the blank behind all
    fast::FieldEnds ends(begin);
    portable::FieldEnds plain_ends(begin);
    for (const char* first = begin; first <= last;) {
        const char* end = ends.next();
        claim(end == plain_ends.next(), "fields end in the same places");
        const auto count = static_cast<std::size_t>(end - first);
        if (count >= 1 && count <= most_field_digits) {
            claim_same(fast::read_decimal, portable::read_decimal, end, count, "a decimal number");
            claim_same(fast::read_hexadecimal, portable::read_hexadecimal, end, count,
                       "a hexadecimal number");
        }
        first = end + 1;
    }
    return 0;
}
