#include "core/explain/drawing.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "core/explain/line_map.h"
#include "core/explain/near_memory.h"
#include "core/text/units.h"
#include "core/text/utf8.h"
#include "core/write/number_text.h"
#include "core/write/table_notes.h"

namespace coalprof {
namespace {

constexpr std::size_t usual_width = 80;
constexpr std::size_t narrowest = 60;
constexpr std::size_t widest = 100;      // longer lines of prose read badly
constexpr std::size_t note_column = 22;  // where the notes begin in rows of label, number and note

// "80 %", "33.33 %": at most two digits after the point, and none at the end that is 0.
std::string percent(double ratio) {
    std::string text = fmt::format("{:.2f}", ratio * 100);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text + " %";
}

class Drawing {
 public:
    Drawing(const Explanation& explanation, const ExplainStyle& style)
        : explanation_(explanation),
          style_(style),
          width_(std::clamp(style.width == 0 ? usual_width : style.width, narrowest, widest)) {}

    std::vector<StyledLine> lines() {
        std::string text = explanation_.name;
        if (!explanation_.formula.empty()) text += ": " + explanation_.formula;
        put_indented(text, Ink::heading);
        text = explanation_.settings;
        if (explanation_.warps > 1)
            text += fmt::format(", warp {} of {}", grouped(explanation_.warp),
                                grouped(explanation_.warps));
        text += fmt::format("{}on {}", text.empty() ? "" : ", ", explanation_.machine);
        if (explanation_.evidence != text_of(Evidence::measured))
            text += fmt::format(" ({})", explanation_.evidence);
        put_indented(text, Ink::plain);
        if (!explanation_.choice.empty()) put_indented(explanation_.choice, Ink::plain);
        for (std::size_t i = 0; i < explanation_.accesses.size(); ++i) {
            lines_.emplace_back();
            access(explanation_.accesses[i]);
        }
        if (explanation_.time) {
            lines_.emplace_back();
            put_labelled("time", sentence_of(*explanation_.time));
        }
        if (!explanation_.warnings.empty()) lines_.emplace_back();
        for (const Warning& warning : explanation_.warnings)
            put_indented(describe(warning), Ink::plain);
        while (lines_.back().columns() == 0) lines_.pop_back();
        return std::move(lines_);
    }

 private:
    void put(const StyledLine& line) { lines_.push_back(line); }

    // `text` wrapped, every line after the first indented by 2.
    void put_indented(std::string_view text, Ink ink) {
        std::size_t indent = 0;
        for (const std::string& part : folded(text, width_ - 2)) {
            StyledLine line;
            line.add_at(indent, part, ink);
            put(line);
            indent = 2;
        }
    }
    // A label and a text wrapped beside it.
    void put_labelled(std::string_view label, std::string_view text) {
        if (style_.is_brief) return;
        for (const std::string& part : folded(text, width_ - 8)) {
            StyledLine line;
            line.add(label, Ink::heading);
            line.add_at(8, part);
            put(line);
            label = {};
        }
    }

    std::string time_text(double seconds) const {
        const NumberStyle style = scale_for(Unit::second, seconds, style_.ascii ? "us" : "µs");
        return fmt::format("{}{}{}", number_text(seconds, estimate_style(style)), glue, style.unit);
    }
    // "~6.99 µs for the launch (5.31 to 8.67), limited by launching blocks."
    std::string sentence_of(const LaunchTime& time) const {
        const auto number = [&](double seconds) {
            const NumberStyle style = scale_for(Unit::second, time.seconds.middle, "");
            return number_text(seconds, estimate_style(style));
        };
        const bool is_of_accesses = time.limit > Limit::instructions;
        return fmt::format("~{} for the launch ({} to {}), limited by {}{}.",
                           time_text(time.seconds.middle), number(time.seconds.low),
                           number(time.seconds.high), phrase_of(time.limit),
                           is_of_accesses ? "" : ", not by its accesses");
    }
    void access(const ExplainedAccess& access) {
        put_indented(head_of(access), Ink::plain);
        if (access.shape.active_lanes > 0) {
            const MapStyle map_style{width_, style_.ascii, style_.all_lines,
                                     explanation_.names_source};
            switch (access.access.space) {
                case Space::shared:
                    access.banks ? banks(*access.banks, map_style) : unknown_passes(access.shape);
                    break;
                case Space::constant: constant(access, map_style); break;
                default: lines(access, map_style); break;
            }
            lines_.emplace_back();
        }
        if (access.findings.empty()) put_reason(access.reasons.why, access.reasons.mend);
        for (const LineFinding& one : access.findings) {
            put_reason(one.text, one.fix);
            if (std::string saving = saving_text(one, style_.ascii); !saving.empty()) {
                if (const std::string others = others_of(one); !others.empty())
                    saving += fmt::format(" This counts the same fix of {}.", others);
                put_labelled("saves", saving);
            }
        }
    }

