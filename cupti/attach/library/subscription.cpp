#include "cupti/attach/library/subscription.h"

namespace coalprof {
namespace {

constexpr std::uint32_t first_cupti = 130300;
constexpr int first_driver = 13030;  // r610's CUDA

bool serves_several(const SubscriptionApi& api, int driver_version) {
    std::uint32_t version = 0;
    return api.subscribe_v2 && api.get_version && driver_version >= first_driver &&
           api.get_version(&version) == CUPTI_SUCCESS && version >= first_cupti;
}

}  // namespace

CUptiResult subscribe_beside_others(const SubscriptionApi& api, int driver_version,
                                    CUpti_CallbackFunc callback,
                                    CUpti_SubscriberHandle* subscriber) {
    if (serves_several(api, driver_version)) {
        SubscriberParams params{.structSize = sizeof(SubscriberParams),
                                .subscriberName = "coalprof",
                                .oldSubscriberName = nullptr,
                                .oldSubscriberSize = 0,
                                .allowMultipleSubscribers = 1,
                                .padding = {}};
        if (api.subscribe_v2(subscriber, callback, nullptr, &params) == CUPTI_SUCCESS)
            return CUPTI_SUCCESS;
        // Another tool came first and lets nobody in, or uses the older functions.
    }
    return api.subscribe(subscriber, callback, nullptr);
}

}  // namespace coalprof
