//! The network between a process and the broker: it passes on what comes, until a test cuts or freezes it.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use memchr::memmem;

use crate::support::DEADLINE;

/// What a call to another machine contains, and its reply does not.
const CALL: &[u8] = br#","method":"#;

#[derive(Default)]
struct State {
    /// Nothing passes, and nothing says so.
    is_frozen: bool,
    /// The broker hears nothing, and nothing says so.
    is_mute: bool,
    /// New connections are closed at once.
    is_down: bool,
    connections: Vec<TcpStream>,
    calls: usize,
}

/// To the broker, or from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

type Shared = Arc<(Mutex<State>, Condvar)>;

/// A port that leads to the broker.
pub(crate) struct Link {
    pub(crate) port: u16,
    shared: Shared,
}

impl Link {
    /// Leads to this port of loopback.
    pub(crate) fn to(broker: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Shared::default();
        let link = Link { port, shared: Arc::clone(&shared) };
        // It ends with the test's process.
        thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let is_down = shared.0.lock().unwrap().is_down;
                if !is_down && let Ok(far) = TcpStream::connect(("127.0.0.1", broker)) {
                    join(near, far, &shared);
                }
            }
        });
        link
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns how many calls the process behind this link has made to other machines. One of them takes one round trip;
    /// what only says which numbers have come is none.
    pub(crate) fn calls(&self) -> usize {
        self.shared.0.lock().unwrap().calls
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        let mut state = self.shared.0.lock().unwrap();
        for connection in state.connections.drain(..) {
            drop(connection.shutdown(Shutdown::Both));
        }
        (state.is_frozen, state.is_mute) = (false, false);
        self.shared.1.notify_all();
    }

    /// Ends all connections, and refuses new ones.
    pub(crate) fn down(&self) {
        self.shared.0.lock().unwrap().is_down = true;
        self.cut();
    }

    pub(crate) fn up(&self) {
        self.shared.0.lock().unwrap().is_down = false;
    }

    /// Passes nothing on from now on, or all that has come meanwhile.
    pub(crate) fn freeze(&self, is_frozen: bool) {
        self.shared.0.lock().unwrap().is_frozen = is_frozen;
        self.shared.1.notify_all();
    }

    /// Passes nothing on to the broker from now on, until the connections are cut.
    pub(crate) fn mute(&self) {
        self.shared.0.lock().unwrap().is_mute = true;
    }
}

fn join(near: TcpStream, far: TcpStream, shared: &Shared) {
    drop(near.set_nodelay(true).and_then(|()| far.set_nodelay(true)));
    let directions = [
        (Direction::Up, near.try_clone().unwrap(), far.try_clone().unwrap()),
        (Direction::Down, far.try_clone().unwrap(), near.try_clone().unwrap()),
    ];
    shared.0.lock().unwrap().connections.extend([near, far]);
    for (direction, from, to) in directions {
        let shared = Arc::clone(shared);
        thread::spawn(move || pass(direction, from, to, &shared));
    }
}

fn pass(direction: Direction, mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut bytes = [0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let state = shared.0.lock().unwrap();
        let is_held = |state: &mut State| state.is_frozen || (state.is_mute && direction == Direction::Up);
        let mut waited = shared.1.wait_timeout_while(state, DEADLINE, is_held).unwrap();
        let state = &mut *waited.0;
        if direction == Direction::Up {
            state.calls += memmem::find_iter(&bytes[..count], CALL).count();
        }
        drop(waited);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
    drop(from.shutdown(Shutdown::Both));
}
