//! Bridges without an engine, which accept every answer at once.
//! Measuring them is left to `measure.rs`.

use std::{io, path::Path, sync::Arc, thread, time::Duration};

use askbridge::{
    acp::{Opened, Settled, Submission},
    control::{
        self,
        old::{Feed, Owner, socket},
    },
    machine::discovery,
    question::{Field, FieldOption, Kind, Origin, Outcome, Question},
};
use tokio::{
    runtime,
    sync::{mpsc, oneshot},
};

/// A bridge whose inbox is served.
pub(crate) struct Bridge {
    /// Its name.
    pub(crate) name: String,
    asks: mpsc::Sender<u64>,
    _socket: discovery::Socket,
    _stop: oneshot::Sender<()>,
}

impl Bridge {
    /// Opens a question with this number.
    pub(crate) fn ask(&self, number: u64) {
        // The bridge lives as long as the process, so this cannot fail.
        self.asks.try_send(number).unwrap_or_default();
    }
}

/// Starts bridges with this number of open questions each, with their sockets in this folder.
pub(crate) fn start(folder: &Path, bridges: usize, questions: u64) -> io::Result<Vec<Bridge>> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let mut started = Vec::new();
    for number in 0..bridges {
        let name = discovery::name();
        let owner = Owner { bridge: name.clone(), agent: format!("agent {number}"), folder: String::new() };
        let (inbox, feed) = control::old::new(owner);
        for number in 1..=questions {
            feed.opened(&opened(number));
        }
        let (socket, listener) = discovery::Socket::bind(folder, &name).map_err(io::Error::other)?;
        let (stop, stopped) = oneshot::channel();
        let (asks, asked) = mpsc::channel(8);
        runtime.spawn(socket::serve(listener, None, inbox, stopped));
        runtime.spawn(play(feed, asked));
        started.push(Bridge { name, asks, _socket: socket, _stop: stop });
    }
    thread::Builder::new()
        .name("bridges".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(started)
}

async fn play(mut feed: Feed, mut asked: mpsc::Receiver<u64>) {
    loop {
        tokio::select! {
            Some(number) = asked.recv() => feed.opened(&opened(number)),
            Some(command) = feed.next() => {
                if let Submission::Answer(answer) = command.submission {
                    let settled = Settled {
                        number: command.number,
                        question: opened(command.number).question,
                        outcome: Outcome::Answered(answer),
                        by: command.by,
                        after: Duration::ZERO,
                        remark: None,
                    };
                    feed.settled(&settled, Duration::ZERO);
                }
                // Fails if the command has stopped waiting for the verdict.
                drop(command.verdict.send(Ok(())));
            }
            else => return,
        }
    }
}

/// Returns an open question with two fields, of a typical size.
fn opened(number: u64) -> Opened {
    let option = |value: &str| FieldOption {
        value: value.to_owned(),
        label: format!("Option {value}"),
        description: Some("What choosing this one would mean for the work at hand.".to_owned()),
        preview: None,
    };
    let field = |name: &str| Field {
        name: name.to_owned(),
        label: "Which of these approaches is to be taken?".to_owned(),
        header: Some("Approach".to_owned()),
        help: None,
        required: false,
        secret: false,
        kind: Kind::Choice { options: ["a", "b", "c"].map(option).into(), other: true, default: None },
    };
    let question = Question {
        session: Some("session".to_owned()),
        message: "There are several ways to go on.".to_owned(),
        ..Question::new(Origin::SandboxAgent, &number.to_string(), ["q0", "q1"].map(field).into())
    };
    Opened { number, question: Arc::new(question), since: Duration::ZERO, deadline: None, elsewhere: false }
}
