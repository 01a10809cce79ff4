# Writes the commit that is built into a header, at every build: one that was asked for when the build
# was configured would be an old one soon. The file changes only with its text.
#   cmake -DSOURCE=folder -DHEADER=file -P cmake/commit.cmake
set(commit "")
find_package(Git QUIET)
if(GIT_FOUND)
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --short=12 HEAD
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} diff --quiet HEAD
        RESULT_VARIABLE differs ERROR_QUIET)
    if(commit AND NOT differs EQUAL 0)
        string(APPEND commit " and changes")
    endif()
endif()
set(text "#define COALPROF_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${HEADER})
    file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
    file(WRITE ${HEADER} "${text}")
endif()
