//! The texts below the options in `--help`: exit codes, and what else cannot stand beside one option.
//! The exit codes themselves are in `exit`.

/// The exit codes of `askbridge run`.
pub(super) const RUN: &str = "\
Exit codes of `askbridge run`:
  the agent's own   the agent ended by itself, or because it was asked to
  128 + N           signal N ended the agent
  2                 the command line was not understood
  125               the bridge itself failed
  126               the agent's command could not be executed
  127               the agent's command was not found";

/// How a conductor starts `askbridge proxy`, and its exit codes.
pub(super) const PROXY: &str = "\
The conductor starts it:
  agent-client-protocol-conductor agent \"askbridge proxy\" \"AGENT ARGS\"

Exit codes of `askbridge proxy`:
  0     the conductor left, or a signal told us to end
  2     the command line was not understood, or there is no conductor: `initialize` came
  125   the bridge itself failed";

/// What the columns of `askbridge list` mean, and its exit codes.
pub(super) const LIST: &str = "\
Columns:
  ID        what `show`, `answer`, `reject` and `extend` take
  AGENT     the agent that asks
  PROJECT   the folder that it works in
  AGE       how long ago it asked
  ENDS      the time until the question is rejected; `sent` once its answer is on the way to the agent
  SHOWN     `client` where the agent's client shows the question, `elsewhere` where only other programs
            can answer it, `delivering` while its answer is on the way
  QUESTION  what is asked
On a narrow terminal, columns are left out; in a pipe, nothing is.

Exit codes:
  0        the questions were listed, or none is open; stderr names each bridge that did not reply
  2        the command line was not understood
  125      the command itself failed
  128 + N  signal N ended `--watch`";

/// What the columns of `askbridge status` mean, and its exit codes.
pub(super) const STATUS: &str = "\
Columns:
  BRIDGE   the name that the IDs of its questions begin with
  PID      its process ID
  VERSION  the version of askbridge that it runs
  AGENT    the program that it wraps
  OPEN     how many of its questions are open
  UP       how long it has run
  FOLDER   the folder that it was started in
A program that asks with `askbridge ask`, and `askbridge inbox`, count as bridges.

Exit codes:
  0    the status was shown
  2    the command line was not understood
  125  the command itself failed";

/// How an ID may be shortened, and the exit codes of the commands that answer.
pub(super) const ANSWER: &str = "\
An ID may be shortened: k3f9q2-1 to k3-1, and for `show` to k3 while only one question of that \
bridge is open. To answer, reject or extend it takes the number: the next question is another one. \
The agent's own ID of an open question is taken as well, if no other open question has the same.

Exit codes:
  0    done; or it was done before, in the same way
  2    the command line was not understood
  3    no such question, or the ID is ambiguous
  4    the question is settled already, in another way
  5    it does not fit the question
  6    the bridge cannot be asked, or it is not known whether the agent was told
  125  the command itself failed";

/// The exit codes of `askbridge ask`.
pub(super) const ASK: &str = "\
Prints the answer, one value a line. The question is found like an agent's, and withdrawn when this \
command is interrupted.

Exit codes:
  0        the question was answered
  1        it was rejected
  2        the command line was not understood
  124      no answer came in time
  125      it could not be asked
  128 + N  signal N interrupted the command";
