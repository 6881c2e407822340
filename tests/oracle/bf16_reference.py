#!/usr/bin/env python3
"""How far a plain bf16 implementation lands from the float64 oracle: every operation's result rounded to bf16, as an eager
framework does; sums, norms and softmax inside an operation in high precision. Prints `name error` a checkpoint, the error being
the relative norm of the logits over the ids of tests/fixtures/authors/NAME.safetensors.

    bf16_reference.py > ../fixtures/bf16-plain.txt"""
import os
import sys

import numpy as np

import mhar_oracle as oracle

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKPOINTS = {"demo-single": "../../data/demo/single", "demo-mhar": "../../data/demo/mhar"}


def bf16(x):
    u = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32).astype(np.float64)


def rms_norm(x, gain, eps):
    return bf16(bf16(x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)) * gain)


def rope(x, theta):
    t, hd = x.shape[1], x.shape[2]
    inv = theta ** (-np.arange(0, hd, 2, dtype=np.float64) / hd)
    angle = np.arange(t, dtype=np.float64)[:, None] * inv[None, :]
    cos, sin = bf16(np.cos(angle)), bf16(np.sin(angle))
    a, b = x[..., : hd // 2], x[..., hd // 2:]
    return np.concatenate([bf16(bf16(a * cos) - bf16(b * sin)), bf16(bf16(b * cos) + bf16(a * sin))], axis=-1)


class Model(oracle.Model):
    def attention(self, l, x, grouped=False):
        p, w, t, hd = f"model.layers.{l}.self_attn.", self.w, x.shape[0], self.hd

        def project(name, heads):
            if not grouped:
                return bf16(x @ w[p + name].T).reshape(t, heads, hd)
            m = w[p + name].reshape(self.nkv, -1, self.d)
            return bf16(np.einsum("ged,tgd->tge", m, x)).reshape(t, heads, hd)
        q, k = project("q_proj.weight", self.nq), project("k_proj.weight", self.nkv)
        v = project("v_proj.weight", self.nkv).transpose(1, 0, 2)
        if p + "q_norm.weight" in w:
            q, k = rms_norm(q, w[p + "q_norm.weight"], self.eps), rms_norm(k, w[p + "k_norm.weight"], self.eps)
        theta, rep = oracle.rope_theta(self.c), self.nq // self.nkv
        q, k = rope(q.transpose(1, 0, 2), theta), rope(k.transpose(1, 0, 2), theta)
        k, v = np.repeat(k, rep, axis=0), np.repeat(v, rep, axis=0)
        s = np.where(np.tril(np.ones((t, t), bool)), q @ k.transpose(0, 2, 1) / np.sqrt(hd), -np.inf)
        o = bf16(bf16(oracle.softmax(s, -1)) @ v).transpose(1, 0, 2).reshape(t, self.nq * hd)
        return bf16(o @ w[p + "o_proj.weight"].T)

    def mlp(self, l, x):
        p = f"model.layers.{l}.mlp."
        g, u = bf16(x @ self.w[p + "gate_proj.weight"].T), bf16(x @ self.w[p + "up_proj.weight"].T)
        return bf16(bf16(bf16(oracle.silu(g)) * u) @ self.w[p + "down_proj.weight"].T)

    def read(self, site, rows, heads):
        q, gain, bias = self.query(site)
        v = np.stack(rows)
        n, t, d = v.shape
        k = rms_norm(v, gain, self.eps).reshape(n, t, heads, d // heads)
        logit = bf16(np.einsum("hk,nthk->nth", q.reshape(heads, d // heads), k))
        logit[-1] += bias
        a = bf16(oracle.softmax(logit, 0))
        self.reads.append(dict(site=site, weights=a, rows=rows))
        return bf16(np.einsum("nth,nthk->thk", a, v.reshape(n, t, heads, d // heads))).reshape(t, d)

    def read_groups(self, site, rows):
        q, gain, _ = self.query(site)
        v = np.stack(rows)
        a = bf16(oracle.softmax(bf16(np.einsum("gd,ntd->ntg", q, rms_norm(v, gain, self.eps))), 0))
        self.reads.append(dict(site=site, weights=a, rows=rows))
        return bf16(np.einsum("ntg,ntd->tgd", a, v))

    def gated(self, site, partial, routed):
        return bf16(super().gated(site, partial, routed))


def main():
    oracle.rms_norm = rms_norm  # the norms of `run` itself round too
    folder = os.path.join(HERE, "..", "fixtures", "authors")
    for file in sorted(os.listdir(folder)):
        name = file.removesuffix(".safetensors")
        checkpoint = os.path.join(HERE, CHECKPOINTS.get(name, f"../fixtures/{name}"))
        want = oracle.read_safetensors(os.path.join(folder, file))
        got = bf16(Model(checkpoint).run(want["ids"].astype(int))["logits"])
        error = np.linalg.norm(got - want["logits"]) / np.linalg.norm(want["logits"])
        print(name, f"{error:.6f}")


if __name__ == "__main__":
    sys.exit(main())
