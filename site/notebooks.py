"""Notebooks as pages of the site: executed when the site is built, so that what they show is what chiplog does now."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient

SECONDS = 120
"""At most, for one cell."""


@cache
def executed(file: Path) -> Any:
    """The notebook with its outputs, run in an empty folder; CellExecutionError has the traceback of a failing cell."""
    notebook = nbformat.read(file, as_version=4)
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        kernel = KernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        return NotebookClient(notebook, km=kernel, timeout=SECONDS, resources=resources).execute()


def notebook_page(file: Path) -> str:
    """Markdown of the executed notebook, with its tables and pictures inside."""
    parts = []
    for cell in executed(file).cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [_output_text(one) for one in cell.outputs]
    return "\n\n".join(part for part in parts if part) + "\n"


def _output_text(output: Any) -> str:
    """The best that Markdown can show of an output."""
    if output.output_type == "stream":
        return f"```text\n{output.text.rstrip()}\n```"
    if "image/png" in output.data:
        alone = re.sub(r"\s", "", output.data["image/png"])
        return f'<img alt="{html.escape(output.data["text/plain"])}" src="data:image/png;base64,{alone}">'
    if "text/html" in output.data:
        return str(output.data["text/html"])
    return f"```text\n{output.data['text/plain'].rstrip()}\n```"
