"""nkiport migrates PyTorch, Triton and CUDA kernels to AWS Trainium NKI kernels."""

__version__ = "0.1.0"
