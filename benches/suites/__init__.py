"""How many of the public suites run, how long that takes, and how many faults in them are found."""
