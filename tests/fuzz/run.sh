#!/usr/bin/env bash
# Fuzzes the readers of scenes, cameras and meshes with libFuzzer, one after another:
#
#   tests/fuzz/run.sh [SECONDS [READER...]]       600 seconds for each reader if nothing is named
#
# Needs cargo-fuzz and a nightly toolchain. Each reader starts from small files of its format, which a test writes, and from those
# in tests/fuzz/corpus. Prints the number of executions of each, and ends at the first fault, whose bytes lie in
# tests/fuzz/artifacts. Without nightly, `cargo test --test formats fuzz` changes the same files at random.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
shift || true
corpus=$PWD/target/fuzz/corpus
rm -rf "$corpus"
QUADRILLE_CORPUS=$corpus cargo test --quiet --test formats files_to_fuzz_from_are_read
readers=("$@")
[ ${#readers[@]} != 0 ] || readers=($(ls "$corpus"))
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for reader in "${readers[@]}"; do
    # No file of 64 KiB may ask for more than 512 MB at once, 2 GB in all, or 20 seconds.
    QUADRILLE_READER=$reader cargo +nightly fuzz run --fuzz-dir tests/fuzz --target-dir target/fuzz reader "$corpus/$reader" -- \
        -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=512 \
        -print_final_stats=1 2>"$log" || { tail -n 60 "$log"; exit 1; }
    echo "$reader: $(grep -o 'number_of_executed_units: *[0-9]*' "$log" | grep -o '[0-9]*$') executions in $seconds s"
done
