"""Compiled inner loops of recoding: arrays in, numbers out; they import nothing of ours."""
