#!/usr/bin/env bash
# Makes files to install: archives that run after unpacking on x86-64 Linux, and a Python wheel.
#
#   scripts/package.sh                 all of them, in dist/: four builds of the program
#   scripts/package.sh KIND...         some: plain (no libtorch), torch (with it), wheel (after both)
#   scripts/package.sh --try PROGRAM   packs PROGRAM alone, as it is, and tries the archive
#
# Each archive is unpacked into an empty folder and tried: a move, an ending, an analysis, the page, and
# with libtorch a training run. There is a program for each level of x86-64 processors, v3 (AVX2) and v4
# (AVX-512; matrix tiles are found at run time), and a launcher that chooses. The programs need the glibc
# of 2021 (2.34) or a newer one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly levels=(x86-64-v3 x86-64-v4)
readonly newest_glibc=2.34
version=$(sed -n '0,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
readonly version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf 'package: %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Builds the program of kind $1 for level $2 into a target folder of its own and prints its path.
build() {
    local options=(--locked --release --bin outflank)
    [ "$1" = torch ] || options+=(--no-default-features --features program)
    say "building $1 for $2"
    RUSTFLAGS="-Ctarget-cpu=$2" cargo build "${options[@]}" --target-dir "target/package/$1-$2" >&2
    echo "target/package/$1-$2/release/outflank"
}

# Fails if program $1 needs a newer glibc than most systems of the last five years have.
check_glibc() {
    local needed
    needed=$(readelf -V "$1" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
    if [ "$(printf '%s\n' "$needed" "$newest_glibc" | sort -V | tail -n 1)" != "$newest_glibc" ]; then
        die "$1 needs glibc $needed; at most $newest_glibc is allowed"
    fi
}

# Puts all but the programs into folder $1.
fill() {
    mkdir -p "$1/programs"
    cp scripts/package/outflank README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$1"
    cp -r checkpoints configs docs "$1"
    rm -rf "$1/docs/journal" "$1/docs/runs"
    python3 scripts/package/licences.py "$1/LICENSES-OF-PARTS.txt"
}

# Packs folder $1 of the work folder into archive $2.
pack() { tar --owner=0 --group=0 --sort=name -C "$work" -czf "$2" "$1"; }

# Packs kind $1 with the programs $3... (each LEVEL=PATH) into archive $2.
archive() {
    local kind=$1 file=$2 name program
    shift 2
    name=$(basename "$file" .tar.gz)
    fill "$work/$name"
    for program; do install -m 755 "${program#*=}" "$work/$name/programs/outflank-${program%%=*}"; done
    if [ "$kind" = torch ]; then
        mkdir -p "$work/$name/libtorch"
        cp -rL .libtorch/lib "$work/$name/libtorch/"
        # `outflank doctor` reads the version.
        cp .libtorch/build-version "$work/$name/libtorch/"
    fi
    pack "$name" "$file"
    say "$file: $(du -h "$file" | cut -f 1)"
}

# Makes and tries the archive of kind $1.
make_archive() {
    local kind=$1 programs=() level program
    for level in "${levels[@]}"; do
        program=$(build "$kind" "$level")
        check_glibc "$program"
        programs+=("$level=$program")
    done
    local file="dist/outflank-$version-x86_64-linux"
    [ "$kind" = plain ] || file+=-torch
    archive "$kind" "$file.tar.gz" "${programs[@]}"
    python3 scripts/package/trial.py archive "$file.tar.gz"
}

# The wheel has the programs of both kinds. Those with libtorch are started where Python has torch.
make_wheel() {
    local level kind program
    rm -rf python/outflank/package
    fill python/outflank/package
    for level in "${levels[@]}"; do
        for kind in plain torch; do
            program="target/package/$kind-$level/release/outflank"
            [ -x "$program" ] || die "there is no $program yet; run scripts/package.sh plain torch first"
            local folder=programs
            [ "$kind" = plain ] || folder=torch-programs
            install -D -m 755 "$program" "python/outflank/package/$folder/outflank-$level"
        done
    done
    wheel "-Ctarget-cpu=${levels[0]}" --release
}

# Builds the wheel with flags $1 for its module and the options $2... for maturin, and tries it.
wheel() {
    local flags=$1
    shift
    python3 -m venv "$work/maturin"
    "$work/maturin/bin/pip" install -q --require-virtualenv 'maturin==1.16.0'
    rm -f dist/outflank-*.whl
    RUSTFLAGS=$flags "$work/maturin/bin/maturin" build --locked -m python/Cargo.toml --out dist "$@" >&2
    rm -rf python/outflank/package
    python3 scripts/package/trial.py wheel dist/outflank-*.whl
}

mkdir -p dist
case "${1-}" in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$0"; exit ;;
    --try)
        [ $# = 2 ] || die '--try needs a program'
        kind=plain
        if readelf -d "$2" | grep -q 'NEEDED.*libtorch'; then kind=torch; fi
        archive $kind "$work/outflank-trial.tar.gz" "${levels[0]}=$2"
        python3 scripts/package/trial.py archive "$work/outflank-trial.tar.gz"
        exit
        ;;
esac
[ $# -gt 0 ] || set -- plain torch wheel
for kind; do
    case "$kind" in
        plain | torch) make_archive "$kind" ;;
        wheel) make_wheel ;;
        *) die "unknown kind '$kind'; allowed: plain, torch, wheel, --try PROGRAM, --help" ;;
    esac
done
