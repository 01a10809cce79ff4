# shellcheck shell=bash
# Read by scripts/run, scripts/test, scripts/bench and .ci/run (bash). Everything it says goes to
# stderr: stdout belongs to the program that is run.

# shellcheck disable=SC2034  # read by those scripts
root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)

# Exit code for "the program could not be built", as env, timeout and docker use it for their own
# failures: coalprof itself never exits with it.
cannot_build=125

say() { printf 'coalprof: %s\n' "$*" >&2; }

# Objects are the same in every folder of one checkout and in every checkout, so they are shared.
# A home that cannot be written must not stop a build.
use_ccache() {
    command -v ccache >/dev/null || return 0
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    local cache=${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/ccache}
    if ! { mkdir -p -- "$cache" && [ -w "$cache" ]; } 2>/dev/null; then cache=$root/build/ccache; fi
    export CCACHE_DIR=$cache
}

# Two calls at once must not build in one folder. Fails where build/ cannot be written.
lock_builds() {
    mkdir -p -- "$root/build" && [ -w "$root/build" ] || return
    exec {lock}>"$root/build/.lock"
    flock --nonblock "$lock" && return
    say "waiting for another build in $root/build to end"
    flock "$lock"
}
unlock_builds() { exec {lock}>&-; }

# is_configured PRESET: a folder that was moved or copied with its checkout is not.
is_configured() {
    [ -e "$root/build/$1/build.ninja" ] &&
        grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$root/build/$1/CMakeCache.txt"
}

# configure PRESET [ARGUMENTS...]
configure() {
    local launcher=
    use_ccache
    ! command -v ccache >/dev/null || launcher=ccache
    is_configured "$1" 2>/dev/null || rm -rf -- "$root/build/$1"
    (cd -- "$root" && cmake --preset "$1" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" \
        ${COALPROF_WERROR:+-DCOALPROF_WERROR="$COALPROF_WERROR"} "${@:2}") </dev/null >&2
}

# build PRESET [TARGETS...]: says nothing when there is nothing to do.
build() {
    use_ccache
    ninja -C "$root/build/$1" "${@:2}" </dev/null 2>&1 |
        { grep --line-buffered -vE '^ninja: (Entering directory|no work to do)|Re-checking globbed|Looking up the commit' >&2 ||
            true; } # nothing left to print is no failure
    return "${PIPESTATUS[0]}"
}
