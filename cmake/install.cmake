# cmake --install: the program, the library that `run` brings into programs, manual pages, completion for
# three shells, and the documents. Pages and completion are what the program itself prints; one for another
# processor is run by CMAKE_CROSSCOMPILING_EMULATOR. cmake/package.cmake makes packages of the same.
install(TARGETS coalprof)
install(FILES README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY skills DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
        FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.sh" PATTERN "*.y*ml" PATTERN "*.cu" PATTERN "*.ipynb"
        PATTERN measurements EXCLUDE)
# Of the measurements what documents show and link to, not the raw results.
install(DIRECTORY docs/measurements/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/measurements
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

# What others wrote and the program contains: their words, as Debian's packages bring them.
file(READ cmake/package/copyright.txt copyright)
foreach(library libfmt-dev nlohmann-json3-dev libcli11-dev libzstd-dev liblz4-dev libpcre2-dev
        libutf8proc-dev)
    set(theirs ${CMAKE_SYSROOT}/usr/share/doc/${library}/copyright)
    if(EXISTS ${theirs})
        file(READ ${theirs} words)
        string(APPEND copyright "\n---- ${library}\n\n${words}")
    endif()
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/copyright "${copyright}")
install(FILES ${CMAKE_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(printed ${CMAKE_BINARY_DIR}/printed)
install(CODE "set(program \"${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:coalprof>\")
              set(printed \"${printed}\")")
install(SCRIPT cmake/print_pages.cmake)
install(DIRECTORY ${printed}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${printed}/coalprof DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${printed}/_coalprof DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${printed}/coalprof.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
