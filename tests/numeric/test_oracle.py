#!/usr/bin/env python3
"""Random checkpoints of odd shapes: logits and routing weights of every site against the float64 oracle, tensor by tensor,
and every number of --json against the oracle's report. TAP."""
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.environ.get("MHAR_TEST_DATA", os.path.join(os.path.dirname(__file__), ".."))
PROGRAM = os.environ["MHAR_PROBE"]
ORACLE = os.path.join(TESTS, "oracle")
EXTRA = sys.argv[1:]
sys.path.insert(0, os.path.join(TESTS, "numeric"))
from test_golden import walk  # noqa: E402

# Options of make_checkpoint.py: what is odd about each.
SHAPES = [
    "--mode full --width 96 --heads 3 --kv-heads 1 --layers 1 --vocab 257",
    "--mode full_mh --heads-routing 3 --width 96 --heads 3 --kv-heads 3 --layers 2 --dtype F16",
    "--mode full_mh --heads-routing 8 --head-dim 24 --family llama --layers 3 --dtype F32 --untied",
    "--mode full_mh --heads-routing 1 --layers 2 --old-config --rope-theta 1000000",
    "--mode full --layers 5 --shards 3 --kv-heads 4 --ffn 72",
    "--mode full --layers 2 --dtype F32 --shards 5 --family llama --query-scale 3",
    "--mode full_mh --heads-routing 64 --layers 2 --vocab 300 --query-scale 1",
    "--mode full_mh --heads-routing 5 --width 80 --heads 5 --kv-heads 5 --layers 4",
    "--mode full_hw --heads-routing 4 --kv-heads 2 --layers 2 --gate sigmoid_scalar",
    "--mode full_hw --heads-routing 3 --width 96 --heads 3 --kv-heads 1 --layers 3 --family llama",
    "--mode block --layers 5 --blocks 3 --gate sigmoid_vector",
    "--mode block_mh --layers 3 --blocks 2 --family llama --dtype F32",
    "--mode delta --layers 3 --null-source --gate learnable_alpha --family llama",
    "--mode delta_block --layers 5 --blocks 5",
    "--mode delta_mh --layers 4 --blocks 3 --heads-routing 8 --dtype F16",
    "--mode block --layers 5 --blocks 2 --recency-bias",
    "--mode full --layers 2 --recency-bias --gate sigmoid_scalar",
    "--mode hyper_connection --layers 3 --streams 3",
    "--mode baseline --layers 2 --untied --head-dim 40",
    "--mode baseline --family llama --layers 3 --dtype F16 --shards 2",
]


def oracle(*args):
    subprocess.run([sys.executable, os.path.join(ORACLE, "mhar_oracle.py"), *args], check=True, stdout=subprocess.DEVNULL)


def check_forward(folder, scratch):
    """Share of the 1e-5 allowance of the worst tensor, and its name."""
    reference = os.path.join(scratch, "ref.safetensors")
    ids = " ".join(str((7 * i * i + 3 * i) % 257) for i in range(67))
    oracle("forward", folder, "--tokens", ids, "--out", reference)
    run = subprocess.run([PROGRAM, "--verify", reference, folder, *EXTRA], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        return float("inf"), run.stderr.strip()
    worst = (0.0, "")
    for line in run.stdout.splitlines():
        words = line.split()
        if "relative norm error" in line:
            worst = max(worst, (float(words[4].rstrip(",")) / 1e-5, words[0]))
    return worst if worst[1] else (float("inf"), run.stdout)


def check_probes(folder, scratch, mode):
    """Share of the allowance of the worst number of the report."""
    ids, report = os.path.join(scratch, "ids.u16"), os.path.join(scratch, "report.json")
    with open(ids, "wb") as f:
        for i in range(131):
            f.write(((11 * i * i + 5 * i + 1) % 257).to_bytes(2, "little"))
    options = ["--context", "48", "--null-draws", "3", "--seed", "99", "--skip-first", "2", "--slices", "2"]
    if mode not in ("baseline", "hyper_connection"):
        options += ["--match-sources", "3"]
    oracle("probe", folder, "--tokens-file", ids, *options, "--out", report)
    run = subprocess.run([PROGRAM, "--json", "--quiet", "--tokens", ids, folder, *options, *EXTRA], capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        return float("inf"), run.stderr.strip()
    errors = []
    with open(report, encoding="utf-8") as f:
        walk(json.load(f), json.loads(run.stdout)["checkpoints"][0], "", {}, errors)
    return max(errors)


def main():
    failed = 0
    print(f"1..{2 * len(SHAPES)}")
    for number, shape in enumerate(SHAPES):
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "checkpoint")
            subprocess.run([sys.executable, os.path.join(ORACLE, "make_checkpoint.py"), folder, *shape.split()], check=True)
            results = [("forward", check_forward(folder, scratch)),
                       ("probes", check_probes(folder, scratch, shape.split()[1]))]
        for k, (what, (share, where)) in enumerate(results):
            good = share <= 1
            failed += not good
            print(f"{'ok' if good else 'not ok'} {2 * number + k + 1} - {what} {shape}: largest error {100 * share:.2f} % of "
                  f"the allowance ({where})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
