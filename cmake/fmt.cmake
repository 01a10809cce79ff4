# coalprof_fmt: fmt from its headers alone. A binary that is linked with libfmt.so runs only where
# that version of it is installed; fmt's own header-only target compiles all of fmt into every file,
# which takes each 4 seconds longer (g++ 12 -O3, fmt 9.1, a 2-core Xeon). So it is compiled once, in
# fmt.cpp, where its version lets itself be, and into every file elsewhere.
get_target_property(fmt_includes fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
# 9.1 is that of Debian 12 and Ubuntu 24.04 and does; to try takes 3 s in which nothing else runs.
if(fmt_VERSION VERSION_EQUAL 9.1)
    set(COALPROF_FMT_COMPILES_ONCE TRUE)
else()
    try_compile(COALPROF_FMT_COMPILES_ONCE
        SOURCES ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp ${CMAKE_CURRENT_LIST_DIR}/fmt_use.cpp
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${fmt_includes}"
        CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
endif()
if(COALPROF_FMT_COMPILES_ONCE)
    add_library(coalprof_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
    target_include_directories(coalprof_fmt SYSTEM PUBLIC ${fmt_includes})
    target_link_libraries(coalprof_fmt PRIVATE coalprof_flags)
else()
    message(STATUS "This version of fmt is compiled into every file")
    add_library(coalprof_fmt INTERFACE)
    target_link_libraries(coalprof_fmt INTERFACE fmt::fmt-header-only)
endif()
