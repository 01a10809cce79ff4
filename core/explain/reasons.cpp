#include "core/explain/reasons.h"

#include <fmt/core.h>

#include <array>
#include <bit>

#include "core/text/units.h"

namespace coalprof {
namespace {

struct Words {
    std::string_view act;    // "read": the lanes' action
    std::string_view acts;   // "reads"
    std::string_view moved;  // "fetched": for a sector
    std::string_view used;   // "used": for a byte that a lane wanted
};

constexpr Words words_of(Purpose purpose) {
    switch (purpose) {
        case Purpose::load: return {"read", "reads", "fetched", "used"};
        case Purpose::store: return {"write", "writes", "touched", "written"};
        case Purpose::load_and_store: return {"touch", "touches", "touched", "used"};
        case Purpose::atomic: break;
    }
    return {"update", "updates", "sent", "updated"};
}

// One access being explained.
class Explainer {
 public:
    Explainer(const WarpShape& shape, Purpose purpose, const GlobalCounts& counts)
        : shape_(shape), purpose_(purpose), words_(words_of(purpose)), counts_(counts) {}

    Reasons explain() const {
        const Cause cause = find_cause();
        switch (cause) {
            case Cause::no_lanes: return reasons_of_no_lanes();
            case Cause::one_sector: return one_sector();
            case Cause::contiguous: return contiguous();
            case Cause::misaligned: return misaligned();
            case Cause::full_sectors:
                return {cause,
                        fmt::format("{} {} {} separate stretches of memory, and all {} are used in "
                                    "full.{}",
                                    lanes(), words_.act, shape_.runs,
                                    counted(shape_.sectors, "sector"), order_remark()),
                        "Nothing to fix in the number of sectors."};
            case Cause::few_sectors: return few_sectors();
            case Cause::strided: return strided();
            case Cause::pieces: return pieces();
            case Cause::scattered: return scattered();
            case Cause::same_word: return same_word();
            case Cause::word_bank: return word_bank();
            default:  // unknown_packets; other memories are handled elsewhere
                break;
        }
        return {Cause::unknown_packets,
                fmt::format("How this warp is divided is not known: {}.",
                            reason_of(counts_.traffic_doubts)),
                "Words of one cache line, each updated by one lane, go out in one packet whatever "
                "the hash."};
    }

 private:
    Cause find_cause() const {
        if (shape_.active_lanes == 0) return Cause::no_lanes;
        if (purpose_ == Purpose::atomic) {
            if (counts_.traffic_doubts != 0) return Cause::unknown_packets;
            if (shape_.most_lanes_a_place > 1) return Cause::same_word;
            if (counts_.l2_requests > shape_.lines) return Cause::word_bank;
        }
        if (shape_.sectors == 1) return Cause::one_sector;
        if (shape_.runs == 1)
            return shape_.sectors == shape_.sectors_needed() ? Cause::contiguous
                                                             : Cause::misaligned;
        if (shape_.least_used_bytes == sector_bytes) return Cause::full_sectors;
        if (shape_.sectors <= side_by_side_sectors()) return Cause::few_sectors;
        if (shape_.distance_bytes) return Cause::strided;
        if (shape_.rows) return has_narrow_rows() ? Cause::pieces : Cause::strided;
        // Long stretches or single places: the better word is a matter of taste.
        return shape_.unique_bytes() >= shape_.runs * sector_bytes ? Cause::pieces
                                                                   : Cause::scattered;
    }

    // The sectors of as many active lanes of this width at best when no two share a place.
    std::uint32_t side_by_side_sectors() const {
        return static_cast<std::uint32_t>(
            (shape_.active_lanes * shape_.width_bytes + sector_bytes - 1) / sector_bytes);
    }

