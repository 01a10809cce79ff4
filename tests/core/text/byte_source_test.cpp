#include "core/text/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <thread>

#include "core/text/refusal.h"
#include "text_source.h"

namespace coalprof {
namespace {

using testing::HasSubstr;

std::string all_of(ByteSource& source) {
    std::string text;
    std::array<char, 7> block{};
    while (const std::size_t bytes = source.read(block)) text.append(block.data(), bytes);
    return text;
}

class ByteSourceFile : public testing::Test {
 protected:
    std::string path_ =
        testing::TempDir() + "coalprof_byte_source_test_" + std::to_string(::getpid());

    void SetUp() override { std::ofstream(path_) << "one two three four"; }
    void TearDown() override { std::remove(path_.c_str()); }
};

TEST(ByteSource, a_text_is_read_in_blocks_and_again) {
    const auto source = bytes_of_text("one two three", 3);
    std::array<char, 7> block{};
    EXPECT_EQ(source->read(block), 3u);
    source->rewind();
    EXPECT_EQ(all_of(*source), "one two three");
    EXPECT_EQ(source->read(block), 0u);
}

TEST_F(ByteSourceFile, a_file_is_read_to_its_end_and_again) {
    const auto source = open_bytes(path_);
    EXPECT_TRUE(source->can_rewind());
    EXPECT_EQ(all_of(*source), "one two three four");
    source->rewind();
    EXPECT_EQ(all_of(*source), "one two three four");
}

TEST_F(ByteSourceFile, a_file_on_stdin_is_read_from_where_it_stands) {
    const int kept = ::dup(STDIN_FILENO);
    ASSERT_NE(std::freopen(path_.c_str(), "r", stdin), nullptr);
    ASSERT_EQ(::lseek(STDIN_FILENO, 4, SEEK_SET), 4);
    {
        const auto source = open_bytes("-");
        EXPECT_EQ(all_of(*source), "two three four");
        ASSERT_TRUE(source->can_rewind());
        source->rewind();
        EXPECT_EQ(all_of(*source), "two three four");
    }
    EXPECT_NE(::lseek(STDIN_FILENO, 0, SEEK_CUR), -1) << "stdin is not ours to close";
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
}

TEST(ByteSource, a_pipe_cannot_be_read_twice) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const auto source = open_bytes("/dev/fd/" + std::to_string(ends[0]));
    EXPECT_FALSE(source->can_rewind());
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(ByteSource, what_cannot_be_read_is_named_with_the_reason) {
    EXPECT_EQ(refusal([] { open_bytes("/nowhere/warps.txt"); }),
              "coalprof: cannot open /nowhere/warps.txt: No such file or directory\n"
              "hint: there is no folder /nowhere\n");
    EXPECT_THAT(refusal([] { open_bytes("/"); }), HasSubstr("cannot read /: it is a folder"));
    EXPECT_THAT(refusal([] { open_bytes("/a\x1b[2Jb"); }), HasSubstr("cannot open /a\\x1b[2Jb: "));
    try {
        open_bytes("/nowhere/warps.txt");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage);
    }
}

// Nothing is mapped at address 0. Of the looks whether to stop, two come before the read.
TEST(ByteSource, a_read_that_fails_is_no_end_of_the_file) {
    int looks = 0;
    const auto source = open_bytes("/proc/self/mem", [&looks] { return ++looks > 2; });
    EXPECT_THAT(refusal([&] { all_of(*source); }), HasSubstr("cannot read /proc/self/mem: "));
}

volatile sig_atomic_t signals_seen = 0;

TEST(ByteSource, an_interrupted_read_ends_only_when_the_caller_wants_it) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    struct sigaction action {
    }, old_action{};
    action.sa_handler = [](int) { signals_seen = signals_seen + 1; };  // no SA_RESTART
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &old_action), 0);

    const pthread_t reader = ::pthread_self();
    signals_seen = 0;
    // Signals go on until the read has ended, so that none can come too early to be the last.
    std::atomic<bool> done = false;
    std::thread sender([&] {
        while (!done) {
            ::pthread_kill(reader, SIGUSR1);
            std::this_thread::yield();
        }
    });
    const auto source =
        open_bytes("/dev/fd/" + std::to_string(ends[0]), [] { return signals_seen >= 3; });
    std::array<char, 8> block{};
    EXPECT_EQ(source->read(block), 0u);
    done = true;
    sender.join();
    EXPECT_GE(signals_seen, 3);
    ::sigaction(SIGUSR1, &old_action, nullptr);
    ::close(ends[0]);
    ::close(ends[1]);
}

}  // namespace
}  // namespace coalprof
