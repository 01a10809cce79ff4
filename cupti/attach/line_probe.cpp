#include "cupti/attach/line_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fstream>
#include <iterator>

#include "cupti/attach/loaded_code.h"

namespace coalprof {
namespace {

// A limit for programs that compile kernels without end: each image is kept.
constexpr std::size_t most_images = 4096;
constexpr std::size_t most_samples_told = 64;

// A part of symbol names in code that this process has linked, before the image's number.
std::string mark_of_process() { return fmt::format("_{}_", ::getpid()); }

}  // namespace

void LineProbe::say_once(const std::string& sentence) {
    if (said_.insert(sentence).second) setup_.problem(sentence);
}

const void* LineProbe::replacement(const void* image) {
    being_loaded_ = 0;
    if (!image || is_linked_from_ours(image) || !can_count()) return nullptr;
    const std::uint32_t capability = capability_of_code(setup_.driver);
    PtxOrReason ptx = ptx_of_image(image, capability);
    if (auto* none = std::get_if<NoPtx>(&ptx))
        none->reason = reason_for_image(none->reason, image, capability);
    const std::string* bytes = counting(ptx);
    return bytes ? bytes->data() : nullptr;
}

const std::string* LineProbe::replacement_of_file(const char* path) {
    being_loaded_ = 0;
    if (!path || !can_count()) return nullptr;
    std::ifstream file(path, std::ios::binary);
    if (!file) return nullptr;  // the driver reports it
    return counting(
        ptx_of_file({std::istreambuf_iterator<char>(file), {}}, capability_of_code(setup_.driver)));
}

// Code that cannot be rewritten is not reported, as that is machine code, or functions that kernels
// call: the result names kernels without lines.
const std::string* LineProbe::replacement_of_input(const std::string& input, bool driver_links) {
    if (!can_count()) return nullptr;
    const PtxOrReason ptx = ptx_of_file(input, capability_of_code(setup_.driver));
    std::string mark = fmt::format("{}{}", mark_of_process(), images_.size());
    auto probed = rewrite(ptx, mark);
    if (std::holds_alternative<NoPtx>(probed)) return nullptr;
    has_inputs_ = true;
    return keep(std::move(std::get<ProbedPtx>(probed)), std::get<std::string>(ptx),
                driver_links ? Use::as_input_of_driver : Use::as_input, std::move(mark));
}

// Symbols identify it: programs copy code and keep it in files, which other processes read.
bool LineProbe::is_linked_from_ours(const void* image) {
    if (!has_inputs_ || !is_cubin(image)) return false;
    std::vector<std::size_t> inputs;
    for (const std::string& text : names_of_cubin(image, counts_symbol + mark_of_process())) {
        std::size_t number = 0;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        if (read.ec == std::errc() && read.ptr == text.data() + text.size() &&
            number < images_.size())
            inputs.push_back(number);
    }
    if (inputs.empty()) return false;
    begin_load(inputs);
    return true;
}

void LineProbe::begin_load(const std::vector<std::size_t>& images) {
    const auto found = std::ranges::find(loads_, images);
    being_loaded_ = static_cast<std::size_t>(found - loads_.begin()) + 1;
    if (found == loads_.end()) loads_.push_back(images);
}

bool LineProbe::can_count() {
    if (images_.size() >= most_images) {
        say_once(fmt::format("modules after the {}th were not counted by lines", most_images));
        return false;
    }
    if (gpus_differ(setup_.driver)) {
        say_once("lines are not counted where GPUs of different compute capabilities are together");
        return false;
    }
    return true;
}

std::variant<ProbedPtx, NoPtx> LineProbe::rewrite(const PtxOrReason& ptx,
                                                  const std::string& mark) const {
    if (const auto* reason = std::get_if<NoPtx>(&ptx)) return *reason;
    return probe(std::get<std::string>(ptx), setup_.wants, mark);
}

const std::string* LineProbe::counting(const PtxOrReason& ptx) {
    auto probed = rewrite(ptx, {});
    if (const auto* none = std::get_if<NoPtx>(&probed)) {
        if (said_.insert(none->reason).second) setup_.lacks_ptx(none->reason);
        return nullptr;
    }
    const std::string* bytes =
        keep(std::move(std::get<ProbedPtx>(probed)), std::get<std::string>(ptx), Use::as_it_is, {});
    if (bytes) begin_load({images_.size() - 1});
    return bytes;
}

const std::string* LineProbe::keep(ProbedPtx probed, const std::string& ptx, Use use,
                                   std::string mark) {
    Image image{.bytes = {},
                .probed = std::move(probed),
                .mark = std::move(mark),
                .handles = {},
                .sites = {}};
    if (!compile(image.probed, image.bytes, use)) return nullptr;
    for (const std::string& kernel : kernels_in(ptx))
        if (setup_.wants(kernel)) setup_.rewritten(kernel);
    for (const PtxSite& site : image.probed.sites)
        image.sites.push_back({.id = fmt::format("{}:{}", images_.size(), image.sites.size()),
                               .site = site,
                               .totals = {},
                               .samples = {}});
    image.probed.text.clear();
    images_.push_back(std::move(image));
    return &images_.back().bytes;
}

// Before the program sees it: PTX that the driver refuses must not become its failure. Code that is
// linked with others is not whole: the test is only whether it compiles.
bool LineProbe::compile(const ProbedPtx& probed, std::string& bytes, Use use) {
    bytes = probed.text;
    if (use == Use::as_input) return true;
    std::array<char, 1024> log{};
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
    CUlinkState link = nullptr;
    if (setup_.driver.link_create(options.size(), options.data(), values.data(), &link) !=
        CUDA_SUCCESS)
        return true;  // no context yet; the driver compiles it where needed
    void* code = nullptr;
    std::size_t size = 0;
    CUresult result = setup_.driver.link_add_data(
        link, CU_JIT_INPUT_PTX, bytes.data(), bytes.size() + 1, "coalprof", 0, nullptr, nullptr);
    if (use == Use::as_it_is && result == CUDA_SUCCESS) {
        result = setup_.driver.link_complete(link, &code, &size);
        if (result == CUDA_SUCCESS) bytes.assign(static_cast<const char*>(code), size);
    }
    setup_.driver.link_destroy(link);
    if (result == CUDA_SUCCESS) return true;
    std::string first_line = log.data();
    first_line.resize(std::min(first_line.find('\n'), first_line.size()));
    say_once(
        fmt::format("kernels of a module did not count themselves: the driver does not compile "
                    "its PTX with counting in it (error {}{}{})",
                    static_cast<int>(result), first_line.empty() ? "" : ": ", first_line));
    return false;
}

void LineProbe::loaded(Handle handle, CUcontext context) {
    if (being_loaded_ != 0)
        for (const std::size_t image : loads_[being_loaded_ - 1])
            images_[image].handles.emplace(handle, context);
    being_loaded_ = 0;
}

std::vector<std::uint64_t> LineProbe::words_at(Handle handle, const std::string& symbol,
                                               std::size_t count) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const CUresult found = std::holds_alternative<CUlibrary>(handle)
                               ? setup_.driver.global_of_code(
                                     &address, &bytes, std::get<CUlibrary>(handle), symbol.c_str())
                               : setup_.driver.global_of_module(
                                     &address, &bytes, std::get<CUmodule>(handle), symbol.c_str());
    std::vector<std::uint64_t> words(count);
    if (found != CUDA_SUCCESS || bytes < count * sizeof(std::uint64_t) ||
        setup_.driver.copy_to_host(words.data(), address, count * sizeof(std::uint64_t)) !=
            CUDA_SUCCESS)
        words.clear();
    return words;
}

