"""gnuplot's data: a block for each pattern with a size in bytes and the median of its seconds a line."""

from __future__ import annotations

from chiplog.dataset.series import Dataset
from chiplog.export.exporter import Exporter, runs_as_text


def text(dataset: Dataset) -> str:
    """The blocks, with two empty lines between them, as gnuplot's `index` wants them."""
    blocks = []
    for pattern in sorted({one.pattern for one in dataset.series}):
        medians = dataset.select(pattern=pattern).medians_by_size()
        rows = zip(medians.message_bytes.tolist(), medians.seconds.tolist(), strict=True)
        blocks.append(f"# {pattern}\n" + "".join(f"{size} {time:.9g}\n" for size, time in rows))
    return "\n\n".join(blocks)


EXPORTER = Exporter(
    name="gnuplot", summary="a run: medians over sizes for gnuplot", write_run=runs_as_text(text)
)
