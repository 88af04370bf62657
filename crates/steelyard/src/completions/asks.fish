# What NetScaler's command line takes behind 'cli', and virtual servers behind 'explain': the program itself knows.
function __steelyard_asks
    set -l program (string replace -r '^~/' "$HOME/" -- (commandline -opc)[1])
    type -q $program
    or return 1
    set -g __steelyard_words ($program completions fish --line (commandline -cp | string collect) 2>/dev/null </dev/null)
    switch $status
        case 0
            return 0
        case 3
            set -g __steelyard_words (__fish_complete_path (commandline -ct))
            return 0
    end
    return 1
end

complete -c steelyard -n "__fish_steelyard_using_subcommand cli explain; and __steelyard_asks" -f -a '$__steelyard_words'
