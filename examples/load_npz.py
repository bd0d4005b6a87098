#!/usr/bin/env python3
"""The values and best moves of a net for positions of `outflank games --to npz`, with NumPy alone.

usage: load_npz.py FILE.npz NET.safetensors [POSITIONS]

The planes in the file must be those of the net: export them with `--net NET.safetensors`.
docs/games.md explains the arrays of the file, src/net/plan.rs those of the net.
"""
import json
import sys

import numpy as np


def read_net(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    spec = json.loads(header.pop("__metadata__")["outflank"])["spec"]
    array = lambda a: np.frombuffer(data[slice(*a["data_offsets"])], "<f4").reshape(a["shape"])
    return {name: array(entry) for name, entry in header.items()}, spec


def net(w, spec, planes):
    board = planes[:1, 3:4]
    def conv(x, name, norm):
        kernel = w[f"{name}.weight"]
        rim = kernel.shape[2] // 2
        padded = np.pad(x, ((0, 0), (0, 0), (rim, rim), (rim, rim)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape[2:], (2, 3))
        x = np.einsum("nchwij,ocij->nohw", windows, kernel, optimize=True)
        mean, variance, scale, shift = (
            w[f"{norm}.{part}"][:, None, None] for part in ("mean", "variance", "scale", "shift"))
        return (x - mean) / np.sqrt(variance + 1e-5) * scale + shift

    relu = lambda x: np.maximum(x, 0) * board  # cells that are no squares stay 0
    squares = board[0, 0] == 1
    x = relu(conv(planes, "stem.conv", "stem.norm"))
    for block in range(spec["options"]["blocks"]):
        name = f"block.{block}"
        inner = conv(x, f"{name}.conv1", f"{name}.norm1")
        if f"{name}.pool.weight" in w:
            on_board = x[:, :, squares]
            pooled = np.concatenate([on_board.mean(2), on_board.max(2)], 1)
            inner += (pooled @ w[f"{name}.pool.weight"].T)[:, :, None, None]
        x = relu(conv(relu(inner), f"{name}.conv2", f"{name}.norm2") + x)
    policy = relu(conv(x, "policy.conv", "policy.norm"))
    logits = np.einsum("nchw,c->nhw", policy, w["policy.out.weight"][0])[:, squares]
    features = relu(conv(x, "value.conv", "value.norm"))
    features = features.transpose(0, 2, 3, 1).reshape(len(x), -1)  # all channels of a cell together
    hidden = np.maximum(features @ w["value.hidden.weight"].T + w["value.hidden.bias"], 0)
    value = np.tanh(hidden @ w["value.out.weight"][0] + w["value.out.bias"][0])
    legal = planes[:, 2][:, squares] == 1
    logits = np.where(legal, logits + w["policy.out.bias"], -np.inf)
    policy = np.exp(logits - logits.max(1, keepdims=True))
    return value, policy / policy.sum(1, keepdims=True)


def main():
    weights, spec = read_net(sys.argv[2])
    file = np.load(sys.argv[1])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    planes = file["planes"][:count].astype(np.float32)
    values, policies = net(weights, spec, planes)
    for value, policy, result in zip(values, policies, file["results"]):
        best = policy.argmax()
        print(f"value {value:+.6f}  best square {best} with {policy[best]:.6f}  result {result:+d}")


if __name__ == "__main__":
    main()
