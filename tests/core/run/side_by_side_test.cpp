// Several backends at the same time: the order of the result, how far one runs ahead, what ends
// them, and what a journal brings back.
#include "core/run/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "core/run/fake_device.h"
#include "core/run/runs.h"
#include "core/runtime/signal.h"
#include "core/write/journal.h"
#include "core/write/temporary_folder.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

// "a0", "a1", ...
class Numbered : public PointSource {
 public:
    Numbered(std::string name, std::uint64_t count) : name_(std::move(name)), count_(count) {}
    std::optional<std::uint64_t> size() const override { return count_; }
    bool next(PlannedPoint& point) override {
        if (begun == count_) return false;
        point.number = begun++;
        return true;
    }
    void make(PlannedPoint& point) const override {
        point.name = name_ + std::to_string(point.number);
    }

    std::atomic<std::uint64_t> begun{0};

 private:
    std::string name_;
    std::uint64_t count_;
};

// Answers every point with its name.
class Naming : public Backend {
 public:
    void begin(ResultHead& head) override { head.backend = "device"; }
    void answer(PointSource& source, Delivery& delivery) override {
        PlannedPoint planned;
        while (source.next(planned)) {
            source.make(planned);
            before(planned.number);
            answered.push_back(planned.name);
            Point point;
            point.name = planned.name;
            delivery.point(planned, point);
        }
    }
    std::function<void(std::uint64_t)> before = [](std::uint64_t) {};
    std::vector<std::string> answered;
};

struct Two {
    explicit Two(std::uint64_t count) : sources{Numbered("a", count), Numbered("b", count)} {}
    ExitCode run(ResultSink& sink, const Keeping& keeping = {}) {
        return run_points({{sources[0], backends[0]}, {sources[1], backends[1]}}, {}, sink, {},
                          keeping);
    }
    // Backend k does not go beyond point `number` before the other one's source has begun so many.
    void hold(int k, std::uint64_t number, std::uint64_t begun) {
        backends[k].before = [this, k, number, begun](std::uint64_t at) {
            while (at == number && sources[1 - k].begun < begun && !is_released)
                std::this_thread::yield();
        };
    }

    Numbered sources[2];
    Naming backends[2];
    std::atomic<bool> is_released{false};
};

std::vector<std::string> names_of(const std::vector<Point>& points) {
    std::vector<std::string> names;
    for (const Point& point : points) names.push_back(point.name);
    return names;
}

TEST(SideBySide, are_interrupted_where_one_of_them_says_so) {
    for (const bool is_said : {false, true}) {
        SideBySide all(2, [=](std::size_t of, Delivery& delivery) {
            if (of == 1 && is_said) delivery.interrupted();
        });
        all.take_all({.point = [](std::size_t, PlannedPoint, Point) {},
                      .end = [](std::size_t) {},
                      .waiting = [](std::size_t) { return std::size_t{0}; }});
        EXPECT_EQ(all.was_interrupted(), is_said);
    }
}

TEST(SideBySide, deliver_point_by_point_whichever_is_ahead) {
    for (const int slow : {0, 1}) {
        Two two(3);
        two.hold(slow, 0, 3);
        fake::Recorder result;
        EXPECT_EQ(two.run(result), ExitCode::done);
        EXPECT_THAT(names_of(result.points), ElementsAre("a0", "b0", "a1", "b1", "a2", "b2"));
    }
}

