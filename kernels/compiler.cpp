#include "kernels/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/device/device.h"
#include "core/runtime/parallel.h"
#include "core/runtime/steps.h"

namespace coalprof {
namespace {

constexpr std::array sonames{"libnvrtc.so.13", "libnvrtc.so.12"};

std::string path_of(void* handle, const std::string& asked) {
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name[0] != '\0')
        return map->l_name;
    return asked;
}

std::optional<NvrtcApi> table_of(void* handle) {
    NvrtcApi api;
    bool complete = true;
#define COALPROF_LOAD(member, symbol)                                            \
    api.member = reinterpret_cast<decltype(api.member)>(dlsym(handle, #symbol)); \
    complete = complete && api.member != nullptr;
    COALPROF_NVRTC_CALLS(COALPROF_LOAD)
#undef COALPROF_LOAD
    if (!complete) return std::nullopt;
    return api;
}

std::optional<NvrtcLibrary> loaded_from(const std::string& name, int flags) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | flags);
    if (handle == nullptr) return std::nullopt;
    const auto api = table_of(handle);
    if (!api) return std::nullopt;
    return NvrtcLibrary{.api = api, .path = path_of(handle, name), .sentence = {}};
}

void add_places_of(const char* variable, const char* soname, std::vector<std::string>& names) {
    const char* home = std::getenv(variable);
    if (home == nullptr || *home != '/') return;  // a relative path depends on the current folder
    names.push_back(fmt::format("{}/lib64/{}", home, soname));
    names.push_back(fmt::format("{}/lib/{}", home, soname));
}

// A compiler's log can be megabytes of template names; the error is at its beginning.
constexpr std::size_t max_log_bytes = 2000;

const NvrtcApi& table_in(const NvrtcLibrary& library) {
    if (!library.api) throw Error(library.sentence);
    return *library.api;
}

// Throws PointError for failures that a retry may avoid: all but those that the source and the
// options cause.
[[noreturn]] void fail(const NvrtcApi& api, nvrtcResult result, std::string_view doing,
                       std::string log = {}) {
    if (log.size() > max_log_bytes) log = log.substr(0, max_log_bytes) + "...";
    for (char& c : log)
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n') c = ' ';
    const std::string sentence =
        fmt::format("cannot {}: NVRTC answered {}{}{}", doing, api.error_string(result),
                    log.empty() ? "" : "\n", log);
    if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION)
        throw Error(sentence, ExitCode::internal);
    throw PointError(sentence, ExitCode::internal);
}

class NvrtcProgram {
 public:
    NvrtcProgram(const NvrtcApi& api, const std::string& source) : api_(api) {
        std::vector<const char*> names;
        std::vector<const char*> texts;
        for (const SourceFile& file : embedded_sources()) {
            names.push_back(file.name);
            texts.push_back(file.text);
        }
        const nvrtcResult result =
            api_.create_program(&program_, source.c_str(), "coalprof_kernel.cu",
                                static_cast<int>(names.size()), texts.data(), names.data());
        if (result != NVRTC_SUCCESS) fail(api_, result, "hand a kernel to the compiler");
    }
    ~NvrtcProgram() { static_cast<void>(api_.destroy_program(&program_)); }
    NvrtcProgram(const NvrtcProgram&) = delete;
    NvrtcProgram& operator=(const NvrtcProgram&) = delete;

    void compile(const std::vector<std::string>& options) {
        std::vector<const char*> arguments;
        for (const std::string& option : options) arguments.push_back(option.c_str());
        const nvrtcResult result =
            api_.compile_program(program_, static_cast<int>(arguments.size()), arguments.data());
        if (result != NVRTC_SUCCESS)
            fail(api_, result, "compile a kernel", text(api_.log_size, api_.log));
    }

