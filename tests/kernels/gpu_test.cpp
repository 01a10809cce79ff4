#include "kernels/gpu.h"

#include <gtest/gtest.h>

#include "kernels/fake_driver.h"

namespace coalprof {
namespace {

TEST(DeviceQuery, lists_what_the_driver_says_in_base_units) {
    FakeGpu gpu;
    gpu.devices = 2;
    const DeviceList list = list_devices(FakeGpu::driver());
    ASSERT_EQ(list.devices.size(), 2u);
    const DeviceFacts& facts = list.devices[1].facts;
    EXPECT_EQ(facts.index, 1);
    EXPECT_EQ(facts.name, "Fake GPU");
    EXPECT_EQ(facts.uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
    EXPECT_EQ(facts.pci_bus_id, "0000:1B:00.0");
    EXPECT_EQ(facts.major, 9);
    EXPECT_EQ(facts.clock_hz, 1'980'000'000u);  // the driver answers in kHz
    EXPECT_EQ(facts.memory_bytes, 512ull << 20);
    EXPECT_TRUE(facts.ecc);
    EXPECT_EQ(gpu.live(), 0) << "listing makes no context";
}

TEST(DeviceQuery, works_out_the_peak_bandwidth) {
    FakeGpu gpu;
    const DeviceList list = list_devices(FakeGpu::driver());
    for (const auto& [name, value] : list.devices[0].more) {
        if (name != "peak_bytes_per_second") continue;
        // 3.201 GHz x 2 transfers x 6144 bits / 8: the 4.917 TB/s of an H200's HBM3e
        EXPECT_DOUBLE_EQ(std::get<double>(value), 4916736e6);
        return;
    }
    ADD_FAILURE() << "no peak";
}

TEST(DeviceQuery, leaves_out_what_the_driver_does_not_answer) {
    FakeGpu gpu;
    gpu.attributes.erase(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    const DeviceList list = list_devices(FakeGpu::driver());
    for (const auto& [name, value] : list.devices[0].more) EXPECT_NE(name, "managed_memory");
    gpu.attributes[CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 1;
    bool there = false;
    const DeviceList again = list_devices(FakeGpu::driver());
    for (const auto& [name, value] : again.devices[0].more)
        there = there || (name == "managed_memory" && std::get<bool>(value));
    EXPECT_TRUE(there);
}

TEST(DeviceQuery, says_why_there_is_none) {
    FakeGpu gpu;
    gpu.init_answer = CUDA_ERROR_NO_DEVICE;
    const DeviceList list = list_devices(FakeGpu::driver());
    EXPECT_TRUE(list.devices.empty());
    EXPECT_TRUE(list.problem.starts_with("no GPU: "));
}

}  // namespace
}  // namespace coalprof
