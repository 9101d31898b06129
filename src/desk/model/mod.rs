//! Random lives of questions against a model that knows nothing of the desk's structure.

mod steps;

mod world;

mod lives;
