# Shared by the scripts beside it, which source it from the project's root.
# shellcheck shell=bash

# Where rustup puts Rust, for shells that have not read its profile.
if ! command -v cargo >/dev/null && [[ -d $HOME/.cargo/bin ]]; then
    PATH=$PATH:$HOME/.cargo/bin
fi

# shellcheck disable=SC2034  # for the scripts that source this
target_directory=${CARGO_TARGET_DIR:-target}
stamps=.venv/stamps

say() {
    printf '%s\n' "$*" >&2
}

# fail MESSAGE [HINT]: ends the script.
fail() {
    say "error: $1"
    if [[ $# -gt 1 ]]; then
        say "hint: $2"
    fi
    exit 1
}

# at_least VERSION MINIMUM: whether a dotted version is not below another.
at_least() {
    [[ $(printf '%s\n%s\n' "$2" "$1" | sort --version-sort | head -n 1) == "$2" ]]
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
        flock --nonblock 9 || { say 'waiting for another setup in this directory' && flock 9; }
        export ZEROLAP_SETUP_LOCKED=1
    fi
}