    // The text that `read` gives, sized by `size`; empty where there is none.
    template <typename Size, typename Read>
    std::string text(Size size, Read read) const {
        std::size_t bytes = 0;
        if (size(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
        std::string text(bytes, '\0');
        if (read(program_, text.data()) != NVRTC_SUCCESS) return {};
        return text;
    }

    std::string cubin() const { return text(api_.cubin_size, api_.cubin); }
    std::string ptx() const {
        std::string text = this->text(api_.ptx_size, api_.ptx);
        while (!text.empty() && text.back() == '\0') text.pop_back();
        return text;
    }

 private:
    const NvrtcApi& api_;
    nvrtcProgram program_ = nullptr;
};

// The architecture to compile for: the GPU's own, or NVRTC's newest below it.
struct Target {
    std::string name;  // "sm_90"
    bool is_ptx = false;
};

Target target_for(const NvrtcApi& api, int compute_capability) {
    const std::vector<int> known = supported_architectures(api);
    if (known.empty())
        throw PointError("cannot compile kernels: NVRTC does not say which GPUs it knows",
                         ExitCode::environment);
    if (std::binary_search(known.begin(), known.end(), compute_capability))
        return {fmt::format("sm_{}", compute_capability), false};
    const auto above = std::upper_bound(known.begin(), known.end(), compute_capability);
    if (above == known.begin()) {
        const int version = version_of(api);
        throw Error(fmt::format(
            "cannot compile kernels for this GPU: NVRTC {}.{} no longer knows compute capability "
            "{}.{}. Install the NVRTC of an older CUDA release (12 knows 5.0 to 7.2)",
            version / 1000, version % 1000 / 10, compute_capability / 10, compute_capability % 10));
    }
    return {fmt::format("compute_{}", *(above - 1)), true};
}

std::vector<std::string> options_for(const CompileRequest& request, const Target& target) {
    std::vector<std::string> options{
        fmt::format("--gpu-architecture={}", target.name),
        "--std=c++17",
        // formulas.h says constexpr and no CUDA word
        "--device-as-default-execution-space",
        // only embedded files can be included
        "--no-source-include",
    };
    // ca and wb are ptxas's default. Spelled out they give another instruction (of ptxas 13.0 for
    // sm_90) than the plain load and store of an ordinary program.
    if (request.dlcm != LoadModifier::ca)
        options.push_back(fmt::format("--ptxas-options=-dlcm={}", name_of(request.dlcm)));
    if (request.dscm != StoreModifier::wb)
        options.push_back(fmt::format("--ptxas-options=-dscm={}", name_of(request.dscm)));
    return options;
}

std::string key_of(const CompileRequest& request) {
    return fmt::format("{} {}\n{}", name_of(request.dlcm), name_of(request.dscm), request.source);
}

std::shared_ptr<const Compiled> compile_now(const NvrtcLibrary& library, int compute_capability,
                                            const CompileRequest& request) {
    const Step step("kernels compiled", 1);
    const NvrtcApi& api = table_in(library);
    const Target target = target_for(api, compute_capability);
    if (target.is_ptx && (request.dlcm != LoadModifier::ca || request.dscm != StoreModifier::wb))
        throw Error(fmt::format(
            "cannot compile with -dlcm={} -dscm={}: this NVRTC does not know the GPU's compute "
            "capability {}.{}. Install a newer CUDA toolkit",
            name_of(request.dlcm), name_of(request.dscm), compute_capability / 10,
            compute_capability % 10));
    NvrtcProgram program(api, request.source);
    program.compile(options_for(request, target));
    Compiled compiled{
        .code = {}, .ptx = program.ptx(), .architecture = target.name, .is_ptx = target.is_ptx};
    compiled.code = target.is_ptx ? compiled.ptx : program.cubin();
    if (compiled.code.empty()) fail(api, NVRTC_ERROR_INTERNAL_ERROR, "read a compiled kernel");
    return std::make_shared<const Compiled>(std::move(compiled));
}

}  // namespace

std::vector<std::string> nvrtc_candidates(int driver_version) {
    std::vector<const char*> order(sonames.begin(), sonames.end());
    if (driver_version != 0 && driver_version < 13000) order = {sonames[1], sonames[0]};
    std::vector<std::string> names;
    for (const char* soname : order) {
        add_places_of("CUDA_HOME", soname, names);
        add_places_of("CUDA_PATH", soname, names);
        names.emplace_back(soname);
        names.push_back(fmt::format("/usr/local/cuda/lib64/{}", soname));
    }
    return names;
}

NvrtcLibrary load_nvrtc(int driver_version) {
    for (const char* soname : sonames)
        if (auto library = loaded_from(soname, RTLD_NOLOAD)) return *library;
    for (const std::string& name : nvrtc_candidates(driver_version))
        if (auto library = loaded_from(name, 0)) return *library;
    return {.api = std::nullopt,
            .path = {},
            .sentence = fmt::format(
                "cannot compile kernels: neither {} nor {} was found. Install the CUDA toolkit's "
                "NVRTC (package cuda-nvrtc) or set CUDA_HOME to the toolkit",
                sonames[0], sonames[1])};
}

int version_of(const NvrtcApi& api) {
    int major = 0;
    int minor = 0;
    return api.version(&major, &minor) == NVRTC_SUCCESS ? 1000 * major + 10 * minor : 0;
}

std::vector<int> supported_architectures(const NvrtcApi& api) {
    int count = 0;
    if (api.architecture_count(&count) != NVRTC_SUCCESS || count < 1) return {};
    std::vector<int> architectures(static_cast<std::size_t>(count));
    if (api.architectures(architectures.data()) != NVRTC_SUCCESS) return {};
    std::sort(architectures.begin(), architectures.end());
    return architectures;
}

Compiler::Compiler(std::shared_future<NvrtcLibrary> nvrtc, int compute_capability)
    : nvrtc_(std::move(nvrtc)), compute_capability_(compute_capability) {}

void Compiler::compile_ahead(const CompileRequest& request) {
    static_cast<void>(answer_for(request));
}

std::shared_ptr<const Compiled> Compiler::compile(const CompileRequest& request) {
    try {
        return answer_for(request).get();
    } catch (const PointError&) {
        forget(request);  // the next point may succeed
        throw;
    }
}

std::uint32_t Compiler::version() {
    return static_cast<std::uint32_t>(version_of(table_in(nvrtc_.get())));
}

void Compiler::forget(const CompileRequest& request) {
    const std::lock_guard lock(mutex_);
    answers_.erase(key_of(request));
}

Compiler::Answer Compiler::answer_for(const CompileRequest& request) {
    const std::string key = key_of(request);
    const std::lock_guard lock(mutex_);
    if (const auto found = answers_.find(key); found != answers_.end()) return found->second;
    auto work = [nvrtc = nvrtc_, capability = compute_capability_, request] {
        return compile_now(nvrtc.get(), capability, request);
    };
    return answers_.emplace(key, in_background(std::move(work)).share()).first->second;
}

}  // namespace coalprof
