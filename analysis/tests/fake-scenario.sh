#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stands in for the simulator: copies FAKE_RESULTS to the folder named by --out and ends as FAKE_END says,
# an exit status or the name of a signal. With FAKE_ONLY it fails, without results, only in folders whose name
# contains that, and ends well in all others. With FAKE_EDIT somebody adds these words to base.toml meanwhile, with
# FAKE_FOLDER somebody makes that folder.
for argument in "$@"; do
    case $argument in
    --out=*) out=${argument#--out=} ;;
    esac
    echo "argument $argument" >&2
done
if [ -n "$FAKE_ONLY" ] && [ "${out#*"$FAKE_ONLY"}" = "$out" ]; then
    FAKE_END=0
elif [ -n "$FAKE_ONLY" ]; then
    FAKE_RESULTS=
fi
if [ -n "$FAKE_RESULTS" ]; then
    mkdir -p "$out" && cp "$FAKE_RESULTS"/* "$out"
fi
if [ -n "$FAKE_EDIT" ] && ! grep -q "$FAKE_EDIT" base.toml; then
    echo "$FAKE_EDIT" >>base.toml
fi
[ -z "$FAKE_FOLDER" ] || mkdir -p "$FAKE_FOLDER"
case $FAKE_END in
[0-9]*) exit "$FAKE_END" ;;
*) kill -"$FAKE_END" $$ ;;
esac
