"""The changes that were published with their figures, measured here; writes `.bench/posts.json`."""
