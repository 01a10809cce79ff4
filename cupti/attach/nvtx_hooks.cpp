#include "cupti/attach/nvtx_ranges.h"

#if __has_include(<nvtx3/nvToolsExt.h>)

#define NVTX_NO_IMPL  // types alone
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstddef>
#include <exception>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

// Global, since NVTX calls plain functions.
std::atomic<NvtxRanges*> told{nullptr};

// Exceptions never reach a program that only marks its ranges.
template <typename Work, typename Answer>
Answer quietly(Answer otherwise, Work work) noexcept {
    try {
        return work(*told.load());
    } catch (const std::exception&) {
        return otherwise;
    }
}

std::string text_of(const char* text) { return text ? text : ""; }

// As UTF-8, like --nvtx.
std::string text_of(const wchar_t* text) {
    std::string bytes;
    for (; text && *text != 0; ++text) append_utf8(bytes, static_cast<char32_t>(*text));
    return bytes;
}

std::string text_of(const nvtxEventAttributes_t* event) {
    // The least size, in an older NVTX.
    constexpr std::size_t least = offsetof(nvtxEventAttributes_t, message) + sizeof(void*);
    if (!event || event->size < least) return {};
    switch (event->messageType) {
        case NVTX_MESSAGE_TYPE_ASCII: return text_of(event->message.ascii);
        case NVTX_MESSAGE_TYPE_UNICODE: return text_of(event->message.unicode);
        case NVTX_MESSAGE_TYPE_REGISTERED: {
            const auto* text = reinterpret_cast<const std::string*>(event->message.registered);
            return text ? *text : std::string();
        }
        default: return {};
    }
}

NvtxRanges::Domain domain_of(nvtxDomainHandle_t handle) {
    return static_cast<NvtxRanges::Domain>(reinterpret_cast<std::uintptr_t>(handle));
}

// A name in any of NVTX's three forms.
template <typename Name>
int NVTX_API push(Name name) {
    return quietly(NVTX_NO_PUSH_POP_TRACKING, [&](NvtxRanges& ranges) {
        return ranges.push(NvtxRanges::default_domain, text_of(name));
    });
}

int NVTX_API pop() {
    return quietly(NVTX_NO_PUSH_POP_TRACKING,
                   [](NvtxRanges& ranges) { return ranges.pop(NvtxRanges::default_domain); });
}

template <typename Name>
nvtxRangeId_t NVTX_API start(Name name) {
    return quietly(nvtxRangeId_t{0},
                   [&](NvtxRanges& ranges) { return nvtxRangeId_t{ranges.start(text_of(name))}; });
}

void NVTX_API end(nvtxRangeId_t range) {
    quietly(false, [&](NvtxRanges& ranges) {
        ranges.end(range);
        return true;
    });
}

int NVTX_API push_in(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    return quietly(NVTX_NO_PUSH_POP_TRACKING, [&](NvtxRanges& ranges) {
        return ranges.push(domain_of(domain), text_of(event));
    });
}

int NVTX_API pop_in(nvtxDomainHandle_t domain) {
    return quietly(NVTX_NO_PUSH_POP_TRACKING,
                   [&](NvtxRanges& ranges) { return ranges.pop(domain_of(domain)); });
}

nvtxRangeId_t NVTX_API start_in(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
    return start(event);
}

void NVTX_API end_in(nvtxDomainHandle_t, nvtxRangeId_t range) { end(range); }

template <typename Name>
nvtxDomainHandle_t NVTX_API create_domain(Name) {
    return quietly(nvtxDomainHandle_t{nullptr}, [](NvtxRanges& ranges) {
        return reinterpret_cast<nvtxDomainHandle_t>(std::uintptr_t{ranges.new_domain()});
    });
}

template <typename Name>
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, Name name) {
    return quietly(nvtxStringHandle_t{nullptr}, [&](NvtxRanges& ranges) {
        return reinterpret_cast<nvtxStringHandle_t>(
            const_cast<std::string*>(&ranges.keep(text_of(name))));
    });
}

// NVTX's table of functions, by number; other versions may have fewer.
class FunctionTable {
 public:
    FunctionTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
        if (callbacks.GetModuleFunctionTable(module, &places_, &count_) == 0) count_ = 0;
    }
    template <typename Function>
    void put(unsigned number, Function* function) {
        if (number < count_ && places_[number])
            *places_[number] = reinterpret_cast<NvtxFunctionPointer>(function);
    }
    bool is_there() const { return count_ > 0; }

 private:
    NvtxFunctionTable places_ = nullptr;
    unsigned count_ = 0;
};

}  // namespace

bool knows_nvtx() { return true; }

bool install_nvtx_hooks(NvtxTables tables, NvtxRanges& ranges) {
    const auto* callbacks =
        tables ? static_cast<const NvtxExportTableCallbacks*>(tables(NVTX_ETID_CALLBACKS))
               : nullptr;
    if (!callbacks || callbacks->struct_size < sizeof *callbacks ||
        !callbacks->GetModuleFunctionTable)
        return false;
    told = &ranges;
    FunctionTable plain(*callbacks, NVTX_CB_MODULE_CORE);
    plain.put(NVTX_CBID_CORE_RangePushA, push<const char*>);
    plain.put(NVTX_CBID_CORE_RangePushW, push<const wchar_t*>);
    plain.put(NVTX_CBID_CORE_RangePushEx, push<const nvtxEventAttributes_t*>);
    plain.put(NVTX_CBID_CORE_RangePop, pop);
    plain.put(NVTX_CBID_CORE_RangeStartA, start<const char*>);
    plain.put(NVTX_CBID_CORE_RangeStartW, start<const wchar_t*>);
    plain.put(NVTX_CBID_CORE_RangeStartEx, start<const nvtxEventAttributes_t*>);
    plain.put(NVTX_CBID_CORE_RangeEnd, end);
    FunctionTable of_domains(*callbacks, NVTX_CB_MODULE_CORE2);
    of_domains.put(NVTX_CBID_CORE2_DomainRangePushEx, push_in);
    of_domains.put(NVTX_CBID_CORE2_DomainRangePop, pop_in);
    of_domains.put(NVTX_CBID_CORE2_DomainRangeStartEx, start_in);
    of_domains.put(NVTX_CBID_CORE2_DomainRangeEnd, end_in);
    of_domains.put(NVTX_CBID_CORE2_DomainCreateA, create_domain<const char*>);
    of_domains.put(NVTX_CBID_CORE2_DomainCreateW, create_domain<const wchar_t*>);
    of_domains.put(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<const char*>);
    of_domains.put(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<const wchar_t*>);
    return plain.is_there();
}

}  // namespace coalprof

#else

namespace coalprof {

bool knows_nvtx() { return false; }
bool install_nvtx_hooks(NvtxTables, NvtxRanges&) { return false; }

}  // namespace coalprof

#endif
