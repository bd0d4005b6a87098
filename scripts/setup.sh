#!/usr/bin/env bash
# Makes `.libtorch` in this checkout a link to libtorch 2.11.0. Then `cargo build`, `cargo test` and
# `cargo run` work, with no environment variable to set. It can be run again at any time.
#
#   scripts/setup.sh           links LIBTORCH if it is set; else keeps a link that works; else
#                              fetches libtorch, with CUDA if a GPU is found
#   scripts/setup.sh --cpu     the CPU part (530 MB to fetch, 500 MB on disk)
#   scripts/setup.sh --cuda    all of it with CUDA 13 (an installed PyTorch 2.11.0 is used if there
#                              is one; else 2.5 GB to fetch, 3.6 GB on disk)
#
# LIBTORCH        folder of your own libtorch 2.11.0: it is checked and linked, nothing is fetched
# OUTFLANK_CACHE  folder for libtorch (default: $XDG_CACHE_HOME/outflank or ~/.cache/outflank)
#
# Tested on Linux x86-64. On Linux aarch64 and Apple silicon PyPI's wheels are used, untested.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly version=2.11.0
readonly cache="${OUTFLANK_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/outflank}"

say() { printf 'setup: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$@" >&2; exit 1; }
usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; }

# Prints the version of the libtorch in folder $1, from its headers; nothing if there are none.
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
has_gpu() { command -v nvidia-smi > /dev/null && nvidia-smi -L 2> /dev/null | grep -q '^GPU'; }
real_path() { (cd "$1" && pwd -P); }

# Ends the script with one message for all missing tools, each with its fix. $1: fetch or link.
check_tools() {
    local missing=()
    if ! command -v cargo > /dev/null; then
        missing+=("cargo is missing.  fix: https://rustup.rs, then open a new shell")
    elif ! cargo --version > /dev/null; then
        missing+=("cargo does not run here (its message is above).  fix: rustup toolchain install 1.95.0")
    fi
    # CXX may have several words, such as a launcher and the compiler; the first one must exist.
    local cxx=${CXX:-c++}
    command -v "${cxx%% *}" > /dev/null ||
        missing+=("a C++ compiler is missing (looked for: $cxx).  fix: sudo apt-get install g++, or set CXX")
    command -v cc > /dev/null || missing+=("the linker driver cc is missing.  fix: sudo apt-get install gcc")
    if [ "$1" = fetch ] && ! command -v python3 > /dev/null; then
        missing+=("python3 is missing; it is needed to fetch libtorch.  fix: sudo apt-get install python3-pip, or set LIBTORCH")
    elif [ "$1" = fetch ] && ! python3 -c 'import pip' 2> /dev/null && ! python3 -c 'import venv, ensurepip' 2> /dev/null; then
        missing+=("python3 has no pip; it is needed to fetch libtorch.  fix: sudo apt-get install python3-pip, or set LIBTORCH")
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
        die ".libtorch is a folder, not a link, so it cannot be replaced.  fix: move it away"
    fi
    ln -sfn "$target" .libtorch
    touch build.rs # a program that is built already refers to the old folder; cargo must link it again
    say ".libtorch -> $target"
}

main() {
    local kind=any
    case "${1-}" in
        '') ;;
        --cpu) kind=cpu ;;
        --cuda) kind=cuda ;;
        -h | --help) usage; return ;;
        *) die "unknown argument '$1'; allowed: --cpu, --cuda, --help" ;;
    esac
    [ $# -le 1 ] || die "one argument at most: --cpu or --cuda"

    # Cargo also reads the variable in other folders, so a relative path would not work.
    case "${LIBTORCH-/}" in
        /*) ;;
        '') die "LIBTORCH is set, but empty.  fix: unset it to fetch libtorch" ;;
        *) die "LIBTORCH is '$LIBTORCH', which is not an absolute path.  fix: use a path that begins with /, or unset LIBTORCH to fetch libtorch" ;;
    esac
    if [ -n "${LIBTORCH-}" ] && [ -d "$LIBTORCH" ] && [ -e .libtorch ] && [ "$(real_path "$LIBTORCH")" = "$(real_path .libtorch)" ]; then
        unset LIBTORCH # it is the folder that is linked already
    fi
    if [ -n "${LIBTORCH-}" ]; then
        [ -d "$LIBTORCH" ] || die "LIBTORCH is '$LIBTORCH', which is not a folder.  fix: correct it, or unset it to fetch libtorch"
        is_whole "$LIBTORCH" || die "LIBTORCH is '$LIBTORCH', which has libtorch '$(version_of "$LIBTORCH")'; $version is needed (with include/ and lib/).
  fix: set it to a libtorch $version, or unset it to fetch one"
        [ "$kind" != cuda ] || has_cuda "$LIBTORCH" || die "LIBTORCH is '$LIBTORCH', which has no CUDA part.  fix: unset it, or leave out --cuda"
        check_tools link
        link "$LIBTORCH"
    elif [ -e .libtorch ] && is_whole .libtorch &&
        { [ $kind = any ] || { [ $kind = cuda ] && has_cuda .libtorch; } || { [ $kind = cpu ] && ! has_cuda .libtorch; }; }; then
        check_tools link
    else
        if [ $kind = any ]; then
            # CUDA can be fetched for Linux x86-64 only. On other systems it may be installed.
            kind=cpu
            if has_gpu && { [ "$(uname -sm)" = "Linux x86_64" ] || installed_cuda > /dev/null; }; then kind=cuda; fi
        fi
        local folder
        if [ $kind = cuda ] && folder=$(installed_cuda); then
            say "python3 has PyTorch $version with CUDA; using it"
            check_tools link
        else
            check_tools fetch
            folder=$(python3 scripts/libtorch.py "$kind" "$cache")
        fi
        link "$folder"
    fi
    if has_gpu && ! has_cuda .libtorch; then
        say "there is a GPU, but the linked libtorch has no CUDA part; scripts/setup.sh --cuda links one with CUDA"
    fi
    say "libtorch $version is ready: $(real_path .libtorch)"
}

main "$@"
