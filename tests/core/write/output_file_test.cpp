#include "core/write/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>

#include "core/runtime/signal.h"
#include "core/text/error.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
}

// What opening, writing or committing `path` throws.
std::string refusal_of(const std::string& path) {
    try {
        OutputFile file(path);
        file.write("text");
        file.commit();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::output);
        return error.what();
    }
    return "not refused";
}

TEST(OutputFile, appears_whole_on_commit) {
    const TemporaryFolder folder;
    OutputFile file(folder / "result.json");
    file.write("one ");
    file.write("two");
    EXPECT_EQ(folder.names().count("result.json"), 0u);
    file.commit();
    EXPECT_EQ(folder.read("result.json"), "one two");
    EXPECT_THAT(folder.names(), ElementsAre("result.json"));
}

// There is room for 16 files to be removed. A name that stayed there after its file is in place
// would take the place of another one's.
TEST(OutputFile, that_is_in_place_is_not_removed_when_the_process_is_killed) {
    const TemporaryFolder folder;
    std::deque<OutputFile> files;
    for (int i = 0; i < 16; ++i) {
        files.emplace_back(folder / fmt::format("{}.json", i));
        files.back().commit();
    }
    folder.write("unfinished", "");
    const std::string unfinished = folder / "unfinished";
    remove_when_killed(unfinished);
    remove_unfinished_files();
    keep_when_killed(unfinished);
    EXPECT_EQ(folder.names().count("unfinished"), 0u);
    EXPECT_EQ(folder.names().size(), 16u);
}

TEST(OutputFile, without_commit_leaves_the_old_file_and_no_litter) {
    const TemporaryFolder folder;
    folder.write("result.json", "old");
    {
        OutputFile file(folder / "result.json");
        file.write("new");
        EXPECT_EQ(folder.read("result.json"), "old");
    }
    EXPECT_EQ(folder.read("result.json"), "old");
    EXPECT_THAT(folder.names(), ElementsAre("result.json"));
}

TEST(OutputFile, a_new_file_obeys_the_umask) {
    const TemporaryFolder folder;
    const mode_t old = ::umask(027);
    OutputFile file(folder / "result.json");
    file.commit();
    ::umask(old);
    EXPECT_EQ(mode_of(folder / "result.json"), 0640u);
}

TEST(OutputFile, an_old_file_keeps_its_permissions) {
    const TemporaryFolder folder;
    folder.write("result.json", "old");
    ASSERT_EQ(::chmod((folder / "result.json").c_str(), 0604), 0);
    OutputFile file(folder / "result.json");
    file.write("new");
    file.commit();
    EXPECT_EQ(folder.read("result.json"), "new");
    EXPECT_EQ(mode_of(folder / "result.json"), 0604u);
}

TEST(OutputFile, a_symbolic_link_stays_and_its_target_is_replaced_or_made) {
    for (const bool exists : {true, false}) {
        const TemporaryFolder folder;
        std::filesystem::create_directory(folder / "deep");
        if (exists) folder.write("deep/real.json", "old");
        std::filesystem::create_symlink("deep/real.json", folder / "inner");
        std::filesystem::create_symlink("inner", folder / "link.json");
        OutputFile file(folder / "link.json");
        file.write("new");
        file.commit();
        EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.json"));
        EXPECT_EQ(folder.read("deep/real.json"), "new");
        EXPECT_THAT(folder.names(), ElementsAre("deep", "inner", "link.json"));
    }
}

TEST(OutputFile, a_path_that_cannot_be_fails_at_once_and_is_named) {
    const TemporaryFolder folder;
    folder.write("file", "");
    std::filesystem::create_symlink("loop", folder / "loop");
    EXPECT_THAT(refusal_of(folder / "missing/result.json"),
                HasSubstr("missing/result.json: there is no folder "));
    EXPECT_THAT(refusal_of(folder / "file/result.json"), HasSubstr("Not a directory"));
    EXPECT_THAT(refusal_of(folder / "."), HasSubstr("Is a directory"));
    EXPECT_THAT(refusal_of(folder / "loop"), HasSubstr("Too many levels of symbolic links"));
    EXPECT_THAT(refusal_of(""), HasSubstr("No such file or directory"));
    EXPECT_THAT(refusal_of(folder / std::string(300, 'x')), HasSubstr("File name too long"));
    EXPECT_THAT(folder.names(), ElementsAre("file", "loop"));
}

TEST(OutputFile, a_name_may_be_as_long_as_the_system_allows) {
    const TemporaryFolder folder;
    std::string name;  // 255 bytes in 85 characters
    for (int i = 0; i < 85; ++i) name += "\xE6\xBC\xA2";
    EXPECT_EQ(refusal_of(folder / name), "not refused");
    EXPECT_THAT(folder.names(), ElementsAre(name));
}

