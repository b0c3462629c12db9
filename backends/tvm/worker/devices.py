"""Keeps TVM from reading the instructions of devices that are not here: that takes 25 s in every process that tunes.
Import it before tvm."""
import sys
import types

for device in ("cuda", "hexagon", "rocm", "metal", "arm_cpu", "riscv_cpu"):
    name = f"tvm.s_tir.tensor_intrin.{device}"
    sys.modules.setdefault(name, types.ModuleType(name))
