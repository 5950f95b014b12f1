"""``tools/sbom.py``: the bill of materials names what the lock files name."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("sbom", ROOT / "tools" / "sbom.py")
assert spec is not None
assert spec.loader is not None
sbom = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sbom)


def test_every_pinned_package_is_a_component_once() -> None:
    document = sbom.bill(ROOT)
    references = [component["bom-ref"] for component in document["components"]]
    assert references == sorted(set(references))
    for file in sbom.PYTHON:
        for name, version in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / file).read_text(), re.MULTILINE):
            assert f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}" in references
    for file in sbom.CARGO:
        text = (ROOT / file).read_text()
        for name, version in re.findall(r'name = "(.+)"\nversion = "(.+)"', text):
            assert f"pkg:cargo/{name}@{version}" in references
    edges = {edge["ref"]: edge["dependsOn"] for edge in document["dependencies"]}
    assert set().union(*edges.values()) <= set(references)


def test_a_version_is_taken_from_the_lock_where_an_edge_names_none() -> None:
    lock = {
        "package": [
            {"name": "a", "version": "1.0.0", "checksum": "00", "dependencies": ["b", "c 2.0.0"]},
            {"name": "b", "version": "0.3.0", "checksum": "11"},
            {"name": "c", "version": "1.0.0", "checksum": "22"},
            {"name": "c", "version": "2.0.0", "checksum": "33"},
        ]
    }
    components, edges = sbom.crates(lock, "required")
    assert edges[0] == {"ref": "pkg:cargo/a@1.0.0", "dependsOn": ["pkg:cargo/b@0.3.0", "pkg:cargo/c@2.0.0"]}
    assert components[3]["hashes"] == [{"alg": "SHA-256", "content": "33"}]
    assert sbom.pinned("Foo_Bar[x]==1.2 \\\n    --hash=sha256:ab\n    # via y\n", "optional") == [
        {
            **{"type": "library", "bom-ref": "pkg:pypi/foo-bar@1.2", "name": "foo-bar", "version": "1.2"},
            **{"scope": "optional", "purl": "pkg:pypi/foo-bar@1.2"},
        }
    ]
