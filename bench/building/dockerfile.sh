#!/usr/bin/env bash
# Runs the commands of the Dockerfile without Docker: each stage is a chroot of a fresh Debian 12 that
# debootstrap made, in mount and process namespaces of its own. Then trains villages in the last one, on
# one rank and on two. Needs root, debootstrap and Debian's packages; about 5 minutes and 3 GB.
#
#   dockerfile.sh [--folder=FOLDER] [--keep=yes] [--dry=yes]
#
# smoke: --dry=yes
#
# --dry: does it know every word of the Dockerfile? Runs none.
#
# --folder: where the chroots are made; a folder of its own below /var/tmp unless given. --keep=yes
# leaves them there. Knows FROM, COPY, WORKDIR, RUN, ENV and ENTRYPOINT, each on one line.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder= keep=no dry=
source "$root/bench/common/options.sh"
options folder keep dry -- "$@"
if [ -n "$dry" ]; then
    awk '$1 ~ /^[^#]/ && $1 !~ /^(FROM|COPY|WORKDIR|ENV|RUN|ENTRYPOINT)$/ {print "dockerfile: " $1 " is not known"; bad = 1}
        END {exit bad}' "$root/Dockerfile" && echo "dockerfile: every word is known"
    exit
fi
[ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null || skip "needs root and debootstrap"
[ -n "$folder" ] || folder=$(mktemp -d /var/tmp/fringe-dockerfile-XXXXXX)
mkdir -p "$folder"
[ "$keep" = yes ] || trap 'rm -rf "$folder"' EXIT

# inside STAGE COMMAND: as RUN of a Dockerfile; mounts end with their namespaces
inside() {
    unshare --mount --pid --fork --kill-child bash -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/dev/shm" &&
        exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
            $3 sh -c "cd \"$2\" && $4"' - "$folder/$1" "$directory" "$environment" "$2" </dev/null
}

copy_tree() { # what the image gets of the source: tracked and new files, as .dockerignore leaves them
    mkdir -p "$folder/$stage$1"
    (cd "$root" && git ls-files -co --exclude-standard -z | tar --null --ignore-failed-read -cf - -T -) |
        tar -C "$folder/$stage$1" -xf -
}

copy() { # [--from=STAGE] SOURCE TARGET
    case $1 in
    --from=*) mkdir -p "$folder/$stage$3" && cp "$folder/${1#--from=}"$2 "$folder/$stage$3" ;;
    *) copy_tree "$2" ;;
    esac
}

begin() { # FROM image [AS name]
    stage=${4:-last} directory=/ environment=
    [ "$2" = debian:12 ] || { echo "dockerfile: only debian:12 is known, not $2" >&2; exit 65; }
    cp -a "$folder/debian-12" "$folder/$stage"
    cp /etc/resolv.conf "$folder/$stage/etc/" 2>/dev/null || true
}

[ -d "$folder/debian-12" ] || {
    echo "dockerfile: debootstrap"
    debootstrap --variant=minbase bookworm "$folder/debian-12" http://deb.debian.org/debian \
        >"$folder/debootstrap.log" || { tail "$folder/debootstrap.log"; exit 69; }
}
log=$folder/commands.log
while read -r word rest; do
    case $word in
    '' | '#'*) continue ;;
    esac
    echo "dockerfile: $word $rest"
    case $word in
    FROM) begin $word $rest ;;
    COPY) copy $rest ;;
    WORKDIR) directory=$rest && mkdir -p "$folder/$stage$rest" ;;
    ENV) environment="$environment $rest" ;;
    RUN) inside "$stage" "$rest" >"$log" 2>&1 || { tail -n 40 "$log"; echo "dockerfile: RUN failed"; exit 1; } ;;
    ENTRYPOINT) [ "$rest" = '["fringe"]' ] || { echo "dockerfile: unknown entry point $rest"; exit 1; } ;;
    *) echo "dockerfile: $word is not known" && exit 1 ;;
    esac
done <"$root/Dockerfile"

for ranks in 1 2; do
    echo "dockerfile: fringe train villages --ranks $ranks"
    inside last "fringe train villages --ranks $ranks --set run.dir=ranks-$ranks" 2>"$log" ||
        { cat "$log"; exit 1; }
done
inside last "fringe doctor"
echo "dockerfile: ok"
