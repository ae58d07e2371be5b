"""Kernels of the suite of intruders."""
