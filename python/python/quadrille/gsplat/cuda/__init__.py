"""Modules under the names of gsplat's CUDA kernels; nothing here uses CUDA."""
