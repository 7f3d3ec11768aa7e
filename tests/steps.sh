# SPDX-License-Identifier: GPL-2.0-only
#
# The steps of the script `hpcc` for those who work on it: tests, fuzzing, audits, pages, releases. The script sources this, and
# has the functions that get tools, ns-3 and the simulator.

# Takes the step $1 with the arguments after it.
take_step() {
    case $1 in
    @test) test_all ;;
    @test-profiles) test_profiles "${@:2}" ;;
    @test-trees) test_trees "${@:2}" ;;
    @fuzz)
        need_packages g++:g++
        fuzz "${@:2}"
        ;;
    @reqs) requirements ;;
    @audit) audit ;;
    @dist) dist "${@:2}" ;;
    @docs)
        need_packages "${docs_tools[@]}"
        build_docs
        ;;
    esac
}

# Independent decoders of our bytes for the tests: tshark, scapy, the kernel's IOAM and its headers; what makes PNG files; and a
# scheduler for sweeps. A test that finds one missing is skipped, and says so.
need_decoders() {
    local missing=() python=$cache/python
    command -v tshark >/dev/null || missing+=(tshark)
    command -v ip >/dev/null || missing+=(iproute2)
    mapfile -t -O "${#missing[@]}" missing < <(missing_packages "${png_tools[@]}")
    # Not libclang-cpp, which other packages bring.
    compgen -G "/usr/lib/llvm-*/lib/libclang.so*" >/dev/null || missing+=(libclang-dev)
    python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
    if [ ${#missing[@]} != 0 ] && command -v apt-get >/dev/null; then
        install_packages "${missing[@]}" || say "they cannot be installed: some tests will be skipped"
    fi
    # By itself: some distributions have no package of it.
    if ! command -v chromium chromium-browser google-chrome >/dev/null && command -v apt-get >/dev/null; then
        (install_packages chromium) || say "it cannot be installed: tests of the report's page will be skipped"
    fi
    # Its daemons start as services with it: only where nothing may be skipped.
    if [ "${HPCC_STRICT:-0}" != 0 ] && ! PATH=$PATH:/usr/sbin command -v slurmctld slurmd sbatch munged >/dev/null; then
        install_packages slurmctld slurmd slurm-client munge || say "Slurm cannot be installed: a test of sweeps will be skipped"
    fi
    if ! { "$python/bin/python" -c 'import scapy' && [ -x "$python/bin/clang-format" ]; } 2>/dev/null; then
        say "installing scapy and clang-format into $python"
        { python3 -m venv "$python" && "$python/bin/pip" install --quiet --require-hashes --requirement "$here/tests/requirements.txt"; } ||
            say "they cannot be installed: some tests will be skipped"
    fi
    export HPCC_TEST_PYTHON=$python/bin/python
}

# Says if the folder $1 has less room than the $2 MB that are written there from nothing: a full disk shows as errors of any kind.
look_for_room() {
    local free
    free=$(df --output=avail -BM "$1" 2>/dev/null | tail -1 | tr -dc 0-9)
    [ "${free:-$2}" -ge "$2" ] || warn "$1 has $free MB left; the tests write $2 MB there if nothing is built yet"
}

# Every test.
test_all() {
    look_for_room "$here" 3000
    [ ! -d "$cache" ] || look_for_room "$cache" 500
    begin_stages
    # With MPI where nothing may be skipped, or where it is there anyway.
    if [ "${HPCC_STRICT:-0}" != 0 ] || [ -z "$(missing_packages "${mpi_tools[@]}")" ]; then
        export HPCC_MPI=1
    fi
    build_tree
    need_decoders
    cd "$here"
    stage "format" with_component fmt --all --check
    stage "format of C++" format_cpp --dry-run --Werror
    stage "lint" with_component clippy --quiet --locked --workspace --all-targets -- -D warnings
    stage "documentation" test_docs
    stage "core, formats, bridge, analysis" cargo_test --workspace --exclude hpcc-tests
    stage "ns-3 module" ns3_test --suite=hpcc
    stage "hostile bytes" hpcc-core/fuzz/run 3
    stage "hostile files" tests/fuzz/run 3
    # What follows runs TCP hosts, too.
    stage "TCP hosts" test_stack
    stage "release" test_dist
    stage "across rooms" cargo_test --package hpcc-tests
    stage "shipped experiments" cargo_test --package hpcc-tests --test shipped
    stage "the reference's runs" parity
    stage "examples" test_examples
    stage "programs of scratch/" test_scratch
    stage "a program of one's own" test_own_program
    stage "links into a tree" test_links
    stage "beside the distribution's ns-3" test_libraries
    release_tree
    end_stages
}

# The module in the user's ns-3 trees and beside installed ones; with `parity` as $1 the reference's runs, too.
test_trees() {
    local compared=$1 folder
    for folder in "${@:2}"; do
        is_tree "$folder" || [ -n "$(installed_in "$folder")" ] ||
            refuse "$folder is no ns-3 tree with a ./ns3 command ($wanted_ns3), and no ns-3 is installed there (cmake/ns3/ns3Config.cmake)"
    done
    begin_stages
    for folder in "${@:2}"; do
        folder=$(realpath "$folder")
        if is_tree "$folder"; then
            stage "$folder" in_tree "$folder" "$compared"
        else
            stage "$folder" beside_installed "$folder" "$compared"
        fi
    done
    end_stages
}

# The folder by which CMake finds the ns-3 that is installed under $1: lib/cmake/ns3 in most, of a system's libraries deeper.
installed_in() {
    local config
    config=$(find "$1" -maxdepth 5 -path '*/cmake/ns3/ns3Config.cmake' -print -quit 2>/dev/null) || true
    [ -z "$config" ] || dirname "$config"
}

# By itself: what ends the build in one tree is no reason to pass over the next one.
in_tree() (
    tree=$1 compared=$2
    export NS3_DIR=$tree HPCC_TREE=$tree
    test_module "$tree"
    [ "$compared" != parity ] || stage "$tree: the reference's runs" parity
)

# By itself, too. There is no tree to build in: the module has a folder of its own in the cache.
beside_installed() (
    local config
    need_cargo
    need_packages "${simulator_tools[@]}"
    config=$(installed_in "$1")
    take_folder_beside "$config"
    # As it is by default; a run may have built it without.
    if ! configure_beside "$config" -DHPCC_STACK=ON; then
        grep -E -A5 'Error' "$built/hpcc-build.log" | head -40 >&2
        die "the module cannot be configured beside $1: $built/hpcc-build.log"
    fi
    compile_beside all
    cd "$here"
    stage "$1: suite hpcc" "$built/test-runner" --test-name=hpcc
    stage_of_stack "$1" "$built" "$built/test-runner" --test-name=hpcc-tcp
    export HPCC_SCENARIO_PROGRAM=$built/hpcc-scenario
    [ "$2" != parity ] || stage "$1: the reference's runs" parity
)

# The module in copies of the fetched tree that are built in other ways than the one that runs experiments.
test_profiles() {
    local profile
    [ -z "${NS3_DIR:-}" ] || refuse "NS3_DIR is set, but profiles are those of the fetched ns-3 tree; configure yours as you want it, and try --ns3 $NS3_DIR"
    begin_stages
    for profile in "$@"; do
        stage "profile $profile" in_profile "$profile"
    done
    end_stages
}

# With `sanitize`, checks of memory (ASan) and arithmetic (UBSan) end a program that does wrong with a status of its own.
in_profile() (
    profile=$1 options=("${configuration[@]:2}")
    case $profile in
    sanitize)
        configuration=(-d debug --enable-sanitizers "${options[@]}")
        modules=$stack_modules
        ;;
    debug | release) configuration=(-d "$profile" "${options[@]}") ;;
    static | monolib) configuration=(-d optimized "--enable-$profile" "${options[@]}") ;;
    *) refuse "there is no profile $profile" ;;
    esac
    take_copy "$cache/ns-3-$profile"
    test_module "$profile"
    stage "$profile: examples" test_examples
    [ "$profile" != sanitize ] || stage "$profile: shipped experiments" cargo_test --package hpcc-tests --test shipped
)

