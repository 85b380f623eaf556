"""Looks through a handout for parts of the solutions that its students do not have (tools/leaks.py says how)."""
import functools
import os
import re

import leaks
from handout_files import MOST_HINTS, cut_out, read, solution, theirs
from kit_files import leaving
from lab_files import all_labs, read_lab

# Who says the same for a reason: (a shipped file, a solution). Everything else that is shipped is searched, the kit's own
# sources too: an answer does not become public by standing in one of them.
WALK = "a walk over all parameters of a model"
PACKS = "how every kernel reads packs, or how its function begins"
TWIN = "the op of the CPU"
LISTS = "the example of a kernel over a list of tensors"
PARAMETERS = "the parameters of an op"
MAXIMUM = "the largest of a row"
PRODUCTS = "a sum of products"
ALLOWED = {
    ("common/model.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/optimizer.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/testkit/parts.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/testkit/replay.c", "solutions/05_fp16/mixed.c"): WALK,
    ("tools/bench/bench.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/05_fp16/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/data/kit.txt", "solutions/05_fp16/mixed.c"): WALK,
    ("common/data/kit.txt", "solutions/02_kernels/adamw.cu"): TWIN,
    ("kernels/adamw.c", "solutions/02_kernels/adamw.cu"): TWIN,
    ("kernels/embedding.cu", "solutions/02_kernels/crossentropy.cu"): PACKS,
    ("kernels/embedding.cu", "solutions/02_kernels/layernorm.cu"): PACKS,
    ("kernels/matmul.cu", "solutions/02_kernels/layernorm.cu"): PACKS,
    ("kernels/residual.cu", "solutions/05_fp16/unscale.cu"): PACKS,
    ("kernels/scale.cu", "solutions/02_kernels/adamw.cu"): LISTS,
    ("kernels/scale.cu", "solutions/02_kernels/sumsq.cu"): LISTS,
    ("grader/labs/05_fp16/probe.c", "solutions/03_accumulate/accumulate.c"): "the windows in which an update is tried",
    ("grader/labs/05_fp16/probe.c", "solutions/02_kernels/crossentropy.cu"): "parameters of the op that it watches",
    ("grader/labs/05_fp16/probe.c", "solutions/05_fp16/scaler.c"): "a scaler is filled from the inputs and sent back, field by field",
    ("kernels/adam8.c", "solutions/02_kernels/adamw.cu"): TWIN,
    ("kernels/adam8.c", "solutions/07_optimizers/adam8.cu"): TWIN,
    ("kernels/adam8.c", "solutions/09_fusion/control.cu"): TWIN,
    ("kernels/adamw.c", "solutions/09_fusion/control.cu"): TWIN,
    ("kernels/axpby.cu", "solutions/02_kernels/adamw.cu"): PACKS,
    ("kernels/scale.cu", "solutions/09_fusion/control.cu"): LISTS,
    ("kernels/embedding.cu", "solutions/09_fusion/residual_norm.cu"): PACKS,
    ("kernels/gelu.cu", "solutions/09_fusion/residual_norm.cu"): PACKS,
    ("labs/02_kernels/layernorm.cu", "solutions/09_fusion/residual_norm.cu"): PARAMETERS,
    ("labs/.stubs/02_kernels/layernorm.cu", "solutions/09_fusion/residual_norm.cu"): PARAMETERS,
    ("kernels/flash.c", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("kernels/attention.c", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("cudasim/include/cublas_vector.h", "solutions/07_optimizers/adafactor.cu"): PRODUCTS,
    ("cudasim/include/cublas_vector.h", "solutions/10_lora/lora.c"): PRODUCTS,
    ("common/optimizer.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("tools/bench/bench.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("grader/labs/09_fusion/shared.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/09_fusion/shared.c", "solutions/11_data_parallel/ddp.c"): WALK,
    ("common/linear.c", "solutions/14_tensor/linear_tp.c"): "a linear layer that is whole",
    ("common/pass.c", "solutions/14_tensor/loss_tp.c"): "the embedding of a whole vocabulary",
    ("common/optimizer.c", "solutions/14_tensor/split.c"): WALK,
    ("common/model.c", "solutions/14_tensor/split.c"): WALK,
    ("common/model.c", "solutions/13_pipeline/tie.c"): WALK,
    ("train/fused.c", "solutions/13_pipeline/schedule.c"): "tokens and bytes of a number",
    ("train/fused.c", "solutions/14_tensor/bytes_tp.c"): "tokens and bytes of a number",
    ("kernels/vocab.cu", "solutions/02_kernels/crossentropy.cu"): PARAMETERS,
    ("grader/probe_ranks.c", "solutions/05_fp16/mixed.c"): WALK,
    ("common/twin.c", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("grader/labs/11_data_parallel/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/12_zero/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/14_tensor/probe.c", "solutions/05_fp16/mixed.c"): WALK,
    ("grader/labs/11_data_parallel/shared.c", "solutions/01_loop/loop.c"): "an update, as lab 01's page orders it",
    ("labs/12_zero/zero1.c", "solutions/05_fp16/mixed.c"): "one number from the device",
    ("labs/12_zero/zero1.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("labs/14_tensor/loss_tp.c", "solutions/09_fusion/head.c"): PARAMETERS,
    ("labs/14_tensor/loss_tp.c", "solutions/11_data_parallel/ddp.c"): "bytes of a tensor",
    ("labs/.stubs/12_zero/zero1.c", "solutions/05_fp16/mixed.c"): "one number from the device",
    ("labs/.stubs/12_zero/zero1.c", "solutions/09_fusion/step_graph.c"): WALK,
    ("labs/.stubs/14_tensor/loss_tp.c", "solutions/09_fusion/head.c"): PARAMETERS,
    ("labs/.stubs/14_tensor/loss_tp.c", "solutions/11_data_parallel/ddp.c"): "bytes of a tensor",
    ("train/segments.c", "solutions/13_pipeline/schedule.c"): "bytes of blocks that run again",
    ("train/tensor.c", "solutions/06_fit/plan.c"): "bytes by kind",
    ("common/data/kit.txt", "solutions/07_optimizers/adam8.cu"): MAXIMUM,
    ("common/data/kit.txt", "solutions/07_optimizers/choose.c"): "a walk over a table",
    ("common/data/kit.txt", "solutions/09_fusion/control.cu"): TWIN,
    ("common/data/kit.txt", "solutions/09_fusion/step_graph.c"): WALK,
}


ALIKE = "Words that tell nothing of a solution are listed in its lab.json, as \"alike\": docs/lab_json.md"


def search_of(number, solutions):
    """For all solutions that are not theirs. What an earlier solution or a header has in the same words, they have."""
    search = leaks.Search()
    every = {path: source for path, source in leaving().items() if path.startswith("solutions/")}
    secret = {path: source for path, source in every.items() if not theirs(path, number, solutions)}
    for path, source in secret.items():
        search.keep_secret(path, solution(source), cut_out(source, "-DSTUB"))
    for path in every.keys() - secret.keys():
        search.keep_public(solution(every[path]))
    for path in leaks.headers():
        search.keep_public(read(path))
    return search


@functools.cache
def allowed():
    """Those above, and what a lab's own lab.json has as "alike"."""
    return ALLOWED.keys() | {(path, f"solutions/{lab}/{name}") for lab in all_labs() for name, paths in read_lab(lab).get("alike", {}).items() for path in paths}


def leaks_in(search, path, text, hints=MOST_HINTS):
    """[(a solution, what of it)] that a file is shipped with and nothing allows. A third hint shows a line or two."""
    if path.endswith("/hints.md") and hints == MOST_HINTS:
        return []
    return [leak for leak in search.leaks(text).items() if (path, leak[0]) not in allowed()]


def found_leaks(folder, number, solutions, hints):
    """Where something of a solution that is not theirs stands."""
    search, found = search_of(number, solutions), []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder)
            text = read(os.path.join(place, name))
            found += [f"{path} has a part of {secret}: {part}" for secret, part in leaks_in(search, path, text, hints)]
            if path.startswith(("labs/", "solutions/")) and re.search(r"^#.*\bSTUB\b", text, re.M):
                found.append(f"{path} has a marker of the stub")
    return found
