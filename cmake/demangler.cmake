# The part of libstdc++'s archive that demangles: it can be stopped where a symbol stands for too much text,
# which the function of its shared library cannot.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
                OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
set(COALPROF_DEMANGLER ${CMAKE_BINARY_DIR}/libcoalprof_demangler.a)
execute_process(COMMAND ${CMAKE_AR} x ${archive} cp-demangle.o
                WORKING_DIRECTORY ${CMAKE_BINARY_DIR} RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "No cp-demangle.o in ${archive}: the archive of libstdc++ comes with g++, or as libstdc++-static.")
endif()
execute_process(COMMAND ${CMAKE_AR} rcs ${COALPROF_DEMANGLER} cp-demangle.o WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
