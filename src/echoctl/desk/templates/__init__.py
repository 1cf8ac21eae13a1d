"""What `echoctl new` writes: a toy contract and its track, to be replaced line by line."""
