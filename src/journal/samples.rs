//! Questions, answers and journals for the tests of this room.
