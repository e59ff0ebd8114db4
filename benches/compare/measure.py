"""The measuring behind benches/compare/run: see there, and README.md for what is fair about it."""
import argparse, csv, http.client, io, json, os, re, shutil, socket, statistics, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import report

FIELDGATE = os.environ.get("FIELDGATE", f"{ROOT}/target/release/fieldgate")
RUN = tempfile.mkdtemp(prefix="fieldgate-compare-")
FRONT, UPSTREAM = 9100, 9000
TICK = 1e6 / os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """Something that must not happen in a measurement."""


def conf(name):
    """A peer's configuration, with this run's folder written into it."""
    text = open(f"{HERE}/peers/{name}").read().replace("@RUN@", RUN).replace("@DIR@", RUN)
    with open(f"{RUN}/{name}", "w") as f:
        f.write(text)
    return f"{RUN}/{name}"


def nginx(name):
    conf("dp.lua")
    return ["nginx", "-c", conf(name), "-p", RUN]


def envoy(name):
    return ["envoy", "-c", conf(name), "--concurrency", "2", "-l", "error", "--disable-hot-restart"]


def go(mode, full):
    binary = f"{RUN}/goproxy"
    if not os.path.exists(binary):
        shutil.copytree(f"{HERE}/peers/go", f"{RUN}/go")
        subprocess.run(["go", "build", "-o", binary, "."], cwd=f"{RUN}/go", check=True, env={**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"})
    return [binary, "-mode", mode, "-audit", f"{RUN}/go-audit.log", *(["-full"] if full else [])]


def fieldgate(rules):
    data = tempfile.mkdtemp(dir=RUN)
    return [FIELDGATE, "run", "--rules", rules, "--listen", f"127.0.0.1:{FRONT}", "--admin", "127.0.0.1:9101", "--data", data, "--log-level", "warn"]


def client_per_request():
    found = subprocess.run(["cargo", "bench", "--no-run", "--bench", "client_per_request", "--message-format=json"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [next(m["executable"] for m in map(json.loads, found.splitlines()) if m.get("target", {}).get("name") == "client_per_request" and m.get("executable"))]


# Name, what it is, whether it does the work, how it starts (made anew for each round).
PEERS = [
    ("nginx", "nginx, plain proxy", False, lambda: nginx("nginx.conf")),
    ("pass", "Fieldgate, no rules", False, lambda: fieldgate(f"{HERE}/rules/pass")),
    ("full", "Fieldgate, full work", True, lambda: fieldgate(f"{HERE}/rules/full")),
    ("nginx-lua", "nginx + Lua, same work", True, lambda: nginx("nginx-lua.conf")),
    ("go-after", "Go, one transport per upstream, same work", True, lambda: go("after", True)),
    ("go-before", "Go, a transport per request, same work", True, lambda: go("before", True)),
    ("envoy", "Envoy, plain proxy", False, lambda: envoy("envoy.yaml")),
    ("envoy-lua", "Envoy + Lua, same work", True, lambda: envoy("envoy-lua.yaml")),
    ("caddy", "Caddy, plain proxy", False, lambda: ["caddy", "run", "--config", conf("Caddyfile"), "--adapter", "caddyfile"]),
    ("haproxy", "HAProxy, plain proxy", False, lambda: ["haproxy", "-f", conf("haproxy.cfg"), "-db"]),
    ("client-per-request", "reqwest, a client per request, no work", False, client_per_request),
]


class Process:
    """A process and its children, listening on `port`."""

    def __init__(self, command, port=FRONT):
        self.errors = open(f"{RUN}/stderr", "w+")
        began = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.errors)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() - began > 15:
                    self.errors.seek(0)
                    raise Failed(f"{command[0]} does not start: {self.errors.read()[-400:]}")
                time.sleep(0.001)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(12)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def family(self):
        found = [self.process.pid]
        for pid in found:
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    found += [int(child) for child in open(f"/proc/{pid}/task/{thread}/children").read().split()]
            except FileNotFoundError:
                pass
        return found

    def cpu(self):
        """Microseconds so far."""
        return sum(sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) for pid in self.family()) * TICK

    def resident(self):
        """MiB."""
        return sum(int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) for pid in self.family()) / 1024


def wrk(seconds, connections=50, path="/customers/1"):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", f"{HERE}/post.lua", f"http://127.0.0.1:{FRONT}{path}"]
    out = subprocess.run(command, capture_output=True, text=True).stdout
    if bad := re.findall(r"Non-2xx.*|Socket errors.*", out):
        raise Failed(" ".join(bad))
    p50, p90, p95, p99, within = map(float, re.search(r"FIGURES ([\d. ]+)", out)[1].split())
    return dict(n=int(re.search(r"(\d+) requests in", out)[1]), rps=float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), p50=p50, p90=p90, p95=p95, p99=p99, within=within)


