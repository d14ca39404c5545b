"""A workshop in the room: its clock, its log, and the pages for projector and teacher."""
