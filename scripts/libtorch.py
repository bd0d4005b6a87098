#!/usr/bin/env python3
"""Fetches libtorch from the wheels of PyPI into a per-user cache, and prints its folder.

`scripts/setup.sh` calls this script. It is not needed if `.libtorch` links to a libtorch already.

    libtorch.py cpu CACHE     the CPU part of the wheel, about 500 MB on disk
    libtorch.py cuda CACHE    the whole wheel with NVIDIA's libraries, about 3.6 GB

PyPI's Linux wheel of torch is the CUDA build. Its CPU part works alone with two additions: two small
NVIDIA libraries on which libtorch_cpu depends, and a libtorch.so that depends on libtorch_cpu only.
(The libtorch.so of the wheel depends on all of CUDA.)

Every wheel is checked against the SHA-256 below. A finished download is kept until the folder is
complete, so the next call continues an interrupted one. The folder is filled under a temporary name.
It gets its final name only after its library was loaded once, so an incomplete folder is never used.
"""

import fcntl
import hashlib
import os
import platform
import posixpath
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

VERSION = "2.11.0"  # the only version that tch 0.24 accepts

# (system, machine) -> [(requirement, platform tag of the wheel, is it a CPython wheel?, SHA-256)]
CPU = {
    ("Linux", "x86_64"): [
        ("torch==2.11.0", "manylinux_2_28_x86_64", True,
         "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a"),
        ("nvidia-cuda-cupti==13.0.85", "manylinux_2_25_x86_64", False,
         "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8"),
        ("nvidia-cuda-runtime==13.0.96", "manylinux2014_x86_64", False,
         "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548"),
    ],
    # Downloaded and inspected, but never run, as no such machine was available.
    ("Linux", "aarch64"): [
        ("torch==2.11.0", "manylinux_2_28_aarch64", True,
         "d91aac77f24082809d2c5a93f52a5f085032740a1ebc9252a7b052ef5a4fddc6"),
        ("nvidia-cuda-cupti==13.0.85", "manylinux_2_25_aarch64", False,
         "796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151"),
        ("nvidia-cuda-runtime==13.0.96", "manylinux2014_aarch64", False,
         "ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55"),
    ],
    ("Darwin", "arm64"): [
        ("torch==2.11.0", "macosx_11_0_arm64", True,
         "7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4"),
    ],
}

# The packages that torch requires on Linux, without Triton and the pure Python packages: only Python
# code needs these.
CUDA = {
    ("Linux", "x86_64"): CPU[("Linux", "x86_64")] + [
        ("nvidia-cublas==13.1.0.3", "manylinux_2_27_x86_64", False,
         "ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171"),
        ("nvidia-cuda-nvrtc==13.0.88", "manylinux2010_x86_64", False,
         "ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575"),
        ("nvidia-cudnn-cu13==9.19.0.56", "manylinux_2_27_x86_64", False,
         "d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf"),
        ("nvidia-cufft==12.0.0.61", "manylinux2014_x86_64", False,
         "6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3"),
        ("nvidia-cufile==1.15.1.6", "manylinux2014_x86_64", False,
         "08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44"),
        ("nvidia-curand==10.4.0.35", "manylinux_2_27_x86_64", False,
         "1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc"),
        ("nvidia-cusolver==12.0.4.66", "manylinux_2_27_x86_64", False,
         "0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112"),
        ("nvidia-cusparse==12.6.3.3", "manylinux2014_x86_64", False,
         "2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b"),
        ("nvidia-cusparselt-cu13==0.8.0", "manylinux2014_x86_64", False,
         "25e30a8a7323935d4ad0340b95a0b69926eee755767e8e0b1cf8dd85b197d3fd"),
        ("nvidia-nccl-cu13==2.28.9", "manylinux_2_18_x86_64", False,
         "e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42"),
        ("nvidia-nvjitlink==13.0.88", "manylinux2010_x86_64", False,
         "13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b"),
        ("nvidia-nvshmem-cu13==3.4.5", "manylinux2014_x86_64", False,
         "290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80"),
        ("nvidia-nvtx==13.0.85", "manylinux1_x86_64", False,
         "4936d1d6780fbe68db454f5e72a42ff64d1fd6397df9f363ae786930fd5c1cd4"),
    ],
}

# Bytes of free space that are needed: for the wheels and the extracted files together.
ROOM = {"cpu": 1_200_000_000, "cuda": 6_500_000_000}

# Libraries of the wheel that a CUDA build needs and a CPU build must not have.
CUDA_ONLY = ("libtorch.so", "libc10_cuda", "libcaffe2_nvrtc", "libtorch_cuda", "libtorch_nvshmem")
# Libraries that only Python code needs.
PYTHON_ONLY = ("libtorch_python", "libtorch_global_deps", "libshm")