    void put_reason(std::string_view why, std::string_view fix) {
        put_labelled("why", why);
        put_labelled("fix", fix);
    }

    void lines(const ExplainedAccess& access, const MapStyle& map_style) {
        const LineMap map(access, map_style);
        for (const StyledLine& line : map.rows()) put(line);
        lines_.emplace_back();
        for (const StyledLine& line : map.legend()) put(line);
        lines_.emplace_back();
        if (access.access.space == Space::local) {
            square_row("sectors", sectors_in(access.lines), ideal_local_sectors(access.shape));
        } else {
            counts(access);
        }
    }

    void banks(const BankUse& use, const MapStyle& map_style) {
        for (const StyledLine& line : bank_rows(use.passes, map_style)) put(line);
        lines_.emplace_back();
        put(bank_legend(use.passes, style_.ascii));
        lines_.emplace_back();
        square_row("wavefronts", use.counts.wavefronts, use.counts.ideal_wavefronts);
        put_row("conflicts", fmt::format("{}", use.counts.conflicts()),
                "wavefronts above the ideal");
    }

    // For atomics on shared memory.
    void unknown_passes(const WarpShape& shape) {
        put_row("words", fmt::format("{}", shape.places), "different ones");
        put_row("lanes on one", fmt::format("{}", shape.most_lanes_a_place), "at most");
        put_row("wavefronts", "n/a", "not known");
    }

    void constant(const ExplainedAccess& access, const MapStyle& map_style) {
        for (const StyledLine& line : constant_rows(access.constant_passes, map_style)) put(line);
        lines_.emplace_back();
        const std::size_t passes = access.constant_passes.size();
        square_row("passes", passes, passes / std::max<std::size_t>(access.shape.places, 1));
    }

    // "load of a and store to a, each: lane 0 a[11], lane 1 a[12], ... lane 31 a[42]"
    std::string head_of(const ExplainedAccess& access) const {
        std::string text;
        const std::size_t count = access.instructions.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0) text += i + 1 == count ? " and " : ", ";
            text += name_of_instruction(access.instructions[i]);
        }
        if (access.access.space != Space::global)
            text += fmt::format(" in {} memory", name_of(access.access.space));
        if (count > 1) text += ", each";
        std::string with_lanes = text + lanes_of(access, 2);
        if (terminal_columns(with_lanes) > width_ - 2) with_lanes = text + lanes_of(access, 1);
        return with_lanes;
    }

    // The places of the first `named` active lanes and of the last.
    static std::string lanes_of(const ExplainedAccess& access, int named) {
        std::string text;
        for (std::uint32_t rest = access.access.active_lanes; rest != 0; rest &= rest - 1) {
            if (named-- == 0 && std::popcount(rest) > 1) {
                text += ", ...";
                rest = 1u << (std::bit_width(rest) - 1);
            } else {
                text += text.empty() ? ":" : ",";
            }
            const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
            text += fmt::format(" lane{}{}{}{}", glue, lane, glue, place_of(access, lane));
        }
        return text;
    }

    static std::string name_of_instruction(const ExplainedInstruction& instruction) {
        constexpr auto name = [](AccessKind kind) -> std::pair<const char*, const char*> {
            switch (kind) {
                case AccessKind::load: return {"load", " of "};
                case AccessKind::store: return {"store", " to "};
                case AccessKind::atomic: return {"atomic", " on "};
                case AccessKind::reduce: break;
            }
            return {"reduction", " on "};
        };
        const auto [verb, particle] = name(instruction.kind);
        if (instruction.array.empty()) return verb;
        return verb + (particle + instruction.array);
    }

