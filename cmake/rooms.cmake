# A room is a folder that is a library: core/count is coalprof_count, cupti is coalprof_cupti. It
# sees itself and the rooms that it is given, which is to say those that may be below it: each is
# offered through a folder that holds one link, so that an include of any other does not compile, and
# rooms that include each other cannot be configured.
#
# coalprof_room(FOLDER [ROOMS...]): the rooms by their folders, core/text
function(coalprof_room folder)
    cmake_path(GET folder FILENAME name)
    cmake_path(GET folder PARENT_PATH parent)
    set(view ${CMAKE_BINARY_DIR}/rooms/${name})
    file(MAKE_DIRECTORY ${view}/${parent})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp)
    if(sources)
        add_library(coalprof_${name} STATIC ${sources})
        set_property(GLOBAL APPEND PROPERTY COALPROF_ROOMS coalprof_${name})
        set(scope PUBLIC)
    else()
        add_library(coalprof_${name} INTERFACE)
        set(scope INTERFACE)
    endif()
    target_include_directories(coalprof_${name} ${scope} ${view})
    target_link_libraries(coalprof_${name} ${scope} coalprof_flags)
    foreach(room ${ARGN})
        cmake_path(GET room FILENAME below)
        if(NOT TARGET coalprof_${below})
            message(FATAL_ERROR "${folder} includes ${room}, which is not built before it")
        endif()
        target_link_libraries(coalprof_${name} ${scope} coalprof_${below})
    endforeach()
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
