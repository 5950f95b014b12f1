"""Checks imports between the modules of one Rust crate: no circles, and only those that the table allows.

Nodes are files. The imports of a file are read from its paths: `use` declarations and inline paths that begin with
`crate`, `super`, `self`, a module that the file declares, or a name that it imports. A name that another module
re-exports counts as an import of the file that defines it. Exempt are code under `#[cfg(test)]`, programs in
`src/bin`, and a module that declares its children or re-exports their items.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]
"""A module by its path from the crate: `()` is `lib.rs`."""

Table = dict[str, frozenset[str]]
"""For each folder or file of a crate, including nested folders, the others that it may import."""


def table(rows: str) -> Table:
    """Reads a table: `name: allowed imports`, one row a line."""
    split = (row.partition(":") for row in rows.strip().splitlines())
    return {name.strip(): frozenset(may.split()) for name, _, may in split}


# Every crate has a table. `lib.rs` declares modules, and is exempt.
ALLOWED: dict[str, Table] = {
    "tcp": table("""
        time:
        ranges:
        prediction:
        wire:               time
        opening/state:
        recovery/rto:       time
        receive/acking:     time wire
        config/choices:     time
        record:             congestion opening/state time
        send/transmit:      config/choices record time
        congestion:         config/choices ranges time wire
        config:             config/choices congestion receive/acking recovery/rto send/transmit time wire
        recovery:           config config/choices ranges record recovery/rto time wire
        opening:            config config/choices time wire
        context:            config congestion opening opening/state prediction record time wire
        receive:            config config/choices congestion context opening opening/state ranges receive/acking \
                            record recovery time wire
        send:               config config/choices congestion context opening opening/state prediction ranges \
                            record recovery recovery/rto send/transmit time wire
        connection:         config config/choices congestion context opening opening/state ranges receive record \
                            recovery/rto send send/transmit time wire
    """),
    "sim": table("""
        engine:
        random:
        spec:       host network
        network:    engine random record spec
        host:       network random record spec
        record:     host network spec
        world:      host network random record spec
        parallel:   host network record spec world
    """),
    "scenario": table("""
        values:
        own:
        reading:    own values
        tcp:        own reading values
        network:    tcp values
        flow:       own reading tcp values
        paths:      reading values
        scenario:   flow network paths reading tcp values
        meaning:    flow network paths reading scenario tcp values
        parse:      flow meaning paths reading scenario values
        build:      flow network own reading scenario
        catalogue:  paths reading scenario tcp values
        document:   tcp
        synthetic:  reading values
    """),
    "budget": table("""
        limit:
        timeline:   limit
        measured:   limit
        budget:     limit timeline measured
    """),
    "trace": table("""
        stamp:
        conversation:
        replay:
        capture:    stamp
        follow:     capture conversation stamp
        diagnosis:  conversation follow stamp
    """),
    "live": table("""
        prober:
        sockets:
        tun:
        host:       tun
        emulator:   sockets tun
    """),
    "observe": table("""
        offload:
        tap:        offload
        judge:      tap
    """),
    "python": table("""
        errors:
        tables:     errors
        path:       errors tables
        delays:     tables
        own:        errors
        captures:   errors tables
        live:       errors tables
        simulation: captures errors live own tables
    """),
    "packetdrill": table("""
        sysctl:
        icmp:
        queue:          sysctl
        offload:
        epoll:
        socket_options:
        fast_open:      sysctl
        error_queue:    socket_options
        socket:         error_queue fast_open queue socket_options
        stack:          epoll fast_open icmp offload queue socket socket_options sysctl
        calls:          epoll error_queue fast_open queue socket socket_options stack sysctl
        shared_stack:   socket_options stack
        replay:         calls stack sysctl
        ffi:            calls epoll shared_stack socket_options stack sysctl
    """),
}

VISIBILITY = re.compile(r"\bpub\s*\(\s*in\b[^)]*\)")

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|b?r(?P<hash>\#*)".*?"(?P=hash)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])')
      |(?P<token>'?\w+|::|[^\s])""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A word or a sign, and its line."""

    text: str
    line: int