    // "a[11]", or an address.
    static std::string place_of(const ExplainedAccess& access, std::uint32_t lane) {
        const std::uint64_t address = access.access.addresses[lane];
        const std::string& array = access.instructions.front().array;
        if (array.empty() || access.element_bytes == 0)
            return fmt::format("{:#x}", address + access.origin_address);
        return fmt::format("{}[{}]", array, address / access.element_bytes);
    }

    static StyledLine row(std::string_view label, std::string_view number) {
        StyledLine line;
        line.add(" ");
        line.add(label);
        line.add_at(note_column - 2 - terminal_columns(number), number, Ink::heading);
        line.advance_to(note_column);
        return line;
    }
    // A row with a note, wrapped beside the number.
    void put_row(std::string_view label, std::string_view number, std::string_view note) {
        StyledLine line = row(label, number);
        for (const std::string& part : folded(note, width_ - note_column)) {
            line.add_at(note_column, part);
            put(line);
            line = {};
        }
    }

    void counts(const ExplainedAccess& access) {
        const GlobalCounts& counts = access.instructions.front().counts;
        if (counts.traffic_doubts != 0)
            return put_row("sectors", "n/a", "not known, as are the L2 requests");
        square_row("sectors", counts.sectors, counts.ideal_sectors);
        const double efficiency = static_cast<double>(counts.unique_bytes) /
                                  static_cast<double>(counts.sectors * sector_bytes);
        put_row("efficiency", percent(efficiency), byte_note(purpose_of(access), counts));
        put_row("L2 requests", fmt::format("{}", counts.l2_requests),
                purpose_of(access) == Purpose::atomic ? "packets of lanes that go out together"
                                                      : "one for each cache line");
        if (counts.tag_doubts == 0 && counts.tag_wavefronts > 1)
            put_row("tag wavefronts", fmt::format("{}", counts.tag_wavefronts),
                    "passes through L1's tag stage, at most 4 cache lines each");
    }

    // A square for each of `count`, those above the ideal in another shape.
    void square_row(std::string_view label, std::uint64_t count, std::uint64_t ideal) {
        StyledLine line = row(label, fmt::format("{}", count));
        constexpr std::uint64_t most_squares = 32;  // only wide lanes in local memory have more
        for (std::uint64_t i = 0; i < std::min(count, most_squares); ++i) {
            const bool is_ideal = i < ideal;
            line.add(is_ideal ? (style_.ascii ? "#" : "■") : (style_.ascii ? "!" : "□"),
                     is_ideal ? Ink::good : Ink::waste);
        }
        if (count > most_squares) line.add("...", Ink::waste);
        const std::string note = fmt::format("ideal {}", ideal);
        if (line.columns() + 2 + note.size() > width_) {
            put(line);
            line = {};
            line.advance_to(note_column - 2);
        }
        line.add("  ");
        line.add(note);
        put(line);
    }

    static std::string byte_note(Purpose purpose, const GlobalCounts& counts) {
        const std::uint64_t moved = counts.sectors * sector_bytes;
        switch (purpose) {
            case Purpose::load:
                return fmt::format("{} of {} bytes fetched are used", counts.unique_bytes, moved);
            case Purpose::store:
                return fmt::format("{} of the sectors' {} bytes are written", counts.unique_bytes,
                                   moved);
            case Purpose::load_and_store:
                return fmt::format("{} of the sectors' {} bytes are used", counts.unique_bytes,
                                   moved);
            case Purpose::atomic: break;
        }
        return fmt::format("{} of the sectors' {} bytes are updated", counts.unique_bytes, moved);
    }

    const Explanation& explanation_;
    const ExplainStyle& style_;
    std::size_t width_;
    std::vector<StyledLine> lines_;
};

}  // namespace

std::vector<StyledLine> lines_of(const Explanation& explanation, const ExplainStyle& style) {
    return Drawing(explanation, style).lines();
}

}  // namespace coalprof
