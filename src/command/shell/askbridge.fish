# Completes askbridge in fish. Put it into a directory of $fish_complete_path as askbridge.fish, or source it.

function __askbridge_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string trim -l -c '"\'')
    # Behind `--` stands another program, which completes itself.
    set -l dashes (contains -i -- -- $words)
    if test -n "$dashes"; and string match -qr '^(run|mock-client)$' -- $words[1..$dashes]
        set -l program
        if test (count $words) -gt $dashes
            set program (string escape -- $words[(math $dashes + 1)..-1])
        end
        complete -C (string join ' ' -- $program $current)
        return
    end
    $words[1] complete -- $words[2..-1] "$current" 2>/dev/null
end

complete -c askbridge -f -k -a '(__askbridge_complete)'
