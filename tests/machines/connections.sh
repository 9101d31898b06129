# shellcheck shell=bash
# How a connection begins, why there is none, how it ends and begins again: `tests/machines/run connections`.

connections() {
    first_connection
    password
    kept_connection
    reasons
    read_only
    restarted
    frozen
}

first_connection() {
    step "the first connection"
    near machine add box >"$folder/output" 2>&1 && fail "a host key that nobody has seen was accepted"
    # shellcheck disable=SC2016 # It is no command.
    grep -qF 'its host key is not known: `askbridge machine connect box` shows it' "$folder/output" || fail "another reason"
    begin_at_terminal "askbridge machine connect box"
    types "continue connecting" 1 no
    end_at_terminal && fail "it connected although the key was refused"
    grep -qF "box is not connected: its host key is not known" "$folder/terminal" || fail "another reason"
    begin_at_terminal "askbridge machine connect box"
    types "continue connecting" 1 yes
    end_at_terminal || fail "it did not connect"
    grep -qF "box: askbridge " "$folder/terminal" || fail "it did not say what it found"
    local round at
    for ((round = 0; round < 5; round++)); do
        at=$(now)
        near machine connect box >"$folder/output" 2>&1 || fail "it did not connect again"
        echo $(($(now) - at))
    done >"$folder/times"
    note "ready, from a new process" "$(median "$folder/times")" 1000
}

# ssh asks for a password, which nobody types in the background.
password() {
    step "a password"
    [ -n "${MACHINES_NAMESPACE:-}" ] || { echo "left out: only root can make a user with a password" && return; }
    make_user
    near machine add pass >"$folder/output" 2>&1 && fail "it connected without a password"
    # shellcheck disable=SC2016 # It is no command.
    grep -qF 'ssh was refused: `askbridge machine connect pass` asks' "$folder/output" || fail "another reason"
    begin_at_terminal "askbridge machine connect pass"
    types "password: " 1 wrong
    types "password: " 2 sesame
    # It replied, but the inbox could not connect.
    end_at_terminal && fail "it does not say that it is not connected in the background"
    local order='password: |please try again|pass: askbridge [^ ]*,|in the background|ssh-copy-id pass'
    grep -oE "$order" "$folder/terminal" | sed 's/askbridge .*/found/' >"$folder/output"
    diff - "$folder/output" <<'END' || fail "another order"
password: 
please try again
password: 
pass: found
in the background
ssh-copy-id pass
END
    near machine remove pass >"$folder/output" 2>&1 || fail "it was not removed"
}

kept_connection() {
    step "a connection that the inbox keeps"
    near inbox --detach --addr 127.0.0.1:0 >"$folder/output" 2>&1 || fail "the inbox did not start"
    within 10 "the connection" connected box
    expect "box: connected for" status
    local round at
    : >"$folder/near.times"
    : >"$folder/far.times"
    for ((round = 0; round < ROUNDS; round++)); do
        asks "From near $round?"
        within 5 "the question" says "box/$id" list
        at=$(now_us)
        near answer "box/$id" yes >"$folder/output" 2>&1 || fail "it was not answered"
        echo $(($(now_us) - at)) >>"$folder/near.times"
        answered
        asks "From far $round?"
        at=$(now_us)
        far answer "$id" no >"$folder/output" 2>&1 || fail "it was not answered"
        echo $(($(now_us) - at)) >>"$folder/far.times"
        answered no
    done
    local by_near by_far
    by_near=$(median "$folder/near.times") by_far=$(median "$folder/far.times")
    note "an answer on the machine itself" $((by_far / 1000))
    note "an answer from here" $((by_near / 1000))
    # Its goal is checked by `figures`, with a release build.
    note "how much longer that takes" $(((by_near - by_far) / 1000))
}

# Each way in which a machine cannot be reached, in the words for it.
reasons() {
    step "why a machine is not connected"
    local host words
    while IFS='|' read -r host words; do
        near machine add "$host" >"$folder/output" 2>&1 && fail "$host was reached"
        grep -qF -- "$host is not connected: $words" "$folder/output" || fail "$host: not these words: $words"
    done <<'END'
stranger|its host key is not known: `askbridge machine connect stranger` shows it
changed|its host key has changed
refused|ssh was refused: `askbridge machine connect refused` asks for what it needs
missing|askbridge is not installed there, or not on its PATH: https://github.com/askbridge/askbridge says how
closed|no ssh server listens there
END
    # At a terminal, ssh shows its messages itself. What is said after them is the reason as well, and helps.
    while IFS='|' read -r host words; do
        begin_at_terminal "askbridge machine connect $host"
        end_at_terminal && fail "$host was reached"
        grep -qF -- "$host is not connected: $words" "$folder/terminal" || fail "$host: not these words: $words"
    done <<'END'
changed|its host key has changed
refused|ssh was refused: `ssh-copy-id refused` gives the machine a key of yours
missing|askbridge is not installed there, or not on its PATH: https://github.com/askbridge/askbridge says how
closed|no ssh server listens there
END
    for host in stranger changed refused missing closed; do
        within 30 "the reason of $host in \`machine list\`" reason_of "$host" machine list
        within 30 "the reason of $host in \`status\`" reason_of "$host" status
    done
    connected box || fail "box is not connected any more"
    for host in stranger changed refused missing closed; do
        near machine remove "$host" >"$folder/output" 2>&1 || fail "$host was not removed"
    done
}

reason_of() {
    local host=$1
    shift
    near "$@" >"$folder/output" 2>&1 || true
    grep -qE "^${host}[: ].*not connected: .*; (next attempt in|connecting again)" "$folder/output"
}

read_only() {
    step "a key that may only read"
    near machine add readonly >"$folder/output" 2>&1 || fail "it did not connect"
    asks "May it be read?"
    within 15 "the question" says "readonly/$id" list
    near answer "readonly/$id" yes >"$folder/output" 2>&1 && fail "it was answered"
    grep -qi "read-only" "$folder/output" || fail "it does not say why"
    far_has "May it be read?" || fail "the question is not open any more"
    near machine remove readonly >/dev/null
    near answer "box/$id" yes >"$folder/output" 2>&1 || fail "it was not answered"
    answered
}

restarted() {
    step "sshd is killed, and started again"
    asks "Still there?"
    within 5 "the question" says "box/$id" list
    stop_sshd
    within 10 "noticing it" says "no ssh server listens there" machine list
    expect "box/$id" list
    near answer "box/$id" yes >"$folder/output" 2>&1 && fail "it was answered"
    start_sshd
    local at
    at=$(now)
    near answer "box/$id" yes >"$folder/output" 2>&1 || fail "it was not answered"
    note "an answer after sshd has started again" $(($(now) - at))
    answered
}

frozen() {
    step "the far side is frozen"
    local at
    within 10 "the connection" connected box
    at=$(now)
    signal STOP
    within 60 "noticing it" says "may be frozen" machine list
    note "frozen, noticed in the background" $(($(now) - at)) 45000
    signal KILL
    within 60 "the next connection" connected box
    asks "Before it was frozen?"
    within 10 "the question" says "box/$id" list
    signal STOP
    at=$(now)
    near answer "box/$id" yes >"$folder/output" 2>&1 || fail "it was not answered"
    note "frozen while an answer waits, answered after" $(($(now) - at)) 6500
    answered
    grep -qF "it did not reply while an answer waited" "$folder/near/home/.local/state/askbridge/inbox.log" ||
        fail "it was not noticed"
}
