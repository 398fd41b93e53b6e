"""Measures how true histories are: change points, drift, ledgers, searches for commits."""
