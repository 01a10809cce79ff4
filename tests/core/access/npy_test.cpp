#include "core/access/npy.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

// Two elements of one byte, 1 and 255.
std::vector<std::int64_t> integers_of(const std::string& type) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,), }";
    header.resize(117, ' ');
    header += '\n';
    const std::string bytes = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) +
                              '\0' + header + "\x01\xff";
    return integers_in(read_npy(bytes, "x.npy"), "x.npy");
}

TEST(IntegersOfNpy, have_a_sign_where_their_type_has_one) {
    EXPECT_EQ(integers_of("|i1"), (std::vector<std::int64_t>{1, -1}));
    EXPECT_EQ(integers_of("|u1"), (std::vector<std::int64_t>{1, 255}));
}

}  // namespace
}  // namespace coalprof
