# cmake --install, and packages by `cpack -G DEB` or `cpack -G RPM` in the build folder: the program,
# its manual pages, completion for three shells, and the documents. Pages and completion are what the
# program itself prints, so it has to run where it is installed from.
coalprof_install_stripped(coalprof)
install(FILES README.md CHANGELOG.md docs/coalprof.schema.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.sh" PATTERN "*.y*ml"
        PATTERN measurements EXCLUDE)
# Of the measurements what documents show and link to, not the raw results.
install(DIRECTORY docs/measurements/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/measurements
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

set(printed ${CMAKE_BINARY_DIR}/printed)
install(CODE "set(program \"$<TARGET_FILE:coalprof>\")\nset(printed \"${printed}\")" )
install(SCRIPT cmake/print_pages.cmake)
install(DIRECTORY ${printed}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${printed}/coalprof DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${printed}/_coalprof DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${printed}/coalprof.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_PACKAGE_NAME coalprof)
set(CPACK_PACKAGE_VENDOR coalprof)
set(CPACK_PACKAGE_CONTACT "coalprof maintainers <coalprof@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Predicts, and with a GPU measures, how the memory accesses of CUDA kernels coalesce:
sectors, lines, bytes and bank conflicts of access patterns, of formulas of your own and of whole programs.
Needs neither a GPU nor a compiler to predict.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# The program is stripped as it is installed; its symbols, in a file of their own, stay.
set(CPACK_STRIP_FILES OFF)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
# Folders of the system's own, which no package may claim.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1
    /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/share/bash-completion
    /usr/share/bash-completion/completions)
include(CPack)
