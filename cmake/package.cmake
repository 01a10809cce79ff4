# cpack -G TGZ, DEB or RPM, in a folder that scripts/package has configured.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(debian_architecture arm64)
else()
    set(debian_architecture amd64)
endif()
set(CPACK_PACKAGE_VENDOR coalprof)
set(CPACK_PACKAGE_CONTACT "coalprof maintainers <maintainers@coalprof.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${CMAKE_CURRENT_LIST_DIR}/package/description.txt)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "memory-coalescing profiler for NVIDIA GPUs")
set(CPACK_PACKAGE_FILE_NAME coalprof-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# What one kind of package wants and others do not.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/stage.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${debian_architecture})
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # dpkg of Debian 11 reads no zstd
# tests/cli/binary_test.py reads from the program that it needs no more.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.28)")
# Compiles .cu files and `kernel --code` where there is no CUDA.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clang")

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_SUMMARY "Memory-coalescing profiler for NVIDIA GPUs")
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RPM_PACKAGE_LICENSE "All rights reserved, no licence yet")
set(CPACK_RPM_PACKAGE_GROUP Development/Tools)
set(CPACK_RPM_CHANGELOG_FILE ${CMAKE_BINARY_DIR}/rpm_changelog)
# No tools of this machine's processor on programs of another one; no links by build id, which are for
# packages of symbols.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global __os_install_post %{nil}
%global _build_id_links none
%global packager ${CPACK_PACKAGE_CONTACT}")
# Folders of the system's own, which no package may claim.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1
    /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/share/bash-completion
    /usr/share/bash-completion/completions)

# Both kinds of package want a history of their own form, with a date: that of the commit.
string(TIMESTAMP day "%a %b %d %Y" UTC)  # SOURCE_DATE_EPOCH counts
string(TIMESTAMP second "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CPACK_COALPROF_CHANGELOG ${CMAKE_BINARY_DIR}/changelog)
set(what "Release ${PROJECT_VERSION}: CHANGELOG.md says what changed.")
file(WRITE ${CMAKE_BINARY_DIR}/rpm_changelog
     "* ${day} ${CPACK_PACKAGE_CONTACT} - ${PROJECT_VERSION}-1\n- ${what}\n")
file(WRITE ${CPACK_COALPROF_CHANGELOG}
     "coalprof (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * ${what}\n\n -- ${CPACK_PACKAGE_CONTACT}  ${second}\n")
include(CPack)