# Takes the folder $1 for the ns-3 tree: a copy of the fetched one without what was built there. It is kept, so that the
# next time only what has changed is built.
take_copy() {
    [ -d "$tree" ] || fetch_ns3
    if [ ! -d "$1" ]; then
        say "copying ns-3 from $tree to $1"
        rm -rf "$1.part"
        mkdir -p "$1.part"
        tar -C "$tree" --exclude=./build --exclude=./cmake-cache --exclude=./testpy-output --exclude='./.lock-ns3*' \
            --exclude='./hpcc-*.log' -cf - . | tar -C "$1.part" -xf -
        mv "$1.part" "$1"
    fi
    export HPCC_TREE=$1
    tree=$1
}

# Runs ns-3's formatter, with its settings and the options given, on every C++ source of ours.
format_cpp() {
    local formatter=$cache/python/bin/clang-format sources
    if [ ! -x "$formatter" ] || [ ! -f "$tree/.clang-format" ]; then
        skipped "the format of C++: no clang-format, or no settings of it in $tree"
        return
    fi
    mapfile -t sources < <(find ns3-module scratch -name '*.cc' -o -name '*.h')
    "$formatter" --style="file:$tree/.clang-format" "$@" "${sources[@]}"
}

# The suite of TCP and UDP hosts in what is called $1, by the command behind $2, the folder that has been built.
stage_of_stack() {
    if [ -f "$2/include/ns3/packet-host.h" ]; then
        stage "$1: suite hpcc-tcp" "${@:3}"
    else
        skipped "$1: suite hpcc-tcp: the module was built without TCP and UDP hosts"
    fi
}

