#!/usr/bin/env bash
# once
# If this failed, an installed fringe would lack a part of itself, look for configs in the tree it was built from, or
# come with a manual page or a completion that does not fit the program.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
prefix=$work/prefix

cmake --install "$FRINGE_BUILD" --prefix "$prefix" >install.log 2>&1 || { cat install.log; exit 1; }
for file in bin/fringe share/fringe/configs/cora-gcn.json share/man/man1/fringe.1 share/doc/fringe/config.md \
    share/doc/fringe/CHANGELOG.md share/doc/fringe/copyright share/bash-completion/completions/fringe \
    share/zsh/site-functions/_fringe; do
    [ -s "$prefix/$file" ] && echo "ok: $file is installed" || fail "$file is not installed"
done
[ -x "$prefix/bin/fringe-metis" ] || fail "fringe-metis is not installed"
[ ! -f "$FRINGE_BUILD/fringe-solver" ] || [ -x "$prefix/bin/fringe-solver" ] || fail "fringe-solver is not installed"

# --- what was not built is left out, and is no error
mkdir bare
cp "$FRINGE_BUILD/fringe" "$FRINGE_BUILD/fringe-metis" bare
sed "s#\"$FRINGE_BUILD/#\"$PWD/bare/#g" "$FRINGE_BUILD/cmake_install.cmake" >bare/cmake_install.cmake
expect "an installation of fringe alone" 0 'Installing: .*/bin/fringe-metis' \
    cmake -DCMAKE_INSTALL_PREFIX="$PWD/bare/prefix" -P bare/cmake_install.cmake
[ -x bare/prefix/bin/fringe ] && [ ! -e bare/prefix/share/man/man1/fringe.1 ] || fail "the bare installation has other files"
rm -r bare

