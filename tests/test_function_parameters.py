"""What functions of C take in registers, by the text of their definitions."""

import pytest

from zerolap.build.function_parameters import LONGEST_DEFINITION, Parameter, parameters_of

NUMBER, SHORT, TEXT = Parameter.NUMBER, Parameter.SHORT_NUMBER, Parameter.TEXT
STRUCTURE, OBJECT, HANDLE = Parameter.STRUCTURE, Parameter.OBJECT, Parameter.HANDLE


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("sds f(streamID *id) {", (STRUCTURE,)),
        ("robj *f(redisDb *db, robj *key, int flags) {", (STRUCTURE, OBJECT, SHORT)),
        ("uint64_t f(const void *key) {\n    return 0;\n}", (TEXT,)),
        ("static inline int f(client *c)\n{", (HANDLE,)),
        ("static void\nf(const sds s, size_t length, unsigned char *p) {", (TEXT, NUMBER, TEXT)),
        (
            "int f(long long value, unsigned int a, uint32_t b, enum kind c, mstime_t now) {",
            (NUMBER, *[SHORT] * 3, NUMBER),
        ),
        ("void f(double score, robj *o) {", (Parameter.FLOATING, OBJECT)),
        ("void f(struct redisCommand *cmd, char **argv, int numbers[4]) {", (STRUCTURE, STRUCTURE, STRUCTURE)),
        ("void f(void (*callback)(int, char *), void *data) {", (NUMBER, TEXT)),
        ("void f(void) {", ()),
        ("void f() {", ()),
        ("}\n\n/* As f(int) does, and more. */\nint f(int a) {", (SHORT,)),
        ("int f(int a, // the first, of two\n      long b)\n{", (SHORT, NUMBER)),
    ],
)
def test_parameters_are_known_by_their_types(definition: str, expected: tuple[Parameter, ...]) -> None:
    assert parameters_of(definition, "f") == expected


@pytest.mark.parametrize(
    "definition",
    [
        "",
        "int g(int a) {",
        # No definition.
        "int f(int a);",
        "    x = f(a);\n",
        "int f(int a",
        # It takes a register for the place of what it returns.
        "streamID f(int a) {",
        "struct pair f(int a) {",
        # Each of these may take any registers.
        "void f(streamID id) {",
        "void f(struct pair both, int a) {",
        "void f(const char *format, ...) {",
        "f(a, b) int a; int b; {",
        # The text is that of code under test.
        "int f(" + "(" * LONGEST_DEFINITION + ") {",
        "int f(" + "int a, " * LONGEST_DEFINITION + "int b) {",
        "/*" * LONGEST_DEFINITION,
    ],
)
def test_what_is_not_understood_is_not_known(definition: str) -> None:
    assert parameters_of(definition, "f") is None
