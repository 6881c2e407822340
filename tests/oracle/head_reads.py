#!/usr/bin/env python3
"""What a head reads, in float64 NumPy: the reference for mhar-probe --reads.

    head_reads.py CKPT --tokens-file ids.u16 --context 64 --top 10 --cell 7,1,0 --cell 8,0,3

With w[t, h, n] the weight that head h of a site gives source n when token t reads, over all tokens t that the means count
(all windows, their first `skip` positions left out):

  weight by ...       the mean of w over the tokens t of a bin, beside how many those are. Bins are
    position          of t in its window, in powers of two: 0, 1, 2-3, 4-7 ...
    document position how many tokens t is after the last end-of-text token before it (after the first token of the text
                      where there is none), in powers of two. An end-of-text token belongs to the document that it ends.
                      End-of-text tokens are those that config.json has as eos_token_id, one or a list, and the one that
                      the tokenizer calls <|endoftext|>. Windows make no difference
    class             of the text that t covers: `white space` where all of it is, else by its first character that is not:
                      `letter` (Unicode L or M), `digit` (N), `punctuation` (P or S), `other`. A token that covers part of
                      a character has the whole of it; what is no character, and an end-of-text token, are `other`
    piece             `no word` where that first character is no letter, or t is an end-of-text token; else `continuation`
                      where t begins with that letter and one of the same document stands right before, or t begins
                      within that letter; else `first piece`

  most, least         the k tokens with the largest and the smallest w; of equal ones the earlier first. Each with the text
                      that it covers and that of the five tokens before and after; a character cut at the far end of that
                      context is left out

  logit               through the last read alone: h = sum_n w_n s_n, each head its own coordinates. With the root mean
                      square of h as it is (a frozen norm), y the next token, u its row of the output matrix and g the gain
                      of the last norm, head h and source n add

                          c[t, h, n] = w[t, h, n] * sum over i of head h's coordinates of s_n[t, i] g_i u_i / rms(h[t])

                      to y's logit, and all of them together are it. Means over the predicted tokens, those of the loss.
                      Centred: u less the mean row of the output matrix, so less the mean logit of the vocabulary
"""
import argparse
import json
import os
import sys
import unicodedata

import numpy as np

from bpe_oracle import Tokenizer
from mhar_oracle import F, Model, ids_of, windows

CLASSES = ["letter", "digit", "punctuation", "white space", "other"]
PIECES = ["first piece", "continuation", "no word"]
AROUND = 5
BROKEN = "\ufffd"


# ---------------------------------------------------------------- tokens
def is_space(c):
    return c in "\t\n\r\f" or unicodedata.category(c)[0] == "Z"


def is_letter(c):
    return unicodedata.category(c)[0] in "LM"


def text_of(raw):
    return raw.decode("utf-8", "replace").replace("\0", BROKEN)


def first_character(text):
    """(the first character that is no white space, its place); (None, ...) where there is none."""
    return next(((c, i) for i, c in enumerate(text) if not is_space(c)), (None, len(text)))


def token_class(text):
    c, _ = first_character(text)
    if c is None:
        return CLASSES.index("white space" if text else "other")
    if c == BROKEN:
        return CLASSES.index("other")
    return CLASSES.index({"L": "letter", "M": "letter", "N": "digit", "P": "punctuation", "S": "punctuation"}.get(
        unicodedata.category(c)[0], "other"))