// For the current context.
void LineProbe::add_counts(const Image& image, Handle handle, std::vector<TracedSite>& sites) {
    const std::vector<std::uint64_t> counts =
        words_at(handle, counts_symbol + image.mark, sites.size() * site_counts);
    if (counts.empty() || std::ranges::all_of(counts, [](std::uint64_t n) { return n == 0; }))
        return;
    const std::size_t words_of_site = image.probed.samples_of_each * sample_words;
    const std::vector<std::uint64_t> samples =
        words_at(handle, samples_symbol + image.mark, sites.size() * words_of_site);
    for (std::size_t i = 0; i < sites.size(); ++i) {
        std::array<std::uint64_t, site_counts> counted{};
        std::copy_n(&counts[i * site_counts], site_counts, counted.begin());
        sites[i].totals += std::bit_cast<SiteTotals>(counted);
        if (samples.empty()) continue;
        const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(i * words_of_site);
        for (const WarpAccess& warp : accesses_of(
                 sites[i].site, {begin, begin + static_cast<std::ptrdiff_t>(words_of_site)}))
            if (sites[i].samples.size() < most_samples_told) sites[i].samples.push_back(warp);
    }
}

void LineProbe::add_counts_in(CUcontext context, const Image& image, Handle handle,
                              std::vector<TracedSite>& sites) {
    if (setup_.driver.context_push(context) != CUDA_SUCCESS) return;
    add_counts(image, handle, sites);
    CUcontext popped = nullptr;
    setup_.driver.context_pop(&popped);
}

