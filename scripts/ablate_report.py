"""Tables and picture of scripts/ablate.py: scores, Elo differences and their intervals."""

import math
from html import escape

# Two-sided 95 % quantiles of Student's t for 1, 2, 3... degrees of freedom. Beyond the list the
# quantile of the normal distribution is used.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13]
NORMAL = 1.96


def elo(score):
    """The Elo difference at which this score is expected; infinite at 0 and 1."""
    if score <= 0.0 or score >= 1.0:
        return math.inf if score >= 1.0 else -math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def finite(value):
    return value if math.isfinite(value) else None


def means(results):
    """The mean score of each row over its seeds, with a 95 % interval.

    The interval is Student's over the scores of the seeds, since seeds differ by more than the
    error of a match. It is never narrower than the interval that follows from the errors of the
    matches. With one seed it is the interval of its match.
    """
    found = []
    for row in dict.fromkeys(result["row"] for result in results):
        own = [result for result in results if result["row"] == row]
        scores, count = [result["score"] for result in own], len(own)
        mean = sum(scores) / count
        match_error = math.sqrt(sum(((one["high"] - one["low"]) / 2) ** 2 for one in own)) / count
        half = match_error
        if count > 1:
            spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / (count - 1))
            student = STUDENT[count - 2] if count - 2 < len(STUDENT) else NORMAL
            half = max(match_error, student * spread / math.sqrt(count))
        low, high = max(0.0, mean - half), min(1.0, mean + half)
        if count == 1:
            low, high = own[0]["low"], own[0]["high"]
        found.append({
            "version": 1, "kind": "mean", "row": row, "question": own[0]["question"],
            "seeds": [result["seed"] for result in own],
            "games": sum(result["games"] for result in own),
            "score": mean, "low": low, "high": high,
            "elo": finite(elo(mean)), "elo_low": finite(elo(low)), "elo_high": finite(elo(high)),
        })
    return found


def signed(score):
    value = elo(score)
    return f"{value:+.0f}" if math.isfinite(value) else ("+inf" if value > 0 else "-inf")


def interval(one):
    score = f"{100 * one['score']:.1f} ({100 * one['low']:.1f} to {100 * one['high']:.1f})"
    return f"{score} | {signed(one['score'])} ({signed(one['low'])} to {signed(one['high'])})"


def run(summary):
    """Games, positions, steps and minutes of a run."""
    counts = [f"{summary.get(key, 0):,}" for key in ["games", "positions", "steps"]]
    return f"{' / '.join(counts)} / {summary.get('minutes', 0.0):.1f}"


def table(results, found, options):
    """All results as Markdown."""
    together = (
        "each row at the same time as its own baseline," if options["paired"]
        else f"{options['jobs']} at a time"
    )
    lines = [
        "# Ablations",
        "",
        f"Each run trained for {options['minutes']:g} minutes, {together} on equal"
        f" shares of the cores; baseline {baseline(options)}.",
        f"Matches of the row's net against the baseline's: {options['games']} games,"
        f" {options['simulations']} simulations for each move, random openings with both colours.",
        "Above 50 % and 0 Elo the change is an improvement. Intervals are 95 %. The interval of a"
        " match is over pairs of games, that of a mean over two or more seeds is Student's.",
        "",
        "| row | changed keys | seeds | score % (95 %) | Elo (95 %) |",
        "|---|---|---|---|---|",
    ]
    changes = {result["row"]: " ".join(result["changes"]) for result in results}
    for one in found:
        seeds = ", ".join(map(str, one["seeds"]))
        lines.append(f"| {one['row']} | `{changes[one['row']]}` | {seeds} | {interval(one)} |")
    lines += [
        "",
        "The last two columns are games / positions / steps / minutes of the runs:",
        "",
        "| row | seed | score % (95 %) | Elo (95 %) | the row's run | the baseline's run |",
        "|---|---|---|---|---|---|",
    ]
    for one in results:
        runs = f"{run(one['arm'])} | {run(one['baseline'])}"
        lines.append(f"| {one['row']} | {one['seed']} | {interval(one)} | {runs} |")
    return "\n".join(lines) + "\n"


