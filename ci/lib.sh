# Shared by the scripts of this folder: where things are, and the one list of programs.

export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/steelyard
target=${CARGO_TARGET_DIR:-$root/target}
packages=${PACKAGES:-$root/ci/packages}
# Python and Node programs live here, apart from the system's own; a changed list is a new folder.
tools=$cache/tools/$(sha256sum <"$packages" | cut -c1-12)
export PATH=$tools/bin:$tools/node_modules/.bin:$PATH

say() { printf "%s\n" "$@"; }
die() {
    printf '%s\n' "$*" >&2
    exit 1
}

# Lines "kind package program" of the list whose program is `present` or `missing`, as $1 says. Of Python's and Node's only
# those of the list count, not the system's own.
listed() {
    local kind package program state
    while read -r kind package program; do
        case $kind in '' | \#*) continue ;; esac
        [ -n "$program" ] || die "ci/packages: '$kind $package' names no program"
        case $kind:$program in
            *:-) continue ;;
            pip:*) [ -x "$tools/bin/$program" ] ;;
            npm:*) [ -x "$tools/node_modules/.bin/$program" ] ;;
            *) command -v "$program" >/dev/null ;;
        esac && state=present || state=missing
        [ "$1" != $state ] || say "$kind $package $program"
    done <"$packages"
}

# Keeps the newest $2 folders in $1.
prune() {
    ls -1dt "$1"/*/ 2>/dev/null | tail -n +$(($2 + 1)) | while read -r old; do rm -rf "$old"; done
}

# Sums cargo's "test result" lines of these logs: passed, failed, skipped.
results() {
    awk '
        /^test result: / {
            for (i = 1; i < NF; i++) {
                if ($(i + 1) == "passed;") passed += $i
                if ($(i + 1) == "failed;") failed += $i
                if ($(i + 1) == "ignored;") skipped += $i
            }
        }
        END { printf "%d %d %d\n", passed, failed, skipped }' "$@"
}
