#include "cupti/attach/cubins.h"

#include <string.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace coalprof {
namespace {

// Modules of PyTorch have 6 MB; some programs load the same code again and again.
constexpr std::size_t most_kept = 16;

std::uint32_t crc_of(const CuptiApi& api, const std::string& cubin) {
    CUpti_GetCubinCrcParams params{};
    params.size = CUpti_GetCubinCrcParamsSize;
    params.cubin = cubin.data();
    params.cubinSize = cubin.size();
    return api.get_cubin_crc(&params) == CUPTI_SUCCESS ? static_cast<std::uint32_t>(params.cubinCrc)
                                                       : 0;
}

}  // namespace

void Cubins::loaded(const void* cubin, std::size_t bytes) {
    if (!cubin || !::memmem(cubin, bytes, function_.data(), function_.size())) return;
    const std::lock_guard lock(mutex_);
    if (kept_.size() < most_kept)
        kept_.push_back({.bytes = {static_cast<const char*>(cubin), bytes}});
}

// Each instruction asks, and megabytes of code take milliseconds: once for each code.
const std::string* Cubins::code_with(const CuptiApi& api, std::uint32_t crc) {
    std::vector<Code*> all;
    {
        const std::lock_guard lock(mutex_);
        for (Code& code : kept_) all.push_back(&code);
    }
    for (Code* code : all) {
        if (!code->crc) code->crc = crc_of(api, code->bytes);
        if (code->crc == crc) return &code->bytes;
    }
    return all.size() == 1 ? &all.front()->bytes : nullptr;
}

SourceLine Cubins::line_of(const CuptiApi& api, std::uint32_t crc, std::uint64_t offset) {
    const std::string* cubin = code_with(api, crc);
    if (!cubin) return {};
    CUpti_GetSassToSourceCorrelationParams params{};
    params.size = CUpti_GetSassToSourceCorrelationParamsSize;
    params.cubin = cubin->data();
    params.cubinSize = cubin->size();
    params.functionName = function_.c_str();
    params.pcOffset = offset;
    SourceLine place;
    // Code without line information answers line 0 and no names (13.0).
    if (api.get_sass_to_source(&params) == CUPTI_SUCCESS && params.fileName &&
        params.lineNumber > 0) {
        const std::filesystem::path folder = params.dirName ? params.dirName : "";
        place = {(folder / params.fileName).string(), params.lineNumber};
    }
    std::free(params.fileName);
    std::free(params.dirName);
    return place;
}

}  // namespace coalprof
