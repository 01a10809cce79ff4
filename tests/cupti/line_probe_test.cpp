// What makes a program's code count its own lines, against a scripted driver.
#include "cupti/attach/line_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "cupti/attach/cubins.h"
#include "cupti/fat_binaries.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string ptx =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
    "\t.reg .b64 %rd<2>;\n\t.loc 1 7 0\n\tst.global.f32 [%rd1], 0f00000000;\n\tret;\n}\n"
    "\t.file 1 \"/src/app.cu\"\n";

// --- fat binaries --------------------------------------------------------------------------------

#if defined(COALPROF_HAS_ZSTD) && defined(COALPROF_HAS_LZ4)
constexpr bool can_unpack = true;
#else
constexpr bool can_unpack = false;
#endif

std::string text_of(const PtxOrReason& found) {
    const auto* text = std::get_if<std::string>(&found);
    return text ? *text : "no PTX: " + std::get<NoPtx>(found).reason;
}

PtxOrReason found_in(const std::string& bytes, std::uint32_t capability = 90) {
    return ptx_of_fat_binary(std::as_bytes(std::span(bytes)), capability);
}

TEST(PtxImage, is_the_best_that_the_gpu_runs) {
    const std::string bytes = fat_binary(entry(2, 75, "machine code") + entry(1, 75, "old\0") +
                                         entry(1, 90, "new") + entry(1, 120, "later"));
    EXPECT_EQ(text_of(found_in(bytes)), "new");
    EXPECT_EQ(text_of(found_in(bytes, 89)), "old");
    EXPECT_THAT(text_of(found_in(bytes, 70)),
                HasSubstr("no PTX: its PTX is for compute capability 7.5"));
    EXPECT_THAT(text_of(found_in(fat_binary(entry(2, 90, "code")))), HasSubstr("no PTX"));
    // Older PTX than the machine code that runs here may do other things.
    EXPECT_THAT(text_of(found_in(fat_binary(entry(2, 90, "code") + entry(1, 80, "old")))),
                HasSubstr("no PTX"));
    EXPECT_EQ(text_of(found_in(fat_binary(entry(2, 75, "code") + entry(1, 80, "ours")))), "ours");
}

TEST(PtxImage, is_looked_for_in_all_that_the_driver_takes) {
    const std::string bytes = fat_binary(entry(1, 90, ptx));
    EXPECT_EQ(text_of(ptx_of_image(bytes.data(), 90)), ptx);
    std::string wrapper(24, '\0');
    put(wrapper, 0, std::uint32_t{0x466243b1});
    put(wrapper, 8, static_cast<const void*>(bytes.data()));
    EXPECT_EQ(text_of(ptx_of_image(wrapper.data(), 90)), ptx);
    EXPECT_EQ(text_of(ptx_of_image(ptx.c_str(), 90)), ptx);
    EXPECT_THAT(text_of(ptx_of_image("\x7f"
                                     "ELF and more",
                                     90)),
                HasSubstr("no PTX"));
    EXPECT_THAT(text_of(ptx_of_image("", 90)), HasSubstr("no PTX"));
}

TEST(PtxImage, that_is_damaged_gives_none) {
    const std::string bytes = fat_binary(entry(1, 90, ptx));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THAT(text_of(found_in(bytes.substr(0, size))), HasSubstr("no PTX"));
    for (const std::uint64_t flags : {0x8000u, 0x2000u}) {  // packed, it says
        std::string packed = entry(1, 90, ptx);
        put(packed, 40, flags);
        put(packed, 16, static_cast<std::uint32_t>(ptx.size()));
        for (const std::uint64_t unpacked :
             {std::uint64_t{0}, std::uint64_t{100}, ~std::uint64_t{0}}) {
            put(packed, 56, unpacked);
            EXPECT_THAT(text_of(found_in(fat_binary(packed))), HasSubstr("no PTX"));
        }
    }
}