std::vector<CUcontext> LineProbe::contexts_of(Handle handle, CUcontext loaded_in) const {
    std::vector<CUcontext> found;
    for (const CUcontext context : contexts_)
        if (std::holds_alternative<CUlibrary>(handle) || context == loaded_in)
            found.push_back(context);
    return found;
}

bool LineProbe::may_copy(CUcontext context) {
    if (setup_.may_copy(context)) return true;
    say_once(
        "counts of lines may be missing: their module or context went while a kernel ran on or a "
        "graph was recorded");
    return false;
}

// A site's line with its samples takes up to 35 KB: the trace of a program that runs for hours must
// not grow with time.
void LineProbe::deliver(const std::vector<TracedSite>& sites, bool whole) {
    for (const TracedSite& site : sites) {
        std::uint64_t& told = told_[site.id];
        const std::uint64_t executed = site.totals.executed;
        // Fewer: counts were lost with their context. The last report stays.
        if (executed <= told || (!whole && executed < 2 * told)) continue;
        setup_.deliver(site);
        told = executed;
    }
}

void LineProbe::read(bool whole) {
    for (const Image& image : images_) {
        std::vector<TracedSite> sites = image.sites;
        for (const auto& [handle, loaded_in] : image.handles)
            for (const CUcontext context : contexts_of(handle, loaded_in))
                add_counts_in(context, image, handle, sites);
        deliver(sites, whole);
    }
}

void LineProbe::context_ends(CUcontext context) {
    if (!contexts_.contains(context)) return;
    const bool is_copied = !images_.empty() && may_copy(context);
    for (Image& image : images_)
        std::erase_if(image.handles, [&](const auto& entry) {
            const auto& [handle, loaded_in] = entry;
            const bool is_module = std::holds_alternative<CUmodule>(handle);
            if (is_module && loaded_in != context) return false;
            if (is_copied) add_counts_in(context, image, handle, image.sites);
            return is_module;
        });
    contexts_.erase(context);
}

void LineProbe::unloads(Handle handle) {
    for (Image& image : images_) {
        const auto found = image.handles.find(handle);
        if (found == image.handles.end()) continue;
        for (const CUcontext context : contexts_of(handle, found->second))
            if (may_copy(context)) add_counts_in(context, image, handle, image.sites);
        image.handles.erase(found);
        deliver(image.sites, true);
    }
}

}  // namespace coalprof
