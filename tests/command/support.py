# Runs the command and checks how it refuses.
import os
import subprocess
import sys
import tempfile

command = os.path.abspath(sys.argv[1])
folder = tempfile.TemporaryDirectory(prefix="ricci-command-")
os.chdir(folder.name)
failures = []


def run(*arguments, **more):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run([command, *arguments], timeout=60, **streams)


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED", text)


def refuses(what, *arguments, says="", **more):
    """Exit code 2, one sentence on standard error, nothing on standard output, no file made or changed."""
    state = lambda: {f: (os.lstat(f).st_mtime_ns, os.lstat(f).st_size) for f in os.listdir(".")}
    before = state()
    done = run(*arguments, **more)
    error = done.stderr.decode(errors="replace")
    check(done.returncode == 2, f"{what}: exit code {done.returncode}, {error!r}")
    check(error.startswith("ricci: ") and error.endswith(".\n") and error.count("\n") == 1, f"{what}: standard error is {error!r}")
    check(done.stdout == b"", f"{what}: prints {done.stdout[:80]!r}")
    check(says in error, f"{what}: does not say {says!r}: {error!r}")
    check(state() == before, f"{what}: files changed: {sorted(set(before) ^ set(state()))}")


def finish(count_text):
    print(count_text)
    sys.exit(bool(failures))