// As the libraries write text that they find nothing in to shorten.
TEST(PtxImage, is_unpacked) {
    const auto size = static_cast<std::uint32_t>(ptx.size());
    ASSERT_LT(size, 256u);
    // A frame that names its size in a byte, with one block, the last, of bytes as they are.
    std::string zstd = "\x28\xB5\x2F\xFD\x20";
    zstd += static_cast<char>(size);
    for (const std::uint32_t shift : {0u, 8u, 16u})
        zstd += static_cast<char>(((size << 3 | 1) >> shift) & 0xFF);
    // Its number of literals is 15 and what the next byte says.
    std::string lz4 = "\xF0";
    lz4 += static_cast<char>(size - 15);
    for (const auto& [flag, head] : {std::pair{0x8000u, zstd}, std::pair{0x2000u, lz4}}) {
        const std::string payload = head + ptx;
        std::string packed = entry(1, 90, payload + "pad");
        put(packed, 40, std::uint64_t{flag});
        put(packed, 16, static_cast<std::uint32_t>(payload.size()));
        put(packed, 56, std::uint64_t{size});
        const std::string found = text_of(found_in(fat_binary(packed)));
        if (can_unpack)
            EXPECT_EQ(found, ptx) << flag;
        else
            EXPECT_THAT(found, HasSubstr("no PTX")) << flag;
    }
}

// --- the driver ----------------------------------------------------------------------------------

struct ScriptedDriver {
    CUresult link_result = CUDA_SUCCESS;
    std::string linked;                          // the PTX that was compiled
    std::vector<std::uint64_t> counts, samples;  // what the GPU holds
    int copies = 0;
    int gpus = 1;  // of falling compute capability
    int minor = 0;
    int pushed = 0;  // contexts
    int links = 0;   // that were not destroyed
    int completed = 0;
    bool has_context = true;
    CUresult count_result = CUDA_SUCCESS;
};
ScriptedDriver* scripted = nullptr;

ModuleDriver fake_driver() {
    ModuleDriver driver;
    driver.context_get_device = [](CUdevice* device) {
        *device = 0;
        return scripted->has_context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    };
    driver.device_get_count = [](int* count) {
        *count = scripted->gpus;
        return scripted->count_result;
    };
    driver.device_get_attribute = [](int* value, CUdevice_attribute attribute, CUdevice device) {
        *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 - device
                                                                           : scripted->minor;
        return CUDA_SUCCESS;
    };
    driver.context_push = [](CUcontext) {
        ++scripted->pushed;
        return CUDA_SUCCESS;
    };
    driver.context_pop = [](CUcontext*) {
        --scripted->pushed;
        return CUDA_SUCCESS;
    };
    driver.link_create = [](unsigned, CUjit_option*, void**, CUlinkState*) {
        ++scripted->links;
        return CUDA_SUCCESS;
    };
    driver.link_add_data = [](CUlinkState, CUjitInputType, void* data, std::size_t size,
                              const char*, unsigned, CUjit_option*, void**) {
        scripted->linked.assign(static_cast<const char*>(data), size);
        return scripted->link_result;
    };
    driver.link_complete = [](CUlinkState, void** code, std::size_t* size) {
        ++scripted->completed;
        static char compiled[] = "compiled";
        *code = compiled;
        *size = sizeof compiled;
        return CUDA_SUCCESS;
    };
    driver.link_destroy = [](CUlinkState) {
        --scripted->links;
        return CUDA_SUCCESS;
    };
    driver.global_of_module = [](CUdeviceptr* address, std::size_t* bytes, CUmodule,
                                 const char* name) {
        const auto& words = std::string_view(name).starts_with(counts_symbol) ? scripted->counts
                                                                              : scripted->samples;
        *address = reinterpret_cast<CUdeviceptr>(words.data());
        *bytes = words.size() * sizeof(std::uint64_t);
        return CUDA_SUCCESS;
    };
    driver.global_of_code = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary,
                               const char* name) {
        return fake_driver().global_of_module(address, bytes, nullptr, name);
    };
    driver.copy_to_host = [](void* to, CUdeviceptr from, std::size_t bytes) {
        ++scripted->copies;
        std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
        return CUDA_SUCCESS;
    };
    return driver;
}

