"""File formats that are read at once into an Arrow table, and written from one."""
