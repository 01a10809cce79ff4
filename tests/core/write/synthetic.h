// Results made up for the tests of the formats: small, with everything that a format must bear.
#pragma once

#include <string>

#include "core/result/result.h"
#include "core/write/formats.h"

namespace coalprof::synthetic {

// The head of a sweep of `offset`, rmw of f32, measured on a made-up GPU.
ResultHead head();

// Offset k of 32 warps of rmw f32: requests 32, sectors 128 or 160, loads as stores.
// Measured equal to the prediction, with an L2 counter that only measurement gives.
Point point(std::int64_t offset);

// A point whose measurement failed.
Point failed_point(std::int64_t offset);

// One that is only predicted: what goes to L2 exactly at offset 0 and as an estimate elsewhere, and
// the time.
Point estimated_point(std::int64_t offset);

// What a format makes of the points, with one warning at the end and what else `tail` holds.
std::string written(const Format& format, const ResultHead& head, const std::vector<Point>& points,
                    const TableStyle& style = {}, ResultTail tail = {});

}  // namespace coalprof::synthetic
