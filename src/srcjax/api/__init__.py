"""What users call: a module for each transform, and the texts that they write."""
