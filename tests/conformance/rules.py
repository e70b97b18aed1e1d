"""Each rule with a kernel that keeps it and a twin, as like it as can be, that breaks it.

The lines stand in a kernel with ``x`` (128, 16) of float32 in HBM, its tile ``t``, and ``out``,
which is stored at the end: ``t`` unless the lines store something else.
"""

from typing import NamedTuple


class Rule(NamedTuple):
    """The code of a finding, lines that give it, and lines that do not."""

    code: str
    breaks: str
    keeps: str


RULES = (
    Rule("err_1d_arange_not_supported", "u = t[nl.arange(128)]", "u = t[nl.arange(128)[:, None]]"),
    Rule(
        "err_activation_bias_invalid_type",
        "u = nisa.activation(op=nl.exp, data=t, bias=nl.zeros((128, 1), dtype=nl.int32))",
        "u = nisa.activation(op=nl.exp, data=t, bias=nl.zeros((128, 1), dtype=nl.float32))",
    ),
    Rule(
        "err_activation_scale_scalar_or_vector",
        "u = nisa.activation(op=nl.exp, data=t, scale=t)",
        "u = nisa.activation(op=nl.exp, data=t, scale=t[0:128, 0:1])",
    ),
    Rule(
        "err_activation_scale_invalid_type",
        "u = nisa.activation(op=nl.exp, data=t, scale=nl.ones((128, 1), dtype=nl.bfloat16))",
        "u = nisa.activation(op=nl.exp, data=t, scale=nl.ones((128, 1), dtype=nl.float32))",
    ),
    Rule(
        "err_ambiguous_tensor_truth_value",
        "i = nl.arange(16)[None, :]\nif i < 8:\n    pass",
        "for k in range(2):\n    if k < 1:\n        pass",
    ),
    Rule("err_annotation_shape_mismatch", "t.assert_shape((128, 8))", "t.assert_shape((128, 16))"),
    Rule(
        "err_bitwise_on_float",
        "u = nl.bitwise_and(t, t)",
        "v = nl.copy(t, dtype=nl.int32)\nu = nl.bitwise_and(v, v)",
    ),
    Rule(
        "err_cannot_assign_to_index",
        "i = nl.arange(16)[None, :]\ni[0] = 1",
        "i = nl.arange(16)[None, :] + 1",
    ),
    Rule(
        "err_cannot_update_immutable_parameter", "nl.store(x, t)", "nl.store(out, t)",
    ),
    Rule(
        "err_copy_dynamic_indirect_indices_not_natively_supported",
        "k = nl.zeros((128, 1), dtype=nl.int32)\nu = t[k, nl.arange(16)[None, :]]",
        "k = nl.zeros((128, 1), dtype=nl.int32)\nu = nl.load(x[k, nl.arange(16)[None, :]])",
    ),
    Rule("err_dtype", "u = nl.zeros((128, 4), dtype='complex')", "u = nl.zeros((128, 4), nl.int8)"),
    Rule(
        "err_dynamic_control_flow_not_supported",
        "if t[0:1, 0:1] > 0:\n    pass",
        "u = nl.where(nl.greater(t, 0.0), t, 0.0)",
    ),
    Rule(
        "err_exceed_max_supported_dimension",
        "u = nl.transpose(nl.zeros((128, 2, 4), dtype=nl.float32))",
        "u = nl.transpose(nl.zeros((128, 8), dtype=nl.float32))",
    ),
    Rule(
        "err_failed_to_infer_tile_from_local_tensor",
        "v = nl.zeros((2, nl.par_dim(128), 16), dtype=nl.float32)\nv[...] = t",
        "v = nl.zeros((2, nl.par_dim(128), 16), dtype=nl.float32)\nv[0] = t",
    ),
    Rule(
        "err_free_size",
        "u = nisa.max8(src=t[0:128, 0:4])", "u = nisa.max8(src=t[0:128, 0:8])",
    ),
    Rule(
        "err_hbm_tensor_with_init_value_not_supported",
        "u = nl.zeros((128, 4), dtype=nl.float32, buffer=nl.hbm)",
        "u = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.hbm)",
    ),
    Rule("err_import", "import os", "import math"),
    Rule(
        "err_insufficient_rank",
        "u = nl.zeros((128,), nl.float32)",
        "u = nl.zeros((128, 1), nl.float32)",
    ),
    Rule(
        "err_limit_reached", "for k in nl.sequential_range(10**9):\n    u = nl.exp(t)",
        "for k in nl.sequential_range(10):\n    u = nl.exp(t)",
    ),
    Rule(
        "err_loop_bounds", "for k in nl.affine_range(1.5):\n    pass",
        "for k in nl.affine_range(1):\n    pass",
    ),
    Rule(
        "err_matmul_dtype",
        "v = nl.zeros((128, 8), dtype=nl.int32)\nu = nisa.nc_matmul(v, v)",
        "v = nl.zeros((128, 8), dtype=nl.bfloat16)\nu = nisa.nc_matmul(v, v)",
    ),
    Rule(
        "err_not_affine",
        "i = nl.arange(16)[None, :]\nu = t[nl.arange(128)[:, None], i * i]",
        "i = nl.arange(8)[None, :]\nu = t[nl.arange(128)[:, None], i * 2]",
    ),
    Rule(
        "err_num_partition_exceed_arch_limit",
        "u = nl.zeros((129, 4), dtype=nl.float32)", "u = nl.zeros((128, 4), dtype=nl.float32)",
    ),
    Rule(
        "err_num_partition_mismatch",
        "u = nisa.tensor_tensor(t, t[0:64, 0:16], op=np.add)",
        "u = nisa.tensor_tensor(t, t[0:128, 0:16], op=np.add)",
    ),
    Rule(
        "err_operand_scalar_or_vector",
        "u = nisa.tensor_scalar(t, np.add, t)", "u = nisa.tensor_scalar(t, np.add, t[0:128, 0:1])",
    ),
    Rule("err_partition_stride", "u = nl.exp(t[0:128:2, 0:16])", "u = nl.exp(t[0:64, 0:16])"),
    Rule(
        "err_program_axis", "k = nl.program_id(1)", "k = nl.program_id(0)",
    ),
    Rule(
        "err_psum_accumulation",
        "u = nl.ndarray((16, 16), dtype=nl.float32, buffer=nl.psum)\nu += nisa.nc_matmul(t, t)",
        "u = nl.zeros((16, 16), dtype=nl.float32, buffer=nl.psum)\nu += nisa.nc_matmul(t, t)",
    ),
    Rule(
        "err_psum_capacity",
        "u = nl.zeros((128, 4097), nl.float32, buffer=nl.psum)",
        "u = nl.zeros((128, 512), nl.float32, buffer=nl.psum)",
    ),
    Rule(
        "err_sbuf_capacity",
        "u = nl.zeros((128, 45057), nl.float32)",
        "u = nl.zeros((128, 10000), nl.float32)",
    ),
    Rule("err_python", "u = 1 / 0", "u = 1 / 2"),
    Rule("err_reduction_axis", "u = nl.sum(t, axis=0)", "u = nl.sum(t, axis=1)"),
    Rule("err_shape", "u = nl.zeros((128, 0), nl.float32)", "u = nl.zeros((128, 1), nl.float32)"),
    Rule(
        "err_shape_mismatch",
        "u = nisa.tensor_tensor(t, t[0:128, 0:8], op=np.add)",
        "u = nisa.tensor_tensor(t, t, op=np.add)",
    ),
    Rule(
        "err_shape_mismatch",
        "u = t.reshape((128, 8, 2)).broadcast_to((128, 8))",
        "u = t.reshape((128, 16, 1)).broadcast_to((128, 16))",
    ),
    Rule(
        "err_shape_mismatch",
        "u = nl.broadcast_to(t[0:2, 0:16], shape=(128, 16))",
        "u = nl.broadcast_to(t[0:1, 0:16], shape=(128, 16))",
    ),
    Rule(
        "err_unsupported_expression_in_mask",
        "i, j = nl.arange(128)[:, None], nl.arange(16)[None, :]\n"
        "u = nisa.bn_stats(t, mask=i + j < 100)",
        "u = nisa.bn_stats(t, mask=nl.arange(128)[:, None] + 0 * nl.arange(16)[None, :] < 100)",
    ),
    Rule(
        "err_shared_hbm_must_in_kernel_level",
        "for k in nl.affine_range(1):\n"
        "    u = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)",
        "for k in nl.affine_range(1):\n"
        "    u = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.private_hbm)",
    ),
    Rule(
        "err_shuffle_mask",
        "u = nl.copy(t)\nnisa.nc_stream_shuffle(t, u, [0] * 31)",
        "u = nl.copy(t)\nnisa.nc_stream_shuffle(t, u, [0] * 32)",
    ),
    Rule(
        "err_size_of_dimension_exceed_arch_limit",
        "u = nisa.bn_stats(nl.zeros((128, 513), dtype=nl.float32))",
        "u = nisa.bn_stats(nl.zeros((128, 512), dtype=nl.float32))",
    ),
    Rule("err_start_partition", "u = nl.exp(t[16:64, 0:16])", "u = nl.exp(t[32:64, 0:16])"),
    Rule(
        "err_store_dst_shape_smaller_than_other_shape",
        "nl.store(out[0:128, 0:8], t)", "nl.store(out[0:128, 0:8], t[0:128, 0:8])",
    ),
    Rule(
        "err_tensor_access_out_of_bound",
        "u = nl.load(x[0:128, 8:24])",
        "u = nl.load(x[0:128, 8:16])",
    ),
    Rule(
        "err_undefined_read",
        "u = nl.ndarray((128, 16), dtype=nl.float32)\nnl.store(out, u)",
        "u = nl.ndarray((128, 16), dtype=nl.float32)\nu[...] = t\nnl.store(out, u)",
    ),
    Rule(
        "err_unexpected_output_dependencies",
        "for k in nl.affine_range(2):\n    nl.store(out[0:128, 0:16], t)",
        "for k in nl.affine_range(2):\n"
        "    nl.store(out[0:128, nl.ds(k * 8, 8)], t[0:128, nl.ds(k * 8, 8)])",
    ),
    Rule("err_unknown_name", "u = nl.expp(t)", "u = nl.exp(t)"),
    Rule(
        "err_unknown_operator",
        "u = nisa.tensor_tensor(t, t, op='plus')", "u = nisa.tensor_tensor(t, t, op=np.add)",
    ),
    Rule("err_unsupported_assignment", "t[...] = 'text'", "t[...] = 1.0"),
    Rule(
        "err_unsupported_expression_in_mask",
        "u = nl.load(x, mask=(1, 2))",
        "i, j = nl.arange(128)[:, None], nl.arange(16)[None, :]\nu = nl.load(x[i, j], mask=j < 8)",
    ),
    Rule("err_unsupported_index", "u = t['text']", "u = t[0:128]"),
    Rule(
        "err_unsupported_instruction",
        "v = t[0:128, 0:1]\n"
        "u = nisa.range_select(on_true_tile=t, comp_op0=np.less, comp_op1=np.less, bound0=v,"
        " bound1=v)",
        "u = nisa.affine_select(pred=(nl.arange(128)[:, None] - nl.arange(16)[None, :] >= 0),"
        " on_true_tile=t, on_false_value=0.0)",
    ),
    Rule(
        "err_unsupported_instruction",
        "u = nisa.nc_matmul(t, t, perf_mode='double_row_gen3')",
        "u = nisa.nc_matmul(t, t)",
    ),
    Rule(
        "err_unsupported_memory",
        "u = nisa.nc_matmul(nl.zeros((128, 8), nl.float32, buffer=nl.psum), t)",
        "u = nisa.nc_matmul(nl.zeros((128, 8), nl.float32), t)",
    ),
    Rule(
        "err_unsupported_mixing_basic_advanced_tensor_indexing",
        "u = t[nl.arange(128)[:, None], 0:4]",
        "u = t[nl.arange(128)[:, None], nl.arange(4)[None, :]]",
    ),
    Rule("err_unsupported_python", "class Local:\n    pass", "name = 'local'"),
    Rule("err_wrong_arguments", "u = nl.exp(t, t)", "u = nl.exp(t)"),
    Rule(
        "err_control_flow_condition_depending_on_arange",
        "i = nl.arange(16)[None, :]\nif i:\n    pass", "i = 1\nif i:\n    pass",
    ),
)  # fmt: skip

