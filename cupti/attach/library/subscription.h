// The subscription to CUPTI's callbacks: beside a program that profiles itself, where CUPTI serves
// several at a time.
//
// CUPTI does so from 13.3 on with drivers from r610 on, for subscribers that use
// cuptiSubscribe_v2() and let others in; the first one decides (its documentation, "Multiple
// Subscribers", 13.4). A program that takes its records by the older functions gets none then, as
// it gets none beside cuptiSubscribe().
#pragma once

#include <cupti_callbacks.h>

#include <cstddef>
#include <cstdint>

namespace coalprof {

// CUpti_SubscriberParams as of CUPTI 13.2: this build's headers may be older.
struct SubscriberParams {
    std::size_t structSize;
    const char* subscriberName;
    char* oldSubscriberName;
    std::size_t oldSubscriberSize;
    std::uint8_t allowMultipleSubscribers;
    std::uint8_t padding[7];
};

// A plain struct, so that a scripted fake can stand in.
struct SubscriptionApi {
    decltype(&::cuptiSubscribe) subscribe = nullptr;
    // nullptr: an older CUPTI.
    CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*,
                                SubscriberParams*) = nullptr;
    CUptiResult (*get_version)(std::uint32_t*) = nullptr;
};

// `driver_version`: CUDA's version in the driver, 13030 is 13.3; 0: not known.
CUptiResult subscribe_beside_others(const SubscriptionApi& api, int driver_version,
                                    CUpti_CallbackFunc callback,
                                    CUpti_SubscriberHandle* subscriber);

}  // namespace coalprof
