# ruff: noqa: E501 - each meaning is one sentence on one line
"""What each error code means: why there is such a rule, and what to write instead."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from nkiport.contracts.errors import BadRequest

CODES: Mapping[str, str] = MappingProxyType({
    "err_1d_arange_not_supported": "An index expression has an axis for each dimension of the tile: write nl.arange(n)[:, None] for partitions, [None, :] for columns.",
    "err_activation_bias_invalid_type": "The bias of an activation is a (P, 1) tile of a floating type.",
    "err_activation_scale_invalid_type": "A scale that is a tile is float32.",
    "err_activation_scale_scalar_or_vector": "A scale is one number, or one for each partition: a (P, 1) tile.",
    "err_ambiguous_tensor_truth_value": "Masks and index expressions have no truth value while a kernel is traced: join comparisons by &, give them to mask=.",
    "err_annotation_shape_mismatch": "assert_shape was told another shape than the tile has.",
    "err_bitwise_on_float": "Bits are those of integers: cast the tile first.",
    "err_cannot_assign_to_index": "An index expression is a formula, not memory; nisa.iota makes a tile of it.",
    "err_cannot_update_immutable_parameter": "A kernel's inputs are read only: allocate the output with buffer=nl.shared_hbm and return it.",
    "err_control_flow_condition_depending_on_arange": "A Python condition has one value; an index expression has many. Use mask=.",
    "err_copy_dynamic_indirect_indices_not_natively_supported": "On chip, places that data gives reach one offset at a time: nisa.tensor_copy_dynamic_src. Rows are gathered from HBM.",
    "err_dtype": "The type is none that a NeuronCore has; there is none of 64 bits.",
    "err_dynamic_control_flow_not_supported": "The kernel is traced before data is there: choose by nl.where or a mask instead of if.",
    "err_exceed_max_supported_dimension": "The instruction takes fewer dimensions; reshape or slice the tile.",
    "err_failed_to_infer_tile_from_local_tensor": "A tensor with block dimensions is many tiles: index all dimensions before the partition.",
    "err_free_size": "The instruction takes rows of a bounded length: work in parts.",
    "err_grid": "A launch grid is one or more sizes of at least 1.",
    "err_hbm_tensor_with_init_value_not_supported": "HBM tensors start unwritten: allocate with nl.ndarray and store into it.",
    "err_host_arithmetic": "The host function arranges shapes and launches kernels; values are computed inside kernels.",
    "err_import": "A stranger's file gets the language and math; in a file of one's own the module must be installed.",
    "err_inputs": "The host function, or the only kernel, takes one tensor for each of its parameters, weights too, in their order.",
    "err_insufficient_rank": "A tile has a partition dimension and at least one free dimension: (n, 1) instead of (n,).",
    "err_limit_reached": "The run was ended at its limit of instructions, iterations, time or memory.",
    "err_loop_bounds": "Trip counts are integers that are known before the kernel runs.",
    "err_matmul_dtype": "The tensor engine multiplies floating types.",
    "err_mixed_dialects": "neuronxcc.nki and nki are two dialects; a file is of one.",
    "err_nested_kernel_with_spmd_grid": "Inside a kernel another one is called without a grid.",
    "err_nki_api_outside_of_nki_kernel": "Instructions run inside an @nki.jit function only.",
    "err_no_entry": "A file of several kernels needs a host function forward(...), or the kernel's name.",
    "err_no_kernel": "A kernel is a function decorated with @nki.jit.",
    "err_not_affine": "An index is a sum of constants times index expressions and loop variables; their products are not.",
    "err_num_partition_exceed_arch_limit": "SBUF and PSUM have 128 partitions: tile the first dimension.",
    "err_num_partition_mismatch": "Operands of one instruction have equally many partitions.",
    "err_operand_scalar_or_vector": "The operand is one number, or one for each partition: a (P, 1) tile.",
    "err_output": "A kernel returns tensors that it allocated with buffer=nl.shared_hbm.",
    "err_partition_stride": "On chip the partitions of a tile follow each other; stride in HBM, when loading.",
    "err_program_axis": "program_id is asked for an axis that the launch grid does not have.",
    "err_psum_accumulation": "An accumulator in PSUM starts at zero: nl.zeros(..., buffer=nl.psum).",
    "err_psum_capacity": "PSUM has 16 KiB in each partition, in 8 banks; fewer tiles may be alive at once.",
    "err_python": "Python itself raised while the kernel was traced.",
    "err_reduction_axis": "Engines reduce along the free dimensions; over partitions use a matmul with ones, or nisa.tensor_partition_reduce.",
    "err_sbuf_capacity": "A partition of SBUF is full: smaller tiles, or fewer alive at once.",
    "err_shape": "A shape is a tuple of integers of at least 1, known before running.",
    "err_shape_mismatch": "The operands' shapes do not fit each other.",
    "err_shared_hbm_must_in_kernel_level": "Outputs are allocated at the top of the kernel, before any loop.",
    "err_shuffle_mask": "A shuffle mask has 32 entries: a partition of the quadrant, or 255 to keep what is there.",
    "err_size_of_dimension_exceed_arch_limit": "The free size is beyond what the instruction takes: tile it.",
    "err_start_partition": "A tile of up to 32 partitions starts at a multiple of 32, of up to 64 at 0 or 64, of more at 0.",
    "err_store_dst_shape_smaller_than_other_shape": "The value does not fit the destination that was indexed.",
    "err_syntax": "Python cannot read the file.",
    "err_tensor_access_out_of_bound": "An index leaves its dimension: mask the tail, or correct the trip count.",
    "err_tensor_output_not_written_to": "Elements of an output were never stored: check trip counts, masks and indices.",
    "err_undefined_read": "The instruction reads elements that none wrote: fill the tile first, or mask it like the load.",
    "err_unexpected_output_dependencies": "Iterations of a parallel loop, or programs of a grid, write the same place: use sequential_range, or separate places.",
    "err_unknown_name": "The namespace has no such name.",
    "err_unknown_operator": "The op= argument names no operation of the engine.",
    "err_unsupported_assignment": "A tile takes tiles and numbers.",
    "err_unsupported_expression_in_mask": "A mask is comparisons of index expressions joined by &.",
    "err_unsupported_index": "Tensors are indexed by integers, slices, nl.ds, nl.arange and nl.mgrid.",
    "err_unsupported_instruction": "The target does not have this instruction, or not in this form.",
    "err_unsupported_memory": "The operand lies in a memory that the engine does not reach; copy it.",
    "err_unsupported_mixing_basic_advanced_tensor_indexing": "Beside an nl.arange every dimension is indexed by one, or by an integer.",
    "err_unsupported_python": "A stranger's kernel is functions, loops, conditions, assignments and calls.",
    "err_wrong_arguments": "The call does not fit the operation's signature.",
    "err_wrong_dialect": "The target's compiler takes the other dialect.",
})  # fmt: skip


def meaning(code: str) -> str:
    """The sentence of a code. Raises ``BadRequest`` with near matches for one there is not."""
    known = CODES.get(code) or CODES.get(f"err_{code}")
    if known is None:
        near = ", ".join(get_close_matches(code, CODES, 3, 0.4)) or "see docs/codes.md"
        raise BadRequest(f"there is no code '{code}'; near matches: {near}")
    return known
