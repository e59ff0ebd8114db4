#!/usr/bin/env python3
"""Makes the labelled rows that judge the detector on unseen ground: `own.rows` holds the sentences, this script the values.

usage: make_own.py                     writes `own.labelled`, which the tests read; the same bytes every time
       make_own.py OUTPUT.jsonl        writes the rows with offsets, for scoring elsewhere
       make_own.py --counts            prints how often each entity is wanted, and how many rows are clean

An id is drawn and given its check digit here, a secret is put together from parts. Every row is checked before it is
written; one wrong row stops it all. `own.labelled` has the form of `own.rows` with every slot filled, `⟦entity=as written⟧`;
a `¦` stands in the middle of secrets and is no part of them, so that nothing in the repository looks like a live one.

A row: `text`; `spans` (must be found), `optional` (either answer is right; where `wanted` is true the entity is asked for but
is found by key path alone), `traps` (look-alikes); each with `entity`, `start` and `end` in characters, `bstart` and `bend`
in bytes of UTF-8.

`own.rows` is a list of blocks: a line `## locale format style`, then the text. A slot in the text is
    ⟦entity⟧ ⟦entity/kind⟧ ⟦entity:mask⟧ ⟦entity=as written⟧     wanted      ⟦?...⟧ optional
    ⟦!trap:pattern⟧ ⟦!trap=as written⟧ ⟦!bad/entity⟧             a look-alike; `bad` has the check digit broken
and may end in changes, ⟦...|nbsp|pct⟧. In a mask `#` is the next character of the value, or in a phone any digit; in a
pattern `#` is a digit, `~` a hexadecimal digit, `^` a letter.
"""
import base64, binascii, collections, csv, datetime, hashlib, html, io, ipaddress, json, pathlib, random, re, sys, unicodedata, urllib.parse

RND = random.Random(20250314)
DIGITS, UPPER = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALNUM = UPPER + UPPER.lower() + DIGITS
BY_KEY_ALONE = {"person_name", "postal_address"}


# Check digits

def weighted(text, weights):
    return sum(int(c) * w for c, w in zip(text, weights))

def luhn(text):
    doubled = (int(c) * (2 if i % 2 else 1) for i, c in enumerate(reversed(text)))
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0

def verhoeff(text):
    def times(a, b):  # the dihedral group of order ten
        turned = (a + b if a < 5 else a - b) % 5
        return turned + (5 if (a < 5) != (b < 5) else 0)
    step, power, sum_ = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4], list(range(10)), 0
    for c in reversed(text):
        sum_ = times(sum_, power[int(c)])
        power = [step[p] for p in power]
    return sum_ == 0

