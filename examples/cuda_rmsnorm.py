"""RMSNorm as a CUDA kernel that is compiled inline, with the module it stands for beside it."""

import torch
from torch import nn

CUDA_SOURCE = r"""
#include <torch/extension.h>

__global__ void rmsnorm_kernel(const float* x, const float* weight, float* out,
                               int width, float eps) {
    extern __shared__ float partial[];
    const float* row = x + blockIdx.x * width;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i] * row[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    float scale = rsqrtf(partial[0] / width + eps);
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = row[i] * scale * weight[i];
}

torch::Tensor rmsnorm(torch::Tensor x, torch::Tensor weight, double eps) {
    auto out = torch::empty_like(x);
    int width = x.size(1);
    rmsnorm_kernel<<<x.size(0), 256, 256 * sizeof(float)>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), out.data_ptr<float>(), width, eps);
    return out;
}
"""
CPP_SOURCE = "torch::Tensor rmsnorm(torch::Tensor x, torch::Tensor weight, double eps);"


def rmsnorm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    from torch.utils.cpp_extension import load_inline

    extension = load_inline(
        name="rmsnorm", cpp_sources=CPP_SOURCE, cuda_sources=CUDA_SOURCE, functions=["rmsnorm"]
    )
    return extension.rmsnorm(x, weight, eps)


class RMSNorm(nn.Module):
    """What the CUDA kernel computes."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + self.eps) * self.weight


def get_inputs():
    return [torch.randn(256, 1024)]


def get_init_inputs():
    return [1024]
