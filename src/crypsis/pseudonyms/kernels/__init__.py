"""Kernels: arrays in, numbers out; they import nothing of the rest."""
