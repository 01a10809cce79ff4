#include "core/access/warps_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "core/text/refusal.h"
#include "fmt/format.h"
#include "text_source.h"

namespace coalprof {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// "a load 4 A0 ... A31" with lane n at first + n * step, or the fields given.
std::string addresses(std::uint64_t first = 0, std::uint64_t step = 4, int lanes = 32) {
    std::string text;
    for (int lane = 0; lane < lanes; ++lane)
        text += fmt::format(" {}", first + static_cast<std::uint64_t>(lane) * step);
    return text;
}
std::string fields(int times, const std::string& field) {
    std::string text;
    for (int i = 0; i < times; ++i) text += " " + field;
    return text;
}

struct Warp {
    std::string name;
    WarpAccess access;
    std::uint64_t number = 0;
};

std::vector<Warp> read_all(std::string_view text, std::size_t block_bytes = 1 << 20) {
    const auto source = bytes_of_text(text, block_bytes);
    WarpsReader reader(*source, "w.txt");
    std::vector<Warp> warps;
    WarpLine line;
    while (reader.next(line)) warps.push_back({std::string(line.name), line.access, line.number});
    return warps;
}

WarpAccess read_one(std::string_view text) {
    const std::vector<Warp> warps = read_all(text);
    EXPECT_EQ(warps.size(), 1u) << text;
    return warps.empty() ? WarpAccess{} : warps.front().access;
}

std::string refused(std::string_view text) {
    return refusal([text] { read_all(text); });
}

TEST(WarpsFile, a_line_is_a_name_an_op_a_width_and_32_addresses) {
    const std::vector<Warp> warps = read_all("first load 4" + addresses(4096) + "\n");
    ASSERT_EQ(warps.size(), 1u);
    EXPECT_EQ(warps[0].name, "first");
    EXPECT_EQ(warps[0].number, 1u);
    EXPECT_EQ(warps[0].access.kind, AccessKind::load);
    EXPECT_EQ(warps[0].access.space, Space::global);
    EXPECT_EQ(warps[0].access.width_bytes, 4u);
    EXPECT_EQ(warps[0].access.active_lanes, all_lanes);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        EXPECT_EQ(warps[0].access.addresses[lane], 4096 + 4 * lane);
}

TEST(WarpsFile, every_op_is_read_as_its_kind_and_space) {
    const auto kind_and_space = [](const std::string& op) {
        const WarpAccess access = read_one("a " + op + " 4" + addresses());
        return std::pair(access.kind, access.space);
    };
    EXPECT_EQ(kind_and_space("load"), std::pair(AccessKind::load, Space::global));
    EXPECT_EQ(kind_and_space("store"), std::pair(AccessKind::store, Space::global));
    EXPECT_EQ(kind_and_space("atomic"), std::pair(AccessKind::atomic, Space::global));
    EXPECT_EQ(kind_and_space("reduce"), std::pair(AccessKind::reduce, Space::global));
    EXPECT_EQ(kind_and_space("shared_load"), std::pair(AccessKind::load, Space::shared));
    EXPECT_EQ(kind_and_space("shared_store"), std::pair(AccessKind::store, Space::shared));
}

TEST(WarpsFile, loads_take_five_widths_and_atomics_two) {
    for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
        const std::string text = fmt::format("a store {}{}", width, addresses(0, 16));
        EXPECT_EQ(read_one(text).width_bytes, width);
    }
    for (const std::uint32_t width : {4u, 8u}) {
        const std::string text = fmt::format("a reduce {}{}", width, addresses(0, 16));
        EXPECT_EQ(read_one(text).width_bytes, width);
    }
}

