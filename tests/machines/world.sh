# shellcheck shell=bash
# Two machines for tests/machines/run, which sources this file: `near`, where the person is, and `far`, which a real sshd
# leads to. The far machine is this one again, with another home and other sockets. sshd listens on a port of loopback,
# with keys of its own; the user's own keys and configuration are not used.

# Sockets have short paths.
folder=$(mktemp -d -t machines.XXXXXX)
failed=
sshd=

step() {
    printf '\n==> %s\n' "$*"
}

# Notes a figure: what, how much, its goal if it has one, and the unit, which is milliseconds by default.
note() {
    local unit=${4-ms} verdict=
    if [ -n "${3:-}" ]; then
        verdict="goal: $3 $unit"
        awk -v is="$2" -v goal="$3" 'BEGIN { exit !(is <= goal) }' || { verdict+=", MISSED" && failed=1; }
    fi
    printf '%-56s %8s %-8s %s\n' "$1" "$2" "$unit" "$verdict" >>"$folder/figures"
}

fail() {
    printf '\ntests/machines/run: %s\n' "$*"
    local file
    for file in output terminal near/home/.local/state/askbridge/inbox.log sshd.log; do
        printf '%s\n' "--- $file"
        tail -n 20 "$folder/$file" 2>/dev/null | cut -c 1-300 || true
    done
    exit 1
}

# Ends everything that was started here: all of it has a home in this folder. A process that is stopped ends as well.
finish() {
    local process
    [ -z "$sshd" ] || stop_sshd
    for process in /proc/[0-9]*; do
        if { tr '\0' '\n' <"$process/environ"; } 2>/dev/null | grep -q "^HOME=$folder/"; then
            kill -KILL "${process#/proc/}" 2>/dev/null || true
        fi
    done
    [ -n "${MACHINES_KEEP:-}" ] || rm -rf "$folder"
}

# Waits until a command succeeds.
within() {
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $until ] || fail "$what did not happen in time: $*"
        sleep 0.02
    done
}

now_us() {
    echo "${EPOCHREALTIME/./}"
}

now() {
    echo $((${EPOCHREALTIME/./} / 1000))
}

# Runs a command on a machine: `near`, where the person is, or one that sshd leads to.
on() {
    local machine=$1
    shift
    env -i HOME="$folder/$machine/home" XDG_RUNTIME_DIR="$folder/$machine/run" USER="$(id -un)" TERM=dumb \
        PATH="$folder/$machine/bin:/usr/bin:/bin:/usr/sbin:/sbin" "$@"
}

near() {
    on near askbridge "$@"
}

far() {
    there far "$@"
}

# Begins a command of the near machine at a terminal of its own. What it shows is in the file `terminal`.
begin_at_terminal() {
    rm -f "$folder/keys" "$folder/terminal"
    mkfifo "$folder/keys"
    on near script -qefc "$1" /dev/null <"$folder/keys" >"$folder/terminal" 2>&1 &
    terminal=$!
    exec 8>"$folder/keys"
}

# Types a line, once this text has been shown so often.
types() {
    within 20 "\"$1\"" shown "$1" "$2"
    printf '%s\n' "$3" >&8
}

shown() {
    [ "$(grep -oF -- "$1" "$folder/terminal" 2>/dev/null | wc -l)" -ge "$2" ]
}

# Waits until the command has ended, and returns its exit code.
end_at_terminal() {
    local code=0
    wait "$terminal" || code=$?
    exec 8>&-
    return $code
}

# Runs askbridge on a machine that sshd leads to.
there() {
    local machine=$1
    shift
    on "$machine" "$folder/$machine/home/.local/bin/askbridge" "$@"
}

# Whether the output of a command near here has this text.
says() {
    local text=$1
    shift
    near "$@" >"$folder/output" 2>&1 || true
    grep -qF -- "$text" "$folder/output"
}

expect() {
    says "$@" || fail "this was not said: $1"
}