class CountedLines : public ::testing::Test {
 protected:
    CountedLines() { scripted = &driver; }
    void load(CUmodule module = handle<CUmodule>(1)) {
        ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
        probe.loaded(module, handle<CUcontext>(1));
    }
    template <typename Handle>
    static Handle handle(std::uintptr_t number) {
        return reinterpret_cast<Handle>(number);
    }
    void gpu_counts(std::uint64_t executed) {
        const auto words = std::bit_cast<std::array<std::uint64_t, site_counts>>(
            SiteTotals{.executed = executed,
                       .lanes = 32 * executed,
                       .sectors = 4 * executed,
                       .lines = executed,
                       .places = 32 * executed,
                       .ideal_sectors = 4 * executed,
                       .needed_sectors = 4 * executed});
        driver.counts.assign(words.begin(), words.end());
        driver.samples.assign(64 * sample_words, 0);
    }

    ScriptedDriver driver;
    std::vector<TracedSite> told;
    std::vector<std::string> problems;
    std::vector<std::string> reasons;
    std::vector<std::string> rewritten;
    std::set<CUcontext> busy;  // kernels run there that a copy would wait for
    LineProbe probe{
        {.driver = fake_driver(),
         .wants = [](const std::string& name) { return name == "k"; },
         .deliver = [this](const TracedSite& site) { told.push_back(site); },
         .problem = [this](const std::string& text) { problems.push_back(text); },
         .lacks_ptx = [this](const std::string& reason) { reasons.push_back(reason); },
         .may_copy = [this](CUcontext context) { return !busy.contains(context); },
         .rewritten = [this](const std::string& kernel) { rewritten.push_back(kernel); }}};
};

TEST_F(CountedLines, are_told_with_what_the_gpu_counted) {
    load();
    EXPECT_THAT(driver.linked, HasSubstr("call coalprof_probe"));
    gpu_counts(5);
    probe.read(true);
    EXPECT_THAT(told, IsEmpty());  // nothing was launched
    probe.launched_in(handle<CUcontext>(1));
    probe.launched_in(handle<CUcontext>(2));
    probe.read(true);
    ASSERT_THAT(told, SizeIs(1));  // a module's counts lie in one context
    EXPECT_EQ(told[0].site.source, (SourceLine{"/src/app.cu", 7}));
    EXPECT_EQ(told[0].totals.executed, 5u);
    EXPECT_EQ(told[0].totals.needed_sectors, 20u);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(driver.pushed, 0) << "the program's own context is current again";
}

// As of a module of the same name that is not ours.
TEST_F(CountedLines, are_not_read_beyond_what_a_module_holds) {
    gpu_counts(1);
    load();
    EXPECT_EQ(driver.links, 0);
    probe.launched_in(handle<CUcontext>(1));
    driver.counts.pop_back();
    probe.read(true);
    EXPECT_EQ(driver.copies, 0);
    gpu_counts(1);
    probe.read(true);
    EXPECT_THAT(told, SizeIs(1));
}

TEST_F(CountedLines, are_those_of_code_for_this_very_gpu) {
    driver.minor = 3;
    const std::string bytes = fat_binary(entry(1, 93, ptx));
    std::string wrapper(24, '\0');
    put(wrapper, 0, std::uint32_t{0x466243b1});
    put(wrapper, 8, static_cast<const void*>(bytes.data()));
    EXPECT_NE(probe.replacement(wrapper.data()), nullptr);
}

TEST_F(CountedLines, are_of_kernels_that_are_told_to_count_themselves) {
    const std::string two = ptx + ".visible .entry other()\n{\n\tret;\n}\n";
    ASSERT_NE(probe.replacement(two.c_str()), nullptr);
    EXPECT_THAT(rewritten, ElementsAre("k"));
}

// A program that is killed later has told them.
TEST_F(CountedLines, are_told_as_their_module_goes_however_few_came_since) {
    load();
    gpu_counts(5);
    probe.launched_in(handle<CUcontext>(1));
    probe.read(false);
    gpu_counts(6);
    probe.unloads(handle<CUmodule>(1));
    ASSERT_THAT(told, SizeIs(2));
    EXPECT_EQ(told[1].totals.executed, 6u);
}

