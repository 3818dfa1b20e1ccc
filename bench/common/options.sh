# The options of a bench script, for it to source: `options NAME... -- "$@"` sets the variable NAME from
# --NAME=VALUE and `strict` from --strict. Anything else prints the script's head and leaves with 64.
strict=""
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
