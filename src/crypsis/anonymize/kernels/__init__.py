"""Compiled inner loops of `anonymize`: arrays in, numbers out; they import nothing of ours."""
