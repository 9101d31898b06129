# shellcheck shell=bash
# Two programs in turns, so that what else the computer does meanwhile meets both.

# Runs a command that prints figures, a line each, with ASKBRIDGE as one program and as the other, TURNS times, 2 by default.
# Prints the mean of each figure for both, and the ratio of the second to the first: in_turns FIRST SECOND COMMAND...
in_turns() {
    local first=$1 second=$2 folder turn which
    shift 2
    folder=$(mktemp -d)
    for ((turn = 1; turn <= ${TURNS:-2}; turn++)); do
        for which in first second; do
            # What misses a goal is printed as well.
            ASKBRIDGE=${!which} "$@" >"$folder/$which.$turn" 2>&1 || true
            grep -qE '[^ ]  +-?[0-9.]+( |$)' "$folder/$which.$turn" || {
                # A failed test may have said megabytes.
                tail -n 30 "$folder/$which.$turn" | cut -c 1-300
                return 1
            }
        done
    done
    printf '%-60s %10s %10s %8s\n' "" first second ratio
    awk '
        match($0, /  +-?[0-9.]+( |$)/) {
            label = substr($0, 1, RSTART - 1)
            split(substr($0, RSTART), value, " ")
            if (!(label in count)) labels[++last] = label
            count[label]++
            sum[label, FILENAME ~ /first\.[0-9]+$/] += value[1]
        }
        END {
            for (at = 1; at <= last; at++) {
                label = labels[at]
                runs = count[label] / 2
                first = sum[label, 1] / runs
                second = sum[label, 0] / runs
                printf "%-60s %10.2f %10.2f %8s\n", label, first, second, first == 0 ? "-" : sprintf("%.2f", second / first)
            }
        }' "$folder"/*.*
    rm -r "$folder"
}
