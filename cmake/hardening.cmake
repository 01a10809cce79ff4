# coalprof_harden(TARGET): what makes faults of ours harder to use against the user, on an interface
# target that all others take their flags from. Each flag only where the compiler and the C library
# know it; tests/cli/binary_test.py looks at what came of them.
include(CheckLinkerFlag)

function(coalprof_harden target)
    foreach(flag relro now noexecstack separate-code)
        string(MAKE_C_IDENTIFIER COALPROF_LINKS_${flag} known)
        check_linker_flag(CXX LINKER:-z,${flag} ${known})
        if(${known})
            target_link_options(${target} INTERFACE LINKER:-z,${flag})
        endif()
    endforeach()
endfunction()

# An installed program has no symbols; they lie beside it, where gdb and perf look for them.
function(coalprof_install_stripped target)
    install(TARGETS ${target})
    if(NOT CMAKE_OBJCOPY OR NOT CMAKE_STRIP)
        return()
    endif()
    install(CODE "
        set(program \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/${target}\")
        set(symbols \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/.debug/${target}.debug\")
        cmake_path(GET symbols PARENT_PATH folder)
        file(MAKE_DIRECTORY \${folder})
        execute_process(COMMAND ${CMAKE_OBJCOPY} --only-keep-debug \${program} \${symbols}
                        COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${CMAKE_STRIP} \${program} COMMAND_ERROR_IS_FATAL ANY)
        execute_process(COMMAND ${CMAKE_OBJCOPY} --remove-section=.gnu_debuglink
                                --add-gnu-debuglink=\${symbols} \${program}
                        COMMAND_ERROR_IS_FATAL ANY)
        message(STATUS \"Symbols: \${symbols}\")")
endfunction()