def ask(path="/customers/1", body=None, port=FRONT, headers={}):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    c.request("POST" if body else "GET", path, body, {"Content-Type": "application/json", **headers} if body else headers)
    r = c.getresponse()
    answer = r.status, r.read()
    c.close()
    return answer


def check_work(name):
    """Who is said to do the work does it."""
    status, body = ask(body=open(f"{HERE}/request.json", "rb").read())
    document = json.loads(body)
    whole = status == 200 and "ssn" not in document and "phone" not in document and "tel" in document and document.get("gateway") == "v1"
    if not (whole and document["card"].endswith("1111") and "4111111111111111" not in body.decode() and "jane.doe@" not in body.decode()):
        raise Failed(f"{name} does not do the work: {status} {body[:200]}")


def once(name, works, command, seconds):
    with Process(command) as proxy:
        if works:
            check_work(name)
        wrk(1)
        before = proxy.cpu()
        figures = wrk(seconds)
        figures["cpu"] = (proxy.cpu() - before) / figures["n"]
        figures["memory"] = proxy.resident()
    return figures


def peers(rounds, seconds, wanted):
    got, left_out = {}, {}
    for turn in range(rounds):
        order = [p for p in PEERS if not wanted or p[0] in wanted]
        for name, _, works, command in order if turn % 2 == 0 else order[::-1]:
            if name in left_out:
                continue
            try:
                command = command()
                if not shutil.which(command[0]):
                    raise FileNotFoundError(f"{command[0]} is not installed")
            except (OSError, subprocess.CalledProcessError) as error:
                left_out[name] = str(error)
                print(f"  {name} is left out: {error}", flush=True)
                continue
            x = once(name, works, command, seconds)
            got.setdefault(name, []).append(x)
            print(f"  round {turn + 1} {name:18} {x['cpu']:7.1f} us CPU  {x['rps']:7.0f}/s  p50 {x['p50'] / 1e3:6.2f}  p99 {x['p99'] / 1e3:6.2f} ms  {x['memory']:5.0f} MiB", flush=True)
    return got, left_out


def numbered_rules(rules, routes):
    """A ruleset with so many rules in its policy, or so many routes; the request's own come last."""
    folder = tempfile.mkdtemp(dir=RUN)
    work = [f"      - {{id: r{n}, select: $.field{n}, action: remove}}\n" for n in range(rules - 1)] + ["      - {id: ssn, select: $.ssn, action: remove}\n"]
    text = f'version: 1\nupstreams:\n  u: {{targets: ["http://127.0.0.1:{UPSTREAM}"]}}\nroutes:\n'
    text += "".join(f'  r{n}: {{match: {{paths: ["/service{n}/{{*rest}}"]}}, upstream: u, policies: [work]}}\n' for n in range(routes - 1))
    text += '  last: {match: {paths: ["/customers/{id}"]}, upstream: u, policies: [work]}\npolicies:\n  work:\n    request:\n' + "".join(work) + "    response:\n" + "".join(work)
    with open(f"{folder}/rules.yaml", "w") as f:
        f.write(text)
    return folder


def cost(folders, rounds, seconds):
    """CPU per request with each of these rules, in turn: medians of the ratios to the first."""
    got = {folder: [] for folder in folders}
    for turn in range(rounds):
        for folder in folders if turn % 2 == 0 else folders[::-1]:
            got[folder].append(once("fieldgate", False, fieldgate(folder), seconds)["cpu"])
    return statistics.median(b / a for a, b in zip(got[folders[0]], got[folders[1]]))


def streaming(rounds):
    """GB of a 10 MB body per second of the gateway's CPU time, rules on."""
    item = json.loads(open(f"{HERE}/request.json").read())
    text = "[" + ",".join(json.dumps({**item, "id": n}) for n in range(10_500)) + "]"
    with open(f"{RUN}/large.json", "w") as f:
        f.write(text)
    folder = tempfile.mkdtemp(dir=RUN)
    with open(f"{folder}/rules.yaml", "w") as f:
        f.write(f'version: 1\nupstreams:\n  u: {{targets: ["http://127.0.0.1:9002"]}}\nroutes:\n  all: {{match: {{paths: ["/{{*rest}}"]}}, upstream: u, policies: [work]}}\npolicies:\n  work:\n    response:\n'
                "      - {id: ssn, select: '$[*].ssn', action: remove}\n      - {id: card, select: '$[*].card', action: {mask: {keep_last: 4}}}\n")
    with open(f"{RUN}/files.conf", "w") as f:
        f.write(f"daemon off; worker_processes 1; pid {RUN}/files.pid; error_log {RUN}/files.err; user root;\nevents {{}}\nhttp {{ access_log off; types {{ application/json json; }} sendfile on;\n server {{ listen 127.0.0.1:9002; root {RUN}; }} }}\n")
    with Process(["nginx", "-c", f"{RUN}/files.conf", "-p", RUN], 9002), Process(fieldgate(folder)) as gateway:
        speeds = []
        for turn in range(rounds + 1):
            before = gateway.cpu()
            for _ in range(10):
                status, body = ask("/large.json")
                if status != 200 or b'"ssn"' in body or b"4111111111111111" in body or body.count(b"************1111") != 10_500:
                    raise Failed(f"streaming: {status}, {len(body)} bytes")
            speeds.append(10 * len(text) / (gateway.cpu() - before) / 1e3)
        return statistics.median(speeds[1:])


