# shellcheck shell=bash
# What other machines cost: `tests/machines/run figures`. The machines are m1, m2 and so on, each with an agent that asks
# 50 questions, and each reached by an ssh process of its own. Times are of a machine that may do other things as well:
# the shortest tells what the program takes, the median what its user waits.

MACHINES=${MACHINES:-20}
QUESTIONS=50
# How long it is counted how often idle processes wake up, in seconds: three heartbeats.
IDLE=${IDLE:-75}

figures() {
    prepare_many
    step "one machine"
    make_many 1 1
    near inbox --detach --addr 127.0.0.1:0 >"$folder/output" 2>&1 || fail "the inbox did not start"
    inbox=$(sed -n 's/.*(process \([0-9]*\)).*/\1/p' "$folder/output")
    within 20 "the connection" has_connected 1
    answers
    step "one machine, idle for $IDLE s"
    local one many
    one=$(wakes_of "$inbox")
    step "$MACHINES machines"
    make_many 2 "$MACHINES"
    within 60 "the connections" has_connected "$MACHINES"
    within 60 "the questions" lists $((MACHINES * QUESTIONS))
    listing
    step "$MACHINES machines, idle for $IDLE s"
    many=$(wakes_of "$inbox" "$(dials | head -n 1)")
    note "the inbox wakes up, with one machine" "$(rate "${one% *}")" '' '/10 s'
    note "the inbox wakes up, with $MACHINES machines" "$(rate "${many% *}")" '' '/10 s'
    note "so each machine costs" "$(rate $((${many% *} - ${one% *})) $((MACHINES - 1)))" 1 '/10 s'
    note "\`dial\` wakes up there" "$(rate "${many#* }")" '' '/10 s'
    near inbox --stop >/dev/null
    note "the load of this computer" "$(cut -d ' ' -f 1 /proc/loadavg)" '' ''
}

# Lets sshd lead to as many machines as there are.
prepare_many() {
    ssh-keygen -q -t ed25519 -N '' -C many -f "$folder/many"
    {
        # shellcheck disable=SC2016 # The shell of sshd expands it.
        printf 'command="exec env HOME=%s/$FAR/home XDG_RUNTIME_DIR=%s/$FAR/run sh -c \\"$SSH_ORIGINAL_COMMAND\\"" ' \
            "$folder" "$folder"
        cat "$folder/many.pub"
    } >>"$folder/authorized_keys"
    trust_host
    mkdir -p "$folder/near/home/.config/askbridge"
    # The stdin of all bridges: nothing is written to it.
    mkfifo "$folder/silence"
    exec 7<>"$folder/silence"
}

# Makes the machines with these numbers, and on each an agent with its questions.
make_many() {
    local number
    for ((number = $1; number <= $2; number++)); do
        make_far "m$number"
        printf 'Host m%s\n  IdentityFile %s\n  SetEnv FAR=m%s\n' "$number" "$folder/many" "$number" >>"$folder/ssh_config"
        asking "m$number" $QUESTIONS $QUESTIONS
        printf '[machine.m%s]\nssh = "m%s"\n' "$number" "$number" >>"$folder/near/home/.config/askbridge/config.toml"
    done
}

# Starts an agent on a machine that asks so many questions at once, and writes what it hears into the file `heard`. Waits
# until so many are open there.
asking() {
    local machine=$1 count=$2
    # shellcheck disable=SC2016 # The shell of the agent expands it.
    there "$machine" run --client-questions none -- sh -c '
        while [ $((number += 1)) -le "$1" ]; do
            printf "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"_sandboxagent/session/request_question\",\"params\":" "$number"
            printf "{\"sessionId\":\"s\",\"prompt\":\"Question %s: which database is meant for the orders, and why " "$number"
            printf "does it matter which of them is taken?\",\"options\":[\"Postgres\",\"SQLite\",\"MySQL\"]}}\n"
        done
        exec cat >>"$2"' sh "$count" "$folder/$machine/heard" <&7 >/dev/null 2>&1 &
    within 20 "the questions of $machine" lists_there "$machine" "$3"
}

lists_there() {
    [ "$(there "$1" list | grep -c Question)" -ge "$2" ]
}

lists() {
    [ "$(near list 2>/dev/null | grep -c Question)" = "$1" ]
}

has_connected() {
    [ "$(near machine list --json | grep -c '"connectedAt"')" = "$1" ]
}

# Answers by the kept connection, and on the machine itself, in turns.
answers() {
    step "answers by a kept connection"
    local round ids
    # Another agent, which has no question left in the end.
    asking m1 $((2 * ROUNDS)) $((QUESTIONS + 2 * ROUNDS))
    within 20 "the questions" lists $((QUESTIONS + 2 * ROUNDS))
    mapfile -t ids < <(there m1 list | awk '/Question/ { print $1 }' | tail -n $((2 * ROUNDS)))
    for ((round = 0; round < ROUNDS; round++)); do
        timed answer.near near answer "m1/${ids[round]}" Postgres
        timed answer.there there m1 answer "${ids[round + ROUNDS]}" SQLite
    done
    note "an answer on the machine itself, median" "$(median "$folder/answer.there.wall")"
    note "an answer from here, median" "$(median "$folder/answer.near.wall")"
    note "how much longer that takes, median" "$(longer median)" 5
    note "how much longer that takes, shortest" "$(longer shortest)" 5
    note "CPU time of the command on the machine itself" "$(median "$folder/answer.there.cpu")"
    note "CPU time of the command here" "$(median "$folder/answer.near.cpu")"
    note "CPU time of the inbox for an answer" "$(median "$folder/answer.near.inbox")"
    [ "$(grep -c answered "$folder/m1/heard")" = $((2 * ROUNDS)) ] || fail "the agent did not hear each answer once"
}

longer() {
    awk -v near="$("$1" "$folder/answer.near.wall")" -v there="$("$1" "$folder/answer.there.wall")" \
        'BEGIN { printf "%.1f", near - there }'
}

listing() {
    local round
    for ((round = 0; round < ROUNDS; round++)); do
        timed list near list
    done
    note "\`list\`, median" "$(median "$folder/list.wall")" 150
    note "\`list\`, shortest" "$(shortest "$folder/list.wall")" 150
    note "CPU time of the command" "$(median "$folder/list.cpu")"
    note "CPU time of the inbox for it" "$(median "$folder/list.inbox")"
    note "memory of the inbox" "$(memory VmRSS)" 40 MiB
    note "the most that it was" "$(memory VmHWM)" 40 MiB
    note "memory of the inbox without files" "$(memory RssAnon)" '' MiB
}

memory() {
    awk -v what="$1:" '$1 == what { printf "%.1f", $2 / 1024 }' "/proc/$inbox/status"
}

# Runs a command, and adds its time, its CPU time and that of the inbox in milliseconds to files of this name.
timed() {
    local name=$1 begun inbox_begun
    shift
    inbox_begun=$(cpu_of_inbox) begun=$(now_us)
    TIMEFORMAT='%U %S'
    { time "$@" >"$folder/output" 2>&1 || fail "it failed: $*"; } 2>"$folder/cpu"
    awk -v us=$(($(now_us) - begun)) 'BEGIN { printf "%.1f\n", us / 1000 }' >>"$folder/$name.wall"
    awk '{ printf "%.1f\n", 1000 * ($1 + $2) }' "$folder/cpu" >>"$folder/$name.cpu"
    awk -v ns=$(($(cpu_of_inbox) - inbox_begun)) 'BEGIN { printf "%.1f\n", ns / 1e6 }' >>"$folder/$name.inbox"
}

# Returns the CPU time that the inbox has taken, in nanoseconds.
cpu_of_inbox() {
    cat "/proc/$inbox"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }'
}

shortest() {
    sort -n "$1" | head -n 1
}

# Returns how often each of these processes wakes up by itself while nothing happens.
wakes_of() {
    local process before=()
    # What has just begun comes to its end first.
    sleep 12
    for process; do before+=("$(wakes "$process")"); done
    sleep "$IDLE"
    for process; do
        printf '%s ' $(($(wakes "$process") - before[0]))
        before=("${before[@]:1}")
    done | sed 's/ $//'
}

wakes() {
    cat "/proc/$1"/task/*/status | awk '/^voluntary/ { sum += $2 } END { print sum }'
}

# Returns how many of something in the idle time that is in 10 s, for each of so many.
rate() {
    awk -v count="$1" -v seconds="$IDLE" -v of="${2:-1}" 'BEGIN { printf "%.2f", 10 * count / seconds / of }'
}
