"""Colors and sizes of all charts.

Colors are those of Okabe and Ito for color-blind readers, and two greys.
"""

BLUE = "#0072B2"
ORANGE = "#D55E00"
SKY_BLUE = "#56B4E9"
YELLOW = "#E69F00"
GREY = "#8C8C8C"
DARK_GREY = "#7F7F7F"
WIDTH = 460
"""The width of a chart in pixels."""
