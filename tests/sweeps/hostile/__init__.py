"""Programs that hide what they write: aliases, views, callees, containers."""