class Tokens:
    """The ids of a text, with what each is."""

    def __init__(self, folder, config, ids):
        path = os.path.join(folder, "tokenizer.json")
        self.ids, self.tokenizer = ids, Tokenizer(path) if os.path.exists(path) else None
        eos = config.get("eos_token_id")
        ends = set(eos if isinstance(eos, list) else [] if eos is None else [eos])
        if self.tokenizer and "<|endoftext|>" in self.tokenizer.added:
            ends.add(self.tokenizer.added["<|endoftext|>"])
        self.ends = sorted(ends)
        if self.tokenizer:
            inverse = {c: b for b, c in self.tokenizer.bytes.items()}
            parts = [self.bytes(i, inverse) for i in ids]
            self.raw, self.at = b"".join(parts), np.concatenate([[0], np.cumsum([len(p) for p in parts])]).astype(int)

    def bytes(self, i, inverse):
        t = self.tokenizer
        if i not in t.back:
            return BROKEN.encode()
        return t.back[i].encode() if t.back[i] in t.added else bytes(inverse[c] for c in t.back[i])

    def inside(self, i):
        """Whether byte i is not the first of its character."""
        return 0 < i < len(self.raw) and 0x80 <= self.raw[i] < 0xc0

    def span(self, t):
        """Bytes [start, end) of the whole characters that token t covers."""
        start, end = self.at[t], self.at[t + 1]
        for _ in range(3):
            start -= start < end and self.inside(start)
        for _ in range(3):
            end += start < end and self.inside(end)
        return start, end

    def text(self, t):
        start, end = self.span(t)
        return text_of(self.raw[start:end])

    def classes(self):
        return np.array([CLASSES.index("other") if i in self.ends else token_class(self.text(t))
                         for t, i in enumerate(self.ids)])

    def pieces(self):
        out = []
        for t, i in enumerate(self.ids):
            c, at = first_character(self.text(t))
            if i in self.ends or c is None or not is_letter(c):
                out.append(2)
                continue
            start = self.span(t)[0]
            before = self.raw[max(start - 4, 0):start].decode("utf-8", "replace")
            follows = t > 0 and self.ids[t - 1] not in self.ends and before != "" and is_letter(before[-1])
            out.append(1 if at == 0 and (start < self.at[t] or follows) else 0)
        return np.array(out)

    def document_positions(self):
        out, since = [], 0
        for i in self.ids:
            out.append(since)
            since = 0 if i in self.ends else since + 1
        return np.array(out)

    def around(self, t):
        """(before, text, after) of token t."""
        start, end = self.span(t)
        a, z = min(self.at[max(0, t - AROUND)], start), max(self.at[min(len(self.ids), t + AROUND + 1)], end)
        for _ in range(3):
            a += a < start and self.inside(a)
            z -= z > end and self.inside(z)
        return text_of(self.raw[a:start]), text_of(self.raw[start:end]), text_of(self.raw[end:z])


# ---------------------------------------------------------------- bins
def bin_of(position):
    return int(position).bit_length()


def bins(longest):
    """first and last position of each bin up to `longest`."""
    n = bin_of(longest) + 1
    return [0] + [1 << (b - 1) for b in range(1, n)], [0] + [min((1 << b) - 1, longest) for b in range(1, n)]


def means(weights, which, n):
    """[H, N, n] of weights [T, H, N] over the tokens of each bin, NaN where there are none."""
    out = np.full(weights.shape[1:] + (n,), np.nan)
    for b in range(n):
        if (which == b).any():
            out[:, :, b] = weights[which == b].mean(0)
    return out