def mod_11_10(text):
    product = 10
    for c in text[:-1]:
        product = ((int(c) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(text[-1])

def mod_97(text):
    return int("".join(str(int(c, 36)) for c in text)) % 97

def icao(text):
    return sum(int(c, 36) * (7, 3, 1)[i % 3] for i, c in enumerate(text)) % 10

def keccak_256(data):
    """The hash before SHA-3 was padded differently; hashlib has only the standard."""
    turn = lambda x, n: (x << n | x >> 64 - n) & (1 << 64) - 1 if n else x
    a = [[0] * 5 for _ in range(5)]
    data += b"\x01" + bytes(135 - len(data) % 136)
    data = data[:-1] + bytes([data[-1] | 0x80])
    for block in range(0, len(data), 136):
        for i in range(17):
            a[i % 5][i // 5] ^= int.from_bytes(data[block + 8 * i:block + 8 * i + 8], "little")
        bits = 1
        for _ in range(24):
            c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
            a = [[w ^ c[x - 1] ^ turn(c[(x + 1) % 5], 1) for w in a[x]] for x in range(5)]
            x, y, held = 1, 0, a[1][0]
            for t in range(24):
                x, y = y, (2 * x + 3 * y) % 5
                held, a[x][y] = a[x][y], turn(held, (t + 1) * (t + 2) // 2 % 64)
            for y in range(5):
                row = [a[x][y] for x in range(5)]
                for x in range(5):
                    a[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5])
            for j in range(7):
                bits = (bits << 1 ^ (bits >> 7) * 0x71) % 256
                if bits & 2:
                    a[0][0] ^= 1 << (1 << j) - 1
    return b"".join(a[x][0].to_bytes(8, "little") for x in range(4))

def eip_55(address):
    hash_ = keccak_256(address.lower()[2:].encode()).hex()
    return "0x" + "".join(c.upper() if int(h, 16) > 7 else c for c, h in zip(address.lower()[2:], hash_))

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

def base58check(payload):
    data = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    n, text = int.from_bytes(data, "big"), ""
    while n:
        n, digit = divmod(n, 58)
        text = BASE58[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text

def base58check_holds(text):
    n = 0
    for c in text:
        n = n * 58 + BASE58.index(c)
    return base58check(n.to_bytes(25, "big")[:21]) == text

def bech32_sum(prefix, words):
    sum_ = 1
    for word in [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix] + words:
        top, sum_ = sum_ >> 25, (sum_ & 0x1FFFFFF) << 5 ^ word
        for i, g in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            sum_ ^= g if top >> i & 1 else 0
    return sum_

def segwit(version, size):
    bits = "".join(format(RND.randrange(256), "08b") for _ in range(size))
    bits += "0" * (-len(bits) % 5)
    words = [version] + [int(bits[i:i + 5], 2) for i in range(0, len(bits), 5)]
    sum_ = bech32_sum("bc", words + [0] * 6) ^ (0x2BC830A3 if version else 1)
    return "bc1" + "".join(BECH32[w] for w in words + [sum_ >> 5 * (5 - i) & 31 for i in range(6)])

def btc_holds(text):
    text = text.lower() if text.startswith("BC1") else text
    if not text.startswith("bc1"):
        return base58check_holds(text)
    words = [BECH32.index(c) for c in text[3:]]
    return bech32_sum("bc", words) == (0x2BC830A3 if words[0] else 1)

FISCAL_ODD = dict(zip(UPPER, (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)))
FISCAL_ODD |= dict(zip(DIGITS, (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)))

def fiscal_letter(text):
    even = lambda c: int(c) if c.isdigit() else UPPER.index(c)
    return UPPER[sum(even(c) if i % 2 else FISCAL_ODD[c] for i, c in enumerate(text[:15])) % 26]

def nric_letter(text):
    shift = {"S": 0, "F": 0, "T": 4, "G": 4}[text[0]]
    return ("JZIHGFEDCBA" if text[0] in "ST" else "XWUTRQPNMLK")[(weighted(text[1:8], (2, 7, 6, 5, 4, 3, 2)) + shift) % 11]

def social_security_digit(text):
    digits = text[:8] + "%02d" % (UPPER.index(text[8]) + 1) + text[9:11]
    products = (int(c) * w for c, w in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)))
    return sum(p // 10 + p % 10 for p in products) % 10

def nir_number(text):
    return int(text[:13].replace("2A", "19").replace("2B", "18"))

def cpf_holds(text):
    return all(weighted(text[:n], range(n + 1, 1, -1)) * 10 % 11 % 10 == int(text[n]) for n in (9, 10))

def tckn_holds(text):
    d = [int(c) for c in text]
    return d[0] and (sum(d[0:9:2]) * 7 - sum(d[1:8:2])) % 10 == d[9] and sum(d[:10]) % 10 == d[10]

def tax_id_digits(text):
    counts = sorted(collections.Counter(text[:10]).values())
    return text[0] != "0" and counts in ([1] * 8 + [2], [1] * 7 + [3]) and not re.search(r"(\d)\1\1", text[:10])

def github_sum(body):
    n, text = binascii.crc32(body.encode()), ""
    while n:
        n, digit = divmod(n, 62)
        text = (DIGITS + UPPER + UPPER.lower())[digit] + text
    return text.rjust(6, "0")

def jwt_holds(text):
    header = text.split(".")[0]
    return "alg" in json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))

def born(text, order="ymd"):
    """Two-digit years, all in the last century."""
    part = {o: int(text[2 * i:2 * i + 2]) for i, o in enumerate(order)}
    return bool(datetime.date(1900 + part["y"], part["m"], part["d"]))


# What each entity is when the separators are gone: a shape, and what must hold. The ids of list C are shapes alone.

SIZES = dict(DE=22, FR=27, GB=22, NL=18, ES=24, IT=27, PL=28, PT=25, SE=24, FI=18, TR=26, CH=21, AT=20, BE=16, IE=22, NO=15, BR=29, MT=31)
BBANS = dict(GB="AAAA" + "#" * 14, IE="AAAA" + "#" * 14, NL="AAAA" + "#" * 10, IT="A" + "#" * 22, BR="#" * 23 + "PA", MT="AAAA" + "#" * 5 + "A" * 18)
CARDS = dict(visa=("4", 16), visa19=("4", 19), mc=("52", 16), mc2=("2244", 16), mc2late=("2718", 16), amex=("37", 15),
             diners=("36", 14), discover=("6011", 16), jcb=("3561", 16), unionpay=("622155", 16), unionpay19=("622155", 19))
IDS = {
    "credit_card": (r"(4|5[1-5]|2[2-7]|3[4-7]|6)\d{12,18}", luhn),
    "iban": (r"[A-Z]{2}\d\d[A-Z0-9]{11,27}", lambda v: len(v) == SIZES[v[:2]] and mod_97(v[4:] + v[:4]) == 1),
    "fr_nir": (r"[12]\d\d(0[1-9]|1[0-2])(\d\d|2[AB])\d{8}", lambda v: 97 - nir_number(v) % 97 == int(v[13:])),
    "es_nif": (r"\d{8}[A-Z]", lambda v: "TRWAGMYFPDXBNJZSQVHLCKE"[int(v[:8]) % 23] == v[8]),
    "es_nie": (r"[XYZ]\d{7}[A-Z]", lambda v: "TRWAGMYFPDXBNJZSQVHLCKE"[int(str("XYZ".index(v[0])) + v[1:8]) % 23] == v[8]),
    "it_fiscal_code": (r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]", lambda v: fiscal_letter(v) == v[15]),
    "fi_hetu": (r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]", lambda v: born(v, "dmy") and "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(v[:6] + v[7:10]) % 31] == v[10]),
    "sg_nric": (r"[STFG]\d{7}[A-Z]", lambda v: nric_letter(v) == v[8]),
    "kr_rrn": (r"\d{6}[1-4]\d{6}", lambda v: born(v) and (11 - weighted(v, (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10 == int(v[12])),
    "uk_driving_licence": (r"[A-Z9]{5}\d[0156]\d[0-3]\d\d[A-Z][A-Z9]\d[A-Z]{2}", lambda v: True),
    "de_vat_id": (r"DE[1-9]\d{8}", lambda v: mod_11_10(v[2:])),
    "uk_nhs": (r"[46]\d{9}", lambda v: weighted(v, range(10, 0, -1)) % 11 == 0),
    "us_npi": (r"[12]\d{9}", lambda v: luhn("80840" + v)),
    "us_aba_routing": (r"(0[1-9]|1[0-2]|2[1-9]|3[0-2])\d{7}", lambda v: weighted(v, (3, 7, 1) * 3) % 10 == 0),
    "ca_sin": (r"[1-7]\d{8}", luhn),
    "nl_bsn": (r"[1-9]\d{8}", lambda v: (weighted(v, range(9, 1, -1)) - int(v[8])) % 11 == 0),
    "au_tfn": (r"[1-9]\d{8}", lambda v: weighted(v, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0),
    "au_abn": (r"[1-9]\d{10}", lambda v: (weighted(v, (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)) - 10) % 89 == 0),
    "au_medicare": (r"[2-6]\d{8}[1-9]", lambda v: weighted(v, (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(v[8])),
    "de_tax_id": (r"[1-9]\d{10}", lambda v: tax_id_digits(v) and mod_11_10(v)),
    "de_social_security": (r"\d{8}[A-Z]\d{3}", lambda v: born(v[2:8], "dmy") and v[:2] in DE_AREAS and social_security_digit(v) == int(v[11])),
    "it_vat": (r"0(0[1-9]|[1-9]\d)\d{8}|\d{7}0([0-9][1-9])\d\d", lambda v: luhn(v) and 1 <= int(v[7:10]) <= 100),
    "pl_pesel": (r"\d{11}", lambda v: born(v) and weighted(v, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0),
    "br_cpf": (r"\d{11}", cpf_holds),
    "tr_tckn": (r"[1-9]\d{10}", tckn_holds),
    "se_personnummer": (r"(19)?\d{10}", lambda v: born(v[-10:]) and luhn(v[-10:])),
    "za_id": (r"\d{10}[01]8\d", lambda v: born(v) and luhn(v)),
    "in_aadhaar": (r"[2-9]\d{11}", verhoeff),
    "us_mbi": (r"[1-9]{A}{B}\d{A}{B}\d{A}{A}\d\d".replace("{A}", "[AC-HJKMNP-RT-Y]").replace("{B}", "[AC-HJKMNP-RT-Y0-9]"), lambda v: True),
    "uk_nino": (r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", lambda v: True),
    "in_pan": (r"[A-Z]{3}P[A-Z]\d{4}[A-Z]", lambda v: True),
    "us_ssn": (r"(?!000|666)[0-8]\d\d(?!00)\d\d(?!0000)\d{4}", lambda v: True),
    "us_itin": (r"9\d\d(5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])\d{4}", lambda v: True),
    "us_passport": (r"[A-Z]?\d{8,9}", lambda v: len(v) == 9),
    "uk_passport": (r"[1-9]\d{8}", lambda v: True),
    "us_driver_license": (r"[A-Z]\d{7}|\d{8}|[A-Z]\d{12}", lambda v: True),
    "de_id_card": (r"[LMNPRTVWXY][CFGHJKLMNPRTVWXYZ0-9]{8}\d?", lambda v: len(v) == 9 or icao(v[:9]) == int(v[9])),
    "imei": (r"35\d{13}", luhn),
    "isbn": (r"978\d{10}", lambda v: weighted(v, (1, 3) * 6 + (1,)) % 10 == 0),
}
DE_AREAS = "02 03 04 08 09 10 11 12 13 14 15 16 17 18 19 20 21 23 24 25 26 28 29 38 39 40 42 44 48 49 50 51 52 53 54 55 56 57 58 59 60 61".split()
DRAWN = {  # the letters and digits from which a value is drawn until its check holds: A letter, P any of both, # digit, rest as is
    "fr_nir": "{1|2}##{01|04|07|11}{13|33|59|75|2A|2B}########", "es_nif": "########A", "es_nie": "{X|Y|Z}#######A",
    "it_fiscal_code": "{RSS|BNC|FRR|CNT}{MRA|LCU|GNN|PLA}##{A|C|H|M|S}{07|15|23|44|61}{H501|F205|L219|D612}A", "fi_hetu": "{03|14|27}{02|06|11}##-###P",
    "sg_nric": "{S|T|F|G}#######A", "kr_rrn": "##{03|08|12}{05|17|24}{1|2}######", "uk_driving_licence": "{SMITH|EVANS|HUGHE|KHAN9|ODELL}#{0|5}{3|7}{1}##A9#AA",
    "de_vat_id": "DE#########", "de_social_security": "{12|53|65|15|08}{04|17|26}{03|09|11}##A###", "it_vat": "#######0###",
    "pl_pesel": "##{02|05|10}{03|14|27}#####", "se_personnummer": "##{02|06|09}{04|19|28}####", "za_id": "##{01|07|12}{06|15|22}####08#",
    "us_mbi": "#AP#AP#AA##", "uk_nino": "AA######{A|B|C|D}", "in_pan": "AAAPA####A", "us_ssn": "#########", "us_itin": "9########",
    "us_passport": "#########", "uk_passport": "#########", "us_driver_license": "A#######", "de_id_card": "{L|T|X}PPPPPPPP#", "imei": "35#############", "isbn": "978##########",
}
for name, size in dict(uk_nhs=10, us_npi=10, us_aba_routing=9, ca_sin=9, nl_bsn=9, au_tfn=9, au_abn=11, au_medicare=10, de_tax_id=11, br_cpf=11, tr_tckn=11, in_aadhaar=12).items():
    DRAWN[name] = "#" * size
KINDS = {("us_passport", "new"): "A########", ("us_driver_license", "TX"): "########", ("us_driver_license", "FL"): "A############",
         ("se_personnummer", "long"): "19" + DRAWN["se_personnummer"], ("de_id_card", "nine"): "{L|T|X}PPPPPPPP"}


# Values

def pick(letters, n):
    return "".join(RND.choice(letters) for _ in range(n))

def draw(pattern):
    """Letters of a pattern stand for themselves inside braces, and everywhere else but A, P and #."""
    out = []
    for part in re.findall(r"\{[^}]*\}|.", pattern):
        out.append(RND.choice(part[1:-1].split("|")) if part[0] == "{" else
                   {"#": pick(DIGITS, 1), "A": pick(UPPER, 1), "P": pick(UPPER + DIGITS, 1)}.get(part, part))
    return "".join(out)

def holds(entity, value):
    shape, check = IDS[entity]
    try:
        return bool(re.fullmatch(shape, value) and check(value))
    except ValueError:  # no such day
        return False

def drawn(entity, kind):
    if entity == "credit_card":
        start, size = CARDS[kind or "visa"]
        pattern = start + "#" * (size - len(start))
    elif entity == "iban":
        country = kind or "DE"
        bban = draw(BBANS.get(country, "#" * (SIZES[country] - 4)))
        return country + "%02d" % (98 - mod_97(bban + country + "00")) + bban
    else:
        pattern = KINDS.get((entity, kind), DRAWN[entity])
    while True:
        value = draw(pattern)
        if holds(entity, value):
            return value

def broken(entity, kind):
    """The same shape with its check digit off, so that only the arithmetic can tell."""
    value = drawn(entity, kind)
    shape = IDS[entity][0]
    others = [value[:i] + d + value[i + 1:] for i in range(len(value) - 1, 3, -1) if value[i].isdigit() for d in DIGITS]
    return next(v for v in others if re.fullmatch(shape, v) and not holds(entity, v) and not (v.isdigit() and luhn(v)))

def b64(n, url=False):
    return (base64.urlsafe_b64encode if url else base64.b64encode)(RND.randbytes(n)).decode().rstrip("=")

def jwt(_):
    part = lambda x: base64.urlsafe_b64encode(json.dumps(x, separators=(",", ":")).encode()).decode().rstrip("=")
    alg = RND.choice(["HS256", "RS256", "ES384"])
    return ".".join([part({"alg": alg, "typ": "JWT"}), part({"sub": str(RND.randrange(10**6)), "iat": 1712000000, "role": "clerk"}), b64(32, True)])

def private_key(kind):
    name = " ".join(filter(None, [{"pkcs8": "", None: "RSA"}.get(kind, kind), "PRIVATE", "KEY"]))
    body = "MII" + b64(230)
    lines = [body[i:i + 64] for i in range(0, len(body), 64)]
    return "\n".join(["-" * 5 + "BEGIN " + name + "-" * 5, *lines, "-" * 5 + "END " + name + "-" * 5])

def github(kind):
    if kind == "pat":
        return "github" + "_pat_11" + pick(UPPER + DIGITS, 20) + "_" + pick(ALNUM, 59)
    body = pick(ALNUM, 30)
    return (kind or "ghp") + "_" + body + github_sum(body)

def slack(kind):
    head = "xox" + (kind or "b")
    tail = pick(ALNUM, 24) if head != "xoxp" else pick(DIGITS, 12) + "-" + pick("0123456789abcdef", 32)
    return "-".join([head, pick("123456789", 12), pick("123456789", 13), tail])

def llm(kind):
    if kind == "ant":
        return "sk-" + "ant-api03-" + pick(ALNUM + "-_", 92) + "a" + "AA"
    if kind == "gsk":
        return "gsk" + "_" + pick(ALNUM, 52)
    head, size = ("sk-" + "proj-", 74) if kind == "proj" else ("sk-", 20)
    return head + pick(ALNUM, size) + "T3Blbk" + "FJ" + pick(ALNUM, size)

def date(_, mask):
    day = datetime.date(1941, 1, 1) + datetime.timedelta(days=RND.randrange(22000))
    plain = {"%-d": str(day.day), "%-m": str(day.month)}
    return day.strftime(re.sub("%-[dm]", lambda m: plain[m[0]], mask or "%Y-%m-%d"))

SECRETS = {
    "jwt": jwt, "private_key": private_key, "github_token": github, "slack_token": slack, "llm_api_key": llm,
    "aws_access_key_id": lambda k: (k or "AK" + "IA") + pick(UPPER + "234567", 16),
    "aws_secret_key": lambda _: b64(30),
    "stripe_key": lambda k: (k or "sk") + "_live_" + pick(ALNUM, 24 if k else 32),
    "google_api_key": lambda _: "AI" + "za" + "Sy" + pick(ALNUM + "-_", 32) + pick(ALNUM, 1),
    "url_credentials": lambda _: pick(ALNUM, 8) + "-" + pick(ALNUM, 8),
    "ipv4": lambda _: ".".join(str(RND.randrange(20, 220)) for _ in range(4)),
    "ipv6": lambda _: "2a02:%x:%x::%x" % tuple(RND.randrange(0x100, 0xFFFF) for _ in range(3)),
    "eth_address": lambda k: "0x" + RND.randbytes(20).hex() if k else eip_55("0x" + RND.randbytes(20).hex()),
    "btc_address": lambda k: {"segwit": lambda: segwit(0, 20), "taproot": lambda: segwit(1, 32), "script": lambda: base58check(b"\5" + RND.randbytes(20))}.get(
        k, lambda: base58check(b"\0" + RND.randbytes(20)))(),
    "mac": lambda _: RND.randbytes(6).hex(),
}
TRAPS = {
    "uuid": lambda: pattern("~~~~~~~~-~~~~-4~~~-a~~~-~~~~~~~~~~~~"), "sha1": lambda: pattern("~" * 40), "sha256": lambda: pattern("~" * 64),
    "md5": lambda: pattern("~" * 32), "epoch_ms": lambda: "17" + pick(DIGITS, 11), "epoch_s": lambda: "17" + pick(DIGITS, 8),
    "fingerprint": lambda: ":".join(pattern("~~").upper() for _ in range(20)), "fingerprint256": lambda: ":".join(pattern("~~").upper() for _ in range(32)),
    "b64blob": lambda: b64(72), "imei": lambda: drawn("imei", None), "isbn": lambda: drawn("isbn", None),
}

def pattern(text):
    """Long runs of digits must fail Luhn, or a look-alike would be a card in truth."""
    while True:
        out = "".join({"#": lambda: pick(DIGITS, 1), "~": lambda: pick("0123456789abcdef", 1), "^": lambda: pick(UPPER, 1)}.get(c, lambda c=c: c)() for c in text)
        runs = re.findall(r"\d{12,19}", re.sub(r"(?<=\d)[ .-](?=\d)", "", out))
        if not any(map(luhn, runs)):
            return out

def masked(value, mask):
    chars = iter(value)
    out = "".join(next(chars) if c == "#" else c for c in mask) if mask else value
    assert not mask or next(chars, None) is None, f"the mask {mask} is too short for {value}"
    return out

CHANGES = {
    "nbsp": lambda v: v.replace(" ", "\u00a0"), "narrow": lambda v: v.replace(" ", "\u202f"), "hyphen": lambda v: v.replace("-", "\u2011"),
    "dash": lambda v: v.replace("-", "\u2013"), "minus": lambda v: v.replace("-", "\u2212"), "up": str.upper, "low": str.lower,
    "full": lambda v: "".join(chr(ord(c) + 0xFEE0) if c in DIGITS + "-+" else c for c in v),
    "zw": lambda v: v[:len(v) // 2] + "\u200b" + v[len(v) // 2:], "joiner": lambda v: v[:3] + "\u2060" + v[3:], "soft": lambda v: v[:5] + "\u00ad" + v[5:],
    "pct": lambda v: urllib.parse.quote(v, safe=""), "plus": lambda v: urllib.parse.quote_plus(v), "fours": lambda v: " ".join(v[i:i + 4] for i in range(0, len(v), 4)),
    "json": lambda v: json.dumps(v)[1:-1], "escaped": lambda v: "".join(c if c.isalnum() else "\\u%04x" % ord(c) for c in v),
    "html": lambda v: "".join({"+": "&#43;", "@": "&#64;", " ": "&nbsp;", "-": "&#x2d;"}.get(c, c) for c in v),
    "indent": lambda v: v.replace("\n", "\n  "), "num": lambda v: v,
}

SLOT = re.compile(r"⟦([?!]?)([a-z0-9_]+)(?:/([A-Za-z0-9_]+))?(?:([:=])([^|⟧]*))?((?:\|[a-z]+)*)⟧")

def value_of(mark, entity, kind, sign, rest, changes):
    if sign == "=":
        return rest
    if mark == "!":
        if entity == "bad":
            return masked(broken(*kind.split("__") if "__" in kind else (kind, None)), rest)
        return masked(TRAPS[entity](), rest) if entity in TRAPS else pattern(rest)
    if entity == "date_of_birth":
        return date(kind, rest)
    if entity == "phone":
        return re.sub("#", lambda _: pick(DIGITS, 1), rest)
    while True:
        value = drawn(entity, kind) if entity in IDS else SECRETS[entity](kind)
        if not ("num" in changes and value[0] == "0"):
            return masked(value, rest)


# Rows

def plain(text):
    """What a span means once percent-encoding, escapes, widths and invisible characters are gone."""
    text = re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), text)
    text = unicodedata.normalize("NFKC", urllib.parse.unquote(html.unescape(text)))
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return re.sub("[\u2010-\u2015\u2212]", "-", text)

def check(entity, text):
    """Is the text of a span what its label says? Every span of every row goes through here."""
    v = plain(text)
    if entity in IDS:
        bare = re.sub(r"[\s.\-/+_]", "", v).upper() if entity != "fi_hetu" else v
        assert holds(entity, bare), f"{entity}: {text!r}"
        return
    right = {
        "email": lambda: re.fullmatch(r"(\S+|\"[^\"]+\")@[\w.-]+\.\w[\w-]+", v), "phone": lambda: 7 <= sum(c.isdigit() for c in v) <= 15,
        "ipv4": lambda: ipaddress.IPv4Address(v), "ipv6": lambda: ipaddress.IPv6Address(v), "mac": lambda: re.fullmatch(r"[0-9a-f]{12}", re.sub("[:.-]", "", v.lower())),
        "btc_address": lambda: btc_holds(v), "eth_address": lambda: v == eip_55(v) or v == v.lower() and len(v) == 42, "jwt": lambda: jwt_holds(v),
        "private_key": lambda: v.startswith("-----BEGIN ") and v.endswith("PRIVATE KEY-----"), "aws_access_key_id": lambda: re.fullmatch("A[KS]IA[A-Z2-7]{16}", v),
        "github_token": lambda: v.startswith("github_pat_") and len(v) == 93 or github_sum(v[4:34]) == v[34:], "aws_secret_key": lambda: len(v) == 40,
        "stripe_key": lambda: re.fullmatch(r"[sr]k_live_\w{24,32}", v), "slack_token": lambda: re.fullmatch(r"xox[bpa]-\d{12}-\d{13}-[\w-]+", v),
        "google_api_key": lambda: len(v) == 39, "llm_api_key": lambda: re.fullmatch(r"(sk-|gsk_)[\w-]{43,}", v), "url_credentials": lambda: len(v) > 5,
        "date_of_birth": lambda: re.search(r"\d", v), "password": lambda: len(v) > 4, "person_name": lambda: v, "postal_address": lambda: v,
    }[entity]
    assert right(), f"{entity}: {text!r}"

QUIETED = set(SECRETS) - {"ipv4", "ipv6", "mac", "eth_address", "btc_address"}

def quiet(secret):
    return "¦".join([secret[:3]] + [secret[i:i + 24] for i in range(3, len(secret), 24)])

def row(number, head, template):
    locale, form, style = head.split()
    found, text, at, labelled = {"": [], "?": [], "!": []}, "", 0, []
    for m in SLOT.finditer(template):
        text += template[at:m.start()]
        labelled.append(template[at:m.start()])
        at, start = m.end(), len(text)
        mark, entity, kind, sign, rest, changes = m.groups()
        changes = changes.split("|")[1:]
        value = value_of(mark, entity, kind, sign, rest, changes)
        for change in changes:
            value = CHANGES[change](value)
        text += value
        labelled.append(f"⟦{mark}{entity}={quiet(value) if entity in QUIETED else value}⟧")
        span = {"entity": f"bad_{kind.split('__')[0]}" if entity == "bad" else entity, "start": start, "end": len(text),
                "bstart": len(text[:start].encode()), "bend": len(text.encode())}
        if not mark and entity in BY_KEY_ALONE:
            mark, span["wanted"] = "?", True
        found[mark].append(span)
    text += template[at:]
    labelled = f"## {head}\n" + "".join(labelled) + template[at:] + "\n"
    assert "¦" not in text and re.sub("⟦[^=⟧]*=|[⟧¦]", "", labelled) == f"## {head}\n{text}\n", text
    made = {"id": number, "kind": form, "locale": locale, "template": style, "text": text,
            "spans": found[""], "optional": found["?"], "traps": found["!"]}
    verify(made)
    return made, labelled

def verify(made):
    text, form = made["text"], made["kind"]
    assert text.strip() and "⟦" not in text and "⟧" not in text, text
    for span in made["spans"]:
        assert text.encode()[span["bstart"]:span["bend"]].decode() == text[span["start"]:span["end"]]
        check(span["entity"], text[span["start"]:span["end"]])
    if form == "json":
        json.loads(text)
    if form == "csv":
        sign = max(";,\t", key=text.count)
        assert len({len(r) for r in csv.reader(io.StringIO(text), delimiter=sign)}) == 1, text
    if made["template"].startswith("clean"):
        assert not made["spans"] and not made["optional"], text
        for run in re.findall(r"\d{13,19}", re.sub(r"(?<=\d)[ -](?=\d)", "", plain(text))):
            told = any(run == re.sub(r"\D", "", text[t["start"]:t["end"]]) for t in made["traps"] if t["entity"] == "imei")
            assert told or not holds("credit_card", run), f"a card among the clean: {run}"

def counts(rows):
    wanted = collections.Counter(s["entity"] for r in rows for s in r["spans"] + r["optional"] if s in r["spans"] or s.get("wanted"))
    clean = sum(not r["spans"] and not r["optional"] for r in rows)
    return wanted, clean

def main():
    source = pathlib.Path(__file__).with_name("own.rows").read_text("utf8")
    blocks = re.split(r"(?m)^## (.+)\n", source)[1:]
    made = [row(i // 2, blocks[i], blocks[i + 1].rstrip("\n")) for i in range(0, len(blocks), 2)]
    rows = [row for row, _ in made]
    wanted, clean = counts(rows)
    every = (set(IDS) - {"imei", "isbn"}) | set(SECRETS) | BY_KEY_ALONE | {"email", "phone", "date_of_birth", "password"}
    few = {e: wanted[e] for e in every if wanted[e] < 3}
    assert not few, f"too few: {few}"
    assert len(rows) >= 400 and clean >= 120 and len({r["text"] for r in rows}) == len(rows), (len(rows), clean)
    if "--counts" in sys.argv:
        optional = sum(not s.get("wanted") for r in rows for s in r["optional"])
        print(f"{len(rows)} rows, {clean} of them clean; {sum(wanted.values())} wanted, {optional} optional, {sum(len(r['traps']) for r in rows)} look-alikes")
        for entity, n in sorted(wanted.items()):
            print(f"{entity:24}{n:4}")
        return
    if len(sys.argv) > 1:
        lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
        pathlib.Path(sys.argv[1]).write_text(lines, "utf8", newline="\n")
        return
    opening = "# Made by make_own.py from own.rows: do not edit. A mark ¦ is no part of a value.\n"
    pathlib.Path(__file__).with_name("own.labelled").write_text(opening + "".join(text for _, text in made), "utf8", newline="\n")


main()