TEST_F(CountedLines, outlive_their_module) {
    load();
    gpu_counts(5);
    probe.launched_in(handle<CUcontext>(1));
    probe.unloads(handle<CUmodule>(1));
    gpu_counts(7);
    probe.read(true);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].totals.executed, 5u);
}

TEST_F(CountedLines, are_not_waited_for_when_their_module_goes_beside_a_kernel) {
    load();
    gpu_counts(5);
    probe.launched_in(handle<CUcontext>(1));
    busy = {handle<CUcontext>(1)};
    probe.unloads(handle<CUmodule>(2));  // not one that counts
    EXPECT_THAT(problems, IsEmpty());
    probe.unloads(handle<CUmodule>(1));
    EXPECT_EQ(driver.copies, 0);
    EXPECT_THAT(told, IsEmpty());
    EXPECT_THAT(problems, SizeIs(1));
}

// What was told of both contexts stays until the one that is left has come to more.
TEST_F(CountedLines, are_not_waited_for_when_their_context_goes_beside_a_kernel) {
    ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    probe.loaded(handle<CUlibrary>(1), handle<CUcontext>(1));
    gpu_counts(5);
    probe.launched_in(handle<CUcontext>(1));
    probe.launched_in(handle<CUcontext>(2));
    probe.read(true);
    const int before = driver.copies;
    busy = {handle<CUcontext>(1)};
    probe.context_ends(handle<CUcontext>(1));
    EXPECT_EQ(driver.copies, before);
    EXPECT_THAT(problems, SizeIs(1));
    for (const std::uint64_t executed : {6u, 12u}) {
        gpu_counts(executed);
        probe.read(true);
    }
    ASSERT_THAT(told, SizeIs(2));
    EXPECT_EQ(told[0].totals.executed, 10u);
    EXPECT_EQ(told[1].totals.executed, 12u);
}

TEST_F(CountedLines, are_not_missed_where_no_code_counts) {
    probe.launched_in(handle<CUcontext>(1));
    busy = {handle<CUcontext>(1)};
    probe.context_ends(handle<CUcontext>(1));
    EXPECT_THAT(problems, IsEmpty());
}

TEST_F(CountedLines, of_a_library_are_added_up_over_contexts) {
    ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    probe.loaded(handle<CUlibrary>(1), handle<CUcontext>(1));
    gpu_counts(5);
    probe.launched_in(handle<CUcontext>(1));
    probe.launched_in(handle<CUcontext>(2));
    probe.context_ends(handle<CUcontext>(1));
    probe.read(true);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().totals.executed, 10u);
}

// Each module is read in its own context, and no more once that is gone.
TEST_F(CountedLines, of_modules_in_several_contexts_are_counted_once) {
    load(handle<CUmodule>(1));
    ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    probe.loaded(handle<CUmodule>(2), handle<CUcontext>(2));
    gpu_counts(5);
    probe.launched_in(handle<CUcontext>(1));
    probe.launched_in(handle<CUcontext>(2));
    probe.context_ends(handle<CUcontext>(1));
    probe.read(true);
    const auto told_of = [&](const std::string& id) {
        std::uint64_t executed = 0;
        for (const TracedSite& site : told)
            if (site.id == id) executed = site.totals.executed;
        return executed;
    };
    EXPECT_EQ(told_of("0:0"), 5u);
    EXPECT_EQ(told_of("1:0"), 5u);
    const int before = driver.copies;
    probe.read(true);
    EXPECT_EQ(driver.copies, before + 2);  // counts and samples of the second alone
    EXPECT_EQ(told_of("0:0"), 5u);
}

TEST_F(CountedLines, are_told_ever_more_rarely_while_the_program_runs) {
    load();
    probe.launched_in(handle<CUcontext>(1));
    for (const std::uint64_t executed : {5u, 5u, 9u, 10u, 19u, 21u}) {
        gpu_counts(executed);
        probe.read(false);
    }
    EXPECT_THAT(told, SizeIs(3));  // 5, 10, 21
    gpu_counts(22);
    probe.read(true);
    ASSERT_THAT(told, SizeIs(4));
    EXPECT_EQ(told.back().totals.executed, 22u);
}

