# Talks to the server of this folder: einsum through the C++ interface, on arrays of NumPy.
import json
import os
import subprocess
import tempfile

import numpy as np

names = {np.dtype("f2"): "f16", np.dtype("f4"): "f32", np.dtype("f8"): "f64", np.dtype("c8"): "c64", np.dtype("c16"): "c128"}


class Refused(Exception):
    """ricci::error; its text is args[0]."""


class Client:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request, buffers=()):
        pipe = self.process.stdin
        pipe.write(json.dumps(request).encode() + b"\n")
        for buffer in buffers:
            pipe.write(buffer)
        pipe.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the server ended with {self.process.wait()} on {request}")
        reply = json.loads(line)
        if not reply["ok"]:
            raise Refused(reply["what"])
        return reply, self.process.stdout.read(reply.get("bytes", 0))

    @staticmethod
    def describe(x, dtype=None):
        """The array as it lies in memory (its strides too), and its bytes."""
        base = x
        strides = [s // x.itemsize for s in x.strides]
        if x.size == 0 or any(s < 0 for s in strides) or any(s % x.itemsize for s in x.strides):
            base = np.ascontiguousarray(x)
            strides = [s // x.itemsize for s in base.strides]
            return {"extents": list(x.shape), "strides": strides, "bytes": base.nbytes}, base.tobytes()
        span = 1 + sum((n - 1) * s for n, s in zip(x.shape, strides))
        flat = np.lib.stride_tricks.as_strided(x, (span,), (x.itemsize,)) if span > 1 or x.ndim else x.reshape(1)
        return {"extents": list(x.shape), "strides": strides, "bytes": span * x.itemsize}, flat.tobytes()

    def einsum(self, words, *operands, dtype=None, out=None, **more):
        """words: a string, or (labels, result) with result None for implicit. out: an array, changed in place."""
        request = dict(more)
        if isinstance(words, str):
            request["subscripts"] = words
        else:
            request["labels"], request["result"] = words
        request["dtype"] = dtype or (names[operands[0].dtype] if operands else "f64")
        described = [self.describe(x) for x in operands]
        request["operands"] = [d for d, _ in described]
        buffers = [b for _, b in described]
        if out is not None:
            d, b = self.describe(out)
            request["out"] = d
            buffers.append(b)
        reply, data = self.ask(request, buffers)
        if out is None:
            element = operands[0].dtype if operands else np.dtype("f8")
            return np.frombuffer(data, element).reshape(reply["extents"])
        flat = np.frombuffer(data, out.dtype)
        step = [s * out.itemsize for s in request["out"]["strides"]]
        out[...] = np.lib.stride_tricks.as_strided(flat, out.shape, step)
        return flat

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Command:
    """The command itself, a process a call."""

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="ricci-test-")

    def einsum(self, subscripts, *operands, options=()):
        files = []
        for q, x in enumerate(operands):
            files.append(os.path.join(self.folder, f"operand{q}.npy"))
            np.save(files[-1], x)
        output = os.path.join(self.folder, "result.npy")
        if os.path.exists(output):
            os.remove(output)
        done = subprocess.run([self.program, "einsum", subscripts, *files, "-o", output, *options], capture_output=True, text=True)
        if done.returncode == 2:
            left = sorted(set(os.listdir(self.folder)) - {os.path.basename(f) for f in os.listdir(self.folder) if f.startswith("operand")})
            if left:
                raise SystemExit(f"'{subscripts}' was refused but left {left}")
            lines = done.stderr.splitlines()
            if len(lines) != 1 or not lines[0].startswith("ricci: ") or not lines[0].endswith(".") or done.stdout:
                raise SystemExit(f"'{subscripts}' was refused with {done.stderr!r} and {done.stdout!r}")
            raise Refused(lines[0])
        if done.returncode != 0 or done.stderr:
            raise SystemExit(f"'{subscripts}' ended with {done.returncode}: {done.stderr}")
        return np.load(output)

    def close(self):
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        os.rmdir(self.folder)
