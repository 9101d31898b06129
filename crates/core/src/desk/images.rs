//! The data of the images of open questions. Records have it only on loan: it is freed with the end of its question,
//! whoever keeps the record. Reading images is left to the dialects.

use std::sync::Arc;

use super::Desk;
use crate::{limits, question::Question};

impl Desk {
    /// Leaves out of a question that is about to open, or to change, the images for which there is no room beside those of
    /// other questions, and says so.
    pub fn fit_images(&self, question: &mut Question) {
        let mut room = limits::IMAGES_BYTES.saturating_sub(self.image_bytes());
        let before = question.images.len();
        question.images.retain(|image| match image.encoded() {
            0 => true,
            _ => match room.checked_sub(image.bytes as usize) {
                Some(left) => {
                    room = left;
                    true
                }
                None => false,
            },
        });
        let why = "too many images wait in other questions";
        match before - question.images.len() {
            0 => {}
            1 => question.unshown.push(format!("1 image is not shown: {why}")),
            count => question.unshown.push(format!("{count} images are not shown: {why}")),
        }
    }

    /// Takes the data of a question's images, and returns the question without it. A caller that has not let them fit
    /// loses what has no room.
    pub(super) fn keep_images(&mut self, number: u64, mut question: Arc<Question>) -> Arc<Question> {
        if question.images.iter().all(|image| image.encoded() == 0) {
            return question;
        }
        for image in &mut Arc::make_mut(&mut question).images {
            let Some(data) = image.data.lend() else { continue };
            if data.len() + self.image_bytes() <= limits::IMAGES_BYTES {
                self.images.entry(number).or_default().push(data);
            }
        }
        question
    }

    fn image_bytes(&self) -> usize {
        self.images.values().flatten().map(|data| data.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        desk::{
            Opening, Submission,
            samples::{desk, question, submit},
        },
        question::Image,
    };

    fn image(bytes: usize) -> Image {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";
        Image::of([&head[..], &vec![0; bytes - head.len()]].concat(), None).expect("an image")
    }

    fn open(desk: &mut Desk, bytes: usize) -> u64 {
        let mut asked = Question::clone(&question("Why?", None));
        asked.images.push(image(bytes));
        desk.fit_images(&mut asked);
        let question = Arc::new(asked);
        let opening = Opening { question, weight: 10, timeout: None, elsewhere: false, context: None };
        desk.open(opening, Duration::ZERO)
    }

    fn data(desk: &Desk, number: u64) -> Option<usize> {
        let record = desk.get(number)?;
        record.question.images.first()?.data.get().map(|data| data.len())
    }

    #[test]
    fn images_are_kept_within_a_bound_until_their_questions_end() {
        let mut desk = desk();
        let size = 3 << 20;
        let numbers: Vec<_> = (0..6).map(|_| open(&mut desk, size)).collect();
        let kept: Vec<_> = numbers.iter().filter_map(|number| data(&desk, *number)).collect();
        assert_eq!(kept, [size; 5], "16 MiB hold five of them");
        let sixth = desk.get(numbers[5]).expect("a question").clone();
        assert_eq!(sixth.question.images, []);
        assert_eq!(sixth.question.unshown, ["1 image is not shown: too many images wait in other questions"]);
        // An old record does not keep the data.
        let record = Arc::clone(desk.get(numbers[0]).expect("a question"));
        assert!(record.question.images[0].data.get().is_some());
        assert!(submit(&mut desk, 1, numbers[0], Submission::Reject(None)));
        desk.delivered(numbers[0]);
        assert!(record.question.images[0].data.get().is_none());
        let seventh = open(&mut desk, size);
        assert_eq!(data(&desk, seventh), Some(size), "there is room again");
    }

    #[test]
    fn a_question_that_changes_keeps_its_images() {
        let mut desk = desk();
        let number = open(&mut desk, 100);
        let mut changed = Question::clone(&desk.get(number).expect("a question").question);
        changed.images.push(image(200));
        assert_eq!(desk.amend(number, Arc::new(changed), 10), Ok(()));
        let record = desk.get(number).expect("a question");
        let sizes = record.question.images.iter().filter_map(|image| image.data.get()).map(|data| data.len());
        assert_eq!(sizes.collect::<Vec<_>>(), [100, 200]);
    }
}
