"""Kernels of the inspection of files."""
