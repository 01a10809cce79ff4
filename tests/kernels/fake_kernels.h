// Plays our kernels on the host memory of a FakeGpu: what their source says, with the plan that the
// test gives. A second, simple reading of the same program; the real kernels are tested on a GPU.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "core/pattern/plan.h"
#include "kernels/compose.h"
#include "kernels/fake_driver.h"
#include "kernels/program_shape.h"
#include "kernels/source/arguments.h"
#include "kernels/source/values.h"

namespace coalprof {

class FakeKernels {
 public:
    explicit FakeKernels(FakeGpu& gpu) {
        gpu.play = [this](const FakeLaunch& launch) { play(launch); };
    }

    // The plan whose kernels are launched from now on.
    void expect(const Plan& plan) {
        plan_ = plan;
        shape_ = shape_of(plan_);
    }
    void play(const FakeLaunch& launch) {
        const std::string& name = launch.function->name;
        if (name == fill_kernel)
            fill(launch, after(launch.function->source, "    fill<"));
        else if (name == compare_kernel)
            compare(launch, after(launch.function->source, "    compare_with_start<"));
        else if (name == access_kernel || name == near_check_kernel)
            access(launch);
        else if (name.starts_with("coalprof_check_"))
            check(launch, std::stoul(name.substr(15)));
        else if (name.starts_with("coalprof_restore_"))
            restore(launch, std::stoul(name.substr(17)));
        else if (name.starts_with("coalprof_undo_"))
            undo(launch, std::stoul(name.substr(14)));
    }

    bool loses_stores = false;   // a kernel that stores nothing
    bool reports_fault = false;  // a kernel that loaded something wrong
    LaunchArgument last;         // of the access kernel or the one that checks what it does

 private:
    template <typename Value>
    static Value parameter(const FakeLaunch& launch, std::size_t k) {
        Value value;
        std::memcpy(&value, launch.parameters[k], sizeof value);
        return value;
    }
    static std::string after(const std::string& text, const std::string& mark) {
        const std::size_t at = text.find(mark);
        return at == std::string::npos ? "" : text.substr(at + mark.size());
    }

    static void put(CUdeviceptr where, const Word (&words)[4], std::uint32_t bytes) {
        std::memcpy(reinterpret_cast<void*>(where), words, bytes);
    }
    static bool holds(CUdeviceptr where, const Word (&words)[4], std::uint32_t bytes) {
        return std::memcmp(reinterpret_cast<void*>(where), words, bytes) == 0;
    }

    // "4, Content::marked>(..." -> the words of the start value
    static void start(const std::string& what, std::uint32_t bytes, const Operand& operand,
                      Index element, Word (&words)[4]) {
        std::uint64_t whole = start_count(element, operand.seed);
        if (what.starts_with("marked")) {
            for (unsigned w = 0; w < words_of(bytes); ++w)
                words[w] = untouched_word(bytes, element, w, operand.seed);
            return;
        }
        if (what.starts_with("rows")) whole = operand.rows_base + element * operand.row_bytes;
        if (what.starts_with("count_f32")) whole = std::bit_cast<Word>(static_cast<float>(whole));
        if (what.starts_with("count_f64"))
            whole = std::bit_cast<std::uint64_t>(static_cast<double>(whole));
        words[0] = static_cast<Word>(whole);
        words[1] = static_cast<Word>(whole >> 32);
    }
    static void fill(const FakeLaunch& launch, const std::string& text) {
        const auto operand = parameter<Operand>(launch, 0);
        const auto bytes = static_cast<std::uint32_t>(std::stoul(text));
        for (Index e = 0; e < parameter<Index>(launch, 1); ++e) {
            Word words[4] = {};
            start(after(text, "Content::"), bytes, operand, e, words);
            put(operand.base + e * bytes, words, bytes);
        }
    }
    static void compare(const FakeLaunch& launch, const std::string& text) {
        const auto operand = parameter<Operand>(launch, 0);
        const auto bytes = static_cast<std::uint32_t>(std::stoul(text));
        for (Index e = 0; e < parameter<Index>(launch, 1); ++e) {
            Word words[4] = {};
            start(after(text, "Content::"), bytes, operand, e, words);
            if (holds(operand.base + e * bytes, words, bytes)) continue;
            std::memcpy(reinterpret_cast<void*>(parameter<Index>(launch, 2)), &e, sizeof e);
            return;
        }
    }

    template <typename Visit>
    void each_element(std::size_t instruction, Visit visit) const {
        for (std::uint64_t i = 0; i < plan_.program.threads; ++i) {
            std::uint64_t element = 0;
            plan_.program.instructions[instruction].formula->evaluate(i, 1, &element);
            if (element != idle_lane) visit(element);
        }
    }
    void touched(const Operand& operand, std::uint32_t bytes, Index element,
                 Word (&words)[4]) const {
        for (unsigned w = 0; w < words_of(bytes); ++w)
            words[w] = touched_word(bytes, element, w, operand.seed);
    }

