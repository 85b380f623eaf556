"""What became of a program that others wrote: of what the compiler, the simulator and the program said, a result and a few words.

The results, from good to bad: ran; reported (the simulator found a bug); refused (a feature or a library that is not there, by its
name); failed (by the first error, the exit status or the signal); timeout.
"""
import re
import signal

RESULTS = ("ran", "reported", "refused", "failed", "timeout")

# Libraries that the kit does not have, by the beginning of a header's path.
LIBRARIES = {
    "cudnn": "cuDNN", "thrust/": "Thrust", "cub/": "CUB", "nccl": "NCCL", "mpi.h": "MPI", "cufft": "cuFFT", "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER", "curand": "cuRAND", "nvrtc": "NVRTC", "npp": "NPP", "nvml": "NVML", "nvjpeg": "nvJPEG", "nvgraph": "nvGRAPH",
    "cutensor": "cuTENSOR", "cublasXt": "cuBLASXt", "cublas.h": "cuBLAS's old interface", "cutlass/": "CUTLASS", "cute/": "CUTLASS",
    "torch/": "PyTorch", "ATen/": "PyTorch", "c10/": "PyTorch", "nvshmem": "NVSHMEM", "cupti": "CUPTI", "GL/": "OpenGL", "GLFW/": "OpenGL",
    "helper_gl.h": "OpenGL", "cuda_gl_interop.h": "OpenGL", "EGL/": "EGL", "cuda_egl": "EGL", "cudaEGL": "EGL",
    "cudla": "cuDLA", "drm": "DRM", "vulkan/": "Vulkan", "opencv": "OpenCV",
    "FreeImage": "FreeImage", "cuda/std": "libcu++", "cuda/atomic": "libcu++", "cuda/": "libcu++", "nv/": "libcu++", "boost/": "Boost",
    "optix": "OptiX", "cuda_d3d": "Direct3D", "d3d": "Direct3D", "windows.h": "Windows",
    "gdal": "GDAL", "hdf5": "HDF5", "SDL": "SDL", "texture_": "textures and surfaces", "cuda_texture": "textures and surfaces",
    "surface_": "textures and surfaces", "cuda_surface": "textures and surfaces", "nvbench": "NVBench", "mma": "tensor cores",
}
# The same, where their headers are there, by what is not found when the program is linked.
SYMBOLS = {"MPI_": "MPI", "nccl[A-Z]": "NCCL", "cudnn[A-Z]": "cuDNN", "cufft[A-Z]": "cuFFT", "cusparse[A-Z]": "cuSPARSE", "cusolver": "cuSOLVER",
           "curand[A-Z]": "cuRAND", "(gl|glut|glu)[A-Z]": "OpenGL", "cuda(Graphics)?GL": "OpenGL", "cv::": "OpenCV"}
# What the simulator refuses in words that do not begin with the feature's name.
FEATURES = {"is launched by a kernel": "dynamic parallelism"}

PLACE = re.compile(r"[\w.+-]+\.(?:cuh?|cpp|cc|h|hpp|inl):\d+")


def library(header):
    """The library that a header belongs to, if it is one that the kit does not have."""
    longest = max((start for start in LIBRARIES if header.startswith(start)), key=len, default=None)
    return LIBRARIES.get(longest)


def feature(words):
    """Of what stands after `unsupported: `, the feature: up to what to do instead."""
    for said, name in FEATURES.items():
        if said in words:
            return name
    return re.sub(r" at [\w./<>-]+:\d+", "", re.split(r"[;(]|, (?=use|write)|\. ", words)[0]).strip(" :'\"")


def first(pattern, text):
    found = re.search(pattern, text, re.M)
    return found[1].strip() if found else None


def installed(said):
    """The library in whose headers an error lies, if it is installed here: they ask for what the simulator does not have."""
    for path in re.findall(r"/usr/(\S+?\.h)[:,]", said):
        parts = path.split("/")
        for start in range(len(parts)):
            if library("/".join(parts[start:])):
                return library("/".join(parts[start:]))
    return None


def compiled(said):
    """Of what the compiler said: refused or failed, and why."""
    header = first(r"fatal error: ([^:\s]+): No such file", said) or first(r"fatal error: '([^']+)' file not found", said)
    name = library(header) if header else installed(said)
    if name:
        return "refused", name
    words = first(r"unsupported: (.*)", said)
    if words:
        header = first(r"refused/(\S+?):\d+:.*unsupported: ", said)  # cudasim/refused.sh made it
        return "refused", library(header or "") or feature(words)
    for start, name in SYMBOLS.items():
        if re.search(rf"undefined reference to [`']{start}", said):
            return "refused", name
    for line in said.splitlines():
        if "error: " in line:
            place = PLACE.search(line)
            return "failed", f"{line.split('error: ', 1)[1].strip()} ({place[0] if place else 'no line'})"
        if "undefined reference" in line or "multiple definition" in line:
            return "failed", line[line.index("undefined reference" if "undefined reference" in line else "multiple definition"):].strip()
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("make")]
    return "failed", f"does not compile: {lines[0].strip() if lines else 'and nothing is said'}"


def report(said):
    """The first report of the simulator: its kind, and its words with a place in the source."""
    lines = said.splitlines()
    for number, line in enumerate(lines):
        found = re.match(r"\[cudasim\] (?!note: )([\w' -]+): (.*)", line) or re.match(r"()(.*: runtime error: .*)", line)
        if found:
            block = line + "".join(f"\n{more}" for more in lines[number + 1:number + 4] if more.startswith("  "))
            place = PLACE.search(block)
            words = f"{found[1]}: {found[2]}" if found[1] else PLACE.sub("", found[2]).split("runtime error: ")[1]
            return found[1], words if not place or place[0] in words else f"{words} ({place[0]})"
    return None


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def ended(status, said, printed):
    """Of a program's exit status (negative: a signal), its stderr and its stdout: the result, and why."""
    found = report(said)
    if found and found[0] == "unsupported":
        return "refused", feature(found[1].removeprefix("unsupported: "))
    if found and found[0] == "timeout":
        return "timeout", found[1].removeprefix("timeout: ")
    if found:
        return "reported", found[1]
    if status == 0:
        return "ran", last_line(printed)
    if status < 0:
        return "failed", f"signal {signal.Signals(-status).name}"
    return "failed", f"exit status {status}: {last_line(said) or last_line(printed)}"
