#!/bin/sh
# The compiler of a marked server: below src/ without optimisation, with marks; it also keeps what the preprocessor
# writes, without numbers of lines, in $PREPROCESSED. With $MARKS, an object, programs are linked.
case "$PWD" in
*/src) ;;
*) exec gcc "$@" ;;
esac
source= compiles=
for argument; do
    case "$argument" in
    -c) compiles=yes ;;
    *.c) source=$argument ;;
    esac
done
if [ -z "$compiles" ] || [ -z "$source" ]; then
    exec gcc "$@" "$MARKS"
fi
gcc "$@" -O0 -g -gdwarf-4 -fsanitize-coverage=trace-pc || exit
output=$PREPROCESSED/$(printf %s "$source" | tr / -).i
rm -f "$output"
for argument; do
    shift
    case "$argument" in
    -c | -MMD) ;;
    -o) skip=yes ;;
    *) if [ -n "$skip" ]; then skip=; else set -- "$@" "$argument"; fi ;;
    esac
done
exec gcc "$@" -E -w -D__LINE__=0 -o "$output"
