# What NetScaler's command line takes behind 'cli', and virtual servers behind 'explain': the program itself knows.
_steelyard_words() {
    (( CURRENT > 2 )) && [[ ${words[2]} == (cli|explain) ]] || return 1
    local found line
    local -a described
    found=$("${${(Q)words[1]}/#\~\//$HOME/}" completions zsh --line "${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" 2>/dev/null </dev/null)
    case $? in
        (0) ;;
        (3) _files; return 0 ;;
        (*) return 1 ;;
    esac
    for line in "${(@f)found}"; do
        [[ -z $line ]] || described+=("${${line%%$'\t'*}//:/\\:}:${${line#*$'\t'}}")
    done
    _describe -t words word described -U
    return 0
}
