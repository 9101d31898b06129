#compdef askbridge
# Completes askbridge in zsh. Put it into a directory of $fpath as _askbridge, or source it after compinit.

_askbridge() {
    local -a values names
    local line value note i
    for ((i = 2; i < CURRENT; i++)); do
        # Behind `--` stands another program, which completes itself.
        if [[ ${words[i]} == -- && -n ${words[(r)(run|mock-client)]} ]]; then
            shift $i words
            ((CURRENT -= i))
            _normal
            return
        fi
    done
    local -a typed=("${(@Q)words[2,CURRENT-1]}")
    for line in "${(@f)$(${~words[1]} complete -- "${typed[@]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        value=${line%%$'\t'*}
        note=${line#*$'\t'}
        value=${value//\\/\\\\}
        value=${value//:/\\:}
        # The value goes on behind a name, without a space.
        if [[ $value == *= ]]; then
            names+=("$value${note:+:$note}")
        else
            values+=("$value${note:+:$note}")
        fi
    done
    ((${#names})) && _describe -V askbridge names -S ''
    ((${#values})) && _describe -V askbridge values
}

if [[ ${funcstack[1]} == _askbridge ]]; then
    _askbridge "$@"
else
    compdef _askbridge askbridge
fi
