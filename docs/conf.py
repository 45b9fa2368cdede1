"""Settings of the documentation; `make docs` builds it with executed examples."""

import re
import sys
from importlib import import_module
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from shortlist import __version__

sys.path.insert(0, str(Path(__file__).parent))
from written import write_pages

project = "Shortlist"
author = "The Shortlist maintainers"
copyright = f"2026 {author}"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
# Links lead to headings by their names, as they do where the pages are read as files.
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Shortlist {release}"
exclude_patterns = ["_build"]
templates_path = ["_templates"]
autosummary_generate = True
# The reference is what packages list in __all__, and no more.
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"
napoleon_use_param = False  # what follows a parameter's name is text, not a type to link
suppress_warnings = ["config.cache"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "remove_config_comments": True,
    "show_memory": False,
    # That page would load scripts from elsewhere.
    "write_computation_times": False,
}


def reference(app: Sphinx) -> set[str]:
    """The names that have a page in the reference: each home, and what it lists in __all__."""
    page = Path(app.srcdir, "api.md").read_text().partition(":toctree: reference")[2]
    homes = re.findall(r"^   (shortlist\.[a-z]+)$", page, re.MULTILINE)
    return {*homes, *(f"{home}.{name}" for home in homes for name in import_module(home).__all__)}


def pages(app: Sphinx) -> dict[str, Path]:
    """The pages of the reference that were written, by name."""
    return {page.stem: page for page in Path(app.srcdir, "reference").glob("*.rst")}


def remove_gone_pages(app: Sphinx, _: object) -> None:
    """Names that are gone lose their page; the others stay, so that only what changed is built anew."""
    names = reference(app)
    for name, page in pages(app).items():
        if name not in names:
            page.unlink()


def check_reference(app: Sphinx, error: Exception | None) -> None:
    """Every public name has a page of its own in the reference, and no other name has one."""
    differing = reference(app) ^ pages(app).keys()
    if error is None and differing:
        raise ExtensionError(f"the reference differs from __all__: {sorted(differing)}")


def skip_routing(app: Sphinx, what: str, name: str, *_: object) -> bool | None:
    """scikit-learn adds methods for metadata routing, whose texts point to its own pages."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    # Before Sphinx looks for pages.
    app.connect("config-inited", lambda app, _: write_pages(Path(app.srcdir, "reference")))
    app.connect("config-inited", remove_gone_pages)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("build-finished", check_reference)
