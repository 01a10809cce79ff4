# coalprof_check_types(TARGETS...): target coalprof_types fails where two types of one name differ in the
# objects of those targets, as far as they are built, and of every room. Of the link only what reads types is done: objects come
# out of it again (-r, -flinker-output=rel), and no code, which would take five times as long.
function(coalprof_check_types)
    get_property(rooms GLOBAL PROPERTY COALPROF_ROOMS)
    set(objects)
    foreach(target ${rooms} ${ARGN})
        if(TARGET ${target})
            list(APPEND objects $<TARGET_OBJECTS:${target}>)
        endif()
    endforeach()
    add_custom_target(coalprof_types ALL
        COMMAND ${CMAKE_CXX_COMPILER} -flto -Wodr -Werror=odr -nostdlib -r -flinker-output=rel
                -o ${CMAKE_BINARY_DIR}/types.o ${objects}
        DEPENDS ${objects} COMMENT "Reading the types of all objects" COMMAND_EXPAND_LISTS VERBATIM)
endfunction()
