"""Counting kernels: arrays in, counts out; NumPy and Numba only."""
