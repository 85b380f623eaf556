#!/usr/bin/env python3
"""What tools/ptxas.py reads and finds, of planted texts: no nvcc is needed.

    tools/ptxas_test.py
"""
import unittest
from unittest import mock

import ptxas
from ptxas import Kernel, Unit

NAME = "_Z4swapPf"
SAID = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '{name}' for '{arch}'
ptxas info    : Function properties for {name}
    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads
ptxas info    : Used {registers} registers, used 1 barriers, 37632 bytes smem, 404 bytes cmem[0]
ptxas info    : Compile time = 1.5 ms
"""
PTX = """
.entry _Z4swapPf(
    .param .u64 _Z4swapPf_param_0
)
.maxntid 16, 16
.minnctapersm 2
{
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
    ld.global.nc.v2.b64 {%rd2, %rd3}, [%rd1];
    ld.global.u16 %rs1, [%rd1+2];
    ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1];
    st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};
    st.global.f32 [%rd1], %f1;
}
.entry _Z4nonePf()
{
    ret;
}
"""


def said(registers=128, stack=0, stores=0, loads=0):
    return "".join(SAID.format(name=NAME, arch=arch, registers=registers, stack=stack, stores=stores, loads=loads) for arch in ptxas.ARCHS)


def rows_of(text):
    return ptxas.rows_of(Unit("kernels/swap.cu", "f16"), text, {arch: PTX for arch in ptxas.ARCHS})


class Reads(unittest.TestCase):
    def test_a_kernel(self):
        self.assertEqual(ptxas.kernels_of(said(stack=8, stores=4, loads=12))[NAME, "sm_90"], Kernel(128, 37632, 8, 4, 12))

    def test_memory_of_a_function_that_is_called(self):
        called = "ptxas info    : Function properties for slow\n    40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        self.assertEqual(ptxas.kernels_of(said() + called)[NAME, "sm_90"].stack, 40)

    def test_accesses_by_width(self):
        body = ptxas.bodies(PTX)[NAME]
        self.assertEqual(ptxas.accesses_of(body), ptxas.Accesses(3, 2, 2, 1))
        self.assertEqual(ptxas.threads_of(body), 256)
        self.assertEqual(ptxas.threads_of(ptxas.bodies(PTX)["_Z4nonePf"]), 0)


class Computes(unittest.TestCase):
    def test_warps_resident(self):
        for registers, shared, threads, arch, want in ((32, 0, 256, "sm_80", 64), (128, 37632, 256, "sm_80", 16), (129, 0, 256, "sm_80", 8),
                                                       (255, 0, 256, "sm_90", 8), (32, 80 << 10, 128, "sm_80", 8), (32, 80 << 10, 128, "sm_90", 8),
                                                       (32, 0, 32, "sm_90", 32), (40, 0, 0, "sm_80", 48)):
            self.assertEqual(ptxas.warps_resident(Kernel(registers, shared, threads=threads), arch), want, (registers, shared, threads, arch))


class Finds(unittest.TestCase):
    def test_a_good_kernel_breaks_nothing(self):
        rows, broken = rows_of(said())
        self.assertEqual(broken, [])
        self.assertEqual(ptxas.table(rows), ["| kernels/swap.cu | `swap` | f16 | 128 | 37632 | 256 | 16 | 3 (2) | 2 (1) |"])

    def test_a_spill(self):
        self.assertEqual(rows_of(said(stores=4, loads=12))[1][0], "kernels/swap.cu f16: swap, sm_80: spills 4 bytes, and loads 12")

    def test_local_memory(self):
        self.assertEqual(rows_of(said(stack=32))[1][1], "kernels/swap.cu f16: swap, sm_90: 32 bytes of local memory")


class Compares(unittest.TestCase):
    def compare(self, there, version, registers):
        """Lines of --check where `there` is the page."""
        with mock.patch("builtins.open", mock.mock_open(read_data=there)), mock.patch("builtins.print") as printed:
            return ptxas.compare(version, rows_of(said(registers))[0]), [call.args[0] for call in printed.call_args_list]

    def setUp(self):
        self.page = ptxas.page("13.0.88", rows_of(said())[0])

    def test_the_same(self):
        self.assertEqual(self.compare(self.page, "13.0.88", 128), ([], []))

    def test_another_count_of_registers(self):
        wrong, _ = self.compare(self.page, "13.0.88", 127)
        self.assertIn("| 128 |", wrong[1])
        self.assertIn("| 127 |", wrong[2])

    def test_another_nvcc(self):
        wrong, printed = self.compare(self.page, "12.4.1", 127)
        self.assertEqual(wrong, [])
        self.assertIn("of nvcc 13.0.88, and this is 12.4.1: only the rules", printed[0])


if __name__ == "__main__":
    unittest.main()