// As a program names it to cuModuleLoad.
TEST_F(CountedLines, are_those_of_files_too) {
    const std::string path = ::testing::TempDir() + "counted_" + std::to_string(::getpid());
    const auto in_place_of = [&](const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        return probe.replacement_of_file(path.c_str());
    };
    for (const std::string& bytes : {ptx, fat_binary(entry(1, 90, ptx))}) {
        driver.linked.clear();
        ASSERT_NE(in_place_of(bytes), nullptr);
        EXPECT_THAT(driver.linked, HasSubstr("call coalprof_probe"));
    }
    EXPECT_THAT(problems, IsEmpty());
    const std::string whole = fat_binary(entry(1, 90, ptx));
    for (std::size_t size = 0; size < whole.size(); size += 7)  // cut where any part stands
        EXPECT_EQ(in_place_of(whole.substr(0, size)), nullptr) << size;
    std::filesystem::remove(path);
    EXPECT_EQ(probe.replacement_of_file(path.c_str()), nullptr);
    EXPECT_EQ(probe.replacement_of_file(nullptr), nullptr);
}

// Text for the driver ends with its zero.
TEST_F(CountedLines, are_those_of_the_first_gpu_where_no_context_is_current) {
    driver.has_context = false;
    driver.count_result = CUDA_ERROR_UNKNOWN;
    const std::string newest =
        fat_binary(entry(1, 90, ptx) + entry(1, 80, "older, for the second"));
    EXPECT_NE(probe.replacement(newest.data()), nullptr);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_THAT(driver.linked, HasSubstr("call coalprof_probe"));
    EXPECT_EQ(driver.linked.find('\0'), driver.linked.size() - 1);
}

TEST_F(CountedLines, are_none_where_gpus_differ) {
    driver.gpus = 2;
    EXPECT_EQ(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_THAT(problems, SizeIs(1));
}

TEST_F(CountedLines, leave_code_as_it_is_that_cannot_count) {
    driver.link_result = CUDA_ERROR_INVALID_PTX;
    EXPECT_EQ(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_EQ(probe.replacement("\x7f"
                                "ELF"),
              nullptr);
    EXPECT_EQ(probe.replacement("\x7f"
                                "ELF"),
              nullptr);
    EXPECT_EQ(probe.replacement(nullptr), nullptr);
    EXPECT_THAT(problems, SizeIs(1));
    EXPECT_THAT(reasons, SizeIs(1));
    probe.read(true);
    EXPECT_THAT(told, IsEmpty());
    EXPECT_EQ(driver.copies, 0);
}

// The driver refused to load the first; of the second it has code that counts nothing.
TEST_F(CountedLines, of_code_that_was_not_loaded_are_not_looked_for_in_the_next) {
    ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_EQ(probe.replacement(nullptr), nullptr);
    probe.loaded(handle<CUmodule>(1), handle<CUcontext>(1));
    ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_EQ(probe.replacement_of_file(nullptr), nullptr);
    probe.loaded(handle<CUmodule>(2), handle<CUcontext>(1));
    probe.launched_in(handle<CUcontext>(1));
    gpu_counts(5);
    probe.read(true);
    EXPECT_EQ(driver.copies, 0);
}

// 64 samples in each of two contexts.
TEST_F(CountedLines, are_told_with_so_many_of_their_warps) {
    ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    probe.loaded(handle<CUlibrary>(1), handle<CUcontext>(1));
    gpu_counts(5);
    for (std::size_t at = 0; at < driver.samples.size(); at += sample_words) {
        driver.samples[at] = 1;
        driver.samples[at + 1] = 1;
        driver.samples[at + 2] = std::uint64_t{0x8000} << 48 | 4 * at;
    }
    probe.launched_in(handle<CUcontext>(1));
    probe.launched_in(handle<CUcontext>(2));
    probe.read(true);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].totals.executed, 10u);
    EXPECT_THAT(told[0].samples, SizeIs(64));
}

