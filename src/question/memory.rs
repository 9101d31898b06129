//! What a question takes in memory. Which limit that counts for is left to the desk.

use super::{Field, FieldOption, Kind, Question};

impl Question {
    /// Gives back the room that its lists do not use. A list that was built from a longer one may keep all its room.
    pub fn shrink_to_fit(&mut self) {
        self.fields.shrink_to_fit();
        for field in &mut self.fields {
            if let Kind::Choice { options, .. } | Kind::Choices { options, .. } = &mut field.kind {
                options.shrink_to_fit();
            }
        }
    }

    /// Returns about how many bytes it takes in memory, if it took this many as JSON: an option may be as short
    /// as four bytes there.
    pub fn weight(&self, json: usize) -> usize {
        let options: usize = self.fields.iter().map(|field| field.kind.options().len()).sum();
        json + self.fields.len() * size_of::<Field>() + options * size_of::<FieldOption>()
    }
}
