"""How fast the pages of `zerolap serve` are over a store of millions of points, in a browser without a display."""
