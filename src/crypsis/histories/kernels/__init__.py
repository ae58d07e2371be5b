"""Kernels of the attack on histories."""