# What the module brings to test itself, in the tree at hand, which is called $1.
test_module() {
    build_tree
    cd "$here"
    stage "$1: suite hpcc" ns3_test --suite=hpcc
    stage_of_stack "$1" "$tree/build" ns3_test --suite=hpcc-tcp
    stage "$1: programs of scratch/" test_scratch
}

# Stages note what fails and what is skipped in files, for some of them run in processes of their own.
begin_stages() {
    failed=$(mktemp)
    HPCC_SKIPPED=$(mktemp)
    export HPCC_SKIPPED
}

stage() {
    local name=$1
    shift
    say "test: $name"
    "$@" || echo "$name" >>"$failed"
}

# Says again what was skipped, and why, and what failed.
end_stages() {
    if [ -s "$HPCC_SKIPPED" ]; then
        say "skipped:"
        sed 's/^/  /' "$HPCC_SKIPPED" >&2
        [ "${HPCC_STRICT:-0}" = 0 ] || echo "nothing may be skipped (HPCC_STRICT)" >>"$failed"
    fi
    local failures
    failures=$(paste -s -d ';' "$failed")
    rm -f "$HPCC_SKIPPED" "$failed"
    [ -z "$failures" ] || die "failed: ${failures//;/; }"
    say "all tests passed"
}

# Notes what is not tested, and why. Tests add their lines to the same file.
skipped() {
    say "skipped: $*"
    echo "$*" >>"$HPCC_SKIPPED"
}

# Random inputs that nobody has tried: bytes for parsers and controllers, files for readers, then whole scenarios.
fuzz() {
    local seconds=$1 target=${2:-} folder known=0
    for folder in "$here/hpcc-core/fuzz" "$here/tests/fuzz"; do
        [ -z "$target" ] || [ -f "$folder/fuzz_targets/$target.rs" ] || continue
        known=1
        "$folder/run" --keep "$@"
    done
    [ -z "$target" ] || [ "$known" = 0 ] || return 0
    if [ -n "$target" ] && [ "$target" != scenarios ]; then
        refuse "there is no fuzz target $target; there are scenarios" \
            "$(basename -as .rs "$here"/{hpcc-core,tests}/fuzz/fuzz_targets/*.rs | tr '\n' ' ')"
    fi
    build_simulator
    release_tree
    cd "$here"
    # A scenario takes about half a second, for it is run three times.
    export HPCC_RANDOM_SEED=$((RANDOM << 15 | RANDOM))
    HPCC_RANDOM_SCENARIOS=$((2 * seconds * jobs)) \
        cargo test --quiet --locked --package hpcc-tests --test random_scenarios --test ideal --test combined_settings
    ! have_libraries || run_checked $((seconds * jobs))
}

# The test prints them. It would take a reader that goes away, such as `head`, for a failure.
requirements() {
    local text status=0
    cd "$here"
    text=$(cargo test --quiet --locked --package hpcc-tests --test requirements -- --nocapture --exact every_claim_has_a_test) ||
        status=$?
    echo "$text"
    return $status
}

# What cargo-deny says of other crates: licences, sources, versions, and advisories where their database can be reached.
audit() {
    need_cargo
    cargo deny --version >/dev/null 2>&1 || die "cargo-deny is not installed: cargo install --locked cargo-deny"
    cd "$here"
    local folder checks=(licenses bans sources)
    if cargo deny fetch db 2>/dev/null; then
        checks+=(advisories)
    else
        warn "the database of advisories cannot be reached: they are not looked for"
    fi
    for folder in . hpcc-core/fuzz tests/fuzz; do
        # The list of older versions is that of all three, so that each lacks some.
        cargo deny --manifest-path "$folder/Cargo.toml" --config "$here/deny.toml" check --allow unmatched-skip "${checks[@]}" ||
            die "cargo deny found faults in $folder"
    done
}