    std::string lanes() const { return lanes_text(shape_); }
    std::string all_lanes_words() const {
        if (shape_.active_lanes == warp_lanes) return "All 32 lanes";
        return fmt::format("All {} active lanes", shape_.active_lanes);
    }
    // Sectors of loads and stores do not depend on the order of the lanes.
    std::string order_remark() const {
        if (shape_.lanes_rise || purpose_ == Purpose::atomic) return {};
        const bool has_all_lanes = shape_.active_lanes == warp_lanes;  // needed to count rows
        if (has_all_lanes && shape_.rows && shape_.rows->row_bytes == 0)
            return fmt::format(" Lanes from {} on {} what lanes 0 to {} {}, which costs no sector.",
                               shape_.rows->lanes, words_.act, shape_.rows->lanes - 1, words_.act);
        return " The lanes are not in order of address, which costs no sector.";
    }
    // The ideal counts lanes side by side, also those that share bytes.
    std::string sharing_remark() const {
        const std::uint32_t ideal = std::min(shape_.sectors, side_by_side_sectors());
        if (shape_.sectors_needed() >= ideal) return {};
        return fmt::format(
            " Lanes share bytes: {} would hold the {} bytes, fewer than the ideal of {}.",
            counted(shape_.sectors_needed(), "sector"), shape_.unique_bytes(), ideal);
    }
    std::string line_remark() const {
        if (shape_.lines <= shape_.lines_needed()) return {};
        return fmt::format(" They lie in {} cache lines, so L2 gets {} requests where {} would do.",
                           shape_.lines, shape_.lines, shape_.lines_needed());
    }

    Reasons one_sector() const {
        Reasons reasons{Cause::one_sector, {}, "Nothing to fix: one sector is the fewest."};
        if (shape_.active_lanes == 1) {
            reasons.why = fmt::format("The one active lane {} {} of one sector.", words_.acts,
                                      counted(shape_.width_bytes, "byte"));
        } else if (shape_.places == 1) {
            reasons.why = fmt::format(
                "{} {} the same {}, and one sector serves them all.", all_lanes_words(), words_.act,
                shape_.width_bytes == 1 ? "byte" : counted(shape_.width_bytes, "byte"));
            if (purpose_ == Purpose::store)
                reasons.mend =
                    "Let one lane write: of several, which one's value stays is not defined.";
        } else {
            reasons.why =
                fmt::format("{} fall into one sector.{}", all_lanes_words(), order_remark());
        }
        return reasons;
    }

    Reasons contiguous() const {
        Reasons reasons{Cause::contiguous, {}, {}};
        const std::string sectors = counted(shape_.sectors, "sector");
        reasons.why = fmt::format(
            "{} {} {} contiguous bytes{}.{}", lanes(), words_.act, shape_.unique_bytes(),
            shape_.least_used_bytes == sector_bytes
                ? " that begin at a sector boundary, so all " + sectors + " are used in full"
                : ", which no place in memory could hold in fewer than " + sectors,
            line_remark().empty() ? order_remark() : line_remark());
        if (shape_.lines > shape_.lines_needed()) {
            reasons.mend = fmt::format(
                "Nothing to fix in the number of sectors; a start at a multiple of 128 bytes "
                "would save {}.",
                counted(shape_.lines - shape_.lines_needed(), "L2 request"));
        } else if (shape_.active_lanes < warp_lanes) {
            reasons.mend = fmt::format("Nothing to fix in the number of sectors; {} could do work.",
                                       counted(warp_lanes - shape_.active_lanes, "idle lane"));
        } else {
            reasons.mend =
                fmt::format("Nothing to fix: {} sectors are the fewest.", shape_.sectors);
        }
        return reasons;
    }

    Reasons misaligned() const {
        const std::uint32_t back = shape_.misaligned_bytes();
        const std::uint64_t forth = sector_bytes - back;
        const std::uint32_t width = shape_.width_bytes;
        return {
            Cause::misaligned,
            fmt::format("{} {} {} contiguous bytes that begin {} into a sector, so they reach into "
                        "{} sectors where {} would hold them.{}",
                        lanes(), words_.act, shape_.unique_bytes(), counted(back, "byte"),
                        shape_.sectors, shape_.sectors_needed(), order_remark()),
            fmt::format(
                "Let the warp begin at a multiple of 32 bytes, {} earlier or {} later: then "
                "{}.",
                counted(back / width, "element"), forth / width,
                shape_.sectors_needed() == 1
                    ? std::string("1 sector holds it all")
                    : fmt::format("{} sectors hold it all", shape_.sectors_needed()))};
    }

