# SPDX-License-Identifier: GPL-2.0-only
#
# The part of the script `hpcc` that gets ns-3: compiled by the distribution, as source, or by pip. It is read when something is built.

# ns-3 as the distribution has compiled it: libraries and headers, and programs that its CMake files ask for.
library_packages=(libns3-dev ns3)

# The source archive of ns-3 that this was tested with: NAME:SHA-256.
known_archive=ns3_3.37.orig.tar.bz2:dfa5ca1994ff3dbe1d4b23cef54e05e6079f5707a2ed6055f717bdd5b458c38d

# The ns-3 that pip installs where there is no apt-get.
pip_release=ns3==3.44.post0
# SHA-256 of its files, for CPython 3.8 to 3.13 of x86_64: pip takes no other.
pip_hashes=(
    19e95da588744893c0d7724cda07eda7e76f8ec1e838984c9cf7d3d94295f6d7
    64a4f5a3128f726b90ab3d5884068f7c4dc1223361ee2a290f8a62b05bcb10d6
    7c10adec6be54d91658c00989fd1df5c54916fecc2a42b02d7fdf9d129d69d8a
    2a98479a4a3a1bb819b95ce061871a9d068268b42351b8f0ef598160939ba7ce
    4d24fd23c9a2bfdb0ee158599c555e10ffdda37c09988c0b4efb577b3445c15b
    897bda8ce579a05f17dde77ebde311b5177761db8d73cb53b1ed0e1e4f33da28
)

# Whether the distribution's compiled ns-3 is installed.
have_libraries() {
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "${library_packages[@]}" 2>/dev/null | grep -cx installed)" = ${#library_packages[@]} ]
}

# Whether its headers find those of Boost, if they ask for them; its packages do not say so.
have_boost() { ! grep -qs '<boost/' /usr/include/ns3/length.h || [ -d /usr/include/boost ]; }

# Whether the simulator is built beside the distribution's ns-3, which is installed if need be; where there is a tree, that is taken.
# For the libraries' sake alone nobody is asked for a password.
uses_libraries() {
    local missing
    [ -z "${NS3_DIR:-}" ] && [ -n "$cache" ] && [ ! -d "$tree" ] && make_cache || return
    have_libraries && have_boost && return
    mapfile -t missing < <(missing_packages "${simulator_tools[@]}")
    [ ${#missing[@]} != 0 ] || [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null || return
    command -v apt-get >/dev/null || return
    have_libraries || install_packages "${missing[@]}" "${library_packages[@]}" || return
    have_boost || install_packages libboost-dev
}

# Downloads the distribution's source package of ns-3 into $1, with package lists of our own: the machine's apt
# configuration stays as it is.
download_ns3() {
    local work=$1 file
    mkdir -p "$work/parts" "$work/lists/partial"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
        [ ! -f "$file" ] || sed -e '/^deb-src /d' -e 's/^deb /deb-src /' -e 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/${file##*/}"
    done
    local apt=(apt-get -qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/parts"
        -o "Dir::State::Lists=$work/lists" -o "APT::Sandbox::User=$(id -un)")
    # Some list may be out of reach; what counts is whether the one that has ns-3 is not.
    "${apt[@]}" update || true
    (cd "$work" && "${apt[@]}" source --download-only ns3)
}

# Ends if the archive of ns-3 $1 is not the one that is known by its name. Of one that is not known the distribution's
# signature, which apt-get has checked, must be enough.
check_archive() {
    local hash
    hash=$(sha256sum "$1" | cut -d ' ' -f 1)
    case ${1##*/}:$hash in
    "$known_archive") ;;
    "${known_archive%:*}":*) die "${1##*/} has the SHA-256 $hash; expected ${known_archive#*:}" ;;
    *) say "${1##*/} is a version that this was not tested with (SHA-256 $hash)" ;;
    esac
}

# Puts a stock ns-3 tree into the cache, in one step at the end, so that an interrupted fetch leaves none.
fetch_ns3() {
    command -v apt-get >/dev/null || die "no apt-get here to fetch ns-3 with: set NS3_DIR to an ns-3 tree, $wanted_ns3"
    need_packages bzip2:bzip2
    make_cache
    # An interrupted fetch leaves nothing, not even an empty cache.
    trap 'rm -rf "$cache"/fetch.*; rmdir "$cache" 2>/dev/null || true' EXIT
    exec {lock}<"$cache"
    flock "$lock"
    [ ! -d "$tree" ] || return 0 # Another hpcc has fetched it meanwhile.
    say "no ns-3 tree: fetching the distribution's source package (40 MB) into $cache"
    local work=$cache/fetch.$$
    mkdir -p "$work/tree"
    download_ns3 "$work" ||
        die "ns-3 cannot be fetched. Without a network, set NS3_DIR to an ns-3 tree, $wanted_ns3, that you have."
    check_archive "$work"/ns3_*.orig.tar.*
    { tar -xf "$work"/ns3_*.orig.tar.* -C "$work/tree" --wildcards --strip-components=2 '*/ns-3.*' && is_tree "$work/tree"; } ||
        die "the package holds no ns-3 tree with a ./ns3 command (is the distribution older than Debian 12?)"
    mv "$work/tree" "$tree"
}

# Puts pip's ns-3 into the cache, in one step at the end.
install_by_pip() {
    [ ! -d "$cache/pip-ns3" ] || return 0
    make_cache
    say "no ns-3, and no apt-get to get it with: installing $pip_release by pip into $cache"
    echo "$pip_release" "${pip_hashes[@]/#/--hash=sha256:}" >"$cache/pip-ns3.txt"
    python3 -m pip install --quiet --no-deps --target "$cache/pip-ns3.$$" --require-hashes -r "$cache/pip-ns3.txt" >&2 ||
        die "pip cannot install ns-3: set NS3_DIR to an ns-3 tree, $wanted_ns3, or to the folder where one is installed"
    mv "$cache/pip-ns3.$$" "$cache/pip-ns3"
}