# Sizes of the picture in pixels; LINE is the height of a row.
LEFT, TOP, WIDTH, LINE, RIGHT = 330, 78, 460, 30, 170
# Elo differences beyond this do not widen the axis.
FARTHEST = 800.0


def baseline(options):
    """The name of the baseline's config, and the keys that --set changed."""
    return ", ".join([options["base"].name, *options["set"]])


def picture(results, found, options):
    """An SVG with a line for each row: the mean with its interval, and its seeds as rings."""
    bounds = [value for one in found for value in (elo(one["low"]), elo(one["high"]))]
    bounds += [elo(one["score"]) for one in [*results, *found]]
    reach = max([abs(value) for value in bounds if abs(value) <= FARTHEST] + [50.0]) * 1.08
    step = next(step for step in (10, 20, 50, 100, 200, 500) if reach / step <= 5)
    bottom = TOP + LINE * max(1, len(found))

    def x(value):
        return LEFT + WIDTH * (min(reach, max(-reach, value)) + reach) / (2 * reach)

    def text(at, y, content, anchor="start", size=12, fill="#222222"):
        return (
            f'<text x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
            f' fill="{fill}">{escape(content)}</text>'
        )

    def line(x1, y1, x2, y2, stroke, width=1):
        return (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"'
            f' stroke-width="{width}"/>'
        )

    width, height = LEFT + WIDTH + RIGHT, bottom + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif">',
        '<rect width="100%" height="100%" fill="white"/>',
        text(16, 26, "The effect of each change at equal training time", size=16),
        text(
            16, 46, f"{baseline(options)}; {options['minutes']:g} minutes a run; Elo against this"
            f" baseline at {options['simulations']} simulations; bars are 95 % intervals, rings are"
            " single seeds", size=11, fill="#6b6b6b",
        ),
    ]
    for count in range(-int(reach // step), int(reach // step) + 1):
        at, label = x(count * step), f"{count * step:+d}" if count else "0"
        parts.append(line(at, TOP - 12, at, bottom, "#e6e6e6" if count else "#9a9a9a"))
        parts.append(text(at, bottom + 18, label, "middle"))
    label = "Elo: left of 0 the baseline is better, right of 0 the change"
    parts.append(text(LEFT + WIDTH / 2, bottom + 42, label, "middle", fill="#6b6b6b"))
    for place, one in enumerate(found):
        y = TOP + LINE * place + LINE / 2
        low, high, middle = elo(one["low"]), elo(one["high"]), elo(one["score"])
        significant = one["low"] > 0.5 or one["high"] < 0.5
        colour = "#6b6b6b" if not significant else ("#0072b2" if middle > 0 else "#d55e00")
        parts.append(text(16, y, one["row"], size=13))
        parts.append(text(16, y + 12, one["question"], size=9, fill="#6b6b6b"))
        parts.append(line(x(low), y, x(high), y, colour, 2))
        for end in (low, high):
            # An interval that is cut off at the edge has no cap there.
            if abs(end) <= reach:
                parts.append(line(x(end), y - 5, x(end), y + 5, colour, 2))
        for seed in results:
            if seed["row"] == one["row"] and len(one["seeds"]) > 1:
                at = x(elo(seed["score"]))
                parts.append(
                    f'<circle cx="{at:.1f}" cy="{y:.1f}" r="3" fill="none" stroke="{colour}">'
                    f"<title>seed {seed['seed']}: {signed(seed['score'])}</title></circle>"
                )
        parts.append(f'<circle cx="{x(middle):.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>')
        label = f"{signed(one['score'])} ({signed(one['low'])} to {signed(one['high'])})"
        parts.append(text(LEFT + WIDTH + 14, y + 4, label))
    return "\n".join(parts) + "\n</svg>\n"
