// A compiled kernel on the device, and the shop that makes each only once.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/formulas.h"
#include "kernels/compiler.h"
#include "kernels/gpu.h"

namespace coalprof {

struct LaunchSize {
    std::uint64_t grid = 1;
    std::uint32_t block = 1;
    std::uint32_t shared_bytes = 0;
};

class Kernel {
 public:
    Kernel(const Gpu& gpu, CUfunction function) : gpu_(gpu), function_(function) {}

    // Enqueues; `parameters` point at the values, in order.
    void launch(const LaunchSize& size, void* const* parameters) const;

    int attribute(CUfunction_attribute which) const;
    // Shared-memory carveout in per cent, -1 for the driver's choice. Set only when it changes.
    void set_carveout(int percent);
    // Lets launches ask for up to `bytes` of dynamic shared memory.
    void allow_shared_bytes(int bytes);
    int blocks_per_multiprocessor(const LaunchSize& size) const;

 private:
    void set_attribute(CUfunction_attribute which, int value, std::string_view doing) const;

    const Gpu& gpu_;
    CUfunction function_;
    std::optional<int> carveout_;
    int allowed_shared_bytes_ = 0;
};

class KernelShop {
 public:
    KernelShop(const Gpu& gpu, Compiler& compiler) : gpu_(gpu), compiler_(compiler) {}
    ~KernelShop();
    KernelShop(const KernelShop&) = delete;
    KernelShop& operator=(const KernelShop&) = delete;

    // Compiles and loads each request once. The kernel lives as long as the shop.
    Kernel& kernel(const CompileRequest& request, const char* name);
    // The architecture of the compiled code.
    std::string architecture(const CompileRequest& request) {
        return compiler_.compile(request)->architecture;
    }
    std::shared_ptr<const Compiled> compiled(const CompileRequest& request) {
        return compiler_.compile(request);
    }
    const Gpu& gpu() const { return gpu_; }

 private:
    struct Module {
        std::shared_ptr<const Compiled> compiled;
        CUmodule module = nullptr;
        std::map<std::string, Kernel, std::less<>> kernels;
    };

    Module& module_of(std::shared_ptr<const Compiled> compiled);

    const Gpu& gpu_;
    Compiler& compiler_;
    std::map<const Compiled*, Module> modules_;
};

// The parameters of one launch: values of any trivially copyable type, stored here, and the
// driver's array of pointers.
class KernelParameters {
 public:
    template <typename Value>
    void add(const Value& value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        static_assert(alignof(Value) <= alignof(std::uint64_t));
        add_bytes(&value, sizeof(Value));
    }
    // One parameter: a structure of these numbers alone.
    void add_words(std::span<const Index> words) { add_bytes(words.data(), words.size_bytes()); }
    // Replaces the last value added, which must have the same type.
    template <typename Value>
    void replace_last(const Value& value) {
        std::memcpy(words_.data() + starts_.back(), &value, sizeof(Value));
    }
    // Valid until the next change.
    void* const* pointers();

 private:
    void add_bytes(const void* bytes, std::size_t size);

    std::vector<std::uint64_t> words_;
    std::vector<std::size_t> starts_;
    std::vector<void*> pointers_;
};

}  // namespace coalprof
