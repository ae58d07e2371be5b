"""Kernels of the models of inference."""
