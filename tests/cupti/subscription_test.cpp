// How CUPTI is subscribed to: by versions of it and of the driver.
#include "cupti/attach/library/subscription.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

struct Script {
    std::uint32_t version = 130300;
    CUptiResult answer = CUPTI_SUCCESS;
    int alone = 0;
    int beside_others = 0;
};
Script script;

SubscriptionApi fake_cupti() {
    return {.subscribe =
                [](CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
                    ++script.alone;
                    return CUPTI_SUCCESS;
                },
            .subscribe_v2 =
                [](CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, SubscriberParams* params) {
                    script.beside_others += params->allowMultipleSubscribers;
                    return params->structSize == 40 ? script.answer : CUPTI_ERROR_INVALID_PARAMETER;
                },
            .get_version =
                [](std::uint32_t* version) {
                    *version = script.version;
                    return CUPTI_SUCCESS;
                }};
}

// How often alone, and beside others.
std::pair<int, int> subscribed(const Script& now, int driver_version,
                               const SubscriptionApi& api = fake_cupti()) {
    script = now;
    CUpti_SubscriberHandle subscriber = nullptr;
    EXPECT_EQ(subscribe_beside_others(api, driver_version, nullptr, &subscriber), CUPTI_SUCCESS);
    return {script.alone, script.beside_others};
}

TEST(Subscription, lets_others_in_where_cupti_and_driver_serve_several) {
    EXPECT_EQ(subscribed({}, 13030), (std::pair{0, 1}));
    EXPECT_EQ(subscribed({}, 13020), (std::pair{1, 0}));
    EXPECT_EQ(subscribed({}, 0), (std::pair{1, 0}));
    EXPECT_EQ(subscribed({.version = 130299}, 13030), (std::pair{1, 0}));
    SubscriptionApi older = fake_cupti();
    older.subscribe_v2 = nullptr;
    EXPECT_EQ(subscribed({}, 13030, older), (std::pair{1, 0}));
}

TEST(Subscription, is_one_alone_where_the_first_lets_nobody_in) {
    EXPECT_EQ(subscribed({.answer = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED}, 13030),
              (std::pair{1, 1}));
}

}  // namespace
}  // namespace coalprof