class Failure(Exception):
    """An error message for the user: what went wrong, and how to fix it."""


def say(text):
    print("setup: " + text, file=sys.stderr, flush=True)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def find_pip(work):
    """Returns the command that runs pip: this Python's, or one in a temporary virtual environment."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run(own + ["--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        return own
    folder = os.path.join(work, "pip")
    created = subprocess.run([sys.executable, "-m", "venv", folder], stdout=sys.stderr)
    if created.returncode == 0:
        return [os.path.join(folder, "bin", "python"), "-m", "pip"]
    raise Failure("{} has no pip.\n  fix: sudo apt-get install python3-pip   (or: {} -m ensurepip --user)".format(
        sys.executable, sys.executable))


def pip_download(pip, wheel, folder, lock):
    """Downloads a wheel into an empty folder. Returns its path, or None if pip fails."""
    requirement, tag, is_cpython, digest = wheel
    listing = os.path.join(folder, "requirement.txt")
    with open(listing, "w") as file:
        file.write("{} --hash=sha256:{}\n".format(requirement, digest))
    command = pip + ["download", "--no-cache-dir", "--no-deps", "--only-binary=:all:", "--require-hashes",
                     "--python-version", "3.11", "--platform", tag, "--dest", folder, "--requirement", listing]
    command += ["--implementation", "cp", "--abi", "cp311"] if is_cpython else ["--implementation", "py"]
    if not sys.stderr.isatty():
        command.append("--quiet")
    help_text = subprocess.run(pip + ["download", "--help"], stdout=subprocess.PIPE).stdout
    if b"--resume-retries" in help_text:
        command += ["--resume-retries", "20"]
    # PIP_REQUIRE_VIRTUALENV of the user must not forbid a download. pip's temporary files are as large
    # as the wheel, and /tmp may be too small for them.
    environment = dict(os.environ, PIP_REQUIRE_VIRTUALENV="0", PIP_DISABLE_PIP_VERSION_CHECK="1", TMPDIR=folder)
    # If this process is killed, pip continues and keeps the lock: the next call waits for its wheel.
    done = subprocess.run(command, stdout=sys.stderr, env=environment, pass_fds=[lock])
    found = [name for name in os.listdir(folder) if name.endswith(".whl")]
    return os.path.join(folder, found[0]) if done.returncode == 0 and len(found) == 1 else None


def salvage(downloads, work):
    """Moves the wheels that a killed call had finished, of either kind, and removes its folder."""
    known = {wheel[3] for kind in (CPU, CUDA) for wheels in kind.values() for wheel in wheels}
    for folder, _, names in os.walk(work):
        for name in names:
            path = os.path.join(folder, name)
            digest = sha256(path) if name.endswith(".whl") else None
            if digest in known:
                os.replace(path, os.path.join(downloads, digest + ".whl"))
    shutil.rmtree(work, ignore_errors=True)


def fetch(pip, wheel, downloads, work, lock):
    """Returns the path of a wheel: of an earlier download if it is complete, else of a new one."""
    requirement, _, _, digest = wheel
    kept = os.path.join(downloads, digest + ".whl")
    if os.path.exists(kept):
        if sha256(kept) == digest:
            say("{} was downloaded earlier".format(requirement))
            return kept
        os.remove(kept)
    for attempt in range(3):
        say("fetching {}{}".format(requirement, "" if attempt == 0 else " (attempt {})".format(attempt + 1)))
        folder = tempfile.mkdtemp(dir=work)
        path = pip_download(pip, wheel, folder, lock)
        # pip has checked the hash already. This second check covers a wheel that a mirror has cached.
        if path and sha256(path) == digest:
            os.replace(path, kept)
            return kept
        time.sleep(2 * attempt)
    raise Failure("could not fetch {} (pip's message is above).\n"
                  "  fix: check the connection and run the script again; finished downloads are kept".format(requirement))


def place(name, kind):
    """The path of a wheel's file below the new folder; None for a file that is not needed."""
    if name.endswith("/"):
        return None
    base = posixpath.basename(name)
    if name.startswith("torch/include/") or name == "torch/version.py":
        return name[len("torch/"):]
    if name.startswith("torch/lib/"):
        is_library = posixpath.dirname(name) == "torch/lib" and not base.startswith(PYTHON_ONLY)
        is_needed = is_library and (kind == "cuda" or not base.startswith(CUDA_ONLY))
        return "lib/" + base if is_needed else None
    if name.startswith("nvidia/") and "/lib/" in name and ".so" in base:
        if kind == "cuda":
            return "../" + name  # libtorch looks for ../../nvidia/... from its lib folder
        return "lib/" + base if base.startswith(("libcupti.so", "libcudart.so")) else None
    return None


