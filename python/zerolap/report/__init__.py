"""The results of a comparison or a run, for a terminal, a pull request, a browser and another program."""
