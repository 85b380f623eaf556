#!/usr/bin/env python3
"""The Dockerfile and .devcontainer/devcontainer.json: what they say, and that the machine they describe grades.

    grader/proof/container_test.py said      the files by themselves: nothing is built
    grader/proof/container_test.py chroot    their steps, one after the other, in a new Debian below build/; needs root
    grader/proof/container_test.py image     the image, by the container tool that is there

The last two end with a lab graded in the kit's own sandbox, by the user of the image. Ends with `container: good`.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys

sys.path.append("build/python")
from dockerfile_parse import DockerfileParser   # noqa: E402

IMAGE = "gradus-proof"
ROOT = os.path.abspath("build/container-root")
TOOLS = ("docker", "podman", "buildah")
GRADE = "make -s grade00 FROM=solutions MIN_SANDBOX=2"


class Wrong(Exception):
    pass


def expect(good, text):
    if not good:
        raise Wrong(text)


def steps():
    """[(INSTRUCTION, value)] of the Dockerfile, without comments."""
    parser = DockerfileParser("Dockerfile", cache_content=True)
    return [(step["instruction"], step["value"]) for step in parser.structure if step["instruction"] != "COMMENT"]


def values(of, found):
    return [value for instruction, value in found if instruction == of]


# ---- what they say ------------------------------------------------------------------------------------

def taken_along(path):
    """Whether .dockerignore leaves a path in what the image is built of: the last line that names it counts."""
    taken = True
    for line in open(".dockerignore", encoding="utf-8").read().splitlines():
        if line and not line.startswith("#") and line.lstrip("!") in ("*", path):
            taken = line.startswith("!")
    return taken


def said():
    found = steps()
    expect([step for step in found if step[0] != "ARG"][0] == ("FROM", "debian:12${DIGEST:+@${DIGEST}}"), "the image is not Debian 12 with a digest to choose")
    expect("DIGEST=" in values("ARG", found[:1]), "DIGEST is not an argument before FROM")
    users = values("USER", found)
    expect(users and users[-1] not in ("root", "0"), "the image ends as root, for whom a container has no sandbox of the same strength")
    expect(any("tools/setup.sh" in value for value in values("RUN", found)), "no step runs the kit's own tools/setup.sh")
    expect(not any("apt-get install" in value or "--no-install" in value for value in values("RUN", found)), "packages are tools/setup.sh's business")
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    for value in values("COPY", found):
        for path in shlex.split(value)[:-1]:
            expect(path in tracked and taken_along(path), f"COPY {path}: not a file of the kit, or .dockerignore leaves it out")
    with open(".devcontainer/devcontainer.json", encoding="utf-8") as file:
        container = json.load(file)
    build = container["build"]
    expect(os.path.samefile(f".devcontainer/{build['dockerfile']}", "Dockerfile"), "devcontainer.json builds from another Dockerfile")
    expect(os.path.samefile(f".devcontainer/{build['context']}", "."), "devcontainer.json builds in another folder")
    expect(container["remoteUser"] == users[-1], "devcontainer.json logs in as another user than the image's")


# ---- in a new Debian ----------------------------------------------------------------------------------

def inside(user, folder, environment, command):
    """Runs a shell command in the new root, in which a container's usual file systems are."""
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
    become = "" if user == "root" else f"setpriv --reuid={user} --regid={user} --init-groups --no-new-privs "
    script = f"""
        mount -t proc proc {ROOT}/proc; mount --rbind /dev {ROOT}/dev
        exec chroot {ROOT} sh -ec {shlex.quote(f"cd {folder} && exec {become}env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin {variables} sh -ec {shlex.quote(command)}")}"""
    print(f"# {user} {command}", flush=True)
    subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script], check=True)


def copy_kit(to):
    """As it is here, but for what git does not know."""
    names = subprocess.run(["git", "ls-files", "-z"], capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(os.path.isfile, names):
        os.makedirs(os.path.dirname(f"{to}/{name}"), exist_ok=True)
        shutil.copy2(name, f"{to}/{name}", follow_symlinks=False)


def run_step(instruction, value, state):
    if instruction == "ARG":
        name, _, default = value.partition("=")
        state["environment"][name] = default
    elif instruction == "ENV":
        state["environment"].update(word.split("=", 1) for word in shlex.split(value))
    elif instruction == "USER":
        state["user"] = value
    elif instruction == "WORKDIR":
        state["folder"] = value
        os.makedirs(ROOT + value, exist_ok=True)
    elif instruction == "COPY":
        *paths, to = shlex.split(value)
        for path in paths:
            os.makedirs(os.path.dirname(ROOT + to), exist_ok=True)
            shutil.copy2(path, ROOT + to)
    elif instruction == "RUN":
        inside(state["user"], state["folder"], state["environment"], value)
    else:
        expect(instruction in ("FROM", "CMD"), f"this proof does not know {instruction}")


def chroot():
    subprocess.run(["tools/debian_root.sh", subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip(),
                    "minbase", ROOT], check=True)
    for name in ("resolv.conf", "hosts"):   # as a container has them
        shutil.copy(f"/etc/{name}", f"{ROOT}/etc/{name}")
    state = {"user": "root", "folder": "/", "environment": {}}
    for instruction, value in steps():
        run_step(instruction, value, state)
    home = state["folder"]
    copy_kit(ROOT + home)
    inside("root", "/", {}, f"chown -R {state['user']} {home}")
    inside(state["user"], home, {**state["environment"], "HOME": f"/home/{state['user']}"}, GRADE)
    shutil.rmtree(ROOT)


# ---- by a container tool ------------------------------------------------------------------------------

def works(tool):
    return shutil.which(tool) and subprocess.run([tool, "info"], capture_output=True, timeout=60, check=False).returncode == 0


def container_tool():
    return next(filter(works, TOOLS), None)


def image():
    tool = container_tool()
    expect(tool, "no container tool works here")
    kit = os.path.abspath("build/container-kit")
    shutil.rmtree(kit, ignore_errors=True)
    copy_kit(kit)
    uid = str(os.getuid() or 1000)
    subprocess.run(["chown", "-R", uid, kit], check=True)
    subprocess.run([tool, "build", "--build-arg", f"UID={uid}", "--tag", IMAGE, "."], check=True)
    if tool == "buildah":
        made = subprocess.run([tool, "from", IMAGE], capture_output=True, text=True, check=True).stdout.strip()
        run = [tool, "run", "--volume", f"{kit}:/home/student/gradus", made, "--"]
    else:
        keep = ["--userns=keep-id"] if tool == "podman" and os.getuid() else []
        run = [tool, "run", "--rm", *keep, "--volume", f"{kit}:/home/student/gradus", IMAGE]
    subprocess.run([*run, "sh", "-ec", GRADE], check=True)


if __name__ == "__main__":
    parts = {"said": said, "chroot": chroot, "image": image, "--tool": lambda: expect(container_tool(), "no container tool works here")}
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        sys.exit(__doc__)
    try:
        parts[sys.argv[1]]()
    except (Wrong, subprocess.CalledProcessError) as error:
        sys.exit(f"container: {error}")
    print("container: good")
