# Run by cpack when the files of a package are in place, before it is made of them.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
# What install() made of folders without files for it.
execute_process(COMMAND find ${CPACK_TEMPORARY_INSTALL_DIRECTORY} -type d -empty -delete COMMAND_ERROR_IS_FATAL ANY)
if(CPACK_GENERATOR MATCHES "DEB|RPM")
    file(GLOB pages ${share}/man/man1/*.1)
    execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
if(CPACK_GENERATOR STREQUAL "DEB")
    file(COPY ${CPACK_COALPROF_CHANGELOG} DESTINATION ${share}/doc/coalprof)
    execute_process(COMMAND gzip -9n ${share}/doc/coalprof/changelog COMMAND_ERROR_IS_FATAL ANY)
endif()