# --- python3 finds the module, and the module the program: by the line that cmake prints, and where the package has it without one
imports_fringe() { # PYTHONPATH
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -c 'import numpy' 2>/dev/null || continue
        [ "$(PYTHONPATH=$1 PATH=/usr/bin:/bin "$(command -v "$python")" -B -c 'import fringe
print(fringe.__file__, fringe.train("villages", set={"train.epochs": 1, "run.threads": 1}).record["sessions"][0]["command"][0])
')" = "$1/fringe/__init__.py $(dirname "$(dirname "$(dirname "$1")")")/bin/fringe" ]
        return
    done
    echo "skipped: import fringe, because no Python here has numpy"
}
imports_fringe "$(sed -n 's/.*export PYTHONPATH=//p' install.log)" || fail "the line that cmake prints does not help"
if command -v cpack >/dev/null && command -v dpkg-deb >/dev/null; then
    cpack -G DEB --config "$FRINGE_BUILD/CPackConfig.cmake" -B package -D CPACK_STRIP_FILES=OFF \
        -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF >package.log 2>&1 || { cat package.log; fail "no package is made"; }
    dpkg-deb -x package/fringe_*.deb unpacked
    imports_fringe "$PWD/unpacked/usr/lib/python3/dist-packages" || fail "the package's module is not found"
    [ ! -e /etc/debian_version ] || /usr/bin/python3 -c 'import sys; sys.exit("/usr/lib/python3/dist-packages" not in sys.path)' ||
        fail "python3 does not look where the package has the module"
else
    echo "skipped: the Debian package, because cpack or dpkg-deb is missing"
fi

# --- configs are found beside the program, wherever one stands
expect "a shipped config by its name" 0 '^model.layer +. "gcn"' "$prefix/bin/fringe" config show cora-gcn
expect "the same as in the source tree" 0 '^model.layer ' "$prefix/bin/fringe" config show configs/cora-gcn.json
expect "a name that none has" 66 '^fringe: no-such-config' "$prefix/bin/fringe" config show no-such-config
echo '{"model": {"layer": "gin"}}' >cora-gcn
expect "a file in this folder comes first" 0 '^model.layer +. "gin"' "$prefix/bin/fringe" config show cora-gcn
rm cora-gcn
expect "the program of a build finds those of its source tree" 0 '^model.layer ' "$FRINGE" config show cora-gcn

# --- the graph that is shipped trains where nothing was generated, on one rank and on two
for ranks in 1 2; do
    expect "villages on $ranks rank(s)" 0 '^result' "$prefix/bin/fringe" train villages --ranks $ranks \
        --set run.dir=run-$ranks
    accuracy=$(sed -n 's/^ *"test_accuracy": \(0\.[0-9]*\|1\),*$/\1/p' run-$ranks/run.json)
    awk -v x="$accuracy" 'BEGIN { exit !(x > 0.9) }' || fail "villages reach $accuracy, not 0.9"
done
size=$(du -cb "$prefix/share/fringe/data/villages" | tail -n 1 | cut -f 1)
[ "$size" -le 61440 ] || fail "villages have $size bytes; at most 60 kB are shipped"

# --- help
expect "help COMMAND is COMMAND --help" 0 'usage: fringe train CONFIG' "$FRINGE" help train
expect "help of a command that is not there" 64 'no command .trian.; did you mean train' "$FRINGE" help trian
expect "help alone" 0 'usage: fringe COMMAND' "$FRINGE" help
"$FRINGE" help man >fringe.1
for text in 'fringe train' '\\-\\-ranks' 'quantization.group_size' 'EXIT STATUS' '^\.TP$'; do
    grep -qE -- "$text" fringe.1 || fail "the manual page has no /$text/"
done
for code in $(sed -n 's/^ *EXIT_[A-Z_]* = \([0-9]*\).*/\1/p' "$FRINGE_SOURCE/include/fringe/base/error.h"); do
    grep -q "^.fB$code.fR" fringe.1 || fail "the manual page does not explain exit code $code"
done
grep -q '^.fB71.fR .fIdoes not fit in memory.fR' fringe.1 || fail "exit codes and their names are mixed up"
if command -v man >/dev/null; then
    MANWIDTH=80 man --warnings=w -l fringe.1 >page 2>warnings || fail "man cannot read the manual page"
    [ ! -s warnings ] || { fail "man warns"; cat warnings; }
    ! grep -qE '.{81}' page || { fail "lines of the manual page are too wide"; grep -E '.{81}' page; }
fi

# --- completion: what bash would offer for these words, the last one unfinished
source "$prefix/share/bash-completion/completions/fringe"
compopt() { :; } # only known during a completion
complete_words() { # name, word that must be offered, words
    COMP_WORDS=("${@:3}") COMP_CWORD=$(($# - 3)) COMPREPLY=()
    _fringe
    [[ " ${COMPREPLY[*]} " == *" $2 "* ]] && echo "ok: $1" || fail "$1: $2 is not in: ${COMPREPLY[*]}"
}
complete_words "a command" train fringe tr
complete_words "an option" --ranks fringe train --ra
complete_words "a key" train.epochs= fringe train x --set train.ep
complete_words "a word of a key" adam fringe train x --set train.optimizer = ad
complete_words "the words of a key" sgd fringe train x --set train.optimizer =
complete_words "a mode" adaqp fringe compare x --modes ad
complete_words "a generator" reddit-small fringe generate red
complete_words "a verb of cache" prune fringe cache pr
[[ "$("$FRINGE" help bash)" != *"carriers"* ]] || fail "words of a sentence are offered as generators"
complete_words "a verb of config" markdown fringe config ma
complete_words "a topic of help" train fringe help tr
COMP_WORDS=(fringe train --mo) COMP_CWORD=2
_fringe
[ ${#COMPREPLY[@]} -eq 0 ] || fail "train is offered an option of compare: ${COMPREPLY[*]}"
if command -v zsh >/dev/null; then
    zsh -n "$prefix/share/zsh/site-functions/_fringe" || fail "zsh cannot read its completion"
fi
finish
