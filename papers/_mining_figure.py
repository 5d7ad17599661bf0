"""Figure of the mining plan: F1 over the odds of the record, beside the disguises of the thesis."""

from collections.abc import Mapping
from typing import Any

LENGTHS = (2, 4, 6)

Scores = dict[tuple[str, str, Any], Any]
"""F1 by disguise and length, for a table, a plan and a gamma."""


def draw(figure: Any, scores: Scores, names: Mapping[str, str]) -> None:
    """F1 over gamma, for lengths 2, 4 and 6 of both tables."""
    tables, gammas = (list(dict.fromkeys(key[place] for key in scores)) for place in (0, 2))
    panels = figure.subplots(len(tables), len(LENGTHS), sharex=True, sharey=True)
    for table, row in zip(tables, panels, strict=True):
        for length, axes in zip(LENGTHS, row, strict=True):
            for (kind, name), style in zip(names.items(), ("o-", "s--", "^-.", "v:", "x:"), strict=True):
                points = [scores[table, kind, gamma][:, length - 1].mean() for gamma in gammas]
                axes.plot(gammas, points, style, markersize=4, linewidth=1.3, label=name, clip_on=False)
            axes.set_xscale("log", base=10)
            axes.set_xticks(gammas, [str(gamma) for gamma in gammas])
            axes.minorticks_off()
            axes.set_title(f"{table}, length {length}", fontsize="medium")
            axes.set_ylim(0, 100)
            axes.grid(visible=True, alpha=0.3)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    # Below: above there is the title, which would be drawn over it.
    figure.legend(handles, labels, loc="outside lower center", ncols=len(names), frameon=False, fontsize="small")
    panels[-1, len(LENGTHS) // 2].set_xlabel("gamma, the odds of the whole record")
    figure.supylabel("F1 of frequent itemsets in percent")
