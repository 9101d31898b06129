//! What a permission risks, and what a rule allows: every case of `fixtures/guard`, and every promise of the pages about it.
//! What one function does with one value is tested beside the code.

#[cfg(test)]
mod additions;
#[cfg(test)]
mod alike;
#[cfg(test)]
mod asked;
#[cfg(test)]
mod cage;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod exploring;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod granted;
#[cfg(test)]
mod judge;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod project;
#[cfg(test)]
mod promises;
#[cfg(test)]
mod random;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod rewriting;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod shells;
#[cfg(test)]
mod spellings;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod wrapping;
