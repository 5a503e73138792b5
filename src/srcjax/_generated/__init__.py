"""The package that modules of generated source belong to; they exist in memory only."""
