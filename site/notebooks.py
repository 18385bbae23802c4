"""Notebooks as pages of the site: executed when the site is built, so that what they show is what chiplog does now.

`python site/notebooks.py FILE` prints the executed notebook.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

SECONDS = 120
"""At most, for one cell."""


def executed(file: Path) -> dict[str, Any]:
    """The notebook with its outputs, run in an empty folder; RuntimeError has the traceback of a cell that fails.

    A process of its own executes it: what serves the kernel leaves sockets open.
    """
    done = subprocess.run([sys.executable, __file__, str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{file} does not run:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def notebook_page(file: Path) -> str:
    """Markdown of the executed notebook, with its tables and pictures inside."""
    parts = []
    for cell in executed(file)["cells"]:
        source = _text(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [_output_text(one) for one in cell["outputs"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _output_text(output: dict[str, Any]) -> str:
    """The best that Markdown can show of an output."""
    if output["output_type"] == "stream":
        return f"```text\n{_text(output['text']).rstrip()}\n```"
    data = {kind: _text(text) for kind, text in output["data"].items()}
    if "image/png" in data:
        picture = re.sub(r"\s", "", data["image/png"])
        words = html.escape(data["text/plain"])
        return f'<img alt="{words}" src="data:image/png;base64,{picture}">'
    return data.get("text/html") or f"```text\n{data['text/plain'].rstrip()}\n```"


def _text(lines: str | list[str]) -> str:
    """Notebooks keep texts whole or as a list of lines."""
    return lines if isinstance(lines, str) else "".join(lines)


def main() -> None:
    """Execute one notebook."""
    import nbformat
    from jupyter_client.manager import KernelManager
    from nbclient import NotebookClient

    notebook = nbformat.read(sys.argv[1], as_version=4)
    with TemporaryDirectory() as folder:
        kernel = KernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, km=kernel, timeout=SECONDS, resources=resources)
        client.execute()
    print(nbformat.writes(notebook))


if __name__ == "__main__":
    main()