# The manual and the pages of the classes and crates, as HTML. A warning is an error.
build_docs() {
    local pages=$here/target/pages log=$here/target/pages/doxygen.log
    # Private items have pages, too, so that links to them work.
    RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" \
        cargo doc --quiet --locked --workspace --no-deps --document-private-items || die "rustdoc warns"
    mkdir -p "$pages"
    (cd "$here/ns3-module" && doxygen doc/Doxyfile) || die "doxygen failed"
    # What overrides a function of ns-3 is documented there.
    if grep -v ' override (function) ' "$log" >&2; then die "doxygen warns"; fi
    sphinx-build -q -E -W --keep-going -c "$here/ns3-module/doc" "$here" "$pages/manual" || die "sphinx warns"
    say "documentation: $pages/manual/ns3-module/doc/index.html, $pages/doxygen/index.html, and of the crates ${CARGO_TARGET_DIR:-$here/target}/doc/hpcc_core/index.html"
}

test_docs() {
    (need_packages "${docs_tools[@]}") || { skipped "documentation: doxygen, sphinx or myst-parser is missing"; return; }
    (build_docs)
}

# Packs a release into the folder $1; with $2, tries it out, too: `quickly`, or all of it.
dist() {
    local archive
    [ -e "$here/.git" ] || die "a release is packed from a git repository, and $here is none"
    [ -z "$(git -C "$here" status --porcelain)" ] || warn "what is not committed is not packed"
    archive=$("$here/tests/dist/make" "$1") || die "the release cannot be packed"
    case ${2:-} in
    quickly) "$here/tests/dist/check" "$tree" "$archive" || return ;;
    all) prepare_tree && release_tree && "$here/tests/dist/check" "$tree" "$archive" all || return ;;
    esac
    echo "$archive"
}

test_dist() {
    if [ ! -e "$here/.git" ]; then
        skipped "release: this is no git repository"
        return
    fi
    local folder status=0
    folder=$(mktemp -d)
    (dist "$folder" quickly) || status=1
    rm -rf "$folder"
    return $status
}

# Runs a cargo command that comes as a component of its own; a minimal toolchain has not got it.
with_component() {
    if ! cargo "$1" --version >/dev/null 2>&1; then
        skipped "cargo $1: this toolchain has not got it"
        return
    fi
    cargo "$@"
}

cargo_test() {
    local log
    log=$(mktemp)
    cargo test --quiet --locked --no-fail-fast "$@" 2>&1 | tee "$log"
    local status=${PIPESTATUS[0]}
    if grep -q '; [1-9][0-9]* ignored' "$log"; then skipped "cargo test $*: tests are marked to be ignored"; fi
    rm -f "$log"
    return "$status"
}

ns3_test() {
    local log
    log=$(mktemp)
    (cd "$tree" && ./test.py --no-build "$@") | tee "$log"
    local status=${PIPESTATUS[0]}
    if grep -q ', [1-9][0-9]* skipped' "$log"; then skipped "ns-3's test.py $*: $(grep -o 'SKIP: .*' "$log" | tr '\n' ' ')"; fi
    rm -f "$log"
    return "$status"
}

# All runs of the reference, repeated; the table is shown if one differs.
parity() {
    local table
    table=$("$HPCC_ANALYSIS_PROGRAM" parity --jobs "$jobs") || { echo "$table"; return 1; }
    grep ' runs of ' <<<"$table"
}

test_stack() {
    touch "$tree/cmake-cache/$stack_marker"
    configure "$tree"
    if [ ! -f "$tree/build/include/ns3/packet-host.h" ]; then
        skipped "TCP hosts: this ns-3 tree is configured without the modules internet and applications"
        return
    fi
    build_ns3 "$tree"
    ns3_test --suite=hpcc-tcp
}

