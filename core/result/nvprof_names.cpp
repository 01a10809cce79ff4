#include "core/result/nvprof_names.h"

#include <array>

namespace coalprof {
namespace {

// From 7.0 on by the table of metrics in NVIDIA's Nsight Compute CLI documentation, before it by
// its Profiler User's Guide. That gld_transactions is four times the sectors on 6.1 was seen on a
// TITAN Xp and a GTX 1080 Ti: 16 for the 128 bytes of a warp, and 4 for as many stored.
constexpr std::string_view efficiency_loads =
    "bytes asked for / bytes moved: in 128-byte lines where L1 of 2.x and 3.x fetches them, else "
    "in "
    "32-byte sectors of the warp. Before 7.0 lanes that share bytes ask for them once each, so it "
    "can exceed 1";
constexpr std::string_view efficiency_stores =
    "bytes asked for / bytes moved, in 32-byte sectors of the warp; before 7.0 lanes that share "
    "bytes count once each";
constexpr std::string_view load_transactions =
    "2.x, 3.x: load_transactions. 5.x: 32-byte sectors. 6.1: 16 for "
    "the 128 bytes of a warp, which are 4 sectors. From 7.0 on "
    "sectors";
constexpr std::string_view store_transactions =
    "2.x, 3.x: store_transactions, where it may have joined neighbouring segments. From 5.0 on "
    "32-byte sectors";
constexpr std::string_view per_warp = "its requests are warp instructions on every generation";
constexpr std::string_view sectors_of_32 = "in 32-byte transactions: a 32nd of the bytes";

constexpr std::array names_of_nvprof{
    NvprofName{"gld_efficiency", Counter::load_efficiency, efficiency_loads},
    NvprofName{"gst_efficiency", Counter::store_efficiency, efficiency_stores},
    NvprofName{"gld_transactions", Counter::load_sectors, load_transactions},
    NvprofName{"gst_transactions", Counter::store_sectors, store_transactions},
    NvprofName{"gld_transactions_per_request", Counter::load_sectors_per_request, per_warp},
    NvprofName{"gst_transactions_per_request", Counter::store_sectors_per_request, per_warp},
    NvprofName{"gld_request", Counter::load_requests, "the event of 1.x to 3.x"},
    NvprofName{"gst_request", Counter::store_requests, "the event of 1.x to 3.x"},
    NvprofName{"global_load_requests", Counter::load_requests, ""},
    NvprofName{"global_store_requests", Counter::store_requests, ""},
    NvprofName{"inst_executed_global_loads", Counter::load_requests, ""},
    NvprofName{"inst_executed_global_stores", Counter::store_requests, ""},
    NvprofName{"l2_tex_read_transactions", Counter::l2_read_sectors, ""},
    NvprofName{"l2_tex_write_transactions", Counter::l2_write_sectors, ""},
    NvprofName{"dram_read_transactions", Counter::dram_read_bytes, sectors_of_32},
    NvprofName{"dram_write_transactions", Counter::dram_write_bytes, sectors_of_32},
    NvprofName{"shared_load_transactions", Counter::shared_load_wavefronts, ""},
    NvprofName{"shared_store_transactions", Counter::shared_store_wavefronts, ""},
    NvprofName{"shared_load_transactions_per_request", Counter::shared_load_conflict_degree, ""},
    NvprofName{"shared_store_transactions_per_request", Counter::shared_store_conflict_degree, ""},
    NvprofName{"local_load_transactions", Counter::local_load_sectors, ""},
    NvprofName{"local_store_transactions", Counter::local_store_sectors, ""},
    NvprofName{"inst_executed_local_loads", Counter::local_load_requests, ""},
    NvprofName{"inst_executed_local_stores", Counter::local_store_requests, ""},
};

}  // namespace

std::span<const NvprofName> nvprof_names() { return names_of_nvprof; }

}  // namespace coalprof