@dataclass(frozen=True)
class Reference:
    """A path in the source: its module, its steps, and whether its first step is looked up in that module."""

    module: Module
    steps: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Use:
    """One name that a `use` imports; `*` means all."""

    name: str
    path: Reference
    public: bool


@dataclass
class Source:
    """The module declarations and paths of one file."""

    module: Module
    file: Path
    children: set[str] = field(default_factory=set)
    tests: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    paths: list[Reference] = field(default_factory=list)
    words: dict[str, int] = field(default_factory=dict)


def tokens(text: str) -> list[Token]:
    """The words and signs of a source, without comments, literals and the paths of `pub(in ...)`."""
    text = VISIBILITY.sub("pub", text)
    found: list[Token] = []
    line, last = 1, 0
    for match in TOKEN.finditer(text):
        line, last = line + text.count("\n", last, match.start()), match.start()
        if match["token"]:
            found.append(Token(match["token"], line))
    return found


def end_of_item(source: list[Token], at: int) -> int:
    """The position after the item that begins at `at`: a `;` or a closing brace outside all brackets."""
    depth = 0
    while at < len(source):
        text = source[at].text
        depth += (text in "([{") - (text in ")]}")
        at += 1
        if depth == 0 and text in ";}":
            return at
    return at


def end_of_attribute(source: list[Token], at: int) -> int:
    """The position after the attribute whose `[` is at `at`."""
    depth = 0
    while at < len(source):
        depth += (source[at].text == "[") - (source[at].text == "]")
        at += 1
        if depth == 0:
            return at
    return at


class Reader:
    """Reads one file, token by token."""

    def __init__(self, module: Module, file: Path, text: str) -> None:
        self.tokens = tokens(text)
        self.source = Source(module, file)
        self.inline: list[str | None] = []

    def at(self, position: int) -> str:
        """The text at a position; empty after the end."""
        return self.tokens[position].text if 0 <= position < len(self.tokens) else ""

    def here(self) -> Module:
        """The module at this position, inline modules included."""
        return (*self.source.module, *(name for name in self.inline if name))

    def read(self) -> Source:
        """Reads the whole file."""
        position = 0
        while position < len(self.tokens):
            position = self.step(position)
        return self.source

    def step(self, at: int) -> int:
        """Reads the construct at a position; returns the position after it."""
        text = self.at(at)
        if text == "#" and self.at(at + 1) == "[":
            return self.attribute(at + 1)
        if text == "mod" and self.at(at + 2) in {";", "{"}:
            if self.at(at + 2) == ";":
                self.source.children.add(self.at(at + 1))
            else:
                self.inline.append(self.at(at + 1))
            return at + 3
        if text == "use" and self.at(at - 1) in {"", ";", "}", "]", ")", "pub", "{"}:
            return self.use(at)
        if text == "{":
            self.inline.append(None)
        elif text == "}" and self.inline:
            self.inline.pop()
        elif re.match(r"[^\W\d]", text) and self.at(at - 1) not in {"::", "."}:
            return self.path(at)
        return at + 1

    def attribute(self, at: int) -> int:
        """Skips an attribute; a test attribute also skips its item."""
        end = end_of_attribute(self.tokens, at)
        words = [token.text for token in self.tokens[at:end]]
        if words[1:5] != ["cfg", "(", "test", ")"]:
            return end
        while self.at(end) == "#" and self.at(end + 1) == "[":
            end = end_of_attribute(self.tokens, end + 1)
        item = end_of_item(self.tokens, end)
        declared = [token.text for token in self.tokens[end:item]]
        if "mod" in declared and declared[-1] == ";":
            self.source.tests.add(declared[declared.index("mod") + 1])
        return item

    def path(self, at: int) -> int:
        """Reads a word and the path that it begins, if any."""
        steps = [self.at(at)]
        line = self.tokens[at].line
        at += 1
        while self.at(at) == "::" and re.match(r"\w", self.at(at + 1)):
            steps.append(self.at(at + 1))
            at += 2
        self.source.words.setdefault(steps[0], line)
        if len(steps) > 1:
            self.source.paths.append(Reference(self.here(), tuple(steps), line))
        return at

    def use(self, at: int) -> int:
        """Reads a `use` declaration."""
        before = self.at(at - 1)
        public = before == "pub" or (before == ")" and "pub" in {self.at(at - 4), self.at(at - 5)})
        end = end_of_use(self.tokens, at)
        self.tree(at + 1, (), public)
        return end

    def tree(self, at: int, front: tuple[str, ...], public: bool) -> int:
        """Reads one tree of a `use`: a path, or a path and a list of trees in braces. Returns the position after it."""
        steps = front
        while True:
            text = self.at(at)
            if text == "{":
                at += 1
                while self.at(at) not in {"}", ""}:
                    at = self.tree(at, steps, public)
                    at += self.at(at) == ","
                return at + 1
            if text == "::":
                at += 1
                continue
            if not (re.match(r"\w", text) or text == "*"):
                return at
            if text == "as":
                name = self.at(at + 1)
                self.uses(name, steps, at, public)
                return at + 2
            if not (text == "self" and steps):
                steps = (*steps, text)
            at += 1
            if self.at(at) not in {"::", "as"}:
                self.uses(steps[-1], steps, at - 1, public)
                return at

    def uses(self, name: str, steps: tuple[str, ...], at: int, public: bool) -> None:
        """Records one imported name."""
        self.source.uses.append(Use(name, Reference(self.here(), steps, self.tokens[at].line), public))


