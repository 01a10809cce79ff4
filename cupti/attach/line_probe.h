// Makes the code that a program loads count its memory instructions: when an image is loaded, its
// PTX is rewritten (core/program/probe.h), compiled by the driver, and loaded in its place.
// Everything is called from CUPTI's callbacks, one at a time.
//
// The driver works with the arguments as a CUPTI callback left them before the call, and the driver
// may be called from there (seen with CUDA 13.0, driver 580.159, 2026-11-22; CUPTI's documentation
// promises neither).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "core/program/probe.h"
#include "core/program/trace.h"
#include "cupti/attach/cubins.h"
#include "cupti/attach/module_driver.h"

namespace coalprof {

class LineProbe {
 public:
    using Handle = std::variant<CUmodule, CUlibrary>;
    struct Setup {
        ModuleDriver driver;
        std::function<bool(const std::string&)> wants;  // asked with a kernel's mangled name
        std::function<void(const TracedSite&)> deliver;
        std::function<void(const std::string&)> problem;
        // The reason why code is loaded unchanged, each once: a clause. Its kernels may be counted
        // otherwise.
        std::function<void(const std::string&)> lacks_ptx;
        // True if counts may be copied from the context before they go: not while a kernel runs on,
        // for which a copy would wait.
        std::function<bool(CUcontext)> may_copy = [](CUcontext) { return true; };
        // A kernel that counts itself, by its mangled name.
        std::function<void(const std::string&)> rewritten = [](const std::string&) {};
    };
    explicit LineProbe(Setup setup) : setup_(std::move(setup)) {}

    // The code to load in place of `image`; nullptr: it is loaded unchanged, and lacks_ptx() or
    // problem() got the reason.
    const void* replacement(const void* image);
    // The same for a file; returns the content of the file to load in its place.
    const std::string* replacement_of_file(const char* path);
    // For PTX, or a fat binary with it, that the program passes to a linker: the PTX to link in its
    // place; nullptr: it is linked unchanged. Code that was linked from it is recognised by its
    // symbols when replacement() sees it. `driver_links`: then the driver is asked if it compiles
    // it; others say so themselves.
    const std::string* replacement_of_input(const std::string& input, bool driver_links);
    // The image of the last replacement() was loaded.
    void loaded(Handle handle, CUcontext context);
    void launched_in(CUcontext context) { contexts_.insert(context); }
    const std::set<CUcontext>& contexts() const { return contexts_; }

    // Delivers the counts so far, of sites that have been executed twice as often as at their last
    // delivery; `whole`: of all that have been executed since. Copies from all contexts, whether or
    // not kernels run.
    void read(bool whole);
    // Called before counts are lost with their context or their module.
    void context_ends(CUcontext context);
    void unloads(Handle handle);

 private:
    struct Image {
        std::string bytes;  // given to the driver
        ProbedPtx probed;   // its text is empty
        std::string mark;   // part of its symbols' names
        // With the context of each: a module's counts are in one context, a library's in every one.
        std::map<Handle, CUcontext> handles;
        std::vector<TracedSite> sites;  // they keep the counts of destroyed handles and contexts
    };
    enum class Use { as_it_is, as_input_of_driver, as_input };
    bool can_count();
    std::variant<ProbedPtx, NoPtx> rewrite(const PtxOrReason& ptx, const std::string& mark) const;
    const std::string* counting(const PtxOrReason& ptx);
    const std::string* keep(ProbedPtx probed, const std::string& ptx, Use use, std::string mark);
    bool compile(const ProbedPtx& probed, std::string& bytes, Use use);
    bool is_linked_from_ours(const void* image);
    void begin_load(const std::vector<std::size_t>& images);
    // The contexts with counts of `handle`: for a library all of the program.
    std::vector<CUcontext> contexts_of(Handle handle, CUcontext loaded_in) const;
    bool may_copy(CUcontext context);
    void add_counts_in(CUcontext context, const Image& image, Handle handle,
                       std::vector<TracedSite>& sites);
    void add_counts(const Image& image, Handle handle, std::vector<TracedSite>& sites);
    void deliver(const std::vector<TracedSite>& sites, bool whole);
    std::vector<std::uint64_t> words_at(Handle handle, const std::string& symbol,
                                        std::size_t count);
    void say_once(const std::string& sentence);

    Setup setup_;
    std::deque<Image> images_;  // the driver may read them as long as the program runs
    // The images in loaded code: several if it was linked from them.
    std::deque<std::vector<std::size_t>> loads_;
    // Index in loads_, from 1; 0: none. By thread: other threads load at the same time.
    static inline thread_local std::size_t being_loaded_ = 0;
    bool has_inputs_ = false;  // some linker has inputs
    std::set<CUcontext> contexts_;
    std::set<std::string> said_;
    std::map<std::string, std::uint64_t> told_;  // executions of a site at its last delivery
};

}  // namespace coalprof
