#include "core/write/labels.h"

#include <gtest/gtest.h>

#include <set>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

using Texts = std::vector<std::string>;

void expect_distinct(const Texts& texts, std::size_t columns) {
    for (const bool ascii : {false, true}) {
        const Labels labels = distinct_labels(texts, columns, ascii);
        std::set<std::string> shown;
        for (const auto& [text, label] : labels) {
            shown.insert(label);
            EXPECT_LE(terminal_columns(label), columns) << label;
        }
        EXPECT_EQ(shown.size(), std::set<std::string>(texts.begin(), texts.end()).size());
    }
}

TEST(Labels, are_told_apart_wherever_texts_differ) {
    const std::string same(60, 'x');
    expect_distinct({same + "1", same + "2"}, 28);                // at the end
    expect_distinct({same + "1" + same, same + "2" + same}, 28);  // in the middle
    expect_distinct({same + "1" + same, same + same + "2" + same, same + same}, 28);
    expect_distinct({"short", same, same, same + same}, 28);  // here and there
    expect_distinct({"caf\xC3\xA9", "caf\xC3\xA8"}, 28);      // not in ASCII
}

TEST(Labels, keep_what_is_short_and_a_beginning_that_is_enough) {
    const Labels labels = distinct_labels({"i", "a[threadIdx.x]", "b[threadIdx.x]"}, 8, false);
    EXPECT_EQ(labels.at("i"), "i");
    EXPECT_EQ(labels.at("a[threadIdx.x]"), "a[threa…");
}

Point point_of(std::uint64_t pitch, const std::string& machine) {
    Point point;
    point.name = "always the same";
    point.parameters = {{"N", std::uint64_t{1024}}, {"P", pitch}, {"machine", machine}};
    return point;
}

TEST(Labels, name_points_by_what_varies) {
    EXPECT_EQ(names_by_what_varies({point_of(1, "k80"), point_of(2, "k80")}),
              (Texts{"P=1", "P=2"}));
    EXPECT_EQ(names_by_what_varies({point_of(1, "k80"), point_of(2, "h200")}),
              (Texts{"P=1 machine=k80", "P=2 machine=h200"}));
    EXPECT_EQ(names_by_what_varies({point_of(1, "k80")}), Texts{"always the same"});
}

}  // namespace
}  // namespace coalprof