def end_of_use(source: list[Token], at: int) -> int:
    """The position after the `;` of a `use`."""
    while at < len(source) and source[at].text != ";":
        at += 1
    return at + 1


@dataclass(frozen=True)
class Import:
    """One import between files."""

    importer: Module
    imported: Module
    line: int


class Crate:
    """All modules of one crate."""

    def __init__(self, folder: Path) -> None:
        self.sources: dict[Module, Source] = {}
        root = folder / "src"
        for file in sorted(root.rglob("*.rs")):
            module = module_of(file.relative_to(root))
            if module is not None:
                self.sources[module] = Reader(module, file, file.read_text()).read()
        for source in list(self.sources.values()):
            for name in source.tests - source.children:
                for module in list(self.sources):
                    if module[: len(source.module) + 1] == (*source.module, name):
                        del self.sources[module]
        self.names: dict[Module, dict[str, Use]] = {}
        for source in self.sources.values():
            for use in source.uses:
                self.names.setdefault(use.path.module, {}).setdefault(use.name, use)

    def file_of(self, module: Module) -> Module:
        """The module of the file that contains a module: itself, or the enclosing one if it is inline."""
        while module and module not in self.sources:
            module = module[:-1]
        return module

    def absolute(self, path: Reference, seen: frozenset[Reference] = frozenset()) -> Module | None:
        """A path from the crate; `None` if it leads out of the crate, or names an item of its own file."""
        module, steps = path.module, path.steps
        first = steps[0]
        if first == "crate":
            return steps[1:]
        if first == "self":
            return (*module, *steps[1:])
        if first == "super":
            while steps and steps[0] == "super":
                module, steps = module[:-1], steps[1:]
            return (*module, *steps)
        if (*module, first) in self.sources:
            return (*module, *steps)
        use = self.names.get(module, {}).get(first)
        if use is None or use.path == path or use.path in seen:
            return None
        front = self.absolute(use.path, seen | {path, use.path})
        return None if front is None else (*front, *steps[1:])

    def defined_in(self, path: Module, seen: frozenset[Module] = frozenset()) -> Module:
        """The file that defines the item of an absolute path, through all re-exports."""
        module: Module = ()
        for at, step in enumerate(path):
            if (*module, step) in self.sources:
                module = (*module, step)
                continue
            use = self.names.get(module, {}).get(step)
            if use is None or path in seen:
                break
            front = self.absolute(use.path)
            if front is None:
                break
            return self.defined_in((*front, *path[at + 1 :]), seen | {path})
        return self.file_of(module)

    def imports(self) -> Iterator[Import]:
        """Every import of another file, once for each place."""
        for source in self.sources.values():
            for use in source.uses:
                line, target = use.path.line, self.target(source, use.path)
                if target is None:
                    continue
                inside = target[: len(source.module)] == source.module
                if use.public and inside:
                    # A re-export of a child's item. If the name is used here as well, that is an import.
                    if use.name not in source.words:
                        continue
                    line = source.words[use.name]
                yield Import(source.module, target, line)
            for path in source.paths:
                target = self.target(source, path)
                if target is not None:
                    yield Import(source.module, target, path.line)

    def target(self, source: Source, path: Reference) -> Module | None:
        """The other file that a path names, if any."""
        absolute = self.absolute(path)
        if absolute is None:
            return None
        target = self.defined_in(absolute)
        return None if target == source.module else target


