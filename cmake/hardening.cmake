# coalprof_harden(TARGET): what makes faults of ours harder to use against the user, on an interface
# target that all others take their flags from. Each flag only where the compiler and the C library
# know it; tests/cli/binary_test.py looks at what came of them.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

function(coalprof_harden target)
    # Rooms that set COALPROF_COMPUTES take numbers and give numbers: no input fills a buffer of theirs,
    # and guards of their stack made formulas a fifth slower.
    set(guarded $<NOT:$<BOOL:$<TARGET_PROPERTY:COALPROF_COMPUTES>>>)
    # The third: what goes into a library of ours is inlined as in the program. The last: where a call
    # or a jump may land, as the processor checks it.
    set(flags -fstack-protector-strong -fstack-clash-protection -fno-semantic-interposition)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
        list(APPEND flags -fcf-protection=full)
    else()
        list(APPEND flags -mbranch-protection=standard)
    endif()
    # All at once first: each question takes a tenth of a second or two in which nothing is compiled.
    check_cxx_compiler_flag("${flags}" COALPROF_HAS_ALL_GUARDS)
    foreach(flag ${flags})
        string(MAKE_C_IDENTIFIER COALPROF_HAS${flag} known)
        if(COALPROF_HAS_ALL_GUARDS)
            set(${known} TRUE)
        else()
            check_cxx_compiler_flag(${flag} ${known})
        endif()
        if(${known})
            target_compile_options(${target} INTERFACE $<${guarded}:${flag}>)
        endif()
    endforeach()

    # Level 3 asks for gcc 12 or clang 15 and glibc 2.34; without optimisation there is none. -U: some
    # distributions' compilers define one already.
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_cxx_source_compiles("
        #include <stdlib.h>
        #if __USE_FORTIFY_LEVEL < 3
        #error level 3 is not known
        #endif
        int main() {}" COALPROF_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
    target_compile_options(${target} INTERFACE
        $<$<AND:${guarded},${optimised}>:-U_FORTIFY_SOURCE>
        $<$<AND:${guarded},${optimised}>:-D_FORTIFY_SOURCE=$<IF:$<BOOL:${COALPROF_HAS_FORTIFY_3}>,3,2>>)

    # Code at an address that nobody knows beforehand, whatever the compiler's own choice is: with
    # POSITION_INDEPENDENT_CODE programs are linked so.
    check_pie_supported()
    set(links relro now noexecstack separate-code)
    list(TRANSFORM links PREPEND LINKER:-z, OUTPUT_VARIABLE all_links)
    check_linker_flag(CXX "${all_links}" COALPROF_LINKS_ALL)
    foreach(flag ${links})
        string(MAKE_C_IDENTIFIER COALPROF_LINKS_${flag} known)
        if(COALPROF_LINKS_ALL)
            set(${known} TRUE)
        else()
            check_linker_flag(CXX LINKER:-z,${flag} ${known})
        endif()
        if(${known})
            target_link_options(${target} INTERFACE LINKER:-z,${flag})
        endif()
    endforeach()
endfunction()
