"""Counts in, numbers out: cells, partitions, distributions, estimates."""