# Each runs as it does without options; the shipped experiments are for hpcc-scenario.
test_scratch() {
    local source name
    for source in "$here"/scratch/*.cc; do
        name=$(basename "$source" .cc)
        [ "$name" = hpcc-scenario ] || "$(find_program "$name")" >/dev/null || return 1
    done
}

# A program of a user's own, by the commands of ns3-module/doc/hpcc.rst.
test_own_program() {
    if [ -n "${NS3_DIR:-}" ]; then
        skipped "a program in scratch/: it is built in the fetched ns-3 tree only"
        return
    fi
    local status=0
    cp "$here/scratch/hpcc-two-flows.cc" "$tree/scratch/my-program.cc"
    (cd "$tree" && ./ns3 run "my-program --stop=100us") | grep -q '^time (us)' || status=1
    rm -f "$tree/scratch/my-program.cc" "$tree"/build/scratch/*my-program*
    # Now ./ns3 notices that it is gone; else it would not notice that it is there again.
    (cd "$tree" && ./ns3 show targets >/dev/null) || status=1
    return $status
}

# After a move from another checkout, which had a program of its own, to this one, and with a program that is gone.
test_links() (
    tree=$(mktemp -d)
    other=$tree/other
    mkdir -p "$tree"/{contrib,scratch,cmake-cache,mine/scratch} "$other"/{scratch,ns3-module}
    touch "$other"/scratch/{hpcc-incast,theirs}.cc "$tree/mine/scratch/mine.cc"
    ln -s "$other"/scratch/*.cc "$tree/mine/scratch/mine.cc" "$tree/gone/scratch/gone.cc" "$tree/scratch"
    link_into "$tree"
    local status=0
    [ "$(cd "$tree/scratch" && echo *)" = "$({ (cd "$here/scratch" && ls -- *.cc); echo mine.cc; } | LC_ALL=C sort | xargs)" ] || status=1
    [ "$tree/scratch/hpcc-incast.cc" -ef "$here/scratch/hpcc-incast.cc" ] || status=1
    rm -rf "$tree"
    return $status
)

# What runs go by on a machine without an ns-3 tree: a simulator beside the distribution's ns-3, in a cache of its own.
test_libraries() (
    if ! have_libraries; then
        [ "${HPCC_STRICT:-0}" != 0 ] && install_packages "${library_packages[@]}" ||
            { skipped "the simulator beside the distribution's ns-3: ${library_packages[*]} are not installed"; return; }
    fi
    local status=0 out
    unset NS3_DIR
    cache=$(mktemp -d)
    tree=$cache/ns-3
    out=$cache/out
    HPCC_TCP=1
    build_simulator
    [ "$HPCC_SCENARIO_PROGRAM" = "$(folder_beside "$(libraries_config)")/hpcc-scenario" ] || status=1
    parity || status=1
    "$HPCC_ANALYSIS_PROGRAM" run configs/tcp.toml --out "$out/tcp" >/dev/null || status=1
    if [ "${HPCC_MPI:-0}" != 0 ]; then
        "$HPCC_ANALYSIS_PROGRAM" run configs/leaf-spine-rocev2.toml --out "$out/one" >/dev/null || status=1
        "$HPCC_ANALYSIS_PROGRAM" run configs/leaf-spine-rocev2.toml --out "$out/two" --ranks 2 >/dev/null || status=1
        cmp "$out/one/fct.csv" "$out/two/fct.csv" || status=1
    fi
    run_checked 120 || status=1
    rm -rf "$cache"
    return $status
)

# $1 random scenarios in a simulator whose every access to memory (ASan) and arithmetic (UBSan, Rust's checks) is looked at.
# Unoptimised, which is how ns-3 is built by default, the compiler warns of other things, and ns-3 takes warnings for errors.
run_checked() {
    built=$cache/checked
    mkdir -p "$built"
    configure_beside "$(libraries_config)" -DHPCC_UNITE_SOURCES=ON -DCMAKE_BUILD_TYPE=Debug -DHPCC_CARGO_PROFILE=checked \
        "-DCMAKE_CXX_FLAGS=-g1 -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Werror -Wno-error=deprecated-declarations" ||
        return
    compile_beside hpcc-scenario
    HPCC_SCENARIO_PROGRAM=$built/hpcc-scenario HPCC_RANDOM_SCENARIOS=$1 HPCC_RANDOM_SEED=${HPCC_RANDOM_SEED:-1001} \
        cargo_test --package hpcc-tests --test combined_settings
}

# The programs of examples/. test.py knows no way to choose a module's, and a user's tree may have hundreds.
test_examples() {
    if [ -n "${NS3_DIR:-}" ]; then
        skipped "examples: they are run in the fetched ns-3 tree only"
        return
    fi
    ns3_test --constrain=example
}