// A program that makes code for ever is followed so far.
TEST_F(CountedLines, are_those_of_the_first_4096_images) {
    for (int i = 0; i < 4096; ++i) ASSERT_NE(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_EQ(probe.replacement(ptx.c_str()), nullptr);
    EXPECT_THAT(problems, SizeIs(1));
}

// --- code that is linked
// ---------------------------------------------------------------------------

class LinkedCode : public CountedLines {
 protected:
    static std::string symbol_of_input(int number, int process = ::getpid()) {
        return std::string(counts_symbol) + '_' + std::to_string(process) + '_' +
               std::to_string(number);
    }
    // As a linker makes it of inputs with these symbols, and the program loads it.
    bool loads(const std::vector<std::string>& symbols) {
        const std::string cubin = cubin_of({"k"}, symbols);
        EXPECT_EQ(probe.replacement(cubin.data()), nullptr);
        probe.loaded(handle<CUmodule>(1), handle<CUcontext>(1));
        probe.launched_in(handle<CUcontext>(1));
        return reasons.empty();
    }
};

TEST_F(LinkedCode, counts_itself_by_what_is_linked_in_place_of_its_ptx) {
    const std::string* input = probe.replacement_of_input(ptx, true);
    ASSERT_NE(input, nullptr);
    EXPECT_THAT(*input, HasSubstr("call coalprof_probe"));
    EXPECT_THAT(*input, HasSubstr(symbol_of_input(0) + '['));
    EXPECT_EQ(driver.linked, *input + '\0') << "the driver is asked whether it compiles it";
    EXPECT_EQ(driver.completed, 0) << "other inputs are missing yet";
    EXPECT_EQ(driver.links, 0);
    EXPECT_THAT(rewritten, ElementsAre("k"));
    EXPECT_TRUE(loads({symbol_of_input(0)}));
    gpu_counts(5);
    probe.read(true);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].totals.executed, 5u);
}

TEST_F(LinkedCode, has_the_counts_of_all_its_inputs) {
    for (int input = 0; input < 2; ++input)
        ASSERT_NE(probe.replacement_of_input(ptx, false), nullptr);
    EXPECT_EQ(driver.linked, "") << "another linker says itself what it does not take";
    EXPECT_TRUE(loads({symbol_of_input(0), symbol_of_input(1)}));
    gpu_counts(5);
    probe.read(true);
    EXPECT_THAT(told, SizeIs(2));
    probe.unloads(handle<CUmodule>(1));
    told.clear();
    probe.read(true);
    EXPECT_THAT(told, IsEmpty()) << "its counts have gone with it";
}

// A cache that processes share may hand it over.
TEST_F(LinkedCode, is_not_taken_for_ours_where_another_process_linked_it) {
    ASSERT_NE(probe.replacement_of_input(ptx, false), nullptr);
    EXPECT_FALSE(loads({symbol_of_input(0, ::getpid() + 1)}));
    EXPECT_FALSE(loads({symbol_of_input(7)}));
    EXPECT_FALSE(loads({symbol_of_input(0) + "x"}));
    gpu_counts(5);
    probe.read(true);
    EXPECT_THAT(told, IsEmpty());
}

TEST_F(LinkedCode, is_linked_as_it_is_where_it_cannot_count) {
    EXPECT_EQ(probe.replacement_of_input(cubin_of({"k"}), true), nullptr);
    EXPECT_EQ(probe.replacement_of_input("no PTX", true), nullptr);
    EXPECT_THAT(problems, IsEmpty());
    driver.link_result = CUDA_ERROR_INVALID_PTX;
    EXPECT_EQ(probe.replacement_of_input(ptx, true), nullptr);
    EXPECT_THAT(problems, SizeIs(1));
    EXPECT_EQ(driver.links, 0);
}

TEST_F(LinkedCode, counts_itself_by_the_ptx_of_a_fat_binary) {
    const std::string* input = probe.replacement_of_input(fat_binary(entry(1, 80, ptx)), true);
    ASSERT_NE(input, nullptr);
    EXPECT_THAT(*input, HasSubstr(".entry k"));
}

}  // namespace
}  // namespace coalprof
