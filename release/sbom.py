"""The bill of materials of what is installed, as CycloneDX 1.5: ``python -m release sbom > dist/sbom.json``."""

from __future__ import annotations

import json
from typing import Any

from release.packages import Package, closure


def bill(found: dict[str, Package], root: str = "shortlist") -> dict[str, Any]:
    """The document; the same packages give the same text."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": _component(found[root])},
        "components": [_component(each) for each in _sorted(found) if each.name != root],
        "dependencies": [
            {"ref": _ref(each), "dependsOn": [_ref(found[name]) for name in each.needs if name in found]}
            for each in _sorted(found)
        ],
    }


def _sorted(found: dict[str, Package]) -> list[Package]:
    return sorted(found.values(), key=lambda each: each.name)


def _ref(package: Package) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"


def _component(package: Package) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": _ref(package),
        "name": package.name,
        "version": package.version,
        "purl": _ref(package),
        "licenses": [{"license": {"name": package.licence}}],
    }


def main() -> None:
    """Print it."""
    print(json.dumps(bill(closure()), indent=1))
