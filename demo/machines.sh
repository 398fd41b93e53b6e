# Machines as network namespaces, a fleet on them, and its end; shared by the demos beside it, which source it from the
# project's root after scripts/common.sh. They set `fleet`, the directory of the fleet, and `store`.
# shellcheck shell=bash

network=10.7.0
# shellcheck disable=SC2034  # for the scripts that source this
hub=$network.1
zerolap=$PWD/.venv/bin/zerolap
# More than anything here takes, also on a slow machine: it bounds a hang.
patience_seconds=900

# --- outside: what needs the network of this machine

scratch=
inside_process=

# clean_up: ends what is inside where it is still there, and removes what killed processes have left.
clean_up() {
    if [[ -n $inside_process ]]; then
        # The kernel kills all that is inside with it.
        kill -KILL "$inside_process" 2>/dev/null || true
        wait "$inside_process" 2>/dev/null || true
    fi
    # What is being killed may write for a moment.
    rm -rf "$scratch" 2>/dev/null || { sleep 1 && rm -rf "$scratch"; }
}

# The words before a command that runs apart; see `prepare_apart`.
apart=()

# prepare_apart: checks that namespaces are permitted, and that nobody else runs a demo of this directory.
prepare_apart() {
    local program
    for program in ip nsenter setpriv unshare; do
        command -v $program >/dev/null ||
            fail "$program is not installed" 'as root: apt-get install iproute2 util-linux'
    done
    # Everything is in namespaces of its own, also the network between the machines, which the kernel removes with the
    # last of its processes: nothing is left behind, however this ends, and two such fleets know nothing of each other.
    # The processes end with this script, also where it is killed.
    apart=(setpriv --pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc)
    ((EUID == 0)) || apart=(unshare --user --map-root-user "${apart[@]}")
    "${apart[@]}" ip link add probe type bridge || fail 'network namespaces are not permitted here' \
        'run it as root, or where users may make namespaces; in a container, with --privileged'
    mkdir -p .demo
    exec 8>.demo/fleet.lock
    flock --nonblock 8 || fail 'another fleet of this directory is running'
}

# run_apart COMMAND...: runs it in namespaces of its own; returns how it has ended.
run_apart() {
    local status=0
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    scratch=$(mktemp --directory /tmp/zerolap-fleet.XXXXXX)
    TMPDIR=$scratch "${apart[@]}" "$@" &
    inside_process=$!
    wait $inside_process || status=$?
    return $status
}

# --- inside: machines

# The process that keeps a machine's network, by the machine; the process of each agent, and of bus and conductor.
declare -A holders processes

# connect_machines: makes the network between the machines, which has none yet.
connect_machines() {
    ip link add machines type bridge
    ip link set machines up
}

# machine NAME ADDRESS [OPTION...]: makes a machine whose only network is the one between the machines.
machine() {
    unshare --net sleep infinity &
    local holder=$!
    holders[$1]=$holder
    until [[ $(readlink /proc/$holder/ns/net) != "$(readlink /proc/self/ns/net)" ]]; do
        sleep 0.02
    done
    ip link add "port-$1" type veth peer name eth0 netns $holder
    ip link set "port-$1" master machines up
    if (($# > 2)); then
        ip link set "port-$1" type bridge_slave "${@:3}"
    fi
    on "$1" ip link set lo up
    on "$1" ip link set eth0 up
    on "$1" ip address add "$2/24" dev eth0
    mkdir -p "$fleet/machines/$1"
    printf '  %-10s %s\n' "$1" "$2" >&2
}

# on MACHINE COMMAND...: runs it there.
on() {
    nsenter --net="/proc/${holders[$1]}/ns/net" -- "${@:2}"
}

# start MACHINE NAME COMMAND...: starts it there; its output goes to the machine's directory.
start() {
    nsenter --net="/proc/${holders[$1]}/ns/net" -- "${@:3}" >"$fleet/machines/$1/$2.log" 2>&1 &
    processes[$2]=$!
}

# start_agent NAME KIND: starts an agent on the machine of its name.
start_agent() {
    cp "$fleet/agents/$1.toml" "$fleet/machines/$1/"
    start "$1" "$1" "$zerolap" agent "$2" --credentials "$fleet/machines/$1/$1.toml" --directory "$fleet/machines/$1"
}

# wait_for WHAT COMMAND...: waits until the command succeeds, with pause_seconds between two tries; fails where a process
# has ended meanwhile. What is waited for must stay once it is so: a state may come and go between two tries.
wait_for() {
    local what=$1 end=$((SECONDS + patience_seconds)) name
    until "${@:2}"; do
        for name in "${!processes[@]}"; do
            kill -0 "${processes[$name]}" 2>/dev/null ||
                fail "$name has ended: $(tail --quiet --lines=3 $fleet/machines/*/"$name.log")" "see $fleet/machines"
        done
        ((SECONDS < end)) || fail "waited in vain until $what" "see $fleet/machines"
        sleep "${pause_seconds:-0.5}"
    done
}

# are STATE AGENT...: whether all of these agents are in a state.
are() {
    local document
    document=$("$zerolap" fleet status --store $store --json - 2>$fleet/status.log) || return 1
    .venv/bin/python -c '
import json, sys

document, wanted, *names = sys.argv[1:]
states = {agent["name"]: agent["state"] for agent in json.loads(document)["agents"]}
sys.exit(any(states.get(name) != wanted for name in names))' "$document" "$@"
}

# stop NAME...: ends processes that were started, one after the other.
stop() {
    local name
    for name in "$@"; do
        kill "${processes[$name]}"
        wait "${processes[$name]}" 2>/dev/null || true
        unset "processes[$name]"
    done
}
