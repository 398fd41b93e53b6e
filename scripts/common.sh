# Shared by the scripts beside it, which source it from the project's root.
# shellcheck shell=bash

# Where rustup puts Rust, for shells that have not read its profile.
if ! command -v cargo >/dev/null && [[ -d $HOME/.cargo/bin ]]; then
    PATH=$PATH:$HOME/.cargo/bin
fi

# Node as `scripts/node` has put it there, where the system has none or an old one.
own_node=$PWD/.venv/node
PATH=${PATH//"$own_node:"/}
# shellcheck disable=SC2034  # for the scripts that source this
system_path=$PATH
if [[ -d $own_node ]]; then
    PATH=$own_node:$PATH
fi

# shellcheck disable=SC2034  # for the scripts that source this
target_directory=${CARGO_TARGET_DIR:-target}
stamps=.venv/stamps

log() {
    printf '%s\n' "$*" >&2
}

# fail MESSAGE [HINT]: ends the script.
fail() {
    log "error: $1"
    if [[ $# -gt 1 ]]; then
        log "hint: $2"
    fi
    exit 1
}

failed=()

# check COMMAND...: runs it and remembers a failure.
check() {
    log "--- $*"
    "$@" || failed+=("$*")
}

# check_beside COMMAND...: the same beside what follows, for a command that leaves a processor idle while it waits; its
# output is shown by `await_checks`.
declare -A beside=()
check_beside() {
    local output
    output=$(mktemp)
    "$@" >"$output" 2>&1 &
    beside[$!]="$output $*"
    # Shells start what runs beside deaf to an interruption from the keyboard.
    trap 'kill "${!beside[@]}" 2>/dev/null || true' EXIT
}

# await_checks: waits for what runs beside, and shows its output.
await_checks() {
    local number output command
    for number in "${!beside[@]}"; do
        read -r output command <<<"${beside[$number]}"
        wait "$number" || failed+=("$command")
        log "--- $command"
        cat "$output" >&2
        rm -f "$output"
    done
}

# report_failed: ends the script, with a list of what failed if something did.
report_failed() {
    if ((${#failed[@]} > 0)); then
        printf 'failed: %s\n' "${failed[@]}" >&2
        exit 1
    fi
    exit 0
}

# at_least VERSION MINIMUM: whether a dotted version is not below another.
at_least() {
    [[ $(printf '%s\n%s\n' "$2" "$1" | sort --version-sort | head -n 1) == "$2" ]]
}

# version_of COMMAND...: the first dotted number that it prints; nothing where there is no such program.
version_of() {
    { "$@" 2>/dev/null || true; } | grep --only-matching --max-count=1 '[0-9]\+\(\.[0-9]\+\)\+' | head -n 1 || true
}

# has_node PATH: whether Node and npm are found there and are new enough for the web bundle.
has_node() {
    at_least "$(PATH=$1 version_of node --version)" 20.19 && at_least "$(PATH=$1 version_of npm --version)" 10.0
}

# digest_of PATH...: one digest over the names and contents of all files below, built things left out.
digest_of() {
    find "$@" \( -name node_modules -o -name dist -o -name target -o -name __pycache__ \) -prune -o -type f -print0 |
        LC_ALL=C sort --zero-terminated | xargs --null --no-run-if-empty sha256sum | sha256sum | cut -d ' ' -f 1
}

# is_done NAME DIGEST: whether the step has been done with these inputs.
is_done() {
    [[ -f $stamps/$1 && $(<"$stamps/$1") == "$2" ]]
}

# mark_done NAME DIGEST: remembers it, last of all, so that an interrupted step is done again.
mark_done() {
    mkdir -p "$stamps"
    printf '%s\n' "$2" >"$stamps/$1.part"
    mv "$stamps/$1.part" "$stamps/$1"
}

# put FILE DESTINATION [MODE]: copies as one step, also over a program that runs.
put() {
    mkdir -p "$(dirname "$2")"
    install -m "${3:-644}" "$1" "$2.part"
    mv "$2.part" "$2"
}

# hold_lock: two runs of the scripts wait for each other instead of writing the same files.
hold_lock() {
    if [[ -z ${ZEROLAP_SETUP_LOCKED:-} ]]; then
        mkdir -p .venv
        exec 9>.venv/setup.lock
        flock --nonblock 9 || { log 'waiting for another setup in this directory' && flock 9; }
        export ZEROLAP_SETUP_LOCKED=1
    fi
}
