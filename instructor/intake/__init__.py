"""From what was handed in to a plain folder: a roster, folders, zips and repositories, safely."""
