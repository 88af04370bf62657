# What NetScaler's command line takes behind 'cli', and virtual servers behind 'explain': the program itself knows.
_steelyard_words() {
    [[ $COMP_CWORD -gt 1 && ( ${COMP_WORDS[1]} == cli || ${COMP_WORDS[1]} == explain ) ]] || return
    local found program=${1/#\~\//$HOME/}
    found=$("$program" completions bash --line "${COMP_LINE:0:COMP_POINT}" --word "$2" 2>/dev/null </dev/null)
    case $? in
        # Nothing else is offered.
        0) compopt +o bashdefault +o default 2>/dev/null ;;
        # Files are, where nothing is found.
        3) ;;
        *) return 1 ;;
    esac
    COMPREPLY=()
    [[ -z $found ]] || mapfile -t COMPREPLY <<<"$found"
}
