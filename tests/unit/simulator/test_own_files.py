"""A file of one's own runs as it is: its Python, its imports, any kernel of it, on its grid."""

import numpy as np

from nkiport.simulator import Launch, Options, simulate

OWN = Options(own=True)
HEAD = """import argparse
import os

import numpy as np
import not_installed_anywhere
from dataclasses import dataclass
from neuronxcc import nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
from neuronxcc.nki import baremetal, benchmark
from neuronxcc.nki.language import par_dim
from not_installed_anywhere.deep import softmax


@dataclass(frozen=True)
class Config:
    factor: float = 2.0


@nki.jit
def scaled(x, config=None, shift=0.0):
    config = config or Config()
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0) * 64
    tile = nl.load(x[nl.ds(i, 64), :])
    nl.store(out[nl.ds(i, 64), :], tile * config.factor + shift)
    return out


def in_place(x, z):
    with_max = nl.load(x)
    nl.store(z, nl.maximum(with_max, 0.5))


@nki.jit
def placed(x, address=0):
    out = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    grid = nl.mgrid[0:128, 0:16]
    tile = nl.ndarray((2, par_dim(128), 16), dtype=x.dtype,
                      buffer=ncc.sbuf.mod_alloc(base_addr=address, num_free_tiles=(2,)))
    tile[0, grid.p, grid.x] = nl.load(x[grid.p, grid.x])
    unit = nl.ndarray((128, 128), dtype=x.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=4096))
    unit[...] = nl.load(nl.shared_constant(np.identity(n=128, dtype=np.int8), dtype=x.dtype))
    sums = nl.ndarray((1, par_dim(128), 16), dtype=nl.float32,
                      buffer=ncc.psum.mod_alloc(base_bank=7, num_bank_tiles=(1,)))
    for k in nl.affine_range(2):
        sums[0] += nisa.nc_matmul(unit[...], tile[0])
    nl.store(out[:, 0:16], nl.copy(sums[0]))
    nl.store(out[:, 16:128], nl.zeros((128, 112), dtype=nl.float32))
    return out


@nki.jit
def uses_what_is_missing(x):
    return softmax(x)


if __name__ == "__main__":
    argparse.ArgumentParser().parse_args()
    os._exit(3)
"""
X = np.random.default_rng(0).standard_normal((128, 16)).astype(np.float32)


def ran(kernel, grid=(), inputs=None, **arguments):
    given = {"x": X} if inputs is None else inputs
    return simulate(HEAD, given, options=OWN, launch=Launch(kernel, grid, arguments))


def test_a_kernel_of_several_runs_on_its_grid_with_its_arguments():
    done = ran("scaled", (2,), shift=1.0)

    assert done.findings == ()
    np.testing.assert_allclose(done.outputs[0], X * 2 + 1, rtol=1e-6)


def test_a_number_between_the_tensors_is_given_by_its_name():
    kernel = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, factor, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.multiply(nl.load(x), factor), nl.load(y)))
    return out
"""
    launch = Launch("kernel", arguments={"factor": 3.0})
    done = simulate(kernel, {"x": X, "y": 2 * X}, options=OWN, launch=launch)

    assert done.findings == ()
    np.testing.assert_allclose(done.outputs[0], 5 * X, rtol=1e-6)


def test_a_function_without_a_decorator_writes_the_tensors_it_is_given():
    done = ran("in_place", inputs={"x": X, "z": np.zeros_like(X)})

    assert done.findings == ()
    np.testing.assert_array_equal(done.outputs[0], np.maximum(X, 0.5))


def test_a_kernel_places_its_tiles_itself_and_adds_up_from_nothing():
    done = ran("placed")

    assert done.findings == ()
    np.testing.assert_allclose(done.outputs[0][:, :16], 2 * X, rtol=1e-6)


def test_a_tile_placed_beyond_the_partition_is_refused():
    done = ran("placed", address=190_000)

    (finding,) = done.findings
    assert (finding.code, finding.severity) == ("err_sbuf_capacity", "error")


def test_what_is_not_installed_is_named_where_it_is_called():
    done = ran("uses_what_is_missing")

    (finding,) = done.findings
    assert finding.code == "err_import"
    assert "not_installed_anywhere.deep.softmax" in finding.asked


def test_a_strangers_file_gets_the_language_alone():
    done = simulate(HEAD, {"x": X})

    assert not done.ok
    assert done.outputs == ()
