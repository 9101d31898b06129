//! Notifications on this machine: on the desktop, and in the terminal that the bridge was started in. On a desktop
//! notification a button answers the question and a click elsewhere opens the page; the notification is closed when the
//! question is settled. A terminal gets a bell, a title, and its own notification if it is known to have one.
//!
//! Any process on the session bus, even one of the agent, can send a signal that looks like a click. So a signal counts
//! only if it comes from the program that shows notifications (I12).

use std::{
    collections::HashMap,
    env,
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use askbridge_os::program;
use futures::StreamExt;
use rustix::fs::OFlags;
use tokio::time::timeout;
use zbus::{
    Connection, MatchRule, Message as Signal, MessageStream,
    fdo::DBusProxy,
    message::{Body, Type},
    names::OwnedUniqueName,
    zvariant::{DynamicType, Value},
};

use super::telling::{NotifiedQuestion, WayReport, too_late};
use crate::{
    limits,
    notify::{Message, Way},
    present::attention::TerminalKind,
};

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// The action that the desktop reports for a click on the notification itself.
const CLICK: &str = "default";
/// The prefix of the ID of a button, before its number.
const BUTTON: &str = "answer-";
/// The urgency levels "normal" and "critical" of the desktop notifications specification.
const URGENCY: [u8; 2] = [1, 2];
/// The expiry timeout of a notification that never expires.
const FOR_EVER: i32 = 0;

/// The capabilities of the desktop.
#[derive(Clone, Copy, Debug, Default)]
struct Abilities {
    /// It shows buttons and reports clicks on them.
    actions: bool,
    /// It interprets the text as markup.
    markup: bool,
}

/// A notification on the screen.
#[derive(Debug)]
pub(super) struct DesktopNotification {
    connection: Connection,
    signals: MessageStream,
    /// The program that shows notifications.
    owner: OwnedUniqueName,
    id: u32,
}

/// What the user did with the notification.
#[derive(Debug, PartialEq, Eq)]
enum DesktopAction {
    Clicked(String),
    PutAway,
}

/// Shows a notification.
pub(super) async fn show(message: &Message) -> Result<DesktopNotification, String> {
    let silent = || format!("the desktop did not reply within {} s", limits::NOTIFY_REQUEST.as_secs());
    let shown = timeout(limits::NOTIFY_REQUEST, begin(message)).await.map_err(|_| silent())?;
    shown.map_err(|error| match error {
        zbus::Error::InputOutput(error) => format!("there is no session bus: {}", error.kind()),
        zbus::Error::MethodError(name, ..) => format!("the desktop shows no notifications: {name}"),
        error => format!("the desktop: {error}"),
    })
}

async fn begin(message: &Message) -> zbus::Result<DesktopNotification> {
    let connection = Connection::session().await?;
    // This call starts the program that shows notifications, if the desktop starts it on demand. The name has no owner
    // before.
    let list: Vec<String> = call(&connection, "GetCapabilities", &()).await?.deserialize()?;
    let bus = DBusProxy::new(&connection).await?;
    let owner = bus.get_name_owner(NAME.try_into()?).await?;
    let rule = MatchRule::builder().msg_type(Type::Signal).sender(owner.clone())?.interface(NAME)?.build();
    // Subscribe before the notification is shown, so that no click is missed.
    let signals = MessageStream::for_match_rule(rule, &connection, None).await?;
    let has = |name: &str| list.iter().any(|ability| ability == name);
    let abilities = Abilities { actions: has("actions"), markup: has("body-markup") };
    let actions = actions(message, abilities);
    let hints = HashMap::from([("urgency", Value::from(URGENCY[usize::from(message.is_urgent)]))]);
    let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
    let (title, body) = (&*message.title, body(message, abilities));
    // 0 replaces no earlier notification, and an empty name means no icon.
    let notification = ("askbridge", 0_u32, "", title, &*body, actions, hints, FOR_EVER);
    let id = call(&connection, "Notify", &notification).await?.deserialize()?;
    Ok(DesktopNotification { connection, signals, owner, id })
}

async fn call<B>(connection: &Connection, method: &str, arguments: &B) -> zbus::Result<Body>
where
    B: serde::Serialize + DynamicType,
{
    let reply = connection.call_method(Some(NAME), PATH, Some(NAME), method, arguments).await?;
    Ok(reply.body())
}

fn body(message: &Message, abilities: Abilities) -> String {
    match abilities.markup {
        true => escaped(&message.body),
        false => message.body.clone(),
    }
}

/// Escapes a text for a desktop that interprets markup (I10).
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// Returns the IDs and the labels of the buttons, alternating as the specification wants them.
fn actions(message: &Message, abilities: Abilities) -> Vec<String> {
    if !abilities.actions {
        return Vec::new();
    }
    // A desktop uses the action `default` for a click outside of the buttons.
    let mut actions = vec![CLICK.to_owned(), "Open".to_owned()];
    for (place, button) in message.buttons.iter().enumerate() {
        actions.extend([format!("{BUTTON}{place}"), button.label.clone()]);
    }
    actions
}

impl DesktopNotification {
    /// Waits until the user does something. Ignores signals of other programs and of other notifications.
    async fn done(&mut self) -> DesktopAction {
        while let Some(signal) = self.signals.next().await {
            if let Some(done) = signal.ok().and_then(|signal| self.read(&signal)) {
                return done;
            }
        }
        // The bus is gone.
        DesktopAction::PutAway
    }

    fn read(&self, signal: &Signal) -> Option<DesktopAction> {
        let header = signal.header();
        if header.sender()? != &*self.owner {
            return None;
        }
        let (id, done) = match header.member()?.as_str() {
            "ActionInvoked" => {
                let (id, action): (u32, String) = signal.body().deserialize().ok()?;
                (id, DesktopAction::Clicked(action))
            }
            "NotificationClosed" => {
                let (id, _reason): (u32, u32) = signal.body().deserialize().ok()?;
                (id, DesktopAction::PutAway)
            }
            _ => return None,
        };
        // The signals about the notifications of all programs arrive here.
        (id == self.id).then_some(done)
    }

    async fn close(&self) {
        let closed = call(&self.connection, "CloseNotification", &self.id);
        // The call fails if the desktop has closed the notification already.
        drop(timeout(limits::NOTIFY_REQUEST, closed).await);
    }
}

/// Carries out what the user does with a notification, until the question is settled.
pub(super) async fn attend(telling: &NotifiedQuestion, message: &Message, mut shown: DesktopNotification) {
    tokio::select! {
        done = shown.done() => match done {
            DesktopAction::Clicked(action) => acted(telling, message, &action).await,
            // The user dismissed the notification. The question stays open, and there is nothing left to close.
            DesktopAction::PutAway => return,
        },
        _ = telling.ended() => {}
    }
    shown.close().await;
}

async fn acted(telling: &NotifiedQuestion, message: &Message, action: &str) {
    if action == CLICK {
        if let Err(error) = open(&telling.record.id.to_string()) {
            telling
                .say(WayReport::Failed(Way::Desktop, format!("the page could not be opened: {error}")))
                .await;
        }
        return;
    }
    let place = action.strip_prefix(BUTTON).and_then(|place| place.parse::<usize>().ok());
    let Some(button) = place.and_then(|place| message.buttons.get(place)) else { return };
    if let Some(Err(refusal)) = telling.choose(Way::Desktop, button.submission.clone()).await {
        let told = Message { title: too_late(&refusal), ..Message::default() };
        if let Err(error) = say(&told).await {
            telling.say(WayReport::Failed(Way::Desktop, error)).await;
        }
    }
}

/// Shows a notification and does not wait for what the user does with it.
pub(super) async fn say(message: &Message) -> Result<(), String> {
    show(message).await.map(drop)
}

/// Opens the page at this question, in a process that outlives this one.
fn open(id: &str) -> std::io::Result<()> {
    program::command(["open", id])?.spawn().map(drop)
}

/// Pushes the title onto the terminal's stack; [`TAKE_TITLE`] pops it.
const KEEP_TITLE: &str = "\x1b[22;0t";
const TAKE_TITLE: &str = "\x1b[23;0t";

/// Rings the terminal and sets its title until [`restore_title`].
pub(super) fn ring_terminal(terminal: &Path, message: &Message) -> io::Result<()> {
    let known = known();
    let title = match known {
        // A plain terminal would print the sequence as text.
        TerminalKind::Plain => String::new(),
        _ => KEEP_TITLE.to_owned() + &known.title(1),
    };
    open_terminal(terminal)?.write_all((known.tell(&message.title) + &title).as_bytes())
}

/// Rings the terminal, and leaves its title alone.
pub(super) fn ring_briefly(terminal: &Path, message: &Message) -> io::Result<()> {
    open_terminal(terminal)?.write_all(known().tell(&message.title).as_bytes())
}

/// Restores the title that the terminal had before [`ring_terminal`].
pub(super) fn restore_title(terminal: &Path) -> io::Result<()> {
    match known() {
        TerminalKind::Plain => Ok(()),
        _ => open_terminal(terminal)?.write_all(TAKE_TITLE.as_bytes()),
    }
}

fn known() -> TerminalKind {
    TerminalKind::of(|name| env::var(name).ok())
}

/// Opens a terminal. It does not become the controlling terminal, and a terminal that hangs does not block.
fn open_terminal(terminal: &Path) -> io::Result<File> {
    let flags = (OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(flags).open(terminal)?;
    // The path may name something else by now, which must not get these bytes.
    if file.is_terminal() { Ok(file) } else { Err(io::Error::other("it is not a terminal")) }
}

#[cfg(test)]
mod tests {
    use askbridge_core::desk::Submission;

    use super::*;
    use crate::notify::Button;

    #[test]
    fn text_of_an_agent_is_no_markup_and_no_action() {
        let message = Message {
            title: "a".to_owned(),
            body: "<b>x</b> & <a href=\"y\">'".to_owned(),
            buttons: vec![Button { label: "default".to_owned(), submission: Submission::Reject(None) }],
            is_urgent: false,
        };
        let all = Abilities { actions: true, markup: true };
        assert_eq!(body(&message, all), "&lt;b&gt;x&lt;/b&gt; &amp; &lt;a href=&quot;y&quot;&gt;&#39;");
        assert_eq!(actions(&message, all), [CLICK, "Open", "answer-0", "default"]);
        let none = Abilities::default();
        assert_eq!((body(&message, none), actions(&message, none)), (message.body.clone(), Vec::new()));
    }
}
