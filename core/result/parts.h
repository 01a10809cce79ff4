// The parts of a coalprof/1 document as the types that were written: heads, points, tails. Members
// that this version does not know are left out, or kept where a list is open: readers of 1.x read
// every 1.y.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/json/json_tree.h"
#include "core/result/result.h"

namespace coalprof {

// A part is malformed: "sweep.block is not a whole number". The reader of the file adds the place.
class PartError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

// True if this version reads the document: false where its schema is newer. Throws PartError where
// it names no schema of coalprof at all.
bool is_readable_schema(JsonView document);

// Throws PartError: `what` is not `expected`.
[[noreturn]] void complain(std::string_view what, std::string_view expected);

// Members of an object; `what` is its name in messages. Throw PartError where the member is missing
// or of another kind.
JsonView member_of(JsonView object, std::string_view what, std::string_view name);
std::string text_in(JsonView object, std::string_view what, std::string_view name);
std::uint64_t natural_in(JsonView object, std::string_view what, std::string_view name);

// The enumerator of this name.
template <typename Enum, std::size_t count>
Enum named_one(const std::array<Enum, count>& all, JsonView value, std::string_view what) {
    const auto text = value.text();
    for (const Enum one : all)
        if (text && name_of(one) == *text) return one;
    complain(what, "a word that this coalprof knows");
}

// Version, command line and time.
void read_origin(JsonView meta, ResultHead& head);
// The members of the document that make a head: "meta" and "sweep".
ResultHead head_from(JsonView document);
SweepFacts sweep_in(JsonView sweep);
// The members that end a result: "status", "warnings" and, where there are some, "verdicts" and
// "findings".
ResultTail tail_from(JsonView document);

// The plain values of an object. Lists and objects in it are for later versions.
NamedValues values_from(JsonView object, std::string_view what);
// The keys of counters in the order of one object after the other, which is nearly always the same.
class KeyOrder {
 public:
    void start() { next_ = 0; }
    std::optional<Counter> find(std::string_view key);

 private:
    static constexpr std::size_t most = 2 * counter_count;
    std::vector<Counter> counters_;
    std::size_t next_ = 0;
};

// Points one after the other, of one stream. Their sentences are kept once.
class PointReader {
 public:
    // Valid until the next is read.
    const Point& read(JsonView point);

 private:
    // Gives null readings the reasons in the object `unavailable`; `second` may be null.
    void give_reasons(JsonView unavailable, Readings& first, Readings* second);
    void read_instructions(const std::optional<JsonView>& list);
    // `last`: the reason of the same counter in the point before, usually the same.
    void keep(std::string_view reason, std::string_view& last, Reading& reading);

    using Last = std::array<std::string_view, counter_count>;
    Point point_;
    KeyOrder keys_of_predicted_;
    KeyOrder keys_of_measured_;
    KeyOrder keys_of_estimates_;
    KeyOrder keys_of_unavailable_;
    KeyOrder keys_of_instructions_;
    Last last_of_first_;
    Last last_of_second_;
    std::unordered_set<std::string_view> kept_;
    std::size_t kept_bytes_ = 0;
};

}  // namespace coalprof
