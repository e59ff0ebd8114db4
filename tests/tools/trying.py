"""What scripts that try the binary share: a gateway with a folder of its own, an nginx, hey. Everything stays on 127.0.0.1."""
import atexit, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("FIELDGATE", f"{ROOT}/target/release/fieldgate")
FOLDER = tempfile.mkdtemp(prefix="fieldgate-try-")
STARTED = []


@atexit.register
def clean_up():
    for process in STARTED:
        if process.poll() is None:
            process.terminate()
    shutil.rmtree(FOLDER, ignore_errors=True)


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
RECORD = (
    '{"id":1042,"name":"Jane Q. Doe","email":"jane.doe@example.com","phone":"+1 415-555-0132","ssn":"123-45-6789",'
    '"card":"4111111111111111","address":{"line1":"742 Evergreen Terrace","city":"Springfield","zip":"62704"},"orders":['
    + ",".join('{"id":"ord-%d","sku":"SKU-%dA-BLUE","qty":%d,"price":%d.99,"note":"leave at the back door"}' % (1000 + n, n, n, 19 + n) for n in range(7))
    + '],"ledger":9007199254740993,"tags":[],"vip":true,"ref":null,"notes":"Write to jane.alt@example.org; last login from 203.0.113.7 on a new device."}'
)
DETECTORS = "[email, credit_card, iban, phone, us_ssn, ipv4, jwt, aws_access_key_id]"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def rules(port, response="", request=""):
    policies = ", policies: [work]" if response or request else ""
    text = f'version: 1\nupstreams:\n  u: {{targets: ["http://127.0.0.1:{port}"]}}\nroutes:\n  all: {{match: {{paths: ["/{{*rest}}"]}}, upstream: u{policies}}}\n'
    if policies:
        text += "policies:\n  work:\n"
    for name, lines in (("request", request), ("response", response)):
        if lines:
            text += f"    {name}:\n" + "".join(f"      - {line}\n" for line in lines.strip().splitlines())
    return text


FIELDS = f"""{{id: ssn, select: $.ssn, action: remove}}
{{id: card, select: $.card, action: {{mask: {{keep_last: 4}}}}}}
{{id: phone, select: $.phone, action: {{rename: tel}}}}
{{id: gateway, select: $.gateway, action: {{set: v1}}}}
{{id: personal-data, detect: {DETECTORS}, action: redact}}"""


class Gateway:
    def __init__(self, name, text, flags=(), before=(), **popen):
        self.folder, self.flags, self.before, self.popen = f"{FOLDER}/{name}", list(flags), list(before), popen
        os.makedirs(f"{self.folder}/rules", exist_ok=True)
        self.file = f"{self.folder}/rules/main.yaml"
        if text:
            self.write(text)
        self.start()

    def start(self):
        command = [*self.before, BINARY, "run", "--rules", f"{self.folder}/rules", "--data", f"{self.folder}/data", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *self.flags]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=open(f"{self.folder}/log", "a"), text=True, **self.popen)
        STARTED.append(self.process)
        self.listen, self.admin = (re.search(r"http://([\d.:]+)/", self.process.stdout.readline())[1] for _ in range(2))
        self.port = int(self.listen.split(":")[1])

    def write(self, text):
        with open(self.file + ".tmp", "w") as f:
            f.write(text)
        os.rename(self.file + ".tmp", self.file)

    def get(self, path="/", admin=False):
        with urllib.request.urlopen(f"http://{self.admin if admin else self.listen}{path}") as r:
            return r.read().decode()

    def metric(self, name):
        return sum(float(l.rsplit(" ", 1)[1]) for l in self.get("/metrics", True).splitlines() if l.startswith(name))

    def status(self, field):
        return int(re.search(field + r":\s+(\d+)", open(f"/proc/{self.process.pid}/status").read())[1])

    def cpu(self):
        return sum(map(int, open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(30)

    def log(self):
        return open(f"{self.folder}/log").read()

    def records(self):
        for name in sorted(os.listdir(f"{self.folder}/data")):
            if name.endswith(".jsonl"):
                for line in open(f"{self.folder}/data/{name}"):
                    yield json.loads(line)

    def verify(self):
        return subprocess.run([BINARY, "audit", "verify", f"{self.folder}/data"], capture_output=True, text=True).stdout.splitlines()[0]


class Nginx:
    def __init__(self, body):
        self.port = free_port()
        conf = f"{FOLDER}/nginx.conf"
        with open(conf, "w") as f:
            f.write(
                ("user root; " if os.getuid() == 0 else "") + f"daemon off; master_process on; worker_processes 1; pid {FOLDER}/nginx.pid; error_log {FOLDER}/nginx.err;\n"
                "events { worker_connections 4096; }\nhttp { access_log off; client_max_body_size 0; keepalive_requests 100000000; default_type application/json; sendfile on;\n"
                f" server {{ listen 127.0.0.1:{self.port} backlog=1024; location /status {{ stub_status; }}\n"
                f"  location /big/ {{ alias {FOLDER}/big/; }} location / {{ return 200 '{body}'; }} }} }}\n"
            )
        os.makedirs(f"{FOLDER}/big", exist_ok=True)
        self.process = subprocess.Popen(["nginx", "-c", conf, "-p", FOLDER], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        STARTED.append(self.process)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit("nginx does not start")

    def accepted(self):
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status").read().decode()
        return int(text.splitlines()[2].split()[0])

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def hey(n, c, url):
    out = subprocess.run(["hey", "-n", str(n), "-c", str(c), url], capture_output=True, text=True).stdout
    return int((re.search(r"\[200\]\s+(\d+)", out) or [0, 0])[1]), float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), out


def prepare(*tools):
    """Installs what is missing from Debian, and builds the release binary unless one is given (FIELDGATE)."""
    missing = [p for p, tool in tools if not shutil.which(tool)]
    if missing:
        as_root = [] if os.getuid() == 0 else ["sudo"]
        subprocess.run([*as_root, "apt-get", "update", "-qq"], check=True)
        subprocess.run([*as_root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True, stdout=subprocess.DEVNULL)
    if "FIELDGATE" not in os.environ:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
