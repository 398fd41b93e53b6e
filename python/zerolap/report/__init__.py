"""What a comparison or a run says, for a terminal, a pull request, a browser and another program."""
