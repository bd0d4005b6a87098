# Short names for what CONTRIBUTING.md describes; each line works without `just`, too.

# Lists these names.
default:
    @just --list

# Fetches libtorch and links it. `just setup --cuda` for NVIDIA GPUs.
setup *args:
    scripts/setup.sh {{args}}

# Everything that must hold before a change goes in.
test *args:
    scripts/test.sh {{args}}

# Trains configs/quick.toml, or another config, and measures the result.
train *args:
    scripts/train.sh {{args}}

# The fast half of `test`: format, lints and tests.
check:
    cargo fmt --check
    cargo clippy --locked --all-targets -- -D warnings
    cargo test --locked

# What this machine offers.
doctor:
    cargo run --release --quiet -- doctor

# The documentation of the code, in the browser.
doc:
    cargo doc --no-deps --open
