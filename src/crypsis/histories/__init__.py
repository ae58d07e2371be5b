"""Histories: the events of people, as an intruder may know them."""
