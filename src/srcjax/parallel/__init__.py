"""What `pmap` runs on: devices, their threads and processes, and how they meet."""