def starting(rounds):
    """Milliseconds from the start of the process with 200 rules to the first answer that went through it."""
    folder, times = numbered_rules(200, 1), []
    for _ in range(rounds):
        command = fieldgate(folder)
        began = time.monotonic()
        with Process(command):
            if ask()[0] != 200:
                raise Failed("the first answer is not 200")
            times.append((time.monotonic() - began) * 1000)
    return statistics.median(times)


def idle():
    with Process(fieldgate(f"{HERE}/rules/full")) as gateway:
        time.sleep(2)
        return gateway.resident()


def article(requests):
    """hey -n 400000 -c 50 with everything on, and what happens to cost and memory on the way."""
    with Process(fieldgate(f"{HERE}/rules/full")) as gateway:
        samples, over = [], threading.Event()

        def watch():
            while not over.wait(0.25):
                metrics = ask("/metrics", port=9101)[1].decode()
                n = sum(float(l.rsplit(" ", 1)[1]) for l in metrics.splitlines() if l.startswith("fieldgate_requests_total"))
                samples.append((n, gateway.cpu(), gateway.resident()))

        watcher = threading.Thread(target=watch)
        watcher.start()
        began = time.monotonic()
        out = subprocess.run(["hey", "-n", str(requests), "-c", "50", "-o", "csv", f"http://127.0.0.1:{FRONT}/customers/1"], capture_output=True, text=True).stdout
        took = time.monotonic() - began
        over.set()
        watcher.join()
    rows = list(csv.DictReader(io.StringIO(out)))
    times = sorted(float(row["response-time"]) * 1000 for row in rows if row["status-code"] == "200")
    if len(times) != requests:
        raise Failed(f"{len(times)} of {requests} answers are 200")

    def between(low, high):
        inside = [s for s in samples if low * requests <= s[0] <= high * requests]
        if len(inside) < 2:
            raise Failed("too few samples; the run was too short")
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    warm = next(s for s in samples if s[0] >= requests / 10)
    latency = {p: times[int(len(times) * p / 100)] for p in (50, 90, 95, 99)}
    return dict(requests=requests, rps=requests / took, average=sum(times) / len(times), latency=latency, within=100 * sum(t <= 25 for t in times) / len(times),
                first=between(0, 0.1), last=between(0.9, 1), growth=max(s[2] for s in samples) - warm[2], memory=samples[-1][2])


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--quick", action="store_true", help="two short rounds: for trying the command out")
    a.add_argument("--goals", action="store_true", help="a missed goal fails the run")
    a.add_argument("--only", default="", help="of the peers only these, comma-separated")
    a.add_argument("--rounds", type=int, default=0)
    a.add_argument("parts", nargs="*", metavar="peers|alone|article")
    o = a.parse_args()
    parts = o.parts or ["peers", "alone", "article"]
    rounds, seconds = (2, 2) if o.quick else (o.rounds or 5, 5)
    goals, pages = report.Goals(), []
    try:
        with Process(nginx("upstream.conf"), UPSTREAM):
            if "peers" in parts:
                got, left_out = peers(rounds, seconds, [n for n in o.only.split(",") if n])
                pages.append(report.peers({name: what for name, what, _, _ in PEERS}, got, left_out, goals))
            if "alone" in parts:
                goals.at_least("a 10 MB body streams with rules on, GB per second of CPU time", streaming(rounds), 0.5)
                goals.at_most("500 rules, of the cost with 1", cost([numbered_rules(1, 1), numbered_rules(500, 1)], rounds, seconds), 1.15)
                goals.at_most("2,000 routes, of the cost with 1", cost([numbered_rules(1, 1), numbered_rules(1, 2000)], rounds, seconds), 1.15)
                goals.at_most("start to first answer with 200 rules, ms", starting(rounds * 2), 50)
                goals.at_most("idle memory, MiB", idle(), 25)
                goals.at_most("the release binary, MB", os.path.getsize(FIELDGATE) / 1e6, 20)
            if "article" in parts:
                pages.append(report.article(article(40_000 if o.quick else 400_000), goals))
    finally:
        shutil.rmtree(RUN, ignore_errors=True)
    print(report.write(f"{HERE}/results", pages, goals, rounds, seconds))
    sys.exit(1 if o.goals and goals.missed() else 0)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"the run failed: {failure}")