TEST(WarpsFile, a_dash_is_an_inactive_lane) {
    const WarpAccess access = read_one("a load 4 - 8" + fields(29, "-") + " 12");
    EXPECT_EQ(access.active_lanes, 0x8000'0002u);
    EXPECT_EQ(access.addresses[1], 8u);
    EXPECT_EQ(access.addresses[31], 12u);
    EXPECT_EQ(access.addresses[0], 0u);
    EXPECT_EQ(read_one("a load 4" + fields(32, "-")).active_lanes, 0u);
}

TEST(WarpsFile, addresses_of_every_length_are_read_in_both_bases) {
    // Digits 1 to 19 of 1234567890123456789 and of its hexadecimal form, times 16 to be aligned.
    std::uint64_t decimal = 0;
    std::string text = "a load 1";
    std::vector<std::uint64_t> expected;
    for (std::uint64_t digit = 1; digit <= 19; ++digit) {
        decimal = decimal * 10 + digit % 10;
        expected.push_back(decimal);
        text += fmt::format(" {}", decimal);
    }
    for (int shift = 60; expected.size() < 32; shift -= 5) {
        expected.push_back(0xFEDC'BA98'7654'3210u >> shift);
        text += shift % 2 == 0 ? fmt::format(" 0x{:x}", expected.back())
                               : fmt::format(" 0x{:X}", expected.back());
    }
    const WarpAccess access = read_one(text);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        EXPECT_EQ(access.addresses[lane], expected[lane]) << lane;
}

TEST(WarpsFile, the_largest_addresses_are_those_whose_bytes_have_addresses_behind_them) {
    // 2^64 - 2 for one byte: it ends at 2^64 - 1.
    EXPECT_EQ(read_one("a load 1" + fields(32, "18446744073709551614")).addresses[5], ~0ull - 1);
    EXPECT_EQ(read_one("a load 16" + fields(32, "0xffffffffffffffe0")).addresses[5], ~0ull - 31);
    EXPECT_THAT(refused("a load 1 0" + fields(31, "18446744073709551615")),
                HasSubstr("w.txt:1:12: lane 1: width 1 at 18446744073709551615 reaches the end of "
                          "64-bit addresses\n"));
    EXPECT_THAT(refused("a load 16" + fields(32, "0xfffffffffffffff0")),
                HasSubstr("w.txt:1:11: lane 0: width 16 at 18446744073709551600 reaches the end"));
}

TEST(WarpsFile, comments_blank_lines_tabs_and_carriage_returns_are_accepted) {
    const std::string warp = " load 4" + addresses();
    const std::vector<Warp> warps =
        read_all("\xEF\xBB\xBF# made by hand\r\n\n  \t\na" + warp + "\r\n \t b" + warp +
                 " \t # why\nc" + warp + "#\r\n#\nd" + warp + "   \n");
    ASSERT_EQ(warps.size(), 4u);
    EXPECT_EQ(warps[0].name, "a");
    EXPECT_EQ(warps[0].number, 4u);
    EXPECT_EQ(warps[1].name, "b");
    EXPECT_EQ(warps[1].number, 5u);
    EXPECT_EQ(warps[2].name, "c");
    EXPECT_EQ(warps[3].name, "d");
    EXPECT_EQ(warps[3].number, 8u);

    std::string tabs = "e load 4" + addresses();
    for (char& c : tabs) c = c == ' ' ? '\t' : c;
    EXPECT_EQ(read_one(tabs).addresses[31], 124u);
    EXPECT_EQ(read_one("e  load \t 4" + fields(32, "  \t64")).addresses[31], 64u);
}

TEST(WarpsFile, the_last_line_needs_no_newline) {
    EXPECT_EQ(read_all("a load 4" + addresses() + "\nb load 4" + addresses()).size(), 2u);
    EXPECT_EQ(read_all("a load 4" + addresses() + "\r").size(), 1u);
}

TEST(WarpsFile, nothing_is_no_warp) {
    for (const std::string_view text : {"", "\n", "#", "# only\n\n", "   ", "\r\n", "\xEF\xBB\xBF"})
        EXPECT_TRUE(read_all(text).empty());
}

TEST(WarpsFile, a_name_may_be_any_printable_utf8) {
    const std::string warp = " load 4" + addresses();
    for (const std::string name :
         {"offset=11,w=3", "Gr\u00f6\u00dfe\u4e2d", "-", "0x10", "\"a\\b\""})
        EXPECT_EQ(read_all(name + warp).at(0).name, name);
    EXPECT_EQ(read_all(std::string(200, 'n') + warp).at(0).name.size(), 200u);
}

struct Refusal {
    std::string text;
    std::string why;  // with line and column
};

TEST(WarpsFile, a_line_that_does_not_fit_is_refused_with_its_place) {
    const std::string good = "a load 4" + addresses();
    for (const Refusal& each : std::vector<Refusal>{
             {"a", "1:2: expected an op after the name here"},
             {"a # load 4", "1:3: expected an op after the name here"},
             {"a load", "1:7: expected a width in bytes after the op here"},
             {"a lod 4" + addresses(), "1:3: unknown op 'lod'. Did you mean 'load'?"},
             {"a LOAD 4" + addresses(), "1:3: unknown op 'LOAD'. Did you mean 'load'?"},
             {"a shared_lod 4", "1:3: unknown op 'shared_lod'. Did you mean 'shared_load'?"},
             {"a jump 4",
              "1:3: unknown op 'jump': choose load, store, atomic, reduce, "
              "shared_load or shared_store"},
             {"a load 3" + addresses(), "1:8: a width is 1, 2, 4, 8, 16 or 32 bytes, not '3'"},
             {"a load 64" + addresses(), "1:8: a width is 1, 2, 4, 8, 16 or 32 bytes, not '64'"},
             {"a load 0" + addresses(), "1:8: a width is 1, 2, 4, 8, 16 or 32 bytes, not '0'"},
             {"a load 4x" + addresses(), "1:8: a width is 1, 2, 4, 8, 16 or 32 bytes, not '4x'"},
             {"a load 0x4" + addresses(), "1:8: a width is 1, 2, 4, 8, 16 or 32 bytes, not '0x4'"},
             {"a load 18446744073709551620" + addresses(),
              "1:8: a width is 1, 2, 4, 8, 16 or 32 bytes, not '18446744073709551620'"},
             {"a atomic 2" + addresses(), "1:10: the width of an atomic is 4 or 8 bytes, not '2'"},
             {"a reduce 16" + addresses(),
              "1:10: the width of an atomic is 4 or 8 bytes, not '16'"},
             {"a load 4", "1:9: 0 addresses, expected 32 ('-' for a lane that does nothing)"},
             {"a load 4" + addresses(0, 4, 31) + " ",
              "1:106: 31 addresses, expected 32 ('-' for a lane that does nothing)"},
             {"a load 4 0 4 # 8", "1:14: 2 addresses, expected 32"},
             {good + " 128", "1:110: expected the end after 32 addresses, not '128'"},
             {"a load 4" + fields(32, "-") + " -", "1:74: expected the end after 32 addresses"},
             {"a load 4 0 zz 8",
              "1:12: lane 1: 'zz' is neither an address (decimal, or 0x...) "
              "nor '-'"},
             {"a load 4 0 12z 8", "1:14: lane 1: '12z' is neither an address"},
             {"a load 4 0\x01 4", "1:11: lane 0: '0\\x01' is neither an address"},
             {"a load 4 -4", "1:11: lane 0: '-4' is neither an address"},
             {"a load 4 +4", "1:10: lane 0: '+4' is neither an address"},
             {"a load 4 --", "1:11: lane 0: '--' is neither an address"},
             {"a load 4 1e3", "1:11: lane 0: '1e3' is neither an address"},
             {"a load 4 4.0", "1:11: lane 0: '4.0' is neither an address"},
             {"a load 4 0,4", "1:11: lane 0: '0,4' is neither an address"},
             {"a load 4 0x", "1:10: lane 0: '0x' is neither an address"},
             {"a load 4 0X10", "1:11: lane 0: '0X10' is neither an address"},
             {"a load 4 0x10g", "1:14: lane 0: '0x10g' is neither an address"},
             {"a load 4 ff", "1:10: lane 0: 'ff' is neither an address"},
             {"a load 4 1234567812345678123456781234567812345678 0",
              "1:10: lane 0: the largest address is 18446744073709551615"},
             {"a load 4 0 0x10000000000000000",
              "1:12: lane 1: the largest address is 18446744073709551615"},
             {"a load 4 0 18446744073709551616",
              "1:12: lane 1: the largest address is 18446744073709551615"},
             {"a load 4" + fields(31, "64") + " 66",
              "1:103: lane 31: 66 is not a multiple of the width of 4 bytes"},
             {"a\t load 16\t" + fields(2, " 16") + fields(30, "8"),
              "1:21: lane 2: 8 is not a multiple of the width of 16 bytes"},
             {good + "\n\n# x\nb store 8" + fields(32, "0xC"),
              "4:11: lane 0: 12 is not a multiple of the width of 8 bytes"},
         }) {
        EXPECT_THAT(refused(each.text), StartsWith("coalprof: w.txt:" + each.why)) << each.text;
    }
}

TEST(WarpsFile, a_name_that_could_not_be_printed_is_refused) {
    const std::string warp = " load 4" + addresses();
    EXPECT_THAT(refused("ab\x1b[2J" + warp),
                HasSubstr("w.txt:1:3: a name has no control characters, and '\\x1b' is one\n"));
    EXPECT_THAT(refused("\u00e4\xff" + warp), HasSubstr("w.txt:1:2: a name is UTF-8, and this"));
    EXPECT_THAT(refused("ab\u202e" + warp),
                HasSubstr("1:3: a name has no control characters, and '\\u{202e}' is one\n"));
    EXPECT_THAT(refused("a#b" + warp),
                HasSubstr("1:2: a name has no '#', which starts a comment\n"));
    EXPECT_THAT(refused(std::string(201, 'n') + warp),
                HasSubstr("1:1: a name has 200 bytes at most, and this one 201\n"));
    EXPECT_THAT(refused(std::string("a\0b", 3) + warp),
                HasSubstr("1:2: a name has no control characters, and '\\x00' is one\n"));
}

TEST(WarpsFile, an_error_shows_the_line_cut_around_the_caret) {
    const std::string lines = refused("a load 4" + fields(29, "64") + " 6x4 64 64\n");
    EXPECT_EQ(
        lines,
        "coalprof: w.txt:1:98: lane 29: '6x4' is neither an address (decimal, or 0x...) nor "
        "'-'\n"
        "  ...4 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 6x4 64 64\n" +
            std::string(2 + 72, ' ') +
            "^\n"
            "hint: a line is NAME OP WIDTH and 32 addresses, with '-' for a lane that does "
            "nothing\n");
}

TEST(WarpsFile, columns_count_characters) {
    EXPECT_THAT(refused("\u00e4\u00f6\tlod 4"), HasSubstr("w.txt:1:4: unknown op 'lod'"));
}

TEST(WarpsFile, a_file_name_is_echoed_safely) {
    const auto source = bytes_of_text("x");
    WarpsReader reader(*source, "a\nb");
    WarpLine line;
    EXPECT_THAT(refusal([&] { reader.next(line); }), StartsWith("coalprof: a\\x0ab:1:2: "));
}

TEST(WarpsFile, a_line_of_64_kib_is_read_and_no_longer_one) {
    const std::string warp = "a load 4" + addresses() + " #";
    const std::string longest = warp + std::string(most_warps_line_bytes - warp.size(), 'c');
    EXPECT_EQ(read_all(longest).size(), 1u);
    EXPECT_EQ(read_all(longest + "\r\n" + longest + "\n").size(), 2u);
    const std::string why = "w.txt:2:65537: the line is longer than 65536 bytes\n";
    EXPECT_THAT(refused("\n" + longest + "c"), HasSubstr(why));
    EXPECT_THAT(refused("\n" + longest + "c\n"), HasSubstr(why));
    EXPECT_THAT(refused("\n" + longest + "cc\r\n"), HasSubstr(why));
    EXPECT_THAT(refused("\n" + std::string(3'000'000, 'x')), HasSubstr(why));
    EXPECT_LT(refused("\n" + std::string(3'000'000, 'x')).size(), 500u);
}

// Gives the same bytes for ever and counts how far it was read.
class Endless : public ByteSource {
 public:
    std::size_t read(std::span<char> into) override {
        for (char& c : into) c = 'z';
        bytes_ += into.size();
        return into.size();
    }
    bool can_rewind() const override { return false; }
    void rewind() override {}
    std::size_t bytes() const { return bytes_; }

 private:
    std::size_t bytes_ = 0;
};

TEST(WarpsFile, an_endless_line_is_given_up_soon) {
    Endless source;
    WarpsReader reader(source, "w.txt");
    WarpLine line;
    EXPECT_THROW(reader.next(line), UsageError);
    EXPECT_LT(source.bytes(), 1u << 20);
}

TEST(WarpsFile, is_read_the_same_in_blocks_of_any_size) {
    std::mt19937_64 random(3);
    std::string text;
    for (int i = 0; i < 40; ++i) {
        text += fmt::format("w{} load 4", i);
        for (int lane = 0; lane < 32; ++lane) {
            const std::uint64_t address = random() >> (random() % 60) & ~std::uint64_t{63};
            text += random() % 5 == 0   ? " -"
                    : random() % 2 == 0 ? fmt::format(" 0x{:x}", address)
                                        : fmt::format(" {}", address);
        }
        text += i % 3 == 0 ? "\r\n" : i % 3 == 1 ? "  # c\n" : "\n\n";
    }
    const std::vector<Warp> whole = read_all(text);
    ASSERT_EQ(whole.size(), 40u);
    for (const std::size_t block_bytes : {1u, 2u, 3u, 61u, 64u, 1000u, 4096u}) {
        const std::vector<Warp> parts = read_all(text, block_bytes);
        ASSERT_EQ(parts.size(), whole.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
            EXPECT_EQ(parts[i].name, whole[i].name);
            EXPECT_EQ(parts[i].number, whole[i].number);
            EXPECT_EQ(parts[i].access.active_lanes, whole[i].access.active_lanes);
            EXPECT_EQ(parts[i].access.addresses, whole[i].access.addresses);
        }
    }
}

TEST(WarpsFile, a_complete_line_is_answered_before_more_is_read) {
    // A pipe: the second read would wait for a writer that waits for the first answer.
    class OneBlock : public ByteSource {
     public:
        explicit OneBlock(std::string text) : text_(std::move(text)) {}
        std::size_t read(std::span<char> into) override {
            EXPECT_EQ(reads_++, 0) << "a second read before the first line was answered";
            return text_.copy(into.data(), into.size());
        }
        bool can_rewind() const override { return false; }
        void rewind() override {}

     private:
        std::string text_;
        int reads_ = 0;
    } source("a load 4" + addresses() + "\nb load");
    WarpsReader reader(source, "stdin");
    WarpLine line;
    EXPECT_TRUE(reader.next(line));
    EXPECT_EQ(line.name, "a");
}

TEST(WarpsFile, is_counted_in_lines_over_many_blocks) {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "a load 4" + addresses() + "\n";
    text += "b load 4\n";
    const auto source = bytes_of_text(text);
    WarpsReader reader(*source, "w.txt");
    WarpLine line;
    for (int i = 0; i < 5000; ++i) ASSERT_TRUE(reader.next(line)) << i;
    EXPECT_THAT(refusal([&] { reader.next(line); }), HasSubstr("w.txt:5001:9: "));
}

TEST(WarpsFile, tells_its_ops_without_looking_at_addresses) {
    const std::string text =
        "# c\na load 4" + addresses() + "\n\nb shared_store wide\nc atomic\nd lod 4\n";
    const auto source = bytes_of_text(text);
    WarpsReader reader(*source, "w.txt");
    WarpOp op;
    ASSERT_TRUE(reader.next_op(op));
    EXPECT_EQ(op, (WarpOp{AccessKind::load, Space::global}));
    ASSERT_TRUE(reader.next_op(op));
    EXPECT_EQ(op, (WarpOp{AccessKind::store, Space::shared}));
    ASSERT_TRUE(reader.next_op(op));
    EXPECT_EQ(op, (WarpOp{AccessKind::atomic, Space::global}));
    EXPECT_THAT(refusal([&] { reader.next_op(op); }), HasSubstr("w.txt:6:3: "));
}

}  // namespace
}  // namespace coalprof