# ---------------------------------------------------------------- the report
def logits_of_last(m, ws, runs):
    """`logit`; None where the model has no final route."""
    last = runs[0]["reads"][-1] if runs[0]["reads"] else None
    if last is None or last["site"] != 2 * m.L:
        return None
    g, heads = m.w["model.norm.weight"], last["weights"].shape[2]
    mean_row = m.head.mean(0)
    total, centred, target, target_centred, n = 0, 0, 0.0, 0.0, 0
    for w, r in zip(ws, runs):
        read, y = r["reads"][-1], np.asarray(w)[1:]
        s = np.stack(read["rows"])[:, :-1]  # [N, t, d]
        a = read["weights"][:, :-1]  # [N, t, H]
        N, t, d = s.shape
        mixed = a[:, :, :, None] * s.reshape(N, t, heads, d // heads)
        h = mixed.sum(0).reshape(t, d)
        rms = np.sqrt((h * h).mean(-1) + m.eps)
        for k, rows in enumerate((m.head[y], m.head[y] - mean_row)):
            unit = (g * rows / rms[:, None]).reshape(t, heads, d // heads)
            part = np.einsum("nthk,thk->hn", mixed, unit)
            if k:
                centred = centred + part
            else:
                total = total + part
        z = r["logits"][:-1]
        target += z[np.arange(t), y].sum()
        target_centred += (z[np.arange(t), y] - z.mean(-1)).sum()
        n += t
    assert np.isclose(total.sum(), target) and np.isclose(centred.sum(), target_centred)
    return dict(tokens=n, target=target / n, target_centred=target_centred / n, contribution=(total / n).tolist(),
                contribution_centred=(centred / n).tolist())


def extremes(weights, where, k, sign):
    order = np.lexsort((where, -sign * weights))[:k]
    return [(int(where[i]), float(weights[i])) for i in order]


def report(folder, ids, cells=(), k=10, context=1024, max_tokens=None, skip=0):
    """`reads` as `mhar-probe --json` prints it. cells: (site, head, source) numbers."""
    m = Model(folder)
    ids = np.asarray(ids)[:max_tokens] if max_tokens else np.asarray(ids)
    tokens = Tokens(folder, m.c, [int(i) for i in ids])
    context = min(context, max(len(ids), 2))
    cut = [w for w in windows(ids, context, None)]
    starts = [context * i for i in range(len(cut))]
    kept = [(s, w) for s, w in zip(starts, cut) if len(w) > skip]
    ws, runs = [w for _, w in kept], [m.run(w) for _, w in kept]
    where = np.concatenate([np.arange(s + skip, s + len(w)) for s, w in kept])
    position = where - np.concatenate([np.full(len(w) - skip, s) for s, w in kept])
    documents = tokens.document_positions()
    used = max(s + len(w) for s, w in kept)
    kinds = [("position", [bin_of(p) for p in position], *bins(context - 1)),
             ("document_position", [bin_of(documents[t]) for t in where], *bins(int(max(documents[:used]))))]
    out, which = {"end_of_text": tokens.ends}, {}
    for name, of, first, last in kinds:
        which[name] = np.array(of), len(first)
        out[name] = dict(first=first, last=last, tokens=np.bincount(of, minlength=len(first)).tolist())
    if tokens.tokenizer:
        for name, of, labels in (("class", tokens.classes(), CLASSES), ("piece", tokens.pieces(), PIECES)):
            which[name] = of[where], len(labels)
            out[name] = dict(label=labels, tokens=np.bincount(of[where], minlength=len(labels)).tolist())
    weights = {}
    for i, read in enumerate(runs[0]["reads"]):
        parts = [r["reads"][i]["weights"][:, skip:] for r in runs]
        weights[read["site"]] = np.concatenate(parts, 1).transpose(1, 2, 0)  # [T, H, N]
    out["per_site"] = [dict(site=s, **{"weight_by_" + name: means(w, of, n).tolist() for name, (of, n) in which.items()})
                       for s, w in weights.items()]
    out["cells"] = []
    for s, h, n in cells:
        cell = dict(site=s, head=h, source=n)
        for name, sign in (("most", 1), ("least", -1)):
            cell[name] = [dict(token=t, id=int(ids[t]), weight=w) for t, w in extremes(weights[s][:, h, n], where, k, sign)]
            for one in cell[name]:
                if tokens.tokenizer:
                    one["before"], one["text"], one["after"] = tokens.around(one["token"])
        out["cells"].append(cell)
    logit = logits_of_last(m, ws, runs)
    if logit:
        out["logit"] = logit
    out["_weights"], out["_where"], out["_tokens"] = weights, where, tokens
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("checkpoint")
    p.add_argument("--tokens", default="1 2 3 4")
    p.add_argument("--tokens-file")
    p.add_argument("--offset", type=int, default=0)
    p.add_argument("--context", type=int, default=1024)
    p.add_argument("--max-tokens", type=int)
    p.add_argument("--skip-first", type=int, default=0)
    p.add_argument("--top", type=int, default=10)
    p.add_argument("--cell", action="append", default=[], help="SITE,HEAD,SOURCE by number")
    a = p.parse_args()
    cells = [tuple(map(int, c.split(","))) for c in a.cell]
    found = report(a.checkpoint, ids_of(a), cells, a.top, a.context, a.max_tokens, a.skip_first)
    print(json.dumps({key: value for key, value in found.items() if key[0] != "_"}, indent=1))


if __name__ == "__main__":
    sys.exit(main())
