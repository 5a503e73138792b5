"""All the gallery, by topic."""

from gallery import algorithms, calculus, learning, physics, statistics
from gallery.entries import Entry

TOPICS: dict[str, list[Entry]] = {
    "calculus": calculus.ENTRIES,
    "statistics": statistics.ENTRIES,
    "physics": physics.ENTRIES,
    "learning": learning.ENTRIES,
    "algorithms": algorithms.ENTRIES,
}
