"""The versions of a transformed function, and how a call picks one."""
