"""What a run measured, as Markdown and SVG: tables, a chart, and the goals with what became of them."""
import datetime, os, platform, statistics

ARTICLE = {"req/s": 6541, "average": 7.6, "p50": 5.9, "p90": 13.7, "p95": 18.1, "within 25 ms": 97.5}


class Goals:
    """What is to be reached, and whether it was."""

    def __init__(self):
        self.rows = []

    def at_most(self, what, measured, bound):
        self._add(what, measured, "at most", bound, measured <= bound)

    def at_least(self, what, measured, bound):
        self._add(what, measured, "at least", bound, measured >= bound)

    def _add(self, what, measured, how, bound, met):
        self.rows.append((what, measured, how, bound, met))
        print(f"  {what}: {measured:.3g} ({how} {bound:g}): {'met' if met else 'MISSED'}", flush=True)

    def missed(self):
        return [row for row in self.rows if not row[4]]

    def table(self):
        lines = ["| goal | bound | measured | |", "|---|---:|---:|---|"]
        lines += [f"| {what} | {how} {bound:g} | {measured:.3g} | {'met' if met else '**missed**'} |" for what, measured, how, bound, met in self.rows]
        return "\n".join(lines)


def paired(one, other, key="cpu"):
    """The median of ratios, round by round: what slows the machine down slows both."""
    return statistics.median(a[key] / b[key] for a, b in zip(one, other))


def peers(names, got, left_out, goals):
    middle = {name: {k: statistics.median(x[k] for x in rounds) for k in rounds[0]} for name, rounds in got.items()}
    lines = ["| proxy | CPU, us a request | of plain nginx | requests/s | p50, ms | p90 | p95 | p99 | within 25 ms | MiB |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for name, m in middle.items():
        ratio = f"{paired(got[name], got['nginx']):.2f}" if "nginx" in got else ""
        lines.append(f"| {names[name]} | {m['cpu']:.1f} | {ratio} | {m['rps']:.0f} | {m['p50'] / 1e3:.2f} | {m['p90'] / 1e3:.2f} | {m['p95'] / 1e3:.2f} | {m['p99'] / 1e3:.2f} | {m['within']:.1f} % | {m['memory']:.0f} |")
    lines += [f"\n{names[name]}: left out ({why})." for name, why in left_out.items()]
    for what, one, other, bound in [
        ("full work, of plain nginx", "full", "nginx", 1.75),
        ("full work, of nginx + Lua", "full", "nginx-lua", 0.23),
        ("full work, of Go with one transport per upstream", "full", "go-after", 0.12),
        ("full work, of no rules", "full", "pass", 1.35),
        ("no rules, of plain Envoy", "pass", "envoy", 0.6),
    ]:
        if one in got and other in got:
            goals.at_most(what + " (CPU)", paired(got[one], got[other]), bound)
    if "full" in got and "nginx-lua" in got:
        goals.at_most("p99 of full work, of the p50 of nginx + Lua", statistics.median(a["p99"] / b["p50"] for a, b in zip(got["full"], got["nginx-lua"])), 1)
    return dict(title="Beside its peers", text="\n".join(lines), bars=[(names[n], m["cpu"], n in ("pass", "full")) for n, m in middle.items()])


def article(x, goals):
    goals.at_most("last tenth, of the first (CPU a request)", x["last"] / x["first"], 1.05)
    goals.at_most("memory growth after the first tenth, MiB", x["growth"], 2)
    ours = {"req/s": x["rps"], "average": x["average"], **{f"p{p}": x["latency"][p] for p in (50, 90, 95)}, "within 25 ms": x["within"]}
    lines = [f"`hey -n {x['requests']} -c 50` with everything on: all answers 200.", "", "| | the article's Go proxy, cached | Fieldgate here |", "|---|---:|---:|"]
    for name, theirs in ARTICLE.items():
        unit = {"req/s": "", "within 25 ms": " %"}.get(name, " ms")
        lines.append(f"| {name} | {theirs:g}{unit} | {ours[name]:.1f}{unit} |")
    lines += ["", f"CPU a request: {x['first']:.1f} us in the first tenth, {x['last']:.1f} us in the last. Memory: {x['memory']:.1f} MiB at the end, {x['growth']:+.2f} MiB since the first tenth. "
              "The article's machine is another one: its column shows the shape, not a race."]
    return dict(title="The article's run", text="\n".join(lines), bars=[])


def svg(bars):
    """Horizontal bars, the shortest on top, readable on light and dark ground."""
    bars = sorted(bars, key=lambda bar: bar[1])
    width, left, row, top = 890, 330, 30, 44
    scale = (width - left - 90) / max(value for _, value, _ in bars)
    height = top + row * len(bars) + 14
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="CPU microseconds a request">',
           "<style>text{font:14px system-ui,sans-serif;fill:#24292f}.n{fill:#57606a}.o{fill:#0a7f5a}.b{fill:#8c959f}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#9198a1}.o{fill:#3fb68b}.b{fill:#6e7681}}</style>",
           f'<text x="{left}" y="24" class="n">CPU of the proxy, microseconds a request (less is better)</text>']
    for n, (name, value, ours) in enumerate(bars):
        y = top + n * row
        name = name.replace("&", "&amp;").replace("<", "&lt;")
        weight = ' font-weight="600"' if ours else ""
        out.append(f'<text x="{left - 10}" y="{y + 16}" text-anchor="end"{weight}>{name}</text><rect x="{left}" y="{y + 2}" width="{max(2, value * scale):.1f}" height="{row - 10}" rx="3" class="{"o" if ours else "b"}"/>'
                   f'<text x="{left + value * scale + 8:.1f}" y="{y + 16}" class="n">{value:.0f}</text>')
    return "\n".join(out) + "\n</svg>\n"


def write(folder, pages, goals, rounds, seconds):
    os.makedirs(folder, exist_ok=True)
    cores = os.cpu_count()
    text = f"# Measured\n\n{datetime.date.today()}, {cores} cores, {platform.machine()}; {rounds} alternating rounds of {seconds} s, 50 connections, 1 KB there and 1 KB back; medians, ratios round by round.\n"
    for page in pages:
        text += f"\n## {page['title']}\n\n"
        if page["bars"]:
            with open(f"{folder}/cpu.svg", "w") as f:
                f.write(svg(page["bars"]))
            text += "![CPU of each proxy a request](cpu.svg)\n\n"
        text += page["text"] + "\n"
    text += f"\n## Goals\n\n{goals.table()}\n"
    with open(f"{folder}/README.md", "w") as f:
        f.write(text)
    return text
