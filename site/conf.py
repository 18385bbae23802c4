"""What Sphinx builds the site with; site/build.py gives it the pages. Nothing is loaded from another host."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

project = "chiplog"
html_title = project
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
}
html_show_search_summary = False  # a page that is read without a server can't fetch others
add_module_names = False
html_copy_source = html_show_sphinx = html_show_copyright = False
html_use_index = html_domain_indices = False
suppress_warnings = ["misc.highlighting_failure"]  # JSON with "..." in it

nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!chiplog\.).*"),  # types of other packages: the build reads no other site
    ("py:.*", r"chiplog\.(dataset|protocol_changes)\..*"),  # inner rooms, which have no page
    ("py:.*", r".*\.T"),
]
default_role = "code"
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

myst_heading_anchors = 6
myst_heading_slug_func = "stage.heading_anchor"


def setup(app: Sphinx) -> None:
    """Give headings the anchors that links name, and let links lead to anchors that are HTML."""
    app.connect("doctree-read", _keep_anchors)


def _keep_anchors(app: Sphinx, doctree: nodes.document) -> None:
    for heading in doctree.findall(nodes.section):
        if heading.get("slug", heading["ids"][0]) not in heading["ids"]:
            heading["ids"].insert(0, heading["slug"])
    page = app.env.current_document.docname
    for text in doctree.findall(nodes.raw):
        for anchor in re.findall('<a id="([^"]+)"', text.astext()):
            app.env.domains.standard_domain.anonlabels[f"{page}#{anchor}"] = (page, anchor)
