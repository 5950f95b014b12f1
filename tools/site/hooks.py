"""Generates the pages of the documentation site that are not files in docs/, when the site is built.

The reference is generated from the schema, the catalogues and the options of the program. The pages of the studies are
their README files and the numbers that ``netspurt reproduce`` wrote to ``report/reproduce.json``. Links to files
outside docs/ are changed to the page or the file of their target in the site.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))

sys.path.insert(0, str(ROOT / "tools"))

import gallery  # noqa: E402
import reference_pages as reference  # noqa: E402
import study_pages as studies  # noqa: E402

ABOUT = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)\s]*)?(\))")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)

HOMES = {
    **{f"studies/{name}/README.md": f"studies/{name}.md" for name in studies.NAMES},
    **{name: f"about/{name}" for name in ABOUT},
}
"""Files of the repository with a page of their own. All others are copied unchanged."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages, and the files that any page links to."""
    made = {f"about/{name}": (ROOT / name).read_text(encoding="utf-8") for name in ABOUT}
    made |= reference.pages() | studies.pages(ROOT)
    origins = {home: origin for origin, home in HOMES.items()}
    for place, text in made.items():
        whole = _relinked(text, place, origins.get(place, f"docs/{place}"))
        files.append(File.generated(config, place, content=whole))
    for entry in gallery.entries():
        files.append(File.generated(config, gallery.picture_of(entry), content=gallery.svg(entry)))
    for file in files.documentation_pages():
        if file.src_uri not in made and file.abs_src_path:
            text = Path(file.abs_src_path).read_text(encoding="utf-8")
            made[file.src_uri] = text
    wanted = {
        target
        for place, text in made.items()
        for target in _targets(text, origins.get(place, f"docs/{place}"))
        if target not in HOMES and not target.startswith("docs/")
    }
    for target in sorted(wanted):
        if (ROOT / target).is_file():
            files.append(File.generated(config, f"source/{target}", abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Changes the links of a page in docs/ to the places of their targets in the site."""
    place = page.file.src_uri
    return _relinked(markdown, place, f"docs/{place}") if page.file.generated_by is None else markdown


def _targets(text: str, origin: str) -> set[str]:
    """Returns the files that a page links to, as paths from the root of the repository."""
    bare = CODE.sub("", text)
    return {_resolved(found[2], origin) for found in LINK.finditer(bare)}


def _resolved(target: str, origin: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))


def _relinked(text: str, place: str, origin: str) -> str:
    """Returns the text with its links changed from ``origin`` in the repository to ``place`` in the site."""

    def lead(found: re.Match[str]) -> str:
        target = _resolved(found[2], origin)
        if target in HOMES:
            goal = HOMES[target]
        elif target.startswith("docs/"):
            goal = target.removeprefix("docs/")
        elif (ROOT / target).is_file():
            goal = f"source/{target}"
        else:
            raise PluginError(f"{origin} links to {found[2]}, which is neither a page nor a file")
        return (
            f"{found[1]}{posixpath.relpath(goal, posixpath.dirname(place) or '.')}{found[3] or ''}{found[4]}"
        )

    pieces = CODE.split(text)
    blocks = CODE.findall(text)
    led = [LINK.sub(lead, piece) for piece in pieces]
    return "".join(piece + block for piece, block in zip(led, [*blocks, ""], strict=True))
