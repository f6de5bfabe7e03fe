"""The network of communities, drawn with matplotlib."""

from __future__ import annotations

from typing import Any

from outcore import _outcore

#: Colors of circles, and of lines between them.
_CIRCLE, _LINE = "#4c78a8", "#9aa5b1"
#: Width of the thickest and of the thinnest line, in points.
_THICK, _THIN = 6.0, 0.5
#: Height of text, in points, and mean width of a character as a share of it.
_TEXT, _WIDE = 8.0, 0.55


def draw_network(largest: dict[str, Any], ax: Any = None) -> Any:
    """Draw communities and the weights between them, as in a report; return the axes."""
    from matplotlib import pyplot
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Circle

    ax = pyplot.gca() if ax is None else ax
    communities = largest["communities"]
    places = {each["community"]: place for place, each in enumerate(communities)}
    links = [(places[link["source"]], places[link["target"]], link["weight"]) for link in largest["links"]]
    box = ax.get_window_extent()
    width, height = (72 * pixels / ax.figure.dpi for pixels in (box.width, box.height))
    circles, lines = _outcore.place_network([float(each["size"]) for each in communities], links, width, height)
    heaviest = max((weight for _, _, weight in lines), default=1.0)
    ends = [[circles[one][:2], circles[other][:2]] for one, other, _ in lines]
    widths = [max(_THICK * weight / heaviest, _THIN) for _, _, weight in lines]
    ax.add_collection(LineCollection(ends, linewidths=widths, colors=_LINE, zorder=1))
    for (x, y, radius), each in zip(circles, communities, strict=True):
        ax.add_patch(Circle((x, y), radius, facecolor=_CIRCLE, edgecolor="white", zorder=2))
        number = str(each["community"])
        for text in (f"{number}: {each['representative']}", number):
            if len(text) * _TEXT * _WIDE < 2 * radius:
                # Names may have what matplotlib takes for mathematics.
                ax.text(x, y, text, fontsize=_TEXT, color="white", ha="center", va="center", parse_math=False, zorder=3)
                break
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.axis("off")
    return ax
