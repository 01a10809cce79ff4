// Results from a pipe, which cannot be read twice, and numbers that no version wrote.
#include <gmock/gmock.h>

#include <string>

#include "core/result/result_reader.h"
#include "core/text/error.h"
#include "core/write/synthetic.h"
#include "text_source.h"

namespace coalprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Pipe : public ByteSource {
 public:
    explicit Pipe(const std::string& text) : source_(bytes_of_text(text)) {}
    std::size_t read(std::span<char> into) override { return source_->read(into); }
    bool can_rewind() const override { return false; }
    void rewind() override { ADD_FAILURE() << "a pipe cannot be read twice"; }

 private:
    std::unique_ptr<ByteSource> source_;
};

struct LastTail : ResultSink {
    void begin(const ResultHead&) override {}
    void point(const Point&) override {}
    void finish(const ResultTail& its_tail) override { tail = its_tail; }
    ResultTail tail;
};

std::string why_refused(ByteSource& source) {
    LastTail sink;
    try {
        ResultReader(source, "x.json").next(sink);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "not refused";
}

std::string saved_json() {
    return synthetic::written(find_format("json"), synthetic::head(),
                              {synthetic::estimated_point(0), synthetic::estimated_point(1)});
}

TEST(ResultFromPipe, that_is_no_json_is_refused_by_its_place_alone) {
    const std::string text = "NAME load 4\n";
    Pipe pipe(text);
    EXPECT_THAT(why_refused(pipe), AllOf(HasSubstr("x.json:1"), Not(HasSubstr("looks like"))));
    // A file is read again for what it may be.
    const auto file = bytes_of_text(text);
    EXPECT_THAT(why_refused(*file), HasSubstr("looks like"));
}

TEST(ResultFromPipe, whose_points_stand_first_is_refused) {
    std::string json = saved_json();
    const std::size_t points = json.find("\"points\":[");
    const std::size_t end = json.find("\n],\n");
    const std::string list = json.substr(points, end + 2 - points);
    json.erase(points, end + 4 - points);
    json.insert(1, list + ",");
    Pipe pipe(json);
    EXPECT_THAT(why_refused(pipe), HasSubstr("points stand before"));
}

TEST(SavedEstimate, has_two_ends) {
    const std::string json = saved_json();
    const std::size_t from = json.find("\"estimates\":{");
    ASSERT_NE(from, json.npos);
    const std::size_t comma = json.find(',', json.find('[', from));
    const std::size_t end = json.find(']', comma);
    for (const std::string third : {"", ",3,4"}) {
        std::string changed = json;
        changed.replace(comma, end - comma, third);
        const auto source = bytes_of_text(changed);
        LastTail sink;
        EXPECT_EQ(ResultReader(*source, "x.json").next(sink), ReadOutcome::damaged) << third;
        ASSERT_FALSE(sink.tail.warnings.empty());
        EXPECT_THAT(sink.tail.warnings.back().text, HasSubstr("estimates."));
    }
}

}  // namespace
}  // namespace coalprof
