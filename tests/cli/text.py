#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Any text in any locale: the same numbers, the ids of the oracle, and spans that can be shown."""
import unicodedata

import h5py

from harness import *

sys.path.insert(0, str(ORACLE))
import bpe_oracle  # noqa: E402

CKPT = DEMO / "mhar"
RUN = ["--null-draws", "2", "--device", "cpu"]
TOKENIZER = bpe_oracle.Tokenizer(CKPT / "tokenizer.json")

TEXTS = {
    "Arabic and Hebrew": "مرحبا بالعالم، هذا رأس يقرأ 123. שלום עולם, ראש קורא.\n" * 3,
    "combining marks": "e\u0301a\u0308o\u0302\u0323 n\u0303 \u0301alone Z" + "\u0300\u0316\u0489" * 20 + "algo\n",
    "composed and not": "caf\u00e9 cafe\u0301 \u212b \u1e9b\u0323 \uac00 \u1100\u1161\n",
    "emoji": "👩‍👩‍👧‍👦 🙂🙃 🇩🇪🇫🇷 👍🏽 ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿 done " * 4,
    "beyond the first plane": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𠜎𠜱 \U0010ffff \ufdd0 \ufffe",
    "NUL bytes": "a\0b\0\0c one\0two \0",
    "CRLF": "one\r\ntwo\r\n\r\nthree\rfour\n\r\n",
    "a byte order mark": "\ufeffIt begins here.\ufeff And\ufeff on",
    "no final newline": "It ends here",
    "newlines alone": "\n\n\n\n \n\t\n",
    "spaces of all kinds": "a\u00a0b\u2003c\u2028d\u2029e\u3000f\u200bg\u202eh\u2066i\u2069 \t \v\f \x1b[31m \x7f",
    "directions": "\u202eabc\u202c \u200f\u200e \u2067x\u2069",
    "private use and unassigned": "\ue000 \U000f0000 \u0378 \U0001fbff",
}


def encode(text):
    return TOKENIZER.encode(text)


def check_text(scratch, text, contexts=(64,)):
    """The oracle's ids, and around every token a piece of the text itself."""
    ids, path = encode(text), scratch / "t.txt"
    path.write_bytes(text.encode())
    shown = unicodedata.normalize("NFC", text).replace("\0", "\ufffd")  # what is shown is what the ids say
    for context in contexts:
        succeed(CKPT, *RUN, "--text", path, "--context", str(context), "--reads", "--top-tokens", "1000", "-o", scratch / "x.h5", "-q")
        with h5py.File(scratch / "x.h5") as f:
            assert f["provenance"].attrs["text_tokens"] == len(ids), (f["provenance"].attrs["text_tokens"], len(ids))
            reads = f["checkpoint_0/reads"]
            seen = list(zip(reads["example_token"], reads["example_id"], *(reads[f"example_{k}"].asstr() for k in ("before", "text", "after"))))
        assert [s[0] for s in seen] == list(range(len(seen))) and len(seen) >= len(ids) - 1, len(seen)
        for token, id_, before, word, after in seen:
            assert id_ == ids[token], (token, id_, ids[token])
            assert before + word + after in shown, (before, word, after)
            assert word and not any(unicodedata.category(c) == "Cs" for c in before + word + after)


for name, text in TEXTS.items():
    add(name, lambda scratch, text=text: check_text(scratch, text))
add("characters cut at every window's edge", lambda scratch: check_text(scratch, TEXTS["emoji"][:60], contexts=range(2, 9)))
add("right-to-left text cut at every window's edge", lambda scratch: check_text(scratch, TEXTS["Arabic and Hebrew"][:40], contexts=range(2, 9)))


@case
def prompts_are_texts_too(scratch):
    text = TEXTS["Arabic and Hebrew"][:50] + TEXTS["emoji"][:50]
    (scratch / "t.txt").write_bytes(text.encode())
    a = report(CKPT, *RUN, "--text", scratch / "t.txt")["checkpoints"]
    for locale in ("C", "C.UTF-8"):
        assert report(CKPT, *RUN, "--prompt", text, locale=locale)["checkpoints"] == a
        assert report(CKPT, *RUN, "--text", "-", text=text.encode(), locale=locale)["checkpoints"] == a


