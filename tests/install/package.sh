#!/bin/sh
# package.sh CMAKE CPACK BUILD SOURCE SCRATCH PYTHON: the .deb of cpack, unpacked, and the portable command. The package has all that
# it should and nothing else, the command, the library and the Python module work from there, the manual page is clean roff, and
# manual page and completions know every command and option. The portable command runs in a folder that holds nothing else.
set -eu
cmake=$1 cpack=$2 build=$3 source=$4 scratch=$5 python=$6
fail() {
    echo "package: $*" >&2
    exit 1
}
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"

"$cpack" --config "$build/CPackConfig.cmake" -B "$scratch/made" >log 2>&1 || fail "cpack: $(tail -n 5 log)"
deb=$(echo made/*.deb)
dpkg-deb -x "$deb" root
dpkg-deb -I "$deb" >facts
for fact in 'Package: mfc$' 'Version: 0\.2\.0$' 'Depends: .*coinor-libcbc3.*libc6.*libprotobuf-c1' 'Section: science$'; do
    grep -q "$fact" facts || fail "no $fact in $(cat facts)"
done

echo "files, their owners and modes"
dpkg-deb -c "$deb" | awk '{print $1, $2, $6}' >list
awk '$2 != "root/root" {exit 1}' list || fail "a file is not root's"
awk '$1 ~ /^-/ && $1 != ($3 == "./usr/bin/mfc" ? "-rwxr-xr-x" : "-rw-r--r--") {print; exit 1}' list || fail "a mode is wrong"
for file in bin/mfc include/mfc.h include/mfc/solve.h lib/libmfc.so lib/libmfc.so.0.2 lib/libmfc.a lib/pkgconfig/mfc.pc \
    lib/cmake/mfc/mfcConfig.cmake lib/python3/dist-packages/mfc/__init__.py lib/python3/dist-packages/mfc/py.typed \
    share/man/man1/mfc.1.gz share/bash-completion/completions/mfc share/zsh/vendor-completions/_mfc \
    share/fish/vendor_completions.d/mfc.fish share/doc/mfc/copyright share/doc/mfc/changelog.gz; do
    [ -e "root/usr/$file" ] || fail "the package lacks $file"
done
awk '$1 ~ /^[-l]/ {print $3}' list |
    grep -Ev '^\./usr/(bin/mfc|include/|lib/(libmfc|pkgconfig|cmake|python3)|share/(man|bash-completion|zsh|fish|doc)/)' &&
    fail "the package has more than it should"
! grep -q __pycache__ list || fail "the package has compiled Python"

echo "it works from there"
export LD_LIBRARY_PATH="$scratch/root/usr/lib" PYTHONDONTWRITEBYTECODE=1
root/usr/bin/mfc "$source/examples/mlp.onnx" -o command.onnx --budget none -q
PYTHONPATH="$scratch/root/usr/lib/python3/dist-packages" "$python" -c "
import mfc
assert mfc.plan('$source/examples/mlp.onnx', budget='none').to_bytes() == open('command.onnx', 'rb').read()
assert mfc.__version__ == '0.2.0' and '$scratch/root' in mfc._library.lib._name"

echo "the manual page"
gzip -dc root/usr/share/man/man1/mfc.1.gz >mfc.1
groff -man -ww -Tutf8 -P-bcou mfc.1 >manual 2>warnings
[ ! -s warnings ] || fail "the manual page: $(head -n 3 warnings)"
mfc=root/usr/bin/mfc
$mfc --help | tr '\n' ' ' | grep -oE 'Exit codes: .*' | grep -oE '[0-9]+ [a-z]' | grep -oE '[0-9]+' | while read -r code; do
    grep -qE "^ +([0-9, ]*, )?$code(,| |\$)" manual || fail "the manual page lacks exit code $code"
done

echo "commands and options"
bash=root/usr/share/bash-completion/completions/mfc
# What bash offers for these words of a command line; the last one is completed.
offered() {
    bash -c 'compopt() { :; }; . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mfc; printf "%s\n" "${COMPREPLY[@]}"' \
        "$bash" "$@"
}
$mfc --help | sed -n '/^Commands/,/^Options/s/^  \([a-z][a-z-]*\)  .*/\1/p' >commands
[ "$(wc -l <commands)" -gt 15 ] || fail "no commands: $($mfc --help)"
while read -r command; do
    grep -q "mfc $command \[OPTION\]" manual || fail "the manual page lacks $command"
    offered mfc "$command" -- >words
    $mfc "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -e '--[a-z-]+' | sort -u >options
    while read -r option; do
        grep -qE -e "$option(=|,| |\$)" manual || fail "the manual page lacks $option of $command"
        grep -qxE -e "$option=?" words || fail "bash does not offer $option of $command"
        grep -q -e "^complete -c mfc -n '__mfc_is $command'.* -l ${option#--} " \
            root/usr/share/fish/vendor_completions.d/mfc.fish || fail "fish lacks $option of $command"
        sed -n "/^  $command) _arguments/,/;;\$/p" root/usr/share/zsh/vendor-completions/_mfc |
            grep -qE -e "[*,]$option(=|\[|,|\})" || fail "zsh lacks $option of $command"
    done <options
done <commands
[ "$(offered mfc so)" = solve ] || fail "bash does not complete a command: $(offered mfc so)"
[ "$(offered mfc model.onnx --runtime = ort-)" = ort-lean ] || fail "bash does not complete a choice"
[ "$(offered mfc export --sta)" = --state= ] || fail "bash does not complete an option"

echo "the portable command"
"$cmake" --build "$build" --target mfc_portable >log 2>&1 || fail "$(tail -n 5 log)"
if readelf -l "$build/mfc_portable" | grep -q INTERP; then
    fail "the portable command needs shared libraries"
fi
mkdir alone
cp "$build/mfc_portable" alone/mfc
cp "$source/examples/mlp.onnx" "$source/examples/chain.csv" alone
in_alone="unshare -r chroot alone"
[ "$(id -u)" != 0 ] || in_alone="chroot alone"
if $in_alone /mfc --version >/dev/null; then
    $in_alone /mfc mlp.onnx -o plan.onnx --budget none -q
    cmp command.onnx alone/plan.onnx || fail "the portable command writes something else"
    $in_alone /mfc solve chain.csv --budget 50% --order given --method ilp --gap 0 -q | grep -q '^status  *optimal' ||
        fail "the portable command does not solve integer programs"
else
    fail "the portable command does not run alone"
fi
echo "done"
