# Completes askbridge in bash. Put it where bash-completion looks for it, or source it.

_askbridge() {
    local current=$2 whole='' value note i last=-1 glue=0 starts=0
    local -a words=() values=() notes=()
    # Right behind a `=` or `:`, bash gives an empty word to complete, and the character as the last of the words.
    [[ ${COMP_WORDS[COMP_CWORD]} =~ ^[=:]+$ ]] && current=''
    # bash splits words at `=` and `:`; askbridge wants them as they were typed.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        value=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && [[ ! $value =~ ^[=:]+$ ]] && value=$current
        if ((last >= 0)) && { ((glue)) || [[ ${COMP_WORDS[i]} =~ ^[=:]+$ ]]; }; then
            words[last]+=$value
            glue=0
            [[ ${COMP_WORDS[i]} =~ ^[=:]+$ ]] && glue=1
        else
            words[++last]=$value
        fi
        # Behind `--` stands another program, which completes itself.
        case ${COMP_WORDS[i]} in
            run | mock-client) starts=1 ;;
            --) if ((starts && i < COMP_CWORD)); then
                _askbridge_program $((i + 1)) "$current"
                return
            fi ;;
        esac
    done
    whole=${words[last]}
    while IFS=$'\t' read -r value note; do
        # What stands before the last `=` or `:` is not replaced.
        values+=("${value#"${whole%"$current"}"}")
        notes+=("$note")
    done < <("${1/#\~/$HOME}" complete -- "${words[@]}" 2>/dev/null)
    COMPREPLY=()
    for ((i = 0; i < ${#values[@]}; i++)); do
        value=${values[i]}
        # Within quotation marks, the shell takes a value as it is.
        [[ ${COMP_WORDS[COMP_CWORD]} == [\"\']* || $value == *= ]] || printf -v value %q "$value"
        # Beside one candidate, or where the candidates are inserted in turn, a note would be inserted too.
        if ((${#values[@]} > 1 && COMP_TYPE != 37 && COMP_TYPE != 42)) && [[ -n ${notes[i]} ]]; then
            value+="  (${notes[i]:0:$((${COLUMNS:-80} > 40 ? ${COLUMNS:-80} - 30 : 20))})"
        fi
        COMPREPLY+=("$value")
    done
    if ((${#values[@]} == 1)) && [[ ${values[0]} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

# Completes the command line of the program whose name is the word with this number.
_askbridge_program() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        local kind=-f line
        ((COMP_CWORD == $1)) && kind=-c
        compopt -o filenames 2>/dev/null
        COMPREPLY=()
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen $kind -- "$2")
    fi
}

complete -o nosort -F _askbridge askbridge 2>/dev/null || complete -F _askbridge askbridge
