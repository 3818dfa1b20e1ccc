# What bench scripts source. Options: `options NAME... -- "$@"` sets the variable NAME from
# --NAME=VALUE and `strict` from --strict. Anything else prints the script's head and leaves with 64.
strict=""
skip() { # WHY: ends a bench that cannot run here, as ctest knows it
    echo "skipped: bench $(basename "$0" .sh): $*"
    exit 77
}
needs_rig() { # root, namespaces and tools for netrig.sh
    [ "$(id -u)" -eq 0 ] && command -v ip tc unshare >/dev/null || skip "the network rig needs root, ip and tc"
    unshare --net --mount true 2>/dev/null || skip "the network rig needs namespaces, which this machine does not give"
}
options() {
    local names=" " word name
    while [ "$1" != -- ]; do names+="$1 " && shift; done
    shift
    for word in "$@"; do
        name=${word%%=*} && name=${name#--}
        if [ "$word" = --strict ]; then
            strict=1
        elif [[ $word == --*=* && $names == *" $name "* ]]; then
            printf -v "$name" %s "${word#*=}"
        else
            sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
            exit 64
        fi
    done
}
