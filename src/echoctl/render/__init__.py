"""The only room that prints or draws: tables, reports, figures, episodes."""
