# shellcheck shell=bash
# Two versions against each other: `tests/machines/run versions`. The program of another commit is `dial` for the command
# of this one, and the other way round, each without an inbox and with one.

versions() {
    local new=$askbridge old has_inbox
    build_other "${1:-HEAD~20}"
    trust_host
    near machine add box >"$folder/output" 2>&1 || fail "it was not connected"
    for has_inbox in '' yes; do
        mixed "$new" "$old" "$has_inbox"
        mixed "$old" "$new" "$has_inbox"
    done
}

# Puts the path of the other program into `old`: it is the program of this path, or else that of this commit.
build_other() {
    [ ! -x "$1" ] || { old=$(realpath "$1") && return; }
    git -C "$here" rev-parse --quiet --verify "$1^{commit}" >"$folder/output" || fail "there is no commit $1"
    step "build $1, $(cat "$folder/output")"
    mkdir "$folder/sources"
    git -C "$here/../.." archive "$(cat "$folder/output")" | tar -x -C "$folder/sources"
    # Only what differs is built, and the program of this commit stays where it is.
    (cd "$folder/sources" && CARGO_BUILD_BUILD_DIR=$target CARGO_TARGET_DIR=$folder/built CARGO_INCREMENTAL=0 \
        cargo build --locked --bin askbridge) || fail "it could not be built"
    old=$folder/built/debug/askbridge
}

# Lists, shows, answers and rejects questions by this command, over a `dial` of that program.
mixed() {
    local command=$1 dial=$2
    step "$([ "$command" = "$askbridge" ] && echo "this command, the other dial" || echo "the other command, this dial")${3:+, with an inbox}"
    ln -sfn "$command" "$folder/near/bin/askbridge"
    ln -sfn "$dial" "$folder/far/home/.local/bin/askbridge"
    if [ -n "$3" ]; then
        near inbox --detach --addr 127.0.0.1:0 >"$folder/output" 2>&1 || fail "the inbox did not start"
        within 20 "the connection" connected box
    fi
    asks "To be answered?"
    within 10 "the question" says "box/$id" list
    expect "To be answered?" show "box/$id"
    expect '"complete": true' list --json
    expect "box: connected" status
    near answer "box/$id" yes >"$folder/output" 2>&1 || fail "it was not answered"
    answered
    near answer "box/$id" no >"$folder/output" 2>&1 && fail "it was answered twice"
    asks "To be rejected?"
    within 10 "the question" says "box/$id" list
    near reject "box/$id" --reason "Not now." >"$folder/output" 2>&1 || fail "it was not rejected"
    wait "$asker" && fail "the asker was not told that its question is rejected"
    asks "At a terminal?"
    within 10 "the question" says "box/$id" list
    begin_at_terminal "askbridge answer box/$id"
    types "for help" 1 1
    end_at_terminal || fail "it was not answered at the terminal"
    answered
    asks "Answered elsewhere?"
    within 10 "the question" says "box/$id" list
    begin_at_terminal "askbridge answer box/$id"
    within 10 "the question at the terminal" shown "for help" 1
    far answer "$id" yes >"$folder/output" 2>&1 || fail "it was not answered there"
    end_at_terminal && fail "the terminal was not told that it was answered there"
    answered
    asks "The next?"
    within 10 "the question" says "box/$id" list
    begin_at_terminal "askbridge next"
    types "for help" 1 2
    end_at_terminal || fail "it was not answered at the terminal"
    answered no
    [ -z "$3" ] || near inbox --stop >/dev/null
}