    Reasons few_sectors() const {
        return {Cause::few_sectors,
                fmt::format("{} {} {} distinct places that lie in {} sectors, no more than the {} "
                            "that as many lanes side by side would need.{}{}",
                            lanes(), words_.act, shape_.places, shape_.sectors,
                            side_by_side_sectors(), order_remark(), sharing_remark()),
                "Nothing to fix in the number of sectors."};
    }

    // "carries only 4 bytes that are used", for all touched sectors.
    std::string useful_part() const {
        return fmt::format("carries {} {}{}",
                           shape_.least_used_bytes == shape_.most_used_bytes ? "only" : "at most",
                           counted(shape_.most_used_bytes, "byte"),
                           shape_.most_used_bytes == 1 ? fmt::format(" that is {}", words_.used)
                                                       : fmt::format(" that are {}", words_.used));
    }

    // Rows of threads whose lanes lie side by side.
    bool has_narrow_rows() const { return shape_.rows->lane_bytes == shape_.width_bytes; }

    // The order is decided by the thread index that the lanes of a row differ in.
    Reasons strided_rows() const {
        const LaneRows& rows = *shape_.rows;
        const bool is_exchanged = rows.lane_bytes > rows.row_bytes;
        return {Cause::strided,
                fmt::format("Neighbouring lanes are {} bytes apart, and lanes {} apart (the next "
                            "row of threads) {}, so each 32-byte sector {}.{}",
                            rows.lane_bytes, rows.lanes, rows.row_bytes, useful_part(),
                            sharing_remark()),
                is_exchanged
                    ? "Exchange x and y in the index: threadIdx.x moves fastest from lane to lane, "
                      "and should take neighbouring elements; or move tiles row by row and turn "
                      "them in shared memory."
                    : mend_of_distance(rows.lane_bytes)};
    }

    Reasons strided() const {
        if (!shape_.distance_bytes) return strided_rows();
        const std::uint64_t distance = *shape_.distance_bytes;
        return {Cause::strided,
                fmt::format(
                    "{} {} bytes apart, so each 32-byte sector {}.{}{}",
                    shape_.lanes_keep_distance ? "Neighbouring lanes are" : "Touched places are",
                    distance, useful_part(), shape_.lanes_keep_distance ? "" : order_remark(),
                    sharing_remark()),
                mend_of_distance(distance)};
    }

    std::string mend_of_distance(std::uint64_t distance) const {
        if (purpose_ == Purpose::atomic) return "Lay the words of neighbouring lanes side by side.";
        if (distance <= 16 && std::has_single_bit(distance))
            return fmt::format(
                "Lay the elements side by side (a structure of arrays), or let each lane take all "
                "{} bytes in one wider access if it needs them.",
                distance);
        if (distance < line_bytes)
            return "Lay the elements of neighbouring lanes side by side (a structure of arrays), "
                   "or stage the data through shared memory.";
        return "Let neighbouring lanes take neighbouring elements (exchange row and column), or "
               "move tiles row by row and turn them in shared memory.";
    }

    // Rows of threads that are shorter than a sector.
    Reasons narrow_rows() const {
        const LaneRows& rows = *shape_.rows;
        return {
            Cause::pieces,
            fmt::format(
                "Threads stand in rows of {}: each row {} {} contiguous bytes, and rows are "
                "{} bytes apart, so each 32-byte sector {}.",
                rows.lanes, words_.acts, rows.lanes * shape_.width_bytes, rows.row_bytes,
                useful_part()),
            fmt::format("Make the block wider in x: {} threads take a sector, 32 take whole lines.",
                        sector_bytes / shape_.width_bytes)};
    }

