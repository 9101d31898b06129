//! Inputs of the terminal that arrive together: a text that is pasted into a terminal that does not mark pastes arrives as
//! keys.
//! Pure but for waiting. What keys and pastes do is left to `handle.rs`.

use std::{future::poll_fn, task::Poll};

use crossterm::event::{Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use futures::{Stream, StreamExt};

/// Returns whether an input ends a line of a paste. Some terminals send a newline, which is also Ctrl+J.
pub(super) fn is_line_break(input: &Input) -> bool {
    typed_char(input) == Some('\n')
}

/// Returns the character that an input stands for in a text.
pub(super) fn typed_char(input: &Input) -> Option<char> {
    match input {
        Input::Key(key) if key.kind == KeyEventKind::Release => None,
        Input::Key(key) => match (key.code, key.modifiers) {
            (KeyCode::Enter, KeyModifiers::NONE) | (KeyCode::Char('j'), KeyModifiers::CONTROL) => Some('\n'),
            (KeyCode::Tab, KeyModifiers::NONE) => Some('\t'),
            (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT) => Some(c),
            _ => None,
        },
        _ => None,
    }
}

/// Turns keys that arrived together into a paste if there is a line break among them: a person presses Enter, and then
/// looks.
pub(super) fn together(inputs: Vec<Input>) -> Vec<Input> {
    let text: String = inputs.iter().filter_map(typed_char).collect();
    let is_typed = text.chars().count() < 2 || !text.contains('\n');
    if is_typed {
        return inputs;
    }
    let others = inputs.into_iter().filter(|input| typed_char(input).is_none());
    // What else arrived, such as Ctrl+S behind the text, was pressed before anybody could see the paste: only reports of
    // the terminal, and keys that end the program, are left.
    let is_kept = |input: &Input| match input {
        Input::Key(key) => {
            matches!(key.code, KeyCode::Char('c' | 'z')) && key.modifiers == KeyModifiers::CONTROL
        }
        Input::Paste(_) => false,
        _ => true,
    };
    [Input::Paste(text)].into_iter().chain(others.filter(is_kept)).collect()
}

/// Returns the next item if it is ready. Otherwise the item wakes this task: the reader of the terminal wakes only the
/// task that polled last, so a poll without a task (`now_or_never`) would leave the next key unseen until something
/// else happens.
pub(super) async fn ready<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| match stream.poll_next_unpin(cx) {
        Poll::Ready(item) => Poll::Ready(item),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        task::{Context, Wake},
    };

    use crossterm::event::KeyEvent;
    use futures::channel::mpsc::channel;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_task_that_took_all_keys_is_woken_by_the_next_one() {
        let (mut sender, mut keys) = channel(8);
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut take = || {
            let taken = pin!(ready(&mut keys)).poll(&mut Context::from_waker(&waker));
            let Poll::Ready(key) = taken else { panic!("it waits for a key") };
            key
        };
        sender.try_send('a').expect("it is open");
        sender.try_send('b').expect("it is open");
        assert_eq!([take(), take(), take()], [Some('a'), Some('b'), None]);
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        sender.try_send('c').expect("it is open");
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "the next key is waited for");
        assert_eq!(take(), Some('c'));
    }

    #[test]
    fn keys_with_a_line_break_that_arrive_together_are_a_paste() {
        let key = |c: char| match c {
            '\r' => Input::Key(KeyCode::Enter.into()),
            '\n' => Input::Key(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL)),
            '\x13' => Input::Key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)),
            '\x03' => Input::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)),
            '\x1b' => Input::FocusGained,
            '>' => Input::Key(KeyCode::Down.into()),
            c => Input::Key(KeyCode::Char(c).into()),
        };
        let keys = |text: &str| text.chars().map(key).collect::<Vec<_>>();
        for typed in ["\r", "\n", "yes", "1\x13", ">>\r", "\x1b\r", ""] {
            assert_eq!(together(keys(typed)), keys(typed), "{typed:?}");
        }
        for (typed, paste, rest) in [
            ("1\r", "1\n", ""),
            ("a\nb", "a\nb", ""),
            ("\r\r", "\n\n", ""),
            ("a\rb\r\x13", "a\nb\n", ""),
            ("a\x1b\r\x03", "a\n", "\x1b\x03"),
        ] {
            let expected = [vec![Input::Paste(paste.to_owned())], keys(rest)].concat();
            assert_eq!(together(keys(typed)), expected, "{typed:?}");
        }
    }
}
