"""Texts that a stranger chooses: names of branches, commits and cases, and what servers print; and what each would do.

On GitHub, each would act where it is put into a comment as it is.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class HostileText:
    """A text, where it comes from, and what it would do."""

    origin: str
    text: str
    would: str


HOSTILE_TEXTS = [
    HostileText("branch", "<script>alert(1)</script>", "run a script"),
    HostileText("branch", "<img src=https://evil.example/pixel.png>", "load an image that reports who reads"),
    HostileText("branch", "</details></summary>", "end what is folded"),
    HostileText("branch", "<!-- zerolap pull-request -->", "fake the marker of the lab's comment"),
    HostileText("branch", "--> <b>all is well</b> <!--", "end the marker's HTML comment"),
    HostileText("branch", "[fix](https://evil.example)", "make a link"),
    HostileText("branch", "![x](https://evil.example/pixel.png)", "load an image"),
    HostileText("branch", "@octocat", "mention a person"),
    HostileText("branch", "@github/security-team", "mention a team"),
    HostileText("branch", "feature/@octocat", "mention a person behind a slash"),
    HostileText("branch", "fixes #1", "refer to an issue"),
    HostileText("branch", "GH-26", "refer to an issue"),
    HostileText("commit", "valkey-io/valkey#1", "refer to an issue of another repository"),
    HostileText("commit", "octocat@a5c3785ed8d6a35868bc169f07e40e889087fd2e", "refer to a commit of a fork"),
    HostileText("commit", "a5c3785ed8d6a35868bc169f07e40e889087fd2e", "refer to a commit"),
    HostileText("commit", "a5c3785", "refer to a commit by an abbreviation"),
    HostileText("commit", "https://evil.example/login", "make a link of an address"),
    HostileText("commit", "HTTP://EVIL.EXAMPLE", "make a link of an address in capitals"),
    HostileText("commit", "www.evil.example", "make a link of a host"),
    HostileText("commit", "mailto:evil@evil.example", "make a link of an e-mail address"),
    HostileText("commit", "<https://evil.example>", "make a link between angle brackets"),
    HostileText("commit", "[text][1]\n\n[1]: https://evil.example", "define a link"),
    HostileText("commit", "footnote[^1]\n\n[^1]: evil", "make a footnote"),
    HostileText("commit", "# heading", "make a heading"),
    HostileText("commit", "all is well\n===========", "make a heading of the line before"),
    HostileText("commit", "text\n\n---\n\nmore", "draw a line across"),
    HostileText("commit", "> quoted", "quote"),
    HostileText("commit", "- [x] reviewed by security", "make a task that is done"),
    HostileText("commit", "1. first", "make a list"),
    HostileText("case", "a | b | c", "add cells to a row of the table"),
    HostileText("case", "a\\|b\\\\|c", "add cells behind backslashes"),
    HostileText("case", "x\n| y | z |", "add a row to the table"),
    HostileText("case", "`code` and ``more``", "end a code span"),
    HostileText("case", "`" * 100 + "<img src=x>", "have a parser that limits fences take code for text"),
    HostileText("case", "```\nfenced\n```", "begin a block of code"),
    HostileText("case", "**bold** _it_ ~~gone~~", "emphasize, and strike out"),
    HostileText("case", "** all other text", "end what is bold"),
    HostileText("case", "&lt;b&gt; &#x40;octocat &commat;octocat", "write characters as entities"),
    HostileText("case", "ends with a backslash \\", "escape what follows"),
    HostileText("case", ":tada: :shipit:", "show emoji"),
    HostileText("case", "$x^2$ and $`x`$", "show a formula"),
    HostileText("server", "/zerolap ack looks fine to me", "be read as a command of the lab"),
    HostileText("server", "done\n/zerolap cancel", "be read as a command on a line of its own"),
    HostileText("server", "safe\u202egnp.exe", "turn the direction of text"),
    HostileText("server", "a\u2066b\u2069 \u200eleft\u200f", "isolate and mark directions"),
    HostileText("server", "zero\u200bwidth\u200d\ufeffjoined\u2060", "hide characters that take no place"),
    HostileText("server", "\x1b]0;owned\x07\x1b[31mred\x00", "steer a terminal"),
    HostileText("server", "line\u2028separator\u0085next\x0bline\r\rlast", "begin lines by other line ends"),
    HostileText("server", "<details open><summary>@octocat</summary>", "fold text of its own"),
    HostileText("server", "<a href='javascript:alert(1)'>report</a>", "run a script by a link"),
]