def extract(wheel, kind, torch):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            target = place(name, kind)
            if target is None:
                continue
            path = os.path.normpath(os.path.join(torch, target))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with archive.open(name) as source, open(path, "wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)


def make_stub(lib):
    """Links a libtorch.so that depends on libtorch_cpu and not on CUDA."""
    compiler = os.environ.get("CXX") or "c++"
    command = compiler.split() + ["-shared", "-o", "libtorch.so", "-Wl,-soname,libtorch.so", "-Wl,--no-as-needed",
                                  "-L.", "-ltorch_cpu", "-lc10", "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"]
    if subprocess.run(command, cwd=lib, stdout=sys.stderr).returncode != 0:
        raise Failure("the C++ compiler ({}) could not link libtorch.so; its message is above.\n"
                      "  fix: sudo apt-get install g++   (or set CXX to a compiler that works)".format(compiler))


def check_loads(torch):
    """Loads the new library in another process, so that a crash becomes an error message."""
    library = "libtorch.dylib" if platform.system() == "Darwin" else "libtorch.so"
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", program, os.path.join(torch, "lib", library)],
                          stdout=sys.stderr, stderr=subprocess.PIPE)
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise Failure("the fetched libtorch does not load here: {}\n"
                      "  It needs glibc 2.28 or later (not musl) on Linux, macOS 11 or later on a Mac.\n"
                      "  fix: set LIBTORCH to a libtorch {} that is built for this machine".format(
                          reason[-1] if reason else "exit {}".format(done.returncode), VERSION))


def make(kind, wheels, cache, final, lock):
    """Fetches the wheels, extracts what is needed and moves it to the folder `final`."""
    work = os.path.join(cache, "tmp")
    downloads = os.path.join(cache, "downloads")
    os.makedirs(downloads, exist_ok=True)
    salvage(downloads, work)  # the lock shows that no other call is running
    os.makedirs(work)
    free = shutil.disk_usage(cache).free + sum(entry.stat().st_size for entry in os.scandir(downloads))
    if free < ROOM[kind]:
        raise Failure("{} has {:.1f} GB free and this needs {:.1f} GB.\n"
                      "  fix: free some space, or set OUTFLANK_CACHE to a folder on another disk".format(
                          cache, free / 1e9, ROOM[kind] / 1e9))
    pip = find_pip(work)
    paths = [fetch(pip, wheel, downloads, work, lock) for wheel in wheels]
    say("extracting the libraries and headers")
    new = os.path.join(work, "new")
    torch = os.path.join(new, "torch") if kind == "cuda" else new
    os.makedirs(torch)
    for path in paths:
        extract(path, kind, torch)
    if kind == "cpu" and platform.system() == "Linux":
        make_stub(os.path.join(torch, "lib"))
    with open(os.path.join(torch, "build-version"), "w") as file:
        file.write(VERSION + ("+cu130\n" if kind == "cuda" else "+cpu\n"))
    check_loads(torch)
    os.sync()  # after a power cut the final name must not stand for incomplete files
    shutil.rmtree(final, ignore_errors=True)
    os.rename(new, final)
    for path in paths:
        os.remove(path)
    shutil.rmtree(work, ignore_errors=True)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("cpu", "cuda"):
        sys.exit(__doc__)
    kind, cache = sys.argv[1], os.path.abspath(sys.argv[2])
    machine = (platform.system(), {"amd64": "x86_64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine()))
    wheels = (CPU if kind == "cpu" else CUDA).get(machine)
    if wheels is None:
        raise Failure("this script knows no wheels of libtorch {} ({}) for {} {}.\n"
                      "  fix: install PyTorch {} in another way and set LIBTORCH to its torch folder{}".format(
                          VERSION, kind, machine[0], machine[1], VERSION,
                          ", or run scripts/setup.sh --cpu" if kind == "cuda" and machine in CPU else ""))
    if machine != ("Linux", "x86_64"):
        say("{} {} has not been tested; please report whether it works".format(*machine))
    final = os.path.join(cache, "libtorch-{}-{}".format(VERSION, kind))
    torch = os.path.join(final, "torch") if kind == "cuda" else final
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up is using {}; waiting for it".format(cache))
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(os.path.join(torch, "build-version")):
            make(kind, wheels, cache, final, lock.fileno())
    print(torch)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit("error: {}".format(failure))
    except OSError as error:
        sys.exit("error: {}\n  fix: make sure that the folder is writable and has space, or set OUTFLANK_CACHE to another folder".format(error))
    except KeyboardInterrupt:
        sys.exit("interrupted; run the script again to continue (finished downloads are kept)")
