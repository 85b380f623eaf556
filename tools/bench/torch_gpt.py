#!/usr/bin/env python3
"""The peer of `make bench`: the kit's GPT in PyTorch, timed step by step.

Prints one line per run, `ms=<median ms per step> peak_mib=<growth of the resident set over idle; on
a GPU the most that tensors took>`. A step is forward, backward, AdamW and zeroing of the gradients,
on one fixed batch.

In bf16 and f16 all weights and activations are stored in half, without autocast, and AdamW updates
float masters, which are then rounded into the weights, as the kit does it. Two things differ, for
PyTorch has no other way: its gradients leave the backward pass in half and are copied to float,
where the kit sums them in float from the start; and its loss comes from log-probabilities in half.
Products of floats are in float: TF32 is off.
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


TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


class MasterWeights:
    """Weights in half for the passes, and their float masters for the optimizer."""

    def __init__(self, model, make_optimizer):
        self.weights = list(model.parameters())
        self.masters = [weight.detach().float() for weight in self.weights]
        for master in self.masters:
            master.grad = torch.empty_like(master)
        self.optimizer = make_optimizer(self.masters)

    @torch.no_grad()
    def step(self):
        torch._foreach_copy_([m.grad for m in self.masters], [w.grad for w in self.weights])
        self.optimizer.step()
        torch._foreach_copy_(self.weights, self.masters)

    def zero_grad(self):
        for weight in self.weights:
            weight.grad = None


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("vocabulary", "layers", "heads", "width", "time", "batch", "steps", "threads"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--optimizer", choices=("foreach", "fused"), default="fused")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--precision", choices=TYPES, default="f32")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    return parser.parse_args()


def main():
    options = parse()
    on_gpu = options.device == "cuda"
    torch.set_num_threads(options.threads)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(1)
    torch.ones(64, 64) @ torch.ones(64, 64)
    idle = peak_mib()
    with torch.device(options.device):
        model = GPT(options.vocabulary, options.time, options.layers, options.heads, options.width)
        tokens = torch.randint(options.vocabulary, (options.batch, options.time + 1))
    fused = {"fused": True} if options.optimizer == "fused" else {"foreach": True}

    def make_optimizer(parameters):
        return torch.optim.AdamW(parameters, lr=3e-4, weight_decay=0.1, **fused)

    if options.precision == "f32":
        optimizer = make_optimizer(model.parameters())
    else:
        model.to(TYPES[options.precision])
        optimizer = MasterWeights(model, make_optimizer)
    # As in the kit: keeps f16's gradients away from zero; AdamW divides it out again.
    scale = 1024 if options.precision == "f16" else 1
    forward = torch.compile(model) if options.compile else model
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()

    times = []
    warm_up = 5 if on_gpu else 2
    for step in range(options.steps + warm_up):
        start = time.perf_counter()
        loss = forward(inputs, targets)
        (loss if scale == 1 else loss * scale).backward()
        optimizer.step()
        optimizer.zero_grad()
        if on_gpu:
            torch.cuda.synchronize()
        if step >= warm_up:
            times.append(1e3 * (time.perf_counter() - start))
    peak = torch.cuda.max_memory_allocated() / 2**20 if on_gpu else peak_mib() - idle
    print(f"ms={statistics.median(times):.3f} peak_mib={peak:.1f} idle_mib={idle:.1f} "
          f"loss={loss.item():.4f} torch={torch.__version__}")


if __name__ == "__main__":
    main()
