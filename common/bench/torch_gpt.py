#!/usr/bin/env python3
"""The peer of `make bench`: the kit's GPT in PyTorch eager mode, timed step by step.

Prints one line per run, `ms=<median ms per step> peak_mib=<growth of the resident set over idle>`.
A step is forward, backward, AdamW and zeroing of the gradients, on one fixed batch.
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.attn_proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.fc = nn.Linear(width, 4 * width)
        self.mlp_proj = nn.Linear(4 * width, width)

    def attention(self, x):
        batch, time_steps, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        split = (batch, time_steps, self.heads, width // self.heads)
        q, k, v = (part.view(split).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn_proj(y.transpose(1, 2).reshape(batch, time_steps, width))

    def forward(self, x):
        x = x + self.attention(self.ln_1(x))
        return x + self.mlp_proj(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, vocabulary, positions, layers, heads, width):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.wte.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


def peak_mib():
    """The largest resident set; not getrusage(), whose figure begins with the parent's."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("vocabulary", "layers", "heads", "width", "time", "batch", "steps", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--optimizer", choices=("foreach", "fused"), default="fused")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    torch.ones(64, 64) @ torch.ones(64, 64)
    idle = peak_mib()
    model = GPT(options.vocabulary, options.time, options.layers, options.heads, options.width)
    fused = {"fused": True} if options.optimizer == "fused" else {"foreach": True}
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1, **fused)
    tokens = torch.randint(options.vocabulary, (options.batch, options.time + 1))

    times = []
    for step in range(options.steps + 2):
        start = time.perf_counter()
        loss = model(tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step >= 2:
            times.append(1e3 * (time.perf_counter() - start))
    print(f"ms={statistics.median(times):.3f} peak_mib={peak_mib() - idle:.1f} idle_mib={idle:.1f} "
          f"loss={loss.item():.4f} torch={torch.__version__}")


if __name__ == "__main__":
    main()
