#!/usr/bin/env bash
# Runs the fuzz targets in fuzz/fuzz_targets on stable Rust, for a while each.
#
#   tools/fuzz.sh SECONDS                    all targets, SECONDS shared among them
#   tools/fuzz.sh SECONDS TARGET             one target
#   tools/fuzz.sh SECONDS TARGET INPUT…      run these inputs once (a crash that was found, say) and stop
#
# cargo-fuzz takes over a minute to install and asks for a nightly compiler unless told otherwise. All it would do for us
# is pass the coverage flags below, which are plain LLVM options: the protocol crates hold no unsafe code, so there is
# nothing for an address sanitizer to find.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each target needs at most 60 MB: more is a leak, or memory without a bound.
most_mb=256

seconds=${1:?"usage: tools/fuzz.sh SECONDS [TARGET [INPUT…]]"}
shift
shopt -s nullglob
targets=(fuzz/fuzz_targets/*.rs)
targets=("${targets[@]##*/}")
targets=("${targets[@]%.rs}")
if (($# > 0)); then
    if [[ " ${targets[*]} " != *" $1 "* ]]; then
        echo "fuzz: no target '$1'; there are: ${targets[*]}" >&2
        exit 2
    fi
    targets=("$1")
    shift
fi
if ((${#targets[@]} == 0)); then
    echo "fuzz: no target in fuzz/fuzz_targets" >&2
    exit 2
fi

coverage=(
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Ccodegen-units=1
    --cfg=fuzzing
)
# Naming the target platform keeps the flags away from build scripts, which have no coverage runtime to link.
host=$(rustc -vV | sed -n 's/^host: //p')
target_dir=${CARGO_TARGET_DIR:+$CARGO_TARGET_DIR/fuzz}
target_dir=${target_dir:-fuzz/target}
for target in "${targets[@]}"; do
    RUSTFLAGS="${coverage[*]}" cargo build --quiet --release ${CI:+--locked} \
        --manifest-path fuzz/Cargo.toml --target "$host" --target-dir "$target_dir" --bin "$target"
done

if (($# > 0)); then
    exec "$target_dir/$host/release/${targets[0]}" -timeout=10 -rss_limit_mb=$most_mb "$@"
fi

share=$((seconds / ${#targets[@]}))
((share > 0)) || share=1
# In CI each run begins with the same inputs, so that it passes or fails because of the change. Elsewhere each run has others.
seed=(${CI:+-seed=1})
for target in "${targets[@]}"; do
    corpus=fuzz/corpus/$target artifacts=fuzz/artifacts/$target log=fuzz/artifacts/$target.log
    mkdir -p "$corpus" "$artifacts"
    inputs=("$corpus")
    # What once broke something is committed in fuzz/seeds and tried first on every run.
    [[ -d fuzz/seeds/$target ]] && inputs+=("fuzz/seeds/$target")
    if ! "$target_dir/$host/release/$target" -max_total_time=$share -timeout=10 -rss_limit_mb=$most_mb \
        "${seed[@]}" -print_final_stats=1 -artifact_prefix="$artifacts/" "${inputs[@]}" >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        echo "fuzz: $target failed; run that input again with: tools/fuzz.sh 0 $target FILE" >&2
        exit 1
    fi
    inputs_run=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
    echo "fuzz: $target: $inputs_run inputs in $share s, nothing broke (at most ${memory} MB)"
done
