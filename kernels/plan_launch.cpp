#include "kernels/plan_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <span>
#include <tuple>

#include "kernels/compose.h"
#include "kernels/source/values.h"

namespace coalprof {

namespace {

// float counts exactly to 2^24; this leaves room for the start value.
constexpr std::uint64_t max_float_count = 1ull << 23;

CompileRequest request_for_fill(const Array& array, Content content) {
    return {.source = compose_fill(array.element_bytes, content)};
}

CompileRequest request_for_check(const Plan& plan, const ProgramShape& shape) {
    return {.source = compose_check(plan, shape)};
}

CompileRequest request_for_compare(std::uint32_t element_bytes, Content content) {
    return {.source = compose_compare(element_bytes, content)};
}

CompileRequest request_for(const Plan& plan, std::string source) {
    return {.source = std::move(source), .dlcm = plan.cache.dlcm, .dscm = plan.cache.dscm};
}

CompileRequest request_for_access(const Plan& plan, const ProgramShape& shape) {
    return request_for(plan, compose_access(plan, shape));
}

CompileRequest request_for_near_check(const Plan& plan, const ProgramShape& shape) {
    return request_for(plan, compose_near_check(plan, shape));
}

// Bytes of device memory that an array takes.
std::uint64_t global_bytes(const Program& program, std::size_t array) {
    const bool is_global = space_of(program, static_cast<std::uint32_t>(array)) == Space::global;
    return is_global ? program.arrays[array].bytes() : 0;
}

bool is_changing(const Instruction& one) { return one.kind != AccessKind::load; }

// A grid of 256 threads a block over `count` indices.
LaunchSize size_over(std::uint64_t count) { return {.grid = (count + 255) / 256, .block = 256}; }

void add_formula(KernelParameters& parameters, const Formula& formula) {
    parameters.add_words(formula->functor("F").numbers);
}

// More than blocks have by default.
void allow_shared_bytes(Kernel& kernel, const ProgramShape& shape) {
    if (shape.shared_bytes > shared_bytes_of_block)
        kernel.allow_shared_bytes(static_cast<int>(shape.shared_bytes));
}

using Element = std::array<Word, 4>;  // a narrow element uses the first words

// The value of an element after a launch; `stored`: some thread stored to it. Additions are undone
// before counts are looked at.
Element expected_element(const Program& program, std::size_t array, Content content,
                         const Operand& operand, std::uint64_t element, bool stored) {
    Element words{};
    const auto put = [&](std::uint64_t number) {
        words[0] = static_cast<Word>(number);
        words[1] = static_cast<Word>(number >> 32);
    };
    const std::uint64_t start = start_count(element, operand.seed);
    const unsigned bytes = program.arrays[array].element_bytes;
    const auto& origin = program.arrays[array].origin;
    const bool is_moved = stored && origin;
    switch (content) {
        case Content::rows: put(operand.rows_base + element * operand.row_bytes); break;
        case Content::count_u32:
        case Content::count_u64: put(start); break;
        case Content::count_f32: put(std::bit_cast<Word>(static_cast<float>(start))); break;
        case Content::count_f64:
            put(std::bit_cast<std::uint64_t>(static_cast<double>(start)));
            break;
        case Content::marked:
            if (is_moved) origin->formula->evaluate(element, 1, &element);
            const Word seed = is_moved ? seed_of(origin->array) : operand.seed;
            for (unsigned w = 0; w < words_of(bytes); ++w)
                words[w] = stored && !is_moved ? touched_word(bytes, element, w, seed)
                                               : untouched_word(bytes, element, w, seed);
    }
    return words;
}

std::string hexadecimal(std::span<const std::byte> element) {
    std::string text;
    for (std::size_t start = 0; start < element.size(); start += 8) {
        const std::size_t bytes = std::min<std::size_t>(element.size() - start, 8);
        std::uint64_t number = 0;
        std::memcpy(&number, &element[start], bytes);
        text += fmt::format("{}0x{:0{}x}", start == 0 ? "" : " ", number, 2 * bytes);
    }
    return text;
}

[[noreturn]] void refuse_element(const Program& program, std::size_t array, std::uint64_t element,
                                 const std::string& expected, const std::string& found) {
    throw PointError(
        fmt::format("wrong data after the kernel: array {}, element {}: expected {}, found {}",
                    program.arrays[array].name, element, expected, found),
        ExitCode::partial);
}

// Throws the error that the kernel itself found, if it did.
void refuse_fault(const WrongResult& fault) {
    if (fault.thread_plus_one == 0) return;
    throw PointError(
        fmt::format("wrong data in the kernel: thread {} loaded a value that differs from what "
                    "its array holds (bits 0x{:08x})",
                    fault.thread_plus_one - 1, fault.differing_bits),
        ExitCode::partial);
}

}  // namespace

std::vector<CompileRequest> compile_requests(const Plan& plan, const BlockLimits& limits) {
    const ProgramShape shape = shape_of(plan, limits);
    std::vector<CompileRequest> requests{request_for_access(plan, shape)};
    if (shape.needs_near_check) requests.push_back(request_for_near_check(plan, shape));
    std::set<std::tuple<std::uint32_t, Content>> fills;
    for (std::size_t k = 0; k < plan.program.arrays.size(); ++k)
        if (global_bytes(plan.program, k) != 0 &&
            fills.emplace(plan.program.arrays[k].element_bytes, shape.contents[k]).second)
            requests.push_back(request_for_fill(plan.program.arrays[k], shape.contents[k]));
    if (std::ranges::any_of(plan.program.instructions, &is_changing))
        requests.push_back(request_for_check(plan, shape));
    for (const auto& [element_bytes, content] : fills)
        requests.push_back(request_for_compare(element_bytes, content));
    return requests;
}

PlanLaunch::PlanLaunch(Workbench& bench, const Plan& plan)
    : bench_(bench),
      plan_(plan),
      shape_(shape_of(plan_, block_limits(bench.facts))),
      request_(request_for_access(plan_, shape_)),
      arena_(bench.free_arena(plan.allocation)) {
    place_arrays();  // before compiling: too large a point is reported at once
    make_textures();
    kernel_ = &bench_.shop.kernel(request_, access_kernel);
    allow_shared_bytes(*kernel_, shape_);
    size_ = {.grid = shape_.grid, .block = shape_.block, .shared_bytes = shape_.shared_bytes};
    fill_parameters();
    fill_arrays();
    apply_settings();
    bench_.gpu.synchronize("fill the arrays of this point");
}

void PlanLaunch::place_arrays() {
    std::vector<std::uint64_t> sizes;
    for (std::size_t k = 0; k < plan_.program.arrays.size(); ++k)
        sizes.push_back(global_bytes(plan_.program, k));
    try {
        arena_->fit(sizes);
    } catch (const PointError&) {  // freeing memory of other, finished points may be enough
        bench_.drop_idle_memory();
        arena_->fit(sizes);
    }
    for (std::size_t k = 0; k < sizes.size(); ++k)
        placement_.base_addresses.push_back(sizes[k] != 0 ? arena_->address(k)
                                                          : shared_offset(plan_.program, k));
}

void PlanLaunch::make_textures() {
    textures_.resize(plan_.program.arrays.size());
    for (const Instruction& one : plan_.program.instructions) {
        auto& texture = textures_[one.array];
        if (one.path != LoadPath::tex || texture) continue;
        const Array& array = plan_.program.arrays[one.array];
        texture = std::make_unique<Texture>(bench_.gpu, placement_.base_addresses[one.array],
                                            array.elements, array.element_bytes, array.name);
    }
}

Operand PlanLaunch::operand_of(std::size_t array) const {
    Operand operand;
    operand.base = placement_.base_addresses[array];
    if (textures_[array]) operand.texture = textures_[array]->handle();
    operand.seed = seed_of(array);
    if (!is_global_array(array))
        operand.elements = static_cast<Word>(plan_.program.arrays[array].elements);
    if (const std::optional<RowTable>& rows = plan_.program.arrays[array].rows_of) {
        operand.rows_base = placement_.base_addresses[rows->array];
        operand.row_bytes = rows->row_bytes;
    }
    return operand;
}

void PlanLaunch::fill_parameters() {
    const Program& program = plan_.program;
    std::uint64_t atomics = 0;
    bool counts_floats = false;
    for (std::size_t k = 0; k < shape_.instructions.size(); ++k) {
        if (shape_.instructions[k].lanes == k)
            add_formula(parameters_, program.instructions[k].formula);
        if (!shape_.instructions[k].counts) continue;
        counts_ = true;
        counts_floats |= shape_.instructions[k].number == Content::count_f32;
        ++atomics;
    }
    for (std::size_t k = 0; k < shape_.instructions.size(); ++k)
        if (shape_.instructions[k].lanes == k && shape_.instructions[k].is_even)
            parameters_.add(Index{step_of(program.instructions[k].formula, shape_)});
    for (const Instruction& instruction : program.instructions)
        parameters_.add(operand_of(instruction.array));
    launch_argument_.threads = program.threads;
    // Shared and local memory are undefined when a kernel starts.
    launch_argument_.checked_bits = shape_.needs_near_check ? 0 : ~touched_bits;
    launch_argument_.fault = arena_->records();
    launch_argument_.bound = program.threads * atomics;
    // If all threads could add to one float, it would stop counting: then nothing is added.
    if (counts_floats && launch_argument_.bound > max_float_count) counts_ = false;
    parameters_.add(launch_argument_);
}

void PlanLaunch::fill_arrays() {
    const Gpu& gpu = bench_.gpu;
    gpu.check(gpu.api().fill_bytes(arena_->records(), 0, sizeof(WrongResult), nullptr),
              "clear the kernel's findings");
    for (std::size_t k = 0; k < plan_.program.arrays.size(); ++k) {
        const Array& array = plan_.program.arrays[k];
        if (global_bytes(plan_.program, k) == 0) continue;
        KernelParameters parameters;
        parameters.add(operand_of(k));
        parameters.add(std::uint64_t{array.elements});
        bench_.shop.kernel(request_for_fill(array, shape_.contents[k]), fill_kernel)
            .launch(size_over(array.elements), parameters.pointers());
    }
}

void PlanLaunch::apply_settings() {
    const auto& carveout = plan_.cache.carveout;
    kernel_->set_carveout(carveout ? static_cast<int>(carveout->shared_percent) : -1);
    bench_.fetch_limit.set(plan_.cache.l2_fetch_bytes);
}

LaunchSettings PlanLaunch::settings() const {
    return bench_.settings_of(*kernel_, request_, size_);
}

// Atomics alternately add one and take it away, so that counts stay small however often a launch is
// repeated.
void PlanLaunch::enqueue() {
    if (counts_) {
        const bool adds = launch_argument_.real_increment <= 0;
        launch_argument_.increment = adds ? 1 : ~std::uint64_t{0};
        launch_argument_.real_increment = adds ? 1 : -1;
        parameters_.replace_last(launch_argument_);
    }
    kernel_->launch(size_, parameters_.pointers());
    has_run_ = true;
}

void PlanLaunch::launch() {
    apply_settings();
    enqueue();
    bench_.gpu.synchronize("finish the kernel");
}

void PlanLaunch::launch_without_constants() {
    apply_settings();
    LaunchArgument none = launch_argument_;
    none.rounds = 0;
    none.checked_bits = 0;
    KernelParameters parameters = parameters_;
    parameters.replace_last(none);
    kernel_->launch(size_, parameters.pointers());
    bench_.gpu.synchronize("finish the kernel");
}

Timing PlanLaunch::time(std::uint64_t repeats, CacheState cache) {
    apply_settings();
    return bench_.time(repeats, cache, [this] { enqueue(); });
}

bool PlanLaunch::is_global_array(std::size_t array) const {
    return space_of(plan_.program, static_cast<std::uint32_t>(array)) == Space::global;
}

// Additions alternate with subtractions; see enqueue().
bool PlanLaunch::is_added() const { return counts_ && launch_argument_.real_increment > 0; }

void PlanLaunch::verify() {
    // After a subtraction nothing is visible: one more addition shows that it counts.
    if (counts_ && has_run_ && !is_added()) launch();
    if (shape_.needs_near_check) launch_near_check();
    // First compares every element that a thread stored to; then undoes all of that; then every
    // element of every array must be as filled. No further memory is needed, and the arrays are
    // afterwards as before the first launch.
    if (has_run_) {
        run_checks("check", AccessKind::store);
        run_checks("restore", AccessKind::store);
        if (is_added()) {
            run_checks("undo", AccessKind::atomic);
            run_checks("undo", AccessKind::reduce);
        }
    }
    for (std::size_t k = 0; k < plan_.program.arrays.size(); ++k) {
        const Array& array = plan_.program.arrays[k];
        if (global_bytes(plan_.program, k) == 0) continue;
        const Index first_wrong = cleared_findings();
        KernelParameters parameters;
        parameters.add(operand_of(k));
        parameters.add(std::uint64_t{array.elements});
        parameters.add(first_wrong);
        bench_.shop
            .kernel(request_for_compare(array.element_bytes, shape_.contents[k]), compare_kernel)
            .launch(size_over(array.elements), parameters.pointers());
        report_first_wrong(k, false);
    }
    has_run_ = false;
    launch_argument_.real_increment = 0;
    refuse_fault(read_fault());
}

void PlanLaunch::launch_near_check() {
    LaunchArgument checked = launch_argument_;
    checked.checked_bits = ~touched_bits;
    // Atomics on global memory must not change the counts of the measured launches.
    checked.increment = 0;
    checked.real_increment = 0;
    KernelParameters parameters = parameters_;
    parameters.replace_last(checked);
    Kernel& kernel = bench_.shop.kernel(request_for_near_check(plan_, shape_), near_check_kernel);
    allow_shared_bytes(kernel, shape_);
    kernel.launch(size_, parameters.pointers());
    bench_.gpu.synchronize("check what the kernel does");
    has_run_ = true;  // it stores to global memory as a measured launch does
}

Index PlanLaunch::cleared_findings() {
    const Gpu& gpu = bench_.gpu;
    const Index first_wrong = arena_->records() + sizeof(WrongResult);
    gpu.check(gpu.api().fill_bytes(first_wrong, 0xFF, sizeof(Index), nullptr),
              "clear the check's findings");
    return first_wrong;
}

void PlanLaunch::run_checks(std::string_view name, AccessKind kind) {
    const Program& program = plan_.program;
    for (std::size_t k = 0; k < program.instructions.size(); ++k) {
        const Instruction& instruction = program.instructions[k];
        if (instruction.kind != kind || instruction.space != Space::global) continue;
        if (kind != AccessKind::store && !shape_.instructions[k].counts) continue;
        const Index first_wrong = cleared_findings();
        KernelParameters parameters;
        add_formula(parameters, instruction.formula);
        parameters.add(operand_of(instruction.array));
        const auto& origin = program.arrays[instruction.array].origin;
        if (origin && name == "check") {
            add_formula(parameters, origin->formula);
            parameters.add(operand_of(origin->array));
        }
        parameters.add(Index{program.threads});
        if (kind == AccessKind::store) {
            parameters.add(first_wrong);
        } else {
            LaunchArgument undo;
            undo.increment = ~Index{0};
            undo.real_increment = -1;
            parameters.add(undo);
        }
        bench_.shop
            .kernel(request_for_check(plan_, shape_),
                    fmt::format("coalprof_{}_{}", name, k).c_str())
            .launch(size_over(program.threads), parameters.pointers());
        report_first_wrong(instruction.array, true);
    }
}

void PlanLaunch::report_first_wrong(std::size_t array, bool touched) {
    const Gpu& gpu = bench_.gpu;
    std::uint64_t element = 0;
    gpu.check(
        gpu.api().copy_to_host(&element, arena_->records() + sizeof(WrongResult), sizeof element),
        "read the check's findings");
    if (element == ~std::uint64_t{0}) return;
    const std::uint32_t bytes = plan_.program.arrays[array].element_bytes;
    std::array<std::byte, 16> found{};
    gpu.check(gpu.api().copy_to_host(found.data(),
                                     placement_.base_addresses[array] + element * bytes, bytes),
              "read a wrong element");
    // Counting arrays have no touched elements: their additions were undone.
    const Element expected = expected_element(plan_.program, array, shape_.contents[array],
                                              operand_of(array), element, touched);
    refuse_element(plan_.program, array, element,
                   hexadecimal(std::as_bytes(std::span(expected)).first(bytes)),
                   hexadecimal(std::span(found).first(bytes)));
}

WrongResult PlanLaunch::read_fault() {
    const Gpu& gpu = bench_.gpu;
    WrongResult fault;
    gpu.check(gpu.api().copy_to_host(&fault, arena_->records(), sizeof fault),
              "read the kernel's findings");
    return fault;
}

}  // namespace coalprof