@case
def text_that_is_not_utf8(scratch):
    for i, data in enumerate((b"good \xff bad", b"cut \xe2\x82", b"long \xc0\x80", b"half \xed\xa0\x80", "utf-16".encode("utf-16"))):
        (scratch / f"{i}.txt").write_bytes(data)
        refuse(scratch, 3, [f"{i}.txt", "UTF-8"], CKPT, *RUN, "--text", scratch / f"{i}.txt")


@case
def one_line_of_four_megabytes(scratch):
    """No newline at all, and no space at all; the 100 MB of the same are in tests/bench/RESULTS.md."""
    line = (DEMO / "text.txt").read_text().replace("\n", " ")
    (scratch / "long.txt").write_text((line * (4_000_000 // len(line) + 1))[:4_000_000])
    (scratch / "word.txt").write_text("a" * 4_000_000)
    for name in ("long.txt", "word.txt"):
        found = report(CKPT, *RUN, "--text", scratch / name, "--context", "32", "--max-tokens", "96", timeout=300)
        assert found["checkpoints"][0]["windows"] == 3


def locale_folder(scratch, name):
    """A locale of this machine's sources; $LOCPATH."""
    if shutil.which("localedef") is None:
        raise Skip("there is no localedef to make a locale with")
    made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", scratch / f"{name}.UTF-8"], capture_output=True)
    if not (scratch / f"{name}.UTF-8").is_dir():
        raise Skip(f"localedef cannot make {name}: {made.stderr.decode()[:80]}")
    return str(scratch)


@case
def numbers_and_files_are_the_same_in_every_locale(scratch):
    """Decimal commas, other digits, other letters, no UTF-8: nothing that is data changes."""
    found = {}
    for locale, source in (("C.UTF-8", None), ("C", None), ("POSIX", None), ("de_DE.UTF-8", "de_DE"), ("ar_EG.UTF-8", "ar_EG"),
                           ("tr_TR.UTF-8", "tr_TR"), ("nowhere", None)):
        env = {"LOCPATH": locale_folder(scratch, source)} if source else {}
        place = scratch / locale
        place.mkdir(exist_ok=True)
        out = [succeed(CKPT, *RUN, "--max-tokens", "200", "--context", "64", *style, "--figure", "x.svg", "-o", "x.h5", locale=locale, env=env,
                       cwd=place).out for style in (["--json"], ["--table", "csv"], [], ["--table", "latex"])]
        out.append((place / "x.svg").read_text())
        with h5py.File(place / "x.h5") as f:
            out.append({k: repr(v) for k, v in f["checkpoint_0"].attrs.items() if isinstance(v, float)})
        out.append(succeed("--from", "x.h5", "--json", locale=locale, env=env, cwd=place).out)
        found[locale] = out
    for locale, out in found.items():
        for i, (a, b) in enumerate(zip(out, found["C.UTF-8"])):
            assert a == b or i == 4 and locale in ("C", "POSIX", "nowhere"), (locale, i)


@case
def options_are_read_the_same_in_every_locale(scratch):
    env = {"LOCPATH": locale_folder(scratch, "de_DE")}
    check_refusal(probe(MH, "--verify", "x", "--tolerance", "1,5", locale="de_DE.UTF-8", env=env), 2, "--tolerance", "1,5")
    check_refusal(probe(MH, "--verify", "x", "--tolerance", "1.5", locale="de_DE.UTF-8", env=env), 3, "x")
    assert report(MH, *SHORT, locale="de_DE.UTF-8", env=env)["checkpoints"][0]["loss"] > 1


@case
def names_of_files_in_any_bytes(scratch):
    for i, name in enumerate((b"\xff\xfe", "שלום 🙂".encode(), b"a b'c\"d$e", b"-x", b"new\nline")):
        folder = os.fsencode(scratch) + b"/" + name
        shutil.copytree(os.fsencode(CKPT), folder)
        for locale in ("C", "C.UTF-8"):
            out = succeed(folder, *RUN, "--max-tokens", "64", "-o", folder + b"/o.h5", locale=locale)
            assert "\x1b" not in out.out
            json.loads(succeed("--from", folder + b"/o.h5", "--json", locale=locale).out)


main()
