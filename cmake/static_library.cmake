# Links the archive of a library, so that the binary runs where the library is not installed, or in
# another version; the shared one where there is no archive. Sets FOUND to whether either is there.
function(coalprof_link_static target header library found)
    find_path(COALPROF_${library}_INCLUDE ${header})
    find_library(COALPROF_${library} NAMES lib${library}.a ${library})
    set(${found} FALSE PARENT_SCOPE)
    if(COALPROF_${library}_INCLUDE AND COALPROF_${library})
        target_include_directories(${target} SYSTEM PRIVATE ${COALPROF_${library}_INCLUDE})
        target_link_libraries(${target} PRIVATE ${COALPROF_${library}})
        set(${found} TRUE PARENT_SCOPE)
    endif()
endfunction()
