//! Keys, pastes and clicks as the terminal reports them, turned into events of the inbox.

use crossterm::event::{
    Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use super::event::{Key, TuiEvent};

/// Lines that one turn of the wheel scrolls by.
const WHEEL: i32 = 3;

/// Returns the event of the inbox; `None` for what means nothing to it.
pub(super) fn event(input: Input) -> Option<TuiEvent> {
    match input {
        Input::Key(key) => Some(TuiEvent::Key(read(key)?)),
        Input::Paste(text) => Some(TuiEvent::Paste(text)),
        Input::Resize(columns, lines) => Some(TuiEvent::Resize(columns, lines)),
        Input::Mouse(MouseEvent { kind, column, row, .. }) => match kind {
            MouseEventKind::Down(MouseButton::Left) => Some(TuiEvent::Click(column, row)),
            MouseEventKind::ScrollDown => Some(TuiEvent::Scroll(WHEEL)),
            MouseEventKind::ScrollUp => Some(TuiEvent::Scroll(-WHEEL)),
            _ => None,
        },
        Input::FocusGained | Input::FocusLost => None,
    }
}

fn read(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let has = |modifier| key.modifiers.contains(modifier);
    Some(match key.code {
        // A terminal sends Ctrl+J for a newline, and many send it for Ctrl+Enter.
        KeyCode::Enter if has(KeyModifiers::CONTROL) || has(KeyModifiers::ALT) => Key::Send,
        KeyCode::Char('j') if has(KeyModifiers::CONTROL) => Key::Send,
        KeyCode::Char(c) if has(KeyModifiers::CONTROL) => Key::Control(c.to_ascii_lowercase()),
        KeyCode::Char(_) if has(KeyModifiers::ALT) || has(KeyModifiers::SUPER) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Tab if has(KeyModifiers::SHIFT) => Key::BackTab,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace if has(KeyModifiers::ALT) || has(KeyModifiers::CONTROL) => Key::Control('w'),
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_with_their_modifiers() {
        let key = |code, modifiers| read(KeyEvent::new(code, modifiers));
        for (code, modifiers, expected) in [
            (KeyCode::Char('J'), KeyModifiers::SHIFT, Some(Key::Char('J'))),
            (KeyCode::Char('s'), KeyModifiers::CONTROL, Some(Key::Control('s'))),
            (KeyCode::Char('j'), KeyModifiers::CONTROL, Some(Key::Send)),
            (KeyCode::Enter, KeyModifiers::CONTROL, Some(Key::Send)),
            (KeyCode::Enter, KeyModifiers::ALT, Some(Key::Send)),
            (KeyCode::Enter, KeyModifiers::NONE, Some(Key::Enter)),
            (KeyCode::Char('y'), KeyModifiers::ALT, None),
            (KeyCode::Tab, KeyModifiers::SHIFT, Some(Key::BackTab)),
            (KeyCode::F(1), KeyModifiers::NONE, None),
        ] {
            assert_eq!(key(code, modifiers), expected, "{code:?} {modifiers:?}");
        }
    }
}
