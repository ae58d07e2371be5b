"""What an intruder knows besides the events, as numbers."""

SET, ORDER, NUMBER, ENDS = range(4)
MOST_EVENTS = 12
"""The most known events: all sets of them are examined."""
