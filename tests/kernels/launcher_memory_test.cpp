// Where the launcher puts arrays (--alloc), and the textures it makes of them (--path tex).
#include <array>
#include <chrono>
#include <cstring>

#include "core/pattern/memory_settings.h"
#include "kernels/launcher_fixture.h"

namespace coalprof {
namespace {

class LauncherMemory : public LauncherTest {};

Plan plan_in(Allocation allocation, Op op = Op::copy, std::uint64_t size_bytes = 1 << 16) {
    Plan plan = plan_of("offset", 3, op, ElementType::f32, 1, size_bytes);
    plan.allocation = allocation;
    return plan;
}

constexpr std::array allocations{Allocation::device, Allocation::static_array, Allocation::managed,
                                 Allocation::host};

TEST_F(LauncherMemory, runs_and_verifies_arrays_wherever_they_lie) {
    for (const Allocation allocation : allocations)
        for (const Op op : {Op::rmw, Op::copy, Op::reduce}) {
            SCOPED_TRACE(std::string(name_of(allocation)) + " " + std::string(name_of(op)));
            const auto launch = prepare(plan_in(allocation, op));
            launch->launch();
            EXPECT_NO_THROW(launch->verify());
            launch->time(2, CacheState::cold);
            EXPECT_NO_THROW(launch->verify());
        }
    launcher_.reset();
    EXPECT_EQ(gpu_.live(), 0);
}

TEST_F(LauncherMemory, allocates_as_it_is_told) {
    // Two arrays each.
    const auto managed = prepare(plan_in(Allocation::managed));
    EXPECT_EQ(gpu_.managed, 2);
    const auto host = prepare(plan_in(Allocation::host));
    EXPECT_EQ(gpu_.host_allocations, 2);
    const int modules = gpu_.modules;
    const auto arrays = prepare(plan_in(Allocation::static_array));
    EXPECT_EQ(gpu_.modules - modules, 2);
    EXPECT_NE(gpu_.compiled.back().find("__device__"), std::string::npos);
}

TEST_F(LauncherMemory, compiles_one_array_for_all_points_of_a_sweep) {
    for (std::uint64_t offset = 0; offset < 5; ++offset) {
        Plan plan = plan_of("offset", offset, Op::rmw);
        plan.allocation = Allocation::static_array;
        prepare(plan)->launch();
    }
    launcher_.reset();                    // waits for what is compiled ahead
    EXPECT_EQ(gpu_.compiled.size(), 4u);  // kernel, fill, what empties L2, and the array
}

TEST_F(LauncherMemory, never_takes_more_managed_memory_than_is_free_on_the_gpu) {
    const std::string message =
        message_of([&] { prepare(plan_in(Allocation::managed, Op::load, 600 << 20)); });
    EXPECT_NE(message.find("not enough GPU memory"), std::string::npos) << message;
    EXPECT_EQ(gpu_.managed, 0);
}

TEST_F(LauncherMemory, says_what_a_gpu_does_not_have) {
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 0;
    gpu_.attributes[CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY] = 0;
    EXPECT_EQ(message_of([&] { prepare(plan_in(Allocation::managed)); }),
              "--alloc managed: this GPU has no managed memory");
    EXPECT_EQ(message_of([&] { prepare(plan_in(Allocation::host)); }),
              "--alloc host: this GPU cannot reach memory of the host");
    EXPECT_NO_THROW(prepare(plan_in(Allocation::device))) << "the next point goes on";
}

// 2^44 bytes: no host has them free, and nothing is asked for.
TEST_F(LauncherMemory, refuses_host_memory_that_is_not_there) {
    Plan plan = plan_in(Allocation::host, Op::load);
    plan.program.arrays[0].elements = 1ull << 42;
    const std::string message = message_of([&] { prepare(plan); });
    EXPECT_NE(message.find("not enough host memory"), std::string::npos) << message;
    EXPECT_EQ(gpu_.host_allocations, 0);
}

TEST_F(LauncherMemory, refuses_a_device_array_of_4_gib) {
    gpu_.memory_bytes = 16ull << 30;
    Plan plan = plan_in(Allocation::static_array, Op::load);
    plan.program.arrays[0].elements = 1ull << 30;
    EXPECT_EQ(message_of([&] { prepare(plan); }),
              "--alloc static: a __device__ array holds less than 4 GiB");
}

// Of a GPU with 512 MiB. An array of 300 is one of 512 in its module, beside which 64 KiB are
// taken.
TEST_F(LauncherMemory, says_that_a_module_does_not_fit) {
    const auto before = prepare(plan_in(Allocation::device));
    const std::string message =
        message_of([&] { prepare(plan_in(Allocation::static_array, Op::load, 300 << 20)); });
    EXPECT_NE(message.find("not enough GPU memory"), std::string::npos) << message;
}

// --- textures ----------------------------------------------------------------------------------

Plan plan_on(LoadPath path, ElementType type = ElementType::f32, std::uint64_t size = 1 << 16) {
    Plan plan = plan_of("offset", 3, Op::copy, type, 1, size);
    plan.path = path;
    apply_memory_settings(plan);
    return plan;
}

TEST_F(LauncherMemory, makes_a_texture_of_each_array_that_is_fetched_and_of_no_other) {
    const auto launch = prepare(plan_on(LoadPath::tex, ElementType::f32x2));
    EXPECT_EQ(gpu_.textures, 1);  // the array that is stored to needs none
    EXPECT_EQ(gpu_.last_texture.res.linear.devPtr, launch->placement().base_addresses[0]);
    EXPECT_EQ(gpu_.last_texture.res.linear.numChannels, 2u);
    EXPECT_EQ(gpu_.last_texture.res.linear.sizeInBytes, ((1u << 13) + 3) * 8);
    const auto plain = prepare(plan_on(LoadPath::ldg));
    EXPECT_EQ(gpu_.textures, 1);
}

TEST_F(LauncherMemory, hands_the_texture_to_the_instruction_that_fetches) {
    std::vector<Index> textures;
    const auto play = gpu_.play;
    gpu_.play = [&](const FakeLaunch& launch) {
        play(launch);
        if (launch.function->name != access_kernel) return;
        for (const std::size_t k : {2u, 3u}) {  // after the two formulas
            Operand operand;
            std::memcpy(&operand, launch.parameters[k], sizeof operand);
            textures.push_back(operand.texture);
        }
    };
    const auto launch = prepare(plan_on(LoadPath::tex));
    launch->launch();
    EXPECT_EQ(textures, (std::vector<Index>{0x7E1, 0}));
    EXPECT_NO_THROW(launch->verify());
}

TEST_F(LauncherMemory, refuses_more_texels_than_the_gpu_takes) {
    const std::string message =
        message_of([&] { prepare(plan_on(LoadPath::tex, ElementType::f32, 8 << 20)); });
    EXPECT_EQ(message,
              "--path tex: array a has 2097155 texels, and this GPU's textures of linear memory "
              "hold 1048576; choose a smaller --size or a wider --type");
    EXPECT_NO_THROW(prepare(plan_on(LoadPath::tex, ElementType::f32x4, 8 << 20)));
}

}  // namespace
}  // namespace coalprof
