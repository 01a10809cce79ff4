// Executes the function of PTX that counts instructions, a warp at a time, as a GPU would: lanes in
// step, those behind a branch that others took waiting for none. It knows the instructions of that
// function and nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/access/warp_access.h"
#include "core/program/probe.h"
#include "core/program/statement.h"
#include "core/text/name_list.h"

namespace coalprof {

class WarpMachine {
 public:
    explicit WarpMachine(const ProbedPtx& probed) {
        const std::size_t name = probed.text.find(".func coalprof_probe");
        const std::size_t open = probed.text.find('{', name);
        std::size_t end = probed.text.find("ret;", open);
        read(std::string_view(probed.text).substr(open + 1, end + 4 - open - 1));
        memory[counts_symbol].resize(probed.sites.size() * site_counts);
        memory[samples_symbol].resize(probed.sites.size() * probed.samples_of_each * sample_words);
    }

    // What each lane gives: its address, and its probe_word(). Lanes that give none are
    // inactive.
    using Lane = std::optional<std::pair<std::uint64_t, std::uint32_t>>;
    void call(const std::array<Lane, warp_lanes>& arguments, std::uint32_t warp = 0) {
        warp_ = warp;
        std::array<std::size_t, warp_lanes> at{};
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            registers_[lane].assign(places_.size(), std::nullopt);
            for (const auto& [name, place] : places_) registers_[lane][place] = given(name, lane);
        }
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if (!arguments[lane])
                at[lane] = done;
            else
                parameters_[lane] = *arguments[lane];
        }
        while (true) {
            const std::size_t next = *std::ranges::min_element(at);
            if (next == done) return;
            std::uint32_t group = 0;
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                group |= at[lane] == next ? 1u << lane : 0;
            step(code_[next], group, at);
        }
    }

    std::map<std::string, std::vector<std::uint64_t>, std::less<>> memory;
    std::array<std::uint32_t, 3> grid{1, 1, 1};  // of blocks of two warps: 8 x 4 x 2 threads
    bool sees_old_counts = false;                // as if all warps executed at the same time

 private:
    static constexpr std::size_t done = ~std::size_t{0};
    static constexpr std::uint64_t bases_apart = 1ull << 32;
    // Read once: a register's place in registers_ instead of its name, which took sanitized tests
    // minutes to look up.
    struct Operand {
        std::string text;
        std::optional<std::size_t> at = {};  // none: a number or a label
        std::uint64_t number = 0;            // added to the register
    };
    struct Step {
        std::optional<Operand> guard;  // a predicate
        std::string op;
        std::vector<Operand> operands;
    };

    void read(std::string_view text) {
        for (std::size_t at = skip_blanks(text, 0); at < text.size(); at = skip_blanks(text, at)) {
            std::size_t end = at;
            while (is_name_character(text[end])) ++end;
            if (text[end] == ':') {
                labels_[std::string(text.substr(at, end - at))] = code_.size();
                at = end + 1;
                continue;
            }
            end = text.find(';', at);
            std::string statement(text.substr(at, end - at));
            at = end + 1;
            if (statement.starts_with('.')) continue;
            for (char& c : statement)
                if (c == '{' || c == '}') c = ' ';
            Step step;
            for (const std::string_view word : words_of(statement)) {
                if (word.starts_with('@'))
                    step.guard = operand_of(word.substr(1));
                else if (step.op.empty())
                    step.op = word;
                else
                    step.operands.push_back(operand_of(word));
            }
            code_.push_back(std::move(step));
        }
    }

    Operand operand_of(std::string_view text) {
        Operand operand{std::string(text)};
        if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
        const std::size_t plus = text.find('+');
        if (plus != text.npos) operand.number = std::stoull(std::string(text.substr(plus + 1)));
        const std::string name(text.substr(0, plus));
        if (name == counts_symbol)
            operand.number += bases_apart;
        else if (name == samples_symbol)
            operand.number += 2 * bases_apart;
        else if (name.starts_with('%'))
            operand.at = places_.emplace(name, places_.size()).first->second;
        else if (!name.empty() && name[0] >= '0' && name[0] <= '9')
            operand.number += std::stoull(name);
        return operand;
    }

    // What a register has before anything is written to it.
    std::optional<std::uint64_t> given(std::string_view name, std::uint32_t lane) const {
        const std::uint32_t thread = warp_ % 2 * warp_lanes + lane;
        const std::uint64_t block = warp_ / 2;
        if (name == "%ntid.x") return 8;
        if (name == "%ntid.y") return 4;
        if (name == "%ntid.z") return 2;
        if (name == "%tid.x") return thread % 8;
        if (name == "%tid.y") return thread / 8 % 4;
        if (name == "%tid.z") return thread / 32;
        if (name == "%nctaid.x") return grid[0];
        if (name == "%nctaid.y") return grid[1];
        if (name == "%nctaid.z") return grid[2];
        if (name == "%ctaid.x") return block % grid[0];
        if (name == "%ctaid.y") return block / grid[0] % grid[1];
        if (name == "%ctaid.z") return block / grid[0] / grid[1];
        if (name == "%lanemask_lt") return (1u << lane) - 1;
        if (name == "%laneid") return lane;
        return std::nullopt;
    }

    // Throws where a register is read that was never written.
    std::uint64_t value(const Operand& operand, std::uint32_t lane) const {
        if (!operand.at) return operand.number;
        return registers_[lane][*operand.at].value() + operand.number;
    }

    void write(std::uint32_t lane, const Operand& operand, std::uint64_t value) {
        registers_[lane][operand.at.value()] = value;
    }

    std::uint64_t& word_at(const Operand& operand, std::uint32_t lane) {
        const std::uint64_t address = value(operand, lane);
        auto& words =
            memory.find(address < 2 * bases_apart ? counts_symbol : samples_symbol)->second;
        return words.at(address % bases_apart / sizeof(std::uint64_t));
    }

    void step(const Step& step, std::uint32_t group, std::array<std::size_t, warp_lanes>& at) {
        std::uint32_t active = 0;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if ((group >> lane & 1) == 0) continue;
            ++at[lane];
            if (!step.guard || value(*step.guard, lane) != 0) active |= 1u << lane;
        }
        // What all lanes give is read before any lane is changed.
        const auto each = [&](auto result_of) {
            std::array<std::uint64_t, warp_lanes> results{};
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                if ((active >> lane & 1) != 0) results[lane] = result_of(lane);
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                if ((active >> lane & 1) != 0) write(lane, step.operands[0], results[lane]);
        };
        const auto in = [&](std::size_t operand, std::uint32_t lane) {
            return value(step.operands.at(operand), lane);
        };
        const auto low = [&](std::size_t operand, std::uint32_t lane) {
            return static_cast<std::uint32_t>(in(operand, lane));
        };
        // Lanes that a mask names must be here.
        const auto mask = [&](std::size_t operand, std::uint32_t lane) {
            const std::uint32_t lanes = low(operand, lane);
            if ((lanes & ~active) != 0) throw std::logic_error("a lane of the mask is not here");
            return lanes;
        };
        const auto lanes_that = [&](std::uint32_t among, auto holds) {
            std::uint32_t lanes = 0;
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                if ((among >> lane & 1) != 0 && holds(lane)) lanes |= 1u << lane;
            return lanes;
        };
        const std::string& op = step.op;
        if (op == "ld.param.b64")
            each([&](auto lane) { return parameters_[lane].first; });
        else if (op == "ld.param.b32")
            each([&](auto lane) { return parameters_[lane].second; });
        else if (op == "activemask.b32")
            each([&](auto) { return active; });
        else if (op == "mov.u32" || op == "mov.u64" || op == "cvt.u64.u32")
            each([&](auto lane) { return in(1, lane); });
        else if (op == "cvt.u32.u64")
            each([&](auto lane) { return std::uint64_t{low(1, lane)}; });
        else if (op == "not.pred")
            each([&](auto lane) { return std::uint64_t{in(1, lane) == 0}; });
        else if (op == "selp.b32")
            each([&](auto lane) { return in(3, lane) != 0 ? in(1, lane) : in(2, lane); });
        else if (op == "mov.b64") {
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
                if ((active >> lane & 1) == 0) continue;
                const std::uint64_t whole = in(2, lane);
                write(lane, step.operands[0], whole & 0xFFFF'FFFF);
                write(lane, step.operands[1], whole >> 32);
            }
        } else if (op == "shr.u32" || op == "shr.u64")
            each([&](auto lane) { return in(1, lane) >> in(2, lane); });
        else if (op == "shl.b32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) << low(2, lane)}; });
        else if (op == "shl.b64")
            each([&](auto lane) { return in(1, lane) << in(2, lane); });
        else if (op.starts_with("and."))
            each([&](auto lane) { return in(1, lane) & in(2, lane); });
        else if (op.starts_with("or."))
            each([&](auto lane) { return in(1, lane) | in(2, lane); });
        else if (op.starts_with("xor."))
            each([&](auto lane) { return in(1, lane) ^ in(2, lane); });
        else if (op == "add.u64")
            each([&](auto lane) { return in(1, lane) + in(2, lane); });
        else if (op == "add.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) + low(2, lane)}; });
        else if (op == "mul.lo.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) * low(2, lane)}; });
        else if (op == "mul.wide.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane)} * low(2, lane); });
        else if (op == "mad.lo.u32")
            each([&](auto lane) {
                return std::uint64_t{low(1, lane) * low(2, lane) + low(3, lane)};
            });
        else if (op == "sub.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) - low(2, lane)}; });
        else if (op == "min.u32")
            each([&](auto lane) { return std::uint64_t{std::min(low(1, lane), low(2, lane))}; });
        else if (op == "max.u32")
            each([&](auto lane) { return std::uint64_t{std::max(low(1, lane), low(2, lane))}; });
        else if (op == "div.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) / low(2, lane)}; });
        else if (op == "rem.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) % low(2, lane)}; });
        else if (op == "popc.b32")
            each(
                [&](auto lane) { return static_cast<std::uint64_t>(std::popcount(low(1, lane))); });
        else if (op == "clz.b32")
            each([&](auto lane) {
                return static_cast<std::uint64_t>(std::countl_zero(low(1, lane)));
            });
        else if (op == "brev.b32")
            each([&](auto lane) {
                std::uint32_t turned = 0;
                for (std::uint32_t bit = 0; bit < 32; ++bit)
                    turned |= (low(1, lane) >> bit & 1) << (31 - bit);
                return std::uint64_t{turned};
            });
        else if (op == "setp.eq.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) == low(2, lane)}; });
        else if (op == "setp.ne.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) != low(2, lane)}; });
        else if (op == "setp.le.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) <= low(2, lane)}; });
        else if (op == "setp.lt.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) < low(2, lane)}; });
        else if (op == "setp.ge.u32")
            each([&](auto lane) { return std::uint64_t{low(1, lane) >= low(2, lane)}; });
        else if (op.starts_with("match.any.sync"))
            each([&](auto lane) {
                return std::uint64_t{lanes_that(
                    mask(2, lane), [&](auto other) { return in(1, other) == in(1, lane); })};
            });
        else if (op == "vote.sync.ballot.b32")
            each([&](auto lane) {
                return std::uint64_t{
                    lanes_that(mask(2, lane), [&](auto other) { return in(1, other) != 0; })};
            });
        else if (op == "shfl.sync.idx.b32")
            each([&](auto lane) {
                if ((mask(4, lane) >> low(2, lane) & 1) == 0)
                    throw std::logic_error("from a lane that is not here");
                return in(1, low(2, lane));
            });
        else if (op == "ld.global.u64")
            each([&](auto lane) { return sees_old_counts ? 0 : word_at(step.operands[1], lane); });
        else if (op == "red.global.add.u64" || op == "st.global.u64") {
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
                if ((active >> lane & 1) == 0) continue;
                std::uint64_t& word = word_at(step.operands[0], lane);
                word = op.starts_with("st") ? in(1, lane) : word + in(1, lane);
            }
        } else if (op == "bra" || op == "ret") {
            for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                if ((active >> lane & 1) != 0)
                    at[lane] = op == "ret" ? done : labels_.at(step.operands[0].text);
        } else
            throw std::logic_error("an instruction that is not known: " + op);
    }

    std::uint32_t warp_ = 0;
    std::vector<Step> code_;
    std::map<std::string, std::size_t> labels_;
    std::map<std::string, std::size_t> places_;  // of registers
    std::array<std::vector<std::optional<std::uint64_t>>, warp_lanes> registers_;
    std::array<std::pair<std::uint64_t, std::uint32_t>, warp_lanes> parameters_{};
};

}  // namespace coalprof