    std::size_t formulas() const {
        std::size_t k = 0;
        for (std::size_t i = 0; i < shape_.instructions.size(); ++i)
            if (shape_.instructions[i].lanes == i) k += shape_.instructions[i].is_even ? 2 : 1;
        return k;
    }
    void access(const FakeLaunch& launch) {
        last = parameter<LaunchArgument>(launch, formulas() + shape_.instructions.size());
        if (reports_fault && last.checked_bits != 0) {
            const WrongResult fault{.thread_plus_one = 18, .differing_bits = 0x10};
            std::memcpy(reinterpret_cast<void*>(last.fault), &fault, sizeof fault);
        }
        for (const Instruction& one : plan_.program.instructions)
            if (one.value_of) return through_blocks(launch);
        for (std::size_t i = 0; i < shape_.instructions.size(); ++i)
            instruction(i, parameter<Operand>(launch, formulas() + i), last);
    }
    // A program that moves values through shared memory: a block at a time, each instruction for
    // all its threads before the next one. Of each element the first word is moved.
    void through_blocks(const FakeLaunch& launch) {
        const std::uint64_t of_one_block = std::uint64_t{shape_.block} * shape_.per_thread;
        for (std::uint64_t begin = 0; begin < plan_.program.threads; begin += of_one_block) {
            std::vector<Word> block_memory(shape_.shared_bytes);  // a word for each byte is plenty
            std::vector<std::vector<Word>> values(shape_.instructions.size());
            for (std::size_t i = 0; i < shape_.instructions.size(); ++i) {
                const Instruction& one = plan_.program.instructions[i];
                const auto operand = parameter<Operand>(launch, formulas() + i);
                for (std::uint64_t k = begin;
                     k < std::min(plan_.program.threads, begin + of_one_block); ++k) {
                    std::uint64_t element = 0;
                    one.formula->evaluate(k, 1, &element);
                    Word* const global =
                        reinterpret_cast<Word*>(operand.base + element * one.width_bytes);
                    Word& place = one.space == Space::shared ? block_memory.at(element) : *global;
                    if (one.kind == AccessKind::load)
                        values[i].push_back(place);
                    else if (one.value_of && !loses_stores)
                        place = values[*one.value_of][k - begin];
                }
            }
        }
    }
    void instruction(std::size_t i, const Operand& operand, const LaunchArgument& launch) {
        const Instruction& one = plan_.program.instructions[i];
        if (one.kind == AccessKind::load || loses_stores || one.space != Space::global) return;
        each_element(i, [&](Index element) {
            const CUdeviceptr where = operand.base + element * one.width_bytes;
            if (one.kind == AccessKind::store) {
                Word words[4] = {};
                touched(operand, one.width_bytes, element, words);
                put(where, words, one.width_bytes);
            } else if (shape_.instructions[i].counts) {
                add(where, shape_.instructions[i].number, launch);
            }
        });
    }
    template <typename Number>
    static void add_to(CUdeviceptr where, Number more) {
        Number value;
        std::memcpy(&value, reinterpret_cast<void*>(where), sizeof value);
        value = static_cast<Number>(value + more);
        std::memcpy(reinterpret_cast<void*>(where), &value, sizeof value);
    }
    static void add(CUdeviceptr where, Content number, const LaunchArgument& launch) {
        switch (number) {
            case Content::count_u32: return add_to(where, static_cast<Word>(launch.increment));
            case Content::count_u64: return add_to(where, launch.increment);
            case Content::count_f32:
                return add_to(where, static_cast<float>(launch.real_increment));
            default: return add_to(where, launch.real_increment);
        }
    }

    void check(const FakeLaunch& launch, std::size_t k) {
        const auto operand = parameter<Operand>(launch, 1);
        const std::uint32_t bytes = plan_.program.instructions[k].width_bytes;
        const auto& origin = plan_.program.arrays[plan_.program.instructions[k].array].origin;
        each_element(k, [&](Index element) {
            Word words[4] = {};
            if (origin) {
                std::uint64_t from = 0;
                origin->formula->evaluate(element, 1, &from);
                start("marked", bytes, parameter<Operand>(launch, 3), from, words);
            } else {
                touched(operand, bytes, element, words);
            }
            auto* first_wrong = reinterpret_cast<Index*>(parameter<Index>(launch, origin ? 5 : 3));
            if (!holds(operand.base + element * bytes, words, bytes) && element < *first_wrong)
                *first_wrong = element;
        });
    }
    void restore(const FakeLaunch& launch, std::size_t k) {
        const auto operand = parameter<Operand>(launch, 1);
        const std::uint32_t bytes = plan_.program.instructions[k].width_bytes;
        each_element(k, [&](Index element) {
            Word words[4] = {};
            start("marked", bytes, operand, element, words);
            put(operand.base + element * bytes, words, bytes);
        });
    }
    void undo(const FakeLaunch& launch, std::size_t k) {
        const auto operand = parameter<Operand>(launch, 1);
        const auto last = parameter<LaunchArgument>(launch, 3);
        each_element(k, [&](Index element) {
            add(operand.base + element * plan_.program.instructions[k].width_bytes,
                shape_.instructions[k].number, last);
        });
    }

    Plan plan_;
    ProgramShape shape_;
};

}  // namespace coalprof