// Held up by the other one's first point, which comes when this one is as far as it may go.
TEST(SideBySide, wait_for_one_that_falls_behind) {
    Two two(5 * most_points_ahead);
    std::atomic<bool> is_held{true};
    two.backends[0].before = [&](std::uint64_t at) {
        if (at == 0) {
            while (two.sources[1].begun <= most_points_ahead) std::this_thread::yield();
            // Time for the other to go further, if nothing held it.
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        is_held = false;
    };
    std::uint64_t most = 0;
    two.backends[1].before = [&](std::uint64_t at) {
        if (is_held) most = at;
    };
    fake::Recorder result;
    EXPECT_EQ(two.run(result), ExitCode::done);
    EXPECT_EQ(result.points.size(), 10 * most_points_ahead);
    EXPECT_LE(most, most_points_ahead);
}

TEST(SideBySide, go_on_without_one_that_fails_and_say_why) {
    Two two(4);
    two.backends[0].before = [](std::uint64_t at) {
        if (at == 2) throw Error("its driver went away");
    };
    fake::Recorder result;
    EXPECT_THROW(two.run(result), Error);
    EXPECT_EQ(result.tail.status, Status::interrupted);
    EXPECT_THAT(names_of(result.points), ElementsAre("a0", "b0", "a1", "b1", "b2", "b3"));
}

// What cannot be delivered is not measured for nothing.
TEST(SideBySide, end_where_the_result_cannot_be_written) {
    struct Full : fake::Recorder {
        void point(const Point& point) override {
            if (points.size() == 3) throw Error("no space left", ExitCode::output);
            fake::Recorder::point(point);
        }
    };
    Two two(1'000'000);
    Full full;
    EXPECT_THROW(two.run(full), Error);
    for (const Naming& backend : two.backends)
        EXPECT_LE(backend.answered.size(), 2 * most_points_ahead + 3);
}

// Its points are not wanted any more, and it is told so at the next.
TEST(SideBySide, end_one_that_would_deliver_for_ever) {
    std::atomic<int> to_their_end{0};
    SideBySide all(2, [&](std::size_t, Delivery& delivery) {
        for (int k = 0; k < 100'000; ++k) delivery.point({}, {});
        ++to_their_end;
    });
    const SideBySide::Taker none{
        .point = [](std::size_t, PlannedPoint, Point) { throw Error("no space left"); },
        .end = [](std::size_t) {},
        .waiting = [](std::size_t) -> std::size_t { return 0; }};
    EXPECT_THROW(all.take_all(none), Error);
    EXPECT_EQ(to_their_end, 0);
    EXPECT_TRUE(all.was_interrupted());
}

// As the program makes it: a journal before the outputs, told of points as they are answered.
struct Journaled {
    explicit Journaled(const TemporaryFolder& folder)
        : path(journal_path(folder / "r.json")),
          journal(folder / "r.json", result, [](std::string_view) {}) {}
    Keeping keeping(bool resumes) {
        return {[this, resumes](const ResultHead&) {
                    return resumes && journal.go_on(path) ? path : "";
                },
                [this](const Point& point, bool is_replayed) {
                    journal.keep(point, is_replayed);
                    if (kept) kept();
                }};
    }
    std::string path;
    fake::Recorder result;
    Journal journal;
    std::function<void()> kept;
};

struct Killed {};

// The run ends at the point of the second that is its third, when the first has answered none.
TEST(SideBySide, go_on_behind_all_that_was_answered_before_its_turn) {
    const TemporaryFolder folder;
    {
        Two two(5);
        Journaled run(folder);
        int kept = 0;
        run.kept = [&] {
            if (++kept < 3) return;
            two.is_released = true;
            throw Killed{};
        };
        two.hold(0, 0, 1000);
        EXPECT_THROW(two.run(run.journal, run.keeping(false)), Killed);
        EXPECT_TRUE(run.result.points.empty());
    }
    Two two(5);
    Journaled run(folder);
    EXPECT_EQ(two.run(run.journal, run.keeping(true)), ExitCode::done);
    EXPECT_THAT(names_of(run.result.points),
                ElementsAre("a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"));
    EXPECT_THAT(two.backends[0].answered, ElementsAre("a0", "a1", "a2", "a3", "a4"));
    EXPECT_THAT(two.backends[1].answered, ElementsAre("b3", "b4"));
    EXPECT_FALSE(std::ifstream(run.path).is_open());
}

// Also before the first of them was read.
TEST(SideBySideDeathTest, end_by_a_signal_while_points_are_replayed_as_by_any_other) {
    const TemporaryFolder folder;
    {
        Two two(5);
        Journaled run(folder);
        run.kept = [&two] {
            two.is_released = true;
            throw Killed{};
        };
        EXPECT_THROW(two.run(run.journal, run.keeping(false)), Killed);
    }
    const auto end_early = [&folder] {
        stop_on_signals();
        ::raise(SIGTERM);
        Two two(5);
        Journaled run(folder);
        std::_Exit(static_cast<int>(two.run(run.journal, run.keeping(true))));
    };
    EXPECT_EXIT(end_early(), ::testing::ExitedWithCode(143), "");
    EXPECT_TRUE(std::ifstream(journal_path(folder / "r.json")).is_open());
}

// However often and wherever it is killed, no point is answered twice.
TEST(SideBySide, answer_every_point_once_however_often_they_are_killed) {
    const TemporaryFolder folder;
    std::multiset<std::string> answered;
    std::vector<Point> points;
    for (int at = 1; points.empty(); ++at) {
        ASSERT_LT(at, 40);
        Two two(6);
        Journaled run(folder);
        int left = at % 4 + 1;
        Keeping keeping = run.keeping(at > 1);
        keeping.keep = [&](const Point& point, bool is_replayed) {
            run.journal.keep(point, is_replayed);
            if (is_replayed) return;
            answered.insert(point.name);
            if (--left == 0) throw Killed{};
        };
        try {
            EXPECT_EQ(two.run(run.journal, keeping), ExitCode::done);
            points = run.result.points;
        } catch (const Killed&) {
        }
    }
    EXPECT_THAT(names_of(points), ElementsAre("a0", "b0", "a1", "b1", "a2", "b2", "a3", "b3", "a4",
                                              "b4", "a5", "b5"));
    EXPECT_EQ(answered.size(), 12u);
    for (const std::string& name : answered) EXPECT_EQ(answered.count(name), 1u);
}

}  // namespace
}  // namespace coalprof