    Reasons pieces() const {
        if (shape_.rows && has_narrow_rows() &&
            shape_.rows->lanes * shape_.width_bytes < sector_bytes)
            return narrow_rows();
        return {Cause::pieces,
                fmt::format("{} {} {} separate stretches of memory that begin or end inside "
                            "sectors, so {} sectors are {} where {} would hold the {} bytes.{}",
                            lanes(), words_.act, shape_.runs, shape_.sectors, words_.moved,
                            shape_.sectors_needed(), shape_.unique_bytes(),
                            order_remark() + sharing_remark()),
                "Let each stretch begin and end at a multiple of 32 bytes, for instance by padding "
                "rows, or give each one separate warps."};
    }

    Reasons scattered() const {
        const double average = static_cast<double>(shape_.unique_bytes()) / shape_.sectors;
        const bool alike = shape_.least_used_bytes == shape_.most_used_bytes;
        const std::string each =
            alike ? fmt::format("each of the {} sectors {}", shape_.sectors, useful_part())
                  : fmt::format("the {} sectors {} carry {:.1f} bytes each on average that are {}",
                                shape_.sectors, words_.moved, average, words_.used);
        return {Cause::scattered,
                fmt::format("{} {} {} places with no fixed distance between them, so {}.{}",
                            lanes(), words_.act, shape_.places, each, sharing_remark()),
                purpose_ == Purpose::atomic
                    ? "Collect the updates in shared memory first, or sort them so that a warp's "
                      "words lie close together."
                    : "Sort or group the indices so that a warp's lanes meet in the same sectors, "
                      "or bring the region into shared memory first."};
    }

    Reasons same_word() const {
        return {
            Cause::same_word,
            fmt::format("{} lanes update the same {} bytes, which go to L2 in separate packets: "
                        "{} with {}.",
                        shape_.places == 1 ? fmt::format("All {}", shape_.most_lanes_a_place)
                                           : fmt::format("Up to {}", shape_.most_lanes_a_place),
                        shape_.width_bytes, counted(counts_.l2_requests, "packet"),
                        counted(counts_.sectors, "sector")),
            "Let the lanes that share a place combine their values first (a warp reduction, or "
            "shared memory) and send one update for all."};
    }

    Reasons word_bank() const {
        return {Cause::word_bank,
                fmt::format(
                    "Lanes on different cache lines whose words meet in one of the 32 word banks "
                    "hold each other back, so the warp goes out in {} packets where its "
                    "{} lines would need one each.",
                    counts_.l2_requests, shape_.lines),
                "Lay the words of a warp side by side: then every line goes out in one packet."};
    }

    const WarpShape& shape_;
    Purpose purpose_;
    Words words_;
    const GlobalCounts& counts_;
};

}  // namespace

std::string_view name_of(Cause cause) {
    // In the order of the enumerators.
    constexpr std::array<std::string_view, 19> names{
        "no_lanes",    "one_sector",        "contiguous",     "misaligned",  "full_sectors",
        "few_sectors", "strided",           "pieces",         "scattered",   "same_word",
        "word_bank",   "unknown_packets",   "not_documented", "no_conflict", "bank_conflict",
        "one_address", "several_addresses", "interleaved",    "own_indices"};
    static_assert(static_cast<std::size_t>(Cause::own_indices) + 1 == names.size());
    return names[static_cast<std::size_t>(cause)];
}

std::string lanes_text(const WarpShape& shape) {
    if (shape.active_lanes == warp_lanes) return "The 32 lanes";
    if (shape.active_lanes == 1) return "The one active lane";
    return fmt::format("The {} active lanes", shape.active_lanes);
}

Reasons reasons_of_no_lanes() {
    return {Cause::no_lanes, "No lane is active, so the warp asks nothing of memory.",
            "There is nothing to fix."};
}

Reasons reasons_of(const WarpShape& shape, Purpose purpose, const GlobalCounts& counts) {
    return Explainer(shape, purpose, counts).explain();
}

}  // namespace coalprof
