#!/usr/bin/env python3
"""The outside oracle: the kit's GPT-2 against Hugging Face's, both ways.

    grader/proof/oracle.py build/bin/oracle

A model written by transformers is loaded by the kit, and one written by the kit by transformers;
each time both compute loss and gradients of the same batch. The same with an adapter written by peft,
and with one written by the kit; then the two merge it. The loss may differ by 1e-5, relatively, and each
gradient tensor by 1e-4 of its norm, a merged matrix by 1e-6. Needs PyTorch and transformers, and peft for
adapters; where they are not installed it says so and ends with status 0 (make test PYTHON=... names a
Python that has them).
"""

import os
import subprocess
import sys
import tempfile

LOSS_LIMIT, GRADIENT_LIMIT, MERGED_LIMIT = 1e-5, 1e-4, 1e-6


def import_or_skip():
    try:
        os.environ["TRANSFORMERS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
        import torch
        import transformers
        from safetensors.torch import load_file
    except ImportError as error:
        print(f"oracle: SKIPPED: {error} (see grader/proof/oracle.py)")
        sys.exit(0)
    return torch, transformers, load_file


def fresh_model(torch, transformers):
    config = transformers.GPT2Config(
        vocab_size=300, n_positions=24, n_layer=3, n_head=3, n_embd=48, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=10, eos_token_id=10)
    torch.manual_seed(5)
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():  # biases start at 0 and scales at 1: make every parameter count
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def write_tokens(torch, path, batch=3, time=24):
    tokens = torch.randint(300, (batch, time + 1), generator=torch.Generator().manual_seed(9))
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{batch} {time}\n")
        for row in tokens.tolist():
            file.write(" ".join(map(str, row)) + "\n")
    return tokens


def relative(torch, got, want):
    return (torch.linalg.vector_norm(got.double() - want.double()) / torch.linalg.vector_norm(want.double())).item()


def compare(torch, load_file, model, tokens, command, out):
    """Runs both on `tokens`; returns the lines that went wrong."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return [f"the kit refused the model: {result.stderr.strip()}"]
    ours = float(result.stdout)
    model.eval()
    model.zero_grad()
    logits = model(tokens[:, :-1]).logits
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                                             tokens[:, 1:].reshape(-1))
    loss.backward()
    wrong, worst = [], 0.0
    error = abs(ours - loss.item()) / abs(loss.item())
    if not error <= LOSS_LIMIT:
        wrong.append(f"loss {ours} against {loss.item()}")
    gradients = load_file(out)
    names = {name.replace(".default.", "."): p.grad for name, p in model.named_parameters() if p.requires_grad}
    if set(gradients) != set(names):
        wrong.append(f"other tensors: {set(gradients) ^ set(names)}")
    for name, want in names.items():
        if name not in gradients:
            continue
        difference = relative(torch, gradients[name], want)
        worst = max(worst, difference)
        if not difference <= GRADIENT_LIMIT:
            wrong.append(f"gradient of {name}: relative error {difference:.2g}")
    print(f"  loss {ours:.7f} against {loss.item():.7f} (relative error {error:.1e}), "
          f"{len(names)} gradients, worst relative error {worst:.1e}")
    return wrong


def compare_adapter(torch, load_file, model, tokens, binary, folder, adapter):
    """A model of peft beside the kit's, then both merged."""
    out, merged = os.path.join(folder, "adapter.safetensors"), os.path.join(folder, "merged")
    command = [binary, "--adapter", os.path.join(folder, "theirs"), adapter, os.path.join(folder, "tokens"), out, merged]
    wrong = compare(torch, load_file, model, tokens, command, out)
    if wrong:
        return wrong
    theirs, worst = model.merge_and_unload().state_dict(), 0.0
    for name, ours in load_file(os.path.join(merged, "model.safetensors")).items():
        difference = relative(torch, ours, theirs[name])
        worst = max(worst, difference)
        if not difference <= MERGED_LIMIT:
            wrong.append(f"merged {name}: relative error {difference:.2g}")
    print(f"  merged by both, worst relative error of a matrix {worst:.1e}")
    return wrong


def adapters(torch, transformers, load_file, tokens, binary, folder):
    """An adapter written by peft is loaded by the kit, and one written by the kit by peft."""
    try:
        import peft
    except ImportError as error:
        print(f"oracle: adapters SKIPPED: {error}")
        return []
    print(f"oracle: peft {peft.__version__}")
    base, theirs, ours = (os.path.join(folder, name) for name in ("theirs", "their_adapter", "our_adapter"))

    def fresh():
        return transformers.GPT2LMHeadModel.from_pretrained(base)
    config = peft.LoraConfig(r=5, lora_alpha=12, target_modules=["c_attn", "c_proj"], fan_in_fan_out=True,
                             task_type="CAUSAL_LM")
    model = peft.get_peft_model(fresh(), config)
    with torch.no_grad():  # B starts at 0
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(0.1 * torch.randn_like(parameter))
    model.save_pretrained(theirs)
    print("  adapter written by peft, loaded by the kit:")
    wrong = compare_adapter(torch, load_file, model, tokens, binary, folder, theirs)

    subprocess.run([binary, "--write-adapter", base, ours], check=True)
    loaded = peft.PeftModel.from_pretrained(fresh(), ours, is_trainable=True)
    print("  adapter written by the kit, loaded by peft:")
    return wrong + compare_adapter(torch, load_file, loaded, tokens, binary, folder, ours)


def main():
    torch, transformers, load_file = import_or_skip()
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    binary = sys.argv[1]
    print(f"oracle: PyTorch {torch.__version__}, transformers {transformers.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        tokens_path = os.path.join(folder, "tokens")
        tokens = write_tokens(torch, tokens_path)

        theirs = os.path.join(folder, "theirs")
        model = fresh_model(torch, transformers)
        model.save_pretrained(theirs)
        print("  written by transformers, loaded by the kit:")
        out = os.path.join(folder, "gradients.safetensors")
        wrong = compare(torch, load_file, model, tokens, [binary, theirs, tokens_path, out], out)

        ours = os.path.join(folder, "ours")
        subprocess.run([binary, "--write", ours], check=True)
        loaded, info = transformers.GPT2LMHeadModel.from_pretrained(ours, output_loading_info=True)
        if any(info[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys")):
            wrong.append(f"transformers on the kit's file: {info}")
        print("  written by the kit, loaded by transformers:")
        wrong += compare(torch, load_file, loaded, tokens, [binary, ours, tokens_path, out], out)
        wrong += adapters(torch, transformers, load_file, tokens, binary, folder)
    for line in wrong:
        print(f"oracle: FAILED: {line}")
    print("oracle: " + ("FAILED" if wrong else "both agree"))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
