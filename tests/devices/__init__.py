"""Scripts that tests start with several devices, or as several processes."""
