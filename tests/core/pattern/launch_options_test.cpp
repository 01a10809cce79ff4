#include "core/pattern/launch_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"

namespace coalprof {
namespace {

using ::testing::IsEmpty;

TEST(LaunchOptions, read_every_word_that_they_offer) {
    for (const LaunchOption& option : launch_options()) {
        if (!option.words) continue;
        for (const std::string_view word : option.words())
            EXPECT_EQ(option.read(option, std::string(word)).size(), 1u) << option.key << word;
    }
}

TEST(LaunchOptions, change_nothing_with_their_usual_value) {
    for (const LaunchOption& option : launch_options()) {
        if (option.usual.empty()) continue;
        ChosenLaunch launch;
        launch.shape.size_bytes = usual_size_bytes;  // commands set it, as patterns may have others
        std::vector<Axis> axes;
        take_option(option, std::string(option.usual), launch, axes);
        EXPECT_THAT(axes, IsEmpty()) << option.key;
        ChosenLaunch untouched;
        untouched.shape.size_bytes = usual_size_bytes;
        EXPECT_EQ(launch.type, untouched.type);
        EXPECT_EQ(launch.shape.size_bytes, untouched.shape.size_bytes);
        EXPECT_EQ(launch.shape.block, untouched.shape.block);
        EXPECT_EQ(launch.shape.per_thread, untouched.shape.per_thread);
        if (option.shown) {
            EXPECT_EQ(option.shown(launch), option.shown(untouched)) << option.key;
            EXPECT_TRUE(is_usual_value(option.key, option.shown(untouched))) << option.key;
        }
    }
}

TEST(LaunchOptions, of_several_values_are_an_axis_that_one_value_ends) {
    ChosenLaunch launch;
    std::vector<Axis> axes;
    const LaunchOption& dlcm = *find_launch_option("dlcm");
    take_option(dlcm, "cg,ca,cg", launch, axes);
    ASSERT_EQ(axes.size(), 1u);
    EXPECT_EQ(axes[0].values.size(), 2u);
    EXPECT_EQ(launch.dlcm, LoadModifier::cg);
    take_option(dlcm, "cs", launch, axes);
    EXPECT_THAT(axes, IsEmpty());
    EXPECT_EQ(launch.dlcm, LoadModifier::cs);
    EXPECT_THROW(take_option(dlcm, "cx", launch, axes), UsageError);
}

}  // namespace
}  // namespace coalprof