prepare() {
    local missing=()
    [ -x /usr/sbin/sshd ] || missing+=(openssh-server)
    command -v ssh >/dev/null || missing+=(openssh-client)
    command -v script >/dev/null || missing+=(bsdutils)
    [ ${#missing[@]} = 0 ] && return
    step "install ${missing[*]}"
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
        echo "${missing[*]} is missing: apt-get install ${missing[*]}"
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -qqy --no-install-recommends "${missing[@]}"
}

# Makes a machine that sshd leads to.
make_far() {
    mkdir -p "$folder/$1"/{home/.local/bin,run}
    chmod 700 "$folder/$1/run"
    # Where no PATH of a shell without a profile has it.
    ln -s "${2:-$askbridge}" "$folder/$1/home/.local/bin/askbridge"
    # What a login says before the program does.
    printf 'echo "welcome to the far side"; printf "\\377\\376 no UTF-8\\n"\necho "stderr as well" >&2\n' >"$folder/$1/home/.bashrc"
}

# Makes a machine that one user may enter, by the password `sesame`. Only this run's mount namespace has this user.
make_user() {
    cp /etc/passwd /etc/shadow "$folder"
    printf 'askbridge-far:x:54321:54321::%s:/bin/bash\n' "$folder/pass/home" >>"$folder/passwd"
    # shellcheck disable=SC2016 # It is a hash.
    printf 'askbridge-far:%s:20000::::::\n' \
        '$6$askbridge$omWcOw355WjWBwCJWX0j/FwHup4a0Mqeao/0hUgfBRUDZ.JY0tc.1sf8zPO3.toqG5Pu/0k.c3WlThHLNImTR0' >>"$folder/shadow"
    mount --bind "$folder/passwd" /etc/passwd
    mount --bind "$folder/shadow" /etc/shadow
    cp "$askbridge" "$folder/askbridge"
    make_far pass "$folder/askbridge"
    chown -R 54321:54321 "$folder/pass"
    chmod 711 "$folder"
}

# Makes the two machines, and the keys of both.
open_world() {
    mkdir -p "$folder"/near/{home,run,bin}
    chmod 700 "$folder/near/run"
    ln -s "$askbridge" "$folder/near/bin/askbridge"
    make_far far
    printf 'authorized use only\n' >"$folder/banner"
    local key
    for key in host other_host user refused missing readonly; do
        ssh-keygen -q -t ed25519 -N '' -C "$key" -f "$folder/$key"
    done
    {
        cat "$folder/user.pub"
        # A machine without an askbridge.
        # shellcheck disable=SC2016 # The shell of sshd expands it.
        printf 'command="env HOME=/nonexistent PATH=/usr/bin:/bin sh -c \\"$SSH_ORIGINAL_COMMAND\\"" '
        cat "$folder/missing.pub"
        printf 'restrict,command="%s dial --read-only" ' "$folder/far/home/.local/bin/askbridge"
        cat "$folder/readonly.pub"
    } >"$folder/authorized_keys"
    write_ssh_config
}

# The person's ssh: the same program, with another configuration than the user's.
write_ssh_config() {
    printf '#!/bin/sh\nexec /usr/bin/ssh -F "%s" "$@"\n' "$folder/ssh_config" >"$folder/near/bin/ssh"
    chmod 755 "$folder/near/bin/ssh"
    local host
    for host in box refused missing readonly stranger changed closed pass; do
        printf 'Host %s\n  IdentityFile %s\n' "$host" "$folder/$([ -f "$folder/$host" ] && echo "$host" || echo user)"
        case $host in
            stranger) printf '  UserKnownHostsFile /dev/null\n' ;;
            changed) printf '  UserKnownHostsFile %s\n' "$folder/changed_hosts" ;;
            closed) printf '  Port 1\n' ;;
            pass) printf '  User askbridge-far\n' ;;
        esac
    done >"$folder/ssh_config"
    cat >>"$folder/ssh_config" <<END
Host *
  HostName 127.0.0.1
  HostKeyAlias far
  Port $port
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile $folder/known_hosts
  GlobalKnownHostsFile /dev/null
END
    printf 'far %s\n' "$(cut -d ' ' -f 1,2 "$folder/other_host.pub")" >"$folder/changed_hosts"
}

# Lets ssh know the host key, without a question.
trust_host() {
    printf 'far %s\n' "$(cut -d ' ' -f 1,2 "$folder/host.pub")" >"$folder/known_hosts"
}

# Finds a port on which nothing listens.
free_port() {
    local port
    for port in $(shuf -i 20000-30000 -n 100); do
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port" && return; }
    done
}

start_sshd() {
    # The directory of its unprivileged process, which the service makes otherwise.
    [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
    cat >"$folder/sshd_config" <<END
ListenAddress 127.0.0.1:$port
HostKey $folder/host
AuthorizedKeysFile $folder/authorized_keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
AcceptEnv FAR
MaxStartups 100
Banner $folder/banner
SetEnv HOME=$folder/far/home XDG_RUNTIME_DIR=$folder/far/run
Match User askbridge-far
  PasswordAuthentication yes
  AuthorizedKeysFile none
  SetEnv HOME=$folder/pass/home XDG_RUNTIME_DIR=$folder/pass/run
END
    on far /usr/sbin/sshd -D -e -f "$folder/sshd_config" 2>>"$folder/sshd.log" &
    sshd=$!
    within 10 "the start of sshd" listens
}

listens() {
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}

# Ends sshd and all of its connections.
stop_sshd() {
    local session
    for session in $(pgrep -P "$sshd"); do
        kill -KILL "$session" $(pgrep -P "$session") 2>/dev/null || true
    done
    # It may have ended with its child.
    kill -KILL "$sshd" 2>/dev/null || true
    wait "$sshd" 2>/dev/null || true
}

# Asks on the far side, and waits until its question is listed near here. Puts its ID there into `id`.
asks() {
    far ask "$1" --option yes --option no >"$folder/answer" 2>/dev/null &
    asker=$!
    within 10 "the question" far_has "$1"
    id=$(far list | awk -v what="$1" 'index($0, what) { print $1 }')
}

far_has() {
    far list 2>/dev/null | grep -qF "$1"
}

# Waits until the asker has its answer.
answered() {
    wait "$asker" || fail "the question was not answered"
    [ "$(cat "$folder/answer")" = "${1:-yes}" ] || fail "another answer: $(cat "$folder/answer")"
}

# Whether the near machine says of the other that it is connected.
connected() {
    near machine list --json | tr -d ' \n' | grep -q '"name":"'"$1"'"[^}]*"connectedAt"'
}

# Returns the processes of `askbridge dial` that run now, with all options.
dials() {
    pgrep -f "askbridge dial$" | while read -r process; do
        # Others may run `dial` as well.
        if { tr '\0' '\n' <"/proc/$process/environ"; } 2>/dev/null | grep -q "^HOME=$folder/[^n]"; then
            echo "$process"
        fi
    done
}

# Sends a signal to them.
signal() {
    dials | xargs -r kill "-$1"
}

median() {
    sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}