TEST(OutputFile, a_disk_that_is_full_leaves_the_old_file_and_no_litter) {
    const TemporaryFolder folder;
    folder.write("result.json", "old");
    // A limit on the size of files stands in for the full disk: write() fails part-way.
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{1000, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    std::string refusal;
    try {
        OutputFile file(folder / "result.json");
        file.write(std::string(1500, 'x'));
        file.commit();
    } catch (const Error& error) {
        refusal = error.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(refusal, HasSubstr("result.json: File too large"));
    EXPECT_EQ(folder.read("result.json"), "old");
    EXPECT_THAT(folder.names(), ElementsAre("result.json"));
}

TEST(OutputFile, that_cannot_take_its_place_stays_beside_it_and_is_named) {
    const TemporaryFolder folder;
    OutputFile file(folder / "result.json");
    file.write("whole");
    std::filesystem::create_directory(folder / "result.json");
    try {
        file.commit();
        FAIL();
    } catch (const Error& error) {
        ASSERT_EQ(folder.names().size(), 2u);
        const std::string kept = *folder.names().begin();  // ".result.json.0123456789abcdef.tmp"
        EXPECT_EQ(folder.read(kept), "whole");
        EXPECT_THAT(error.what(), HasSubstr(kept));
    }
}

TEST(OutputFile, a_part_goes_beside_the_target_which_stays) {
    const TemporaryFolder folder;
    folder.write("result.json", "old");
    folder.write("result.partial.json", "an older part");
    std::filesystem::create_symlink("result.json", folder / "link");
    OutputFile file(folder / "link");
    file.write("part");
    file.commit_part();
    EXPECT_EQ(folder.read("result.json"), "old");
    EXPECT_EQ(folder.read("result.partial.json"), "an older part");  // or anybody's file
    EXPECT_EQ(folder.read("result.partial.2.json"), "part");
    EXPECT_THAT(file.remark(), HasSubstr("result.partial.2.json"));
    EXPECT_THAT(folder.names(),
                ElementsAre("link", "result.json", "result.partial.2.json", "result.partial.json"));
}

TEST(OutputFile, the_name_of_a_part_keeps_the_suffix) {
    EXPECT_EQ(partial_path("x.json"), "x.partial.json");
    EXPECT_EQ(partial_path("a.b/x"), "a.b/x.partial");
    EXPECT_EQ(partial_path("/a/.hidden"), "/a/.hidden.partial");
    EXPECT_EQ(partial_path("/a/x.tar.csv"), "/a/x.tar.partial.csv");
    // 255 bytes are the most that a name may have.
    const std::string longest = partial_path("/a/" + std::string(250, 'x') + ".json");
    EXPECT_EQ(longest, "/a/" + std::string(242, 'x') + ".partial.json");
}

TEST(OutputFile, a_device_is_written_directly) {
    EXPECT_EQ(refusal_of("/dev/null"), "not refused");
    EXPECT_THAT(refusal_of("/dev/full"), HasSubstr("/dev/full: No space left on device"));
    EXPECT_TRUE(OutputFile("/dev/null").is_live());
}

TEST(OutputFile, a_pipe_with_a_name_is_written_directly) {
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
    OutputFile file(folder / "pipe");
    EXPECT_TRUE(file.is_live());
    file.write("text");
    char text[8] = {};
    EXPECT_EQ(::read(reader, text, sizeof text), 4);
    file.commit();
    ::close(reader);
    EXPECT_THAT(folder.names(), ElementsAre("pipe"));
}

// In a process of its own, whose wish to end stays.
void write_to_pipe_that_nobody_reads(const std::string& path) {
    stop_on_signals();
    ::raise(SIGTERM);
    try {
        OutputFile file(path);
    } catch (const Stopped&) {
        std::_Exit(3);
    }
    std::_Exit(4);
}

TEST(OutputFile, does_not_wait_for_a_reader_when_the_signal_came_just_before) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    EXPECT_EXIT(write_to_pipe_that_nobody_reads(folder / "pipe"), ::testing::ExitedWithCode(3), "");
}

TEST(OutputFile, a_regular_file_has_nobody_reading_along) {
    const TemporaryFolder folder;
    EXPECT_FALSE(OutputFile(folder / "result.json").is_live());
}

TEST(OutputFile, dev_fd_writes_to_the_descriptor_where_it_stands) {
    const TemporaryFolder folder;
    const int fd = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_EQ(::write(fd, "before ", 7), 7);
    OutputFile file("/dev/fd/" + std::to_string(fd));
    file.write("after");
    file.commit();
    ::close(fd);
    EXPECT_EQ(folder.read("log"), "before after");
}

TEST(OutputFile, two_names_of_one_file_have_one_target) {
    const TemporaryFolder folder;
    std::filesystem::create_symlink("result.json", folder / "link");
    const OutputFile result(folder / "result.json");
    EXPECT_THROW(OutputFile(folder / "link"), UsageError);
    EXPECT_NO_THROW(OutputFile(folder / "other"));
}

}  // namespace
}  // namespace coalprof
