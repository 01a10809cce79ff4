# A room is a top-level folder that is a library. A room sees only itself and the rooms that it is
# allowed to include: each is offered through a folder that holds one link, so that an include
# against the direction of the house (cli -> kernels, cupti -> core) does not compile.
function(coalprof_room room)
    set(view ${CMAKE_BINARY_DIR}/rooms/${room})
    file(MAKE_DIRECTORY ${view})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${room} ${view}/${room} SYMBOLIC)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${room}/*.cpp)
    add_library(coalprof_${room} STATIC ${sources})
    target_include_directories(coalprof_${room} PUBLIC ${view})
    target_link_libraries(coalprof_${room} PUBLIC coalprof_flags)
endfunction()

# Sets COALPROF_HAS_CUDA: whether the headers of the driver API, NVRTC and CUPTI are there. Only
# headers are needed: the libraries are loaded at run time.
macro(coalprof_find_cuda)
    set(COALPROF_HAS_CUDA FALSE)
    if(NOT COALPROF_CUDA STREQUAL "OFF")
        find_package(CUDAToolkit 12.6 QUIET)
        if(CUDAToolkit_FOUND)
            find_path(COALPROF_CUPTI_INCLUDE cupti_range_profiler.h
                      HINTS ${CUDAToolkit_INCLUDE_DIRS}
                            ${CUDAToolkit_ROOT}/extras/CUPTI/include
                            ${CUDAToolkit_TARGET_DIR}/extras/CUPTI/include
                            ${CUDAToolkit_BIN_DIR}/../extras/CUPTI/include)
        endif()
        if(CUDAToolkit_FOUND AND COALPROF_CUPTI_INCLUDE)
            set(COALPROF_HAS_CUDA TRUE)
            # SYSTEM: NVIDIA's headers do not pass our warnings.
            add_library(coalprof_cuda_headers INTERFACE)
            target_include_directories(coalprof_cuda_headers SYSTEM INTERFACE
                                       ${CUDAToolkit_INCLUDE_DIRS} ${COALPROF_CUPTI_INCLUDE})
        elseif(COALPROF_CUDA STREQUAL "ON")
            message(FATAL_ERROR "COALPROF_CUDA=ON, but CUDA 12.6 or newer with CUPTI's headers was "
                                "not found. Install the toolkit, or configure with COALPROF_CUDA=OFF.")
        else()
            message(STATUS "CUDA with CUPTI not found: building without measurement on GPUs")
        endif()
    endif()
endmacro()