def module_of(file: Path) -> Module | None:
    """The module in a file below `src`; `None` for programs."""
    steps = file.with_suffix("").parts
    if steps[0] in {"bin", "main"}:
        return None
    return steps[:-1] if steps[-1] in {"mod", "lib"} else steps


def circles(edges: dict[Module, set[Module]]) -> list[tuple[list[Module], int]]:
    """For each group of files that import each other a shortest circle, and the size of the group."""
    found: list[tuple[list[Module], int]] = []
    done: set[Module] = set()
    reach = reachable(edges)
    for start in sorted(edges):
        group = {other for other in reach[start] if start in reach[other]}
        if start in group and start not in done:
            done |= group
            found.append((min((shortest(edges, one) for one in sorted(group)), key=len), len(group)))
    return found


def reachable(edges: dict[Module, set[Module]]) -> dict[Module, set[Module]]:
    """For each file all files reachable from it; itself only through a circle."""
    reach: dict[Module, set[Module]] = {}
    for start in set(edges) | {other for others in edges.values() for other in others}:
        seen: set[Module] = set()
        waiting = list(edges.get(start, ()))
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting.extend(edges.get(one, ()))
        reach[start] = seen
    return reach


def shortest(edges: dict[Module, set[Module]], start: Module) -> list[Module]:
    """The shortest circle through a file that is on one."""
    ways = [[start]]
    seen: set[Module] = set()
    for way in ways:
        for other in sorted(edges.get(way[-1], ())):
            if other == start:
                return way
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return [start]


def violations(root: Path, allowed: dict[str, Table] | None = None) -> list[str]:
    """Every circle and every import that the table forbids, as `file:line: sentence`."""
    allowed = ALLOWED if allowed is None else allowed
    crates = {file.parts[-3] for file in root.glob("crates/*/src/lib.rs")}
    found = [
        f"crates/{name}/src/lib.rs:1: `{name}` has no table in tools/layers/rust_modules.py yet"
        for name in sorted(crates - set(allowed))
    ]
    for name, rows in allowed.items():
        crate = Crate(root / "crates" / name)
        files = {module: str(source.file.relative_to(root)) for module, source in crate.sources.items()}
        lines: dict[tuple[Module, Module], int] = {}
        edges: dict[Module, set[Module]] = {}
        for one in crate.imports():
            lines.setdefault((one.importer, one.imported), one.line)
            edges.setdefault(one.importer, set()).add(one.imported)
        found += [f"{files[pair[0]]}:{lines[pair]}: {why}" for pair, why in forbidden(lines, rows)]
        for circle, size in circles(edges):
            steps = list(zip(circle, [*circle[1:], circle[0]], strict=True))
            way = ", which ".join(f"imports {files[step[1]]} (line {lines[step]})" for step in steps)
            found.append(
                f"{files[circle[0]]}:{lines[steps[0]]}: {size} files import each other: this one {way}"
            )
    return found


