"""One file a revision; a released one is never changed."""
