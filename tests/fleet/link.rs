//! The network between a process and the broker: it passes on what comes, until a test cuts or freezes it.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

use crate::support::DEADLINE;

#[derive(Default)]
struct State {
    /// Nothing passes, and nothing says so.
    is_frozen: bool,
    /// New connections are closed at once.
    is_down: bool,
    connections: Vec<TcpStream>,
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

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        let mut state = self.shared.0.lock().unwrap();
        for connection in state.connections.drain(..) {
            drop(connection.shutdown(Shutdown::Both));
        }
        state.is_frozen = false;
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
}

fn join(near: TcpStream, far: TcpStream, shared: &Shared) {
    drop(near.set_nodelay(true).and_then(|()| far.set_nodelay(true)));
    let directions = [
        (near.try_clone().unwrap(), far.try_clone().unwrap()),
        (far.try_clone().unwrap(), near.try_clone().unwrap()),
    ];
    shared.0.lock().unwrap().connections.extend([near, far]);
    for (from, to) in directions {
        let shared = Arc::clone(shared);
        thread::spawn(move || pass(from, to, &shared));
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut bytes = [0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        let state = shared.0.lock().unwrap();
        let waited = shared.1.wait_timeout_while(state, DEADLINE, |state| state.is_frozen).unwrap();
        drop(waited);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
    drop(from.shutdown(Shutdown::Both));
}
