// How CUPTI is subscribed to: by versions of it and of the driver.
#include "cupti/attach/library/subscription.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

struct SubscriptionScript {
    std::uint32_t version = 130300;
    CUptiResult answer = CUPTI_SUCCESS;
    int alone = 0;
    int beside_others = 0;
};
SubscriptionScript subscription_script;

SubscriptionApi cupti_that_subscribes() {
    return {.subscribe =
                [](CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
                    ++subscription_script.alone;
                    return CUPTI_SUCCESS;
                },
            .subscribe_v2 =
                [](CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, SubscriberParams* params) {
                    subscription_script.beside_others += params->allowMultipleSubscribers;
                    return params->structSize == 40 ? subscription_script.answer
                                                    : CUPTI_ERROR_INVALID_PARAMETER;
                },
            .get_version =
                [](std::uint32_t* version) {
                    *version = subscription_script.version;
                    return CUPTI_SUCCESS;
                }};
}

// How often alone, and beside others.
std::pair<int, int> subscribed(const SubscriptionScript& now, int driver_version,
                               const SubscriptionApi& api = cupti_that_subscribes()) {
    subscription_script = now;
    CUpti_SubscriberHandle subscriber = nullptr;
    EXPECT_EQ(subscribe_beside_others(api, driver_version, nullptr, &subscriber), CUPTI_SUCCESS);
    return {subscription_script.alone, subscription_script.beside_others};
}

TEST(Subscription, lets_others_in_where_cupti_and_driver_serve_several) {
    EXPECT_EQ(subscribed({}, 13030), (std::pair{0, 1}));
    EXPECT_EQ(subscribed({}, 13020), (std::pair{1, 0}));
    EXPECT_EQ(subscribed({}, 0), (std::pair{1, 0}));
    EXPECT_EQ(subscribed({.version = 130299}, 13030), (std::pair{1, 0}));
    SubscriptionApi older = cupti_that_subscribes();
    older.subscribe_v2 = nullptr;
    EXPECT_EQ(subscribed({}, 13030, older), (std::pair{1, 0}));
}

TEST(Subscription, is_one_alone_where_the_first_lets_nobody_in) {
    EXPECT_EQ(subscribed({.answer = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED}, 13030),
              (std::pair{1, 1}));
}

}  // namespace
}  // namespace coalprof
