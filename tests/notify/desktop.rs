//! The desktop: a real session bus, and a peer on it that shows notifications as the specification says.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex},
    time::Instant,
};

use serde_json::Value;
use zbus::{connection::Builder, object_server::SignalEmitter, zvariant::OwnedValue};

use crate::notify::stage::{DEADLINE, Stage, notifiers, permission, question, wait};

const PATH: &str = "/org/freedesktop/Notifications";
const NAME: &str = "org.freedesktop.Notifications";

/// A session bus.
struct Bus {
    process: Child,
    address: String,
}

impl Bus {
    fn start() -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--print-address=1"]).stdout(Stdio::piped());
        let mut process = command.spawn().expect("dbus-daemon, of the Debian package dbus-daemon");
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Bus { process, address: address.trim().to_owned() }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

/// A notification that is shown.
#[derive(Clone, Debug)]
struct Shown {
    id: u32,
    title: String,
    body: String,
    actions: Vec<String>,
    urgency: u8,
}

#[derive(Default)]
struct State {
    shown: Vec<Shown>,
    closed: Vec<u32>,
}

/// The program that shows notifications.
#[derive(Clone, Default)]
struct Desktop(Arc<(Mutex<State>, Condvar)>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Desktop {
    fn get_capabilities(&self) -> Vec<String> {
        ["actions", "body", "body-markup"].map(str::to_owned).to_vec()
    }

    #[expect(clippy::too_many_arguments, reason = "the specification has so many")]
    fn notify(
        &self,
        _app: String,
        _replaces: u32,
        _icon: String,
        title: String,
        body: String,
        actions: Vec<String>,
        hints: std::collections::BTreeMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        let (state, more) = &*self.0;
        let mut state = state.lock().unwrap();
        let id = u32::try_from(state.shown.len()).unwrap() + 1;
        let urgency = hints.get("urgency").and_then(|value| u8::try_from(value).ok()).unwrap_or_default();
        state.shown.push(Shown { id, title, body, actions, urgency });
        more.notify_all();
        id
    }

    fn close_notification(&self, id: u32) {
        let (state, more) = &*self.0;
        state.lock().unwrap().closed.push(id);
        more.notify_all();
    }

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(emitter: &SignalEmitter<'_>, id: u32, reason: u32) -> zbus::Result<()>;
}

impl Desktop {
    /// Waits until this can be found.
    #[track_caller]
    fn wait<T>(&self, what: &str, find: impl Fn(&State) -> Option<T>) -> T {
        let (state, more) = &*self.0;
        let deadline = Instant::now() + DEADLINE;
        let mut now = state.lock().unwrap();
        loop {
            if let Some(found) = find(&now) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited too long for {what}: {:?}", now.shown);
            now = more.wait_timeout(now, left).unwrap().0;
        }
    }

    #[track_caller]
    fn shown(&self, number: usize) -> Shown {
        self.wait("a notification", |state| state.shown.get(number).cloned())
    }

    #[track_caller]
    fn closed(&self, id: u32) {
        self.wait("the end of a notification", |state| state.closed.contains(&id).then_some(()));
    }
}

/// A desktop on a bus, and the settings that tell by it.
struct Stand {
    bus: Bus,
    desktop: Desktop,
    connection: zbus::Connection,
    stage: Stage,
    runtime: tokio::runtime::Runtime,
}

impl Stand {
    fn new() -> Self {
        let (bus, desktop) = (Bus::start(), Desktop::default());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let connection = runtime.block_on(async {
            let builder = Builder::address(&*bus.address).unwrap().name(NAME).unwrap();
            builder.serve_at(PATH, desktop.clone()).unwrap().build().await.unwrap()
        });
        let stage = Stage::new()
            .with("DBUS_SESSION_BUS_ADDRESS", &bus.address)
            .with("ASKBRIDGE_NOTIFY_DESKTOP_ENABLED", "true");
        Stand { bus, desktop, connection, stage, runtime }
    }

    /// The person clicks.
    fn click(&self, id: u32, action: &str) {
        let emitter = SignalEmitter::new(&self.connection, PATH).unwrap();
        self.runtime.block_on(Desktop::action_invoked(&emitter, id, action)).unwrap();
    }

    /// The person puts a notification away.
    fn put_away(&self, id: u32) {
        let emitter = SignalEmitter::new(&self.connection, PATH).unwrap();
        self.runtime.block_on(Desktop::notification_closed(&emitter, id, 2)).unwrap();
    }

    /// Another program says that the person clicked.
    fn forge(&self, id: u32, action: &str) {
        self.runtime.block_on(async {
            let other = Builder::address(&*self.bus.address).unwrap().build().await.unwrap();
            let emitter = SignalEmitter::new(&other, PATH).unwrap();
            Desktop::action_invoked(&emitter, id, action).await.unwrap();
            // It has arrived when the bus replies to what was sent after it.
            zbus::fdo::DBusProxy::new(&other).await.unwrap().get_id().await.unwrap();
        });
    }
}

#[test]
fn a_button_answers_and_the_notification_goes() {
    let stand = Stand::new();
    let (mut bridge, id) = stand.stage.asking(&question("<b>Deploy</b> & run?"));
    let shown = stand.desktop.shown(0);
    assert!(shown.title.starts_with("A question waits in "), "{shown:?}");
    assert!(shown.body.starts_with("&lt;b&gt;Deploy&lt;/b&gt; &amp; run?"), "{shown:?}");
    assert_eq!(shown.actions, ["default", "Open", "answer-0", "yes", "answer-1", "no"]);
    // The agent's own processes are on the same bus.
    stand.forge(shown.id, "answer-0");
    stand.click(shown.id + 1, "answer-0");
    stand.click(shown.id, "answer-1");
    bridge.expect("the answer", |line| line.contains("heard") && line.contains("no"));
    let shown_json: Value = serde_json::from_str(&stand.stage.machine.ok(&["show", &id, "--json"])).unwrap();
    assert_eq!(shown_json["settlement"]["by"]["responder"], "notification");
    stand.desktop.closed(shown.id);
    wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
}

#[test]
fn a_notification_goes_when_the_question_is_answered_elsewhere() {
    let stand = Stand::new();
    let (mut bridge, id) = stand.stage.asking(&question("Deploy?"));
    let shown = stand.desktop.shown(0);
    assert_eq!(stand.stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    bridge.expect("the answer", |line| line.contains("heard"));
    stand.desktop.closed(shown.id);
}

#[test]
fn notification_that_is_put_away_ends_its_notifier_and_the_question_waits() {
    let stand = Stand::new();
    let (bridge, id) = stand.stage.asking(&question("Deploy?"));
    let shown = stand.desktop.shown(0);
    let notifier = notifiers(bridge.id());
    assert_eq!(notifier.len(), 1);
    stand.put_away(shown.id + 1);
    stand.put_away(shown.id);
    wait("the end of the notifier", || notifiers(bridge.id()).is_empty().then_some(()));
    assert_eq!(stand.stage.machine.question(), id);
    assert_eq!(stand.desktop.0.0.lock().unwrap().shown.len(), 1, "it is told once");
}

#[test]
fn a_dangerous_permission_is_urgent_and_cannot_be_allowed_there() {
    let stand = Stand::new();
    let (_bridge, _) = stand.stage.asking(&permission("execute"));
    let shown = stand.desktop.shown(0);
    assert_eq!((&shown.actions[2..], shown.urgency), (&["answer-0".to_owned(), "Deny".to_owned()][..], 2));
}

#[test]
fn a_desktop_that_is_missing_is_said() {
    let bus = Bus::start();
    let stage = Stage::new()
        .with("DBUS_SESSION_BUS_ADDRESS", &bus.address)
        .with("ASKBRIDGE_NOTIFY_DESKTOP_ENABLED", "true");
    let run = crate::answers::machine::end(stage.start(&["doctor", "--notify", "--json"]));
    assert!(
        run.stdout.contains("the desktop shows no notifications: org.freedesktop.DBus.Error"),
        "{}",
        run.stdout
    );
}