def forbidden(
    pairs: Iterable[tuple[Module, Module]], rows: Table
) -> Iterator[tuple[tuple[Module, Module], str]]:
    """The imports between the folders of a crate that its table forbids, with the reason."""
    for importer, imported in pairs:
        if not importer or not imported:
            continue
        front, behind = row_of(importer, rows), row_of(imported, rows)
        if front == behind:
            continue
        if front not in rows:
            why = f"`{front}` has no row in the table of tools/layers/rust_modules.py yet"
            yield (importer, imported), why
        elif behind not in rows[front]:
            may = ", ".join(sorted(rows[front])) or "nothing else"
            yield (importer, imported), f"`{front}` imports `{behind}`, but it may import {may}"


def row_of(module: Module, rows: Table) -> str:
    """The row of a module: that of the innermost folder with a row, else the name of its outermost folder."""
    names = ("/".join(module[:depth]) for depth in range(len(module), 1, -1))
    return next((name for name in names if name in rows), module[0])


# For the self-test: a crate with one violation of each kind, and one valid example of each kind.
EXAMPLE = {
    "lib.rs": "pub mod bottom;\nmod loose;\npub mod middle;\npub mod top;\npub use top::Top;\n",
    # Comments, literals and tests import nothing; a child is declared.
    "bottom/mod.rs": (
        "//! use crate::top::Top;\nmod leaf;\npub use leaf::Leaf;\n"
        'pub const TEXT: &str = "use crate::top::Top;";\npub const SIGN: char = \'"\';\n'
        "#[cfg(test)]\nmod tests {\n    use crate::top::Top;\n}\n#[cfg(test)]\nmod more_tests;\n"
    ),
    "bottom/leaf.rs": "use super::TEXT;\npub struct Leaf;\n",
    "bottom/more_tests.rs": "use crate::top::Top;\n",
    # A parent that uses what it re-exports imports its child, which imports it.
    "middle/mod.rs": "mod part;\npub use part::Part;\npub enum Any { Part(Part) }\npub trait Shape {}\n",
    "middle/part.rs": "use super::Shape;\npub struct Part;\nimpl Shape for Part {}\n",
    # Through two re-exports and an inline path to the file that defines the name, which leads back.
    "top/mod.rs": "mod one;\nmod two;\npub use one::Top;\npub(crate) use two::*;\n",
    "top/one.rs": "use crate::middle;\npub struct Top;\nfn far() { crate::top::two::run(); middle::Part; }\n",
    "top/two.rs": "use crate::{\n    bottom::Leaf,\n    Top as Other,\n};\npub fn run() {}\n",
    "loose.rs": "mod inner {\n    use super::super::bottom::Leaf;\n}\n",
    "bin/tool.rs": "use crate::top::Top;\n",
}
EXPECTED = [
    "crates/made/src/loose.rs:2: `loose` has no row",
    "crates/made/src/middle/mod.rs:3: 2 files import each other: ",
    "crates/made/src/top/one.rs:1: `top` imports `middle`, but it may import bottom",
    "crates/made/src/top/one.rs:3: 2 files import each other: ",
    "crates/made/src/top/one.rs:3: `top` imports `middle`, but it may import bottom",
    "crates/other/src/lib.rs:1: `other` has no table",
]


def self_test() -> None:
    """Checks on a small artificial crate that each kind of violation is found."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in EXAMPLE.items():
            file = Path(folder) / "crates" / "made" / "src" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        other = Path(folder) / "crates" / "other" / "src" / "lib.rs"
        other.parent.mkdir(parents=True)
        other.write_text("")
        found = sorted(violations(Path(folder), {"made": table("bottom:\nmiddle: bottom\ntop: bottom")}))
    if len(found) != len(EXPECTED) or not all(map(str.startswith, found, EXPECTED)):
        sys.exit(f"rust_modules: self-test found {found}, expected {EXPECTED}")
    print(f"rust_modules: self-test found all {len(EXPECTED)} violations and nothing else")
