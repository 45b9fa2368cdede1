"""Settings of the documentation; `make docs` builds it with executed examples."""

from shortlist import __version__

project = "Shortlist"
author = "The Shortlist maintainers"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_title = f"Shortlist {release}"
exclude_patterns = ["_build"]
autosummary_generate = True
autodoc_typehints = "none"
suppress_warnings = ["config.cache"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "remove_config_comments": True,
    "show_memory": False,
}
