# Short names for the commands in CONTRIBUTING.md. Each line also works without `just`.

# Lists the commands.
default:
    @just --list

# Fetches libtorch and links it. `just setup --cuda` for NVIDIA GPUs.
setup *args:
    scripts/setup.sh {{args}}

# All checks that a change must pass.
test *args:
    scripts/test.sh {{args}}

# Trains configs/quick.toml, or another config, and measures the result.
train *args:
    scripts/train.sh {{args}}

# The fast part of `test`: format, lints and tests.
check:
    cargo fmt --check
    cargo clippy --locked --all-targets -- -D warnings
    cargo test --locked

# Shows the libtorch, the devices and the instruction sets of this machine.
doctor:
    cargo run --release --quiet -- doctor

# Opens the documentation of the code in a browser.
doc:
    cargo doc --no-deps --open