IMPORTS = """import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


"""
KERNEL = """@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out
"""
HOST = """

def forward(x):
    return kernel(x)
"""
GOOD = IMPORTS + KERNEL + HOST
FILES = (
    Rule("err_syntax", GOOD.replace("def forward(x):", "def forward(x"), GOOD),
    Rule("err_no_kernel", GOOD.replace("@nki.jit\n", ""), GOOD),
    Rule("err_no_entry", IMPORTS + KERNEL + KERNEL.replace("kernel", "second"), GOOD),
    Rule("err_inputs", GOOD.replace("def forward(x):", "def forward(x, y):"), GOOD),
    Rule("err_mixed_dialects", "import nki.isa\n" + GOOD, GOOD),
    Rule("err_wrong_dialect", GOOD.replace("neuronxcc.nki", "nki"), GOOD),
    Rule("err_output", GOOD.replace("    return out\n", "    return 1\n"), GOOD),
    Rule(
        "err_tensor_output_not_written_to",
        GOOD.replace("nl.store(out, nl.load(x))", "nl.store(out[0:64], nl.load(x[0:64]))"),
        GOOD,
    ),
    Rule("err_host_arithmetic", GOOD.replace("kernel(x)\n", "kernel(x) + 1\n"), GOOD),
    Rule("err_grid", GOOD.replace("return kernel(x)", "return kernel[0](x)"), GOOD),
    Rule(
        "err_nested_kernel_with_spmd_grid",
        IMPORTS
        + KERNEL
        + KERNEL.replace("kernel", "whole").replace("nl.store(out, nl.load(x))", "kernel[2](x)")
        + HOST.replace("kernel", "whole"),
        GOOD,
    ),
    Rule(
        "err_nki_api_outside_of_nki_kernel",
        GOOD.replace("return kernel(x)", "return nl.exp(kernel(x))"),
        GOOD,
    ),
)
"""Rules of whole files, of outputs and of host functions."""
