"""One room a track: it plans its jobs and plays one. Loaded by name, never imported by the core."""
