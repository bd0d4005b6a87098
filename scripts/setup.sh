#!/usr/bin/env bash
# Makes `.libtorch` in this checkout a link to libtorch 2.11.0, so that plain `cargo build`,
# `cargo test` and `cargo run` work with nothing to export. Safe to run as often as you like.
#
#   scripts/setup.sh           keep what is linked; else LIBTORCH; else fetch: CUDA where a GPU
#                              answers, the CPU part elsewhere
#   scripts/setup.sh --cpu     the CPU part (530 MB to fetch, 500 MB on disk)
#   scripts/setup.sh --cuda    all of it with CUDA 13 (an installed PyTorch 2.11.0 is used if there
#                              is one; else 2.5 GB to fetch, 3.6 GB on disk)
#
# LIBTORCH        a libtorch 2.11.0 that you have: it is checked and linked, nothing is fetched
# OUTFLANK_CACHE  where libtorch is kept (default: $XDG_CACHE_HOME/outflank or ~/.cache/outflank)
#
# Tested on Linux x86-64. Linux aarch64 and Apple silicon take PyPI's wheels and are untested.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly version=2.11.0
readonly cache="${OUTFLANK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/outflank}"

say() { printf 'setup: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$@" >&2; exit 1; }
usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; }

# The version of the libtorch in folder $1, from its headers; nothing if they are not there.
version_of() {
    local header
    for header in "$1/include/torch/headeronly/version.h" "$1/include/torch/csrc/api/include/torch/version.h"; do
        [ -f "$header" ] || continue
        awk '$1 == "#define" && $2 ~ /^TORCH_VERSION_(MAJOR|MINOR|PATCH)$/ { v = v (v == "" ? "" : ".") $3 }
             END { print v }' "$header"
        return
    done
}

has_library() { [ -e "$1/lib/$2.so" ] || [ -e "$1/lib/$2.dylib" ]; }
is_whole() { [ "$(version_of "$1")" = "$version" ] && has_library "$1" libtorch && has_library "$1" libtorch_cpu; }
has_cuda() { has_library "$1" libtorch_cuda; }
gpu_answers() { command -v nvidia-smi > /dev/null && nvidia-smi -L 2> /dev/null | grep -q '^GPU'; }
real_path() { (cd "$1" && pwd -P); }

# Stops with one message that names every missing tool and its fix.
check_tools() {
    local missing=()
    if ! command -v cargo > /dev/null; then
        missing+=("cargo is missing.  fix: https://rustup.rs, then open a new shell")
    elif ! cargo --version > /dev/null; then
        missing+=("cargo does not run here (its message is above).  fix: rustup toolchain install 1.95.0")
    fi
    # ${CXX} may carry arguments, such as a launcher before the compiler.
    local cxx=${CXX:-c++}
    command -v "${cxx%% *}" > /dev/null ||
        missing+=("a C++ compiler is missing (looked for: $cxx).  fix: sudo apt-get install g++, or set CXX")
    command -v cc > /dev/null || missing+=("the linker driver cc is missing.  fix: sudo apt-get install gcc")
    if [ "$1" = fetch ] && ! command -v python3 > /dev/null; then
        missing+=("python3 is missing, which fetches libtorch.  fix: sudo apt-get install python3-pip, or set LIBTORCH")
    elif [ "$1" = fetch ] && ! python3 -c 'import pip' 2> /dev/null && ! python3 -c 'import venv, ensurepip' 2> /dev/null; then
        missing+=("python3 has no pip, which fetches libtorch.  fix: sudo apt-get install python3-pip, or set LIBTORCH")
    fi
    [ ${#missing[@]} -eq 0 ] || die "${missing[@]}"
}

# Prints the folder of an installed PyTorch of the right version with CUDA, if python3 has one.
installed_cuda() {
    local folder
    folder=$(python3 -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' 2> /dev/null) || return 1
    [ -n "$folder" ] && is_whole "$folder" && has_cuda "$folder" && echo "$folder"
}

# Points `.libtorch` at folder $1.
link() {
    local target
    target=$(real_path "$1")
    if [ -e .libtorch ] && [ "$(real_path .libtorch)" = "$target" ]; then
        return
    fi
    if [ -e .libtorch ] && [ ! -L .libtorch ]; then
        die ".libtorch is a folder, not a link, and another libtorch is wanted. fix: move it away"
    fi
    ln -sfn "$target" .libtorch
    touch build.rs # a program that is already built names the old folder; this makes cargo link it anew
    say ".libtorch -> $target"
}

main() {
    local wanted=any
    case "${1-}" in
        '') ;;
        --cpu) wanted=cpu ;;
        --cuda) wanted=cuda ;;
        -h | --help) usage; return ;;
        *) die "unknown argument '$1'; allowed: --cpu, --cuda, --help" ;;
    esac
    [ $# -le 1 ] || die "one argument at most: --cpu or --cuda"

    # Cargo takes the variable as it is, and reads it in other folders.
    case "${LIBTORCH-/}" in
        /*) ;;
        '') die "LIBTORCH is set, but to nothing.  fix: unset it to have libtorch fetched" ;;
        *) die "LIBTORCH is '$LIBTORCH', which is no absolute path.  fix: begin it with /, or unset it to have libtorch fetched" ;;
    esac
    if [ -n "${LIBTORCH-}" ] && [ -d "$LIBTORCH" ] && [ -e .libtorch ] && [ "$(real_path "$LIBTORCH")" = "$(real_path .libtorch)" ]; then
        unset LIBTORCH # it names our own link
    fi
    if [ -n "${LIBTORCH-}" ]; then
        [ -d "$LIBTORCH" ] || die "LIBTORCH is '$LIBTORCH', which is not a folder.  fix: correct it, or unset it to have libtorch fetched"
        is_whole "$LIBTORCH" || die "LIBTORCH is '$LIBTORCH', which holds libtorch '$(version_of "$LIBTORCH")', and $version is needed (with include/ and lib/).
  fix: point it at a libtorch $version, or unset it to have one fetched"
        [ "$wanted" != cuda ] || has_cuda "$LIBTORCH" || die "LIBTORCH is '$LIBTORCH', which has no CUDA part.  fix: unset it, or leave out --cuda"
        check_tools link
        link "$LIBTORCH"
    elif [ -e .libtorch ] && is_whole .libtorch &&
        { [ $wanted = any ] || { [ $wanted = cuda ] && has_cuda .libtorch; } || { [ $wanted = cpu ] && ! has_cuda .libtorch; }; }; then
        check_tools link
    else
        if [ $wanted = any ]; then
            # Elsewhere there is no CUDA part to fetch; one that is installed is found all the same.
            wanted=cpu
            if gpu_answers && { [ "$(uname -sm)" = "Linux x86_64" ] || installed_cuda > /dev/null; }; then wanted=cuda; fi
        fi
        local folder
        if [ $wanted = cuda ] && folder=$(installed_cuda); then
            say "python3 has PyTorch $version with CUDA; using it"
            check_tools link
        else
            check_tools fetch
            folder=$(python3 scripts/libtorch.py "$wanted" "$cache")
        fi
        link "$folder"
    fi
    if gpu_answers && ! has_cuda .libtorch; then
        say "a GPU answers, but the linked libtorch has no CUDA part; scripts/setup.sh --cuda links one that has"
    fi
    say "libtorch $version is ready: $(real_path .libtorch)"
}

main "$@"
