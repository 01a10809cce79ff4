# Toolchain of scripts/package: g++ 12 of Debian 12 against the C library of Debian 11, for this machine's
# architecture and the other one. COALPROF_SYSROOT is a folder NAME-x86_64 or NAME-aarch64 that
# scripts/package fills.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES COALPROF_SYSROOT)
string(REGEX MATCH "[^-]+$" arch "${COALPROF_SYSROOT}")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${arch})
set(CMAKE_SYSROOT ${COALPROF_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${arch}-linux-gnu)
set(CMAKE_CXX_COMPILER ${arch}-linux-gnu-g++-12)
# --sysroot alone leaves Debian's compilers their own C library, found first beside themselves.
set(own_headers /usr/include/c++/12 /usr/include/${arch}-linux-gnu/c++/12
    /usr/lib/gcc/${arch}-linux-gnu/12/include)
if(NOT EXISTS /usr/lib/gcc/${arch}-linux-gnu/12/libstdc++.a)
    set(own_headers /usr/${arch}-linux-gnu/include/c++/12 /usr/${arch}-linux-gnu/include/c++/12/${arch}-linux-gnu
        /usr/lib/gcc-cross/${arch}-linux-gnu/12/include)
endif()
set(headers ${own_headers} ${COALPROF_SYSROOT}/usr/include/${arch}-linux-gnu ${COALPROF_SYSROOT}/usr/include)
list(TRANSFORM headers PREPEND "-isystem ")
list(JOIN headers " " headers)
set(CMAKE_CXX_FLAGS_INIT "-nostdinc -nostdinc++ ${headers}")
set(links "-B${COALPROF_SYSROOT}/usr/lib/${arch}-linux-gnu -L${COALPROF_SYSROOT}/usr/lib/gcc/${arch}-linux-gnu/10 -static-libstdc++ -static-libgcc")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${links}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${links}")
# Before glibc 2.34 threads and dlopen() are libraries of their own; libstdc++.a, which comes last, needs them.
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-Wl,--push-state,--no-as-needed -lpthread -ldl -Wl,--pop-state")
# Programs are this machine's, libraries the sysroot's. Of CUDA only headers are used, which are the same.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CUDA_CUDART ${COALPROF_SYSROOT}/none CACHE FILEPATH "Named, as FindCUDAToolkit asks for it; never linked")
if(NOT arch STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${arch}-static -L ${COALPROF_SYSROOT})
endif()
