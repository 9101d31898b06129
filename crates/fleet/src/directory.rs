//! The directory: which machines are there. An entry of the bucket only says whom to ask; a machine is there once it has
//! replied on the subject that only its user may use. So entries that nobody stands behind cost a message each, and
//! nothing else. Following the bucket is left to `following.rs`.

use std::{collections::BTreeMap, ops::Bound, sync::Arc};

use serde::{Deserialize, Serialize};
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use super::place::{Place, UserName};
use crate::limits as limit;

/// What a machine says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The version of its askbridge.
    pub version: String,
    /// The number of its open questions.
    pub open: usize,
    /// Letters that no other process of the machine has. Empty in an earlier version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub process: String,
}

/// What is known of one machine.
#[derive(Clone, Debug)]
struct Seen {
    /// Until when its entry is valid.
    until: Instant,
    /// The number of its latest entry.
    number: u64,
    /// The letters of its process.
    process: String,
    /// Whether it is to be asked if it is there.
    is_due: bool,
    /// When it was asked, while there is no reply.
    asked: Option<Instant>,
    /// The number of its first reply. Of several machines, those that came first are shown.
    answered: Option<u64>,
    /// Since when it has not replied.
    mute_since: Option<Instant>,
    /// Whether something listens there, for all that the broker says.
    has_listener: bool,
    /// Whether it has said that it ends.
    is_leaving: bool,
}

impl Seen {
    fn is_shown(&self, now: Instant) -> bool {
        self.answered.is_some() && self.mute_since.is_none_or(|since| now < since + limit::VALID)
    }

    /// Returns whether it was asked in vain, so that its place is free for another.
    fn is_idle(&self) -> bool {
        self.answered.is_none() && !self.is_due && self.asked.is_none()
    }

    /// Returns whether it may be a machine that is frozen: something listens, and has never replied.
    fn is_mute(&self) -> bool {
        self.answered.is_none() && self.mute_since.is_some() && self.has_listener
    }
}

/// What is known of one user of machines.
#[derive(Clone, Debug)]
struct User {
    /// How many more of its entries may be asked now.
    probes: usize,
    /// From when on the next one is counted.
    counted: Instant,
    /// When the first and the last of its mute machines were noticed. A machine that is frozen does not renew its entry,
    /// which runs out. So what is mute for longer is no machine, and makes no list incomplete.
    mute: Option<(Instant, Instant)>,
}

/// The machines that are there.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    places: BTreeMap<Place, Seen>,
    users: BTreeMap<UserName, User>,
    /// Number of entries and replies that came.
    count: u64,
    /// Notified at each entry, also at those that change no route.
    renewed: Arc<Notify>,
    shown: Vec<Place>,
    /// What is said of machines that are not shown.
    missing: Option<String>,
    /// Whether the bucket was read, or could not be.
    pub is_read: bool,
    /// Why machines are missing that have not renewed their entries since the connection began.
    pub problem: Option<String>,
}

impl Directory {
    /// Returns the machines that are there, in an order.
    pub(super) fn shown(&self) -> &[Place] {
        &self.shown
    }

    /// Returns why machines may be missing.
    pub(super) fn missing(&self) -> Option<String> {
        let both: Vec<_> = self.problem.iter().chain(&self.missing).map(String::as_str).collect();
        (!both.is_empty()).then(|| both.join("; "))
    }

    /// Returns the number of machines that have an entry.
    pub(super) fn entries(&self) -> usize {
        self.places.len()
    }

    /// Returns whether a machine of this name has an entry.
    pub(super) fn has(&self, name: &str) -> bool {
        self.places.keys().any(|place| place.name().is_some_and(|known| known.as_str() == name))
    }

    /// Returns whether each machine whose entry is known was asked, and has replied or not in time.
    pub(super) fn is_settled(&self) -> bool {
        self.is_read && self.places.values().all(|seen| !seen.is_due && seen.asked.is_none())
    }

    /// Adds or renews an entry, of a process if it names one. Returns whether that is another process than before.
    pub(super) fn put(&mut self, place: Place, process: &str, now: Instant) -> bool {
        self.count += 1;
        let mut is_other = false;
        let (number, until) = (self.count, now + limit::VALID);
        if !self.places.contains_key(&place) && !self.makes_room(&place) {
            return false;
        }
        match self.places.get_mut(&place) {
            Some(seen) => {
                is_other = !process.is_empty() && !seen.process.is_empty() && seen.process != process;
                (seen.number, seen.until, seen.is_leaving) = (number, until, false);
                seen.is_due |= seen.answered.is_none() || seen.mute_since.is_some() || is_other;
                if !process.is_empty() {
                    process.clone_into(&mut seen.process);
                }
            }
            None => {
                let seen = Seen {
                    until,
                    number,
                    process: process.to_owned(),
                    is_due: true,
                    asked: None,
                    answered: None,
                    mute_since: None,
                    has_listener: false,
                    is_leaving: false,
                };
                self.places.insert(place, seen);
            }
        }
        self.renewed.notify_waiters();
        is_other
    }

    /// Returns whether there is room for one more machine of its user. One that was asked in vain makes room.
    fn makes_room(&mut self, place: &Place) -> bool {
        if self.of_user(place.user()).count() >= limit::PLACES + limit::CANDIDATES {
            let idle =
                self.of_user(place.user()).find(|(_, seen)| seen.is_idle()).map(|(place, _)| place.clone());
            return idle.is_some_and(|idle| self.places.remove(&idle).is_some());
        }
        // No user can fill it alone.
        self.places.len() < limit::MACHINES
    }

    fn of_user<'a>(&'a self, user: &'a UserName) -> impl Iterator<Item = (&'a Place, &'a Seen)> {
        let first = Bound::Included(Place::first_of(user));
        self.places.range((first, Bound::Unbounded)).take_while(move |(place, _)| place.user() == user)
    }

    /// Notes that a machine has said that it ends. It is asked, since the broker does not say who has written that.
    pub(super) fn leave(&mut self, place: &Place) {
        if let Some(seen) = self.places.get_mut(place) {
            (seen.is_leaving, seen.is_due) = (true, true);
        }
    }

    /// Notes that a connection to a machine has ended: it may be gone.
    pub(super) fn doubt(&mut self, place: &Place) {
        if let Some(seen) = self.places.get_mut(place) {
            seen.is_due = true;
        }
    }

    /// Returns the machines that are to be asked now, which is noted, and forgets what was asked for too long.
    pub(super) fn ask(&mut self, now: Instant) -> Vec<Place> {
        let is_late = |seen: &Seen| seen.asked.is_some_and(|asked| now >= asked + limit::PROBE);
        let late: Vec<_> =
            self.places.iter().filter(|(_, seen)| is_late(seen)).map(|(place, _)| place.clone()).collect();
        for place in late {
            self.fail(&place, true, now);
        }
        let mut asked = Vec::new();
        for (place, seen) in &mut self.places {
            if !seen.is_due || seen.asked.is_some() {
                continue;
            }
            let fresh = || User { probes: limit::PROBES, counted: now, mute: None };
            let user = self.users.entry(place.user().clone()).or_insert_with(fresh);
            let more = now.duration_since(user.counted).as_millis() / limit::PROBE_PAUSE.as_millis();
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            user.counted += limit::PROBE_PAUSE.saturating_mul(more);
            user.probes = limit::PROBES.min(user.probes.saturating_add(more as usize));
            if user.probes > 0 {
                user.probes -= 1;
                (seen.is_due, seen.asked) = (false, Some(now));
                asked.push(place.clone());
            }
        }
        asked
    }

    /// Notes that a machine has replied, and which process of it, if it says so.
    pub(super) fn answer(&mut self, place: &Place, process: &str) {
        self.count += 1;
        if let Some(seen) = self.places.get_mut(place) {
            process.clone_into(&mut seen.process);
            (seen.asked, seen.mute_since, seen.is_leaving) = (None, None, false);
            seen.answered.get_or_insert(self.count);
        }
    }

    /// Notes that a machine has not replied. `has_listener` is false if the broker says that nobody listens there.
    pub(super) fn fail(&mut self, place: &Place, has_listener: bool, now: Instant) {
        let Some(seen) = self.places.get_mut(place) else { return };
        (seen.asked, seen.has_listener) = (None, has_listener);
        seen.mute_since.get_or_insert(now);
        if seen.is_leaving {
            self.places.remove(place);
        } else if seen.is_mute()
            && let Some(user) = self.users.get_mut(place.user())
        {
            let first =
                user.mute.filter(|(_, last)| now < *last + limit::VALID).map_or(now, |(first, _)| first);
            user.mute = Some((first, now));
        }
    }

    /// Removes what has run out.
    pub(super) fn expire(&mut self, now: Instant) {
        self.places.retain(|_, seen| seen.until > now);
        let places = &self.places;
        self.users.retain(|name, user| {
            user.mute.is_some_and(|(_, last)| now < last + limit::VALID)
                || places.keys().any(|place| place.user() == name)
        });
    }

    /// Returns when an entry runs out next.
    pub(super) fn runs_out(&self) -> Option<Instant> {
        self.places.values().map(|seen| seen.until).min()
    }

    /// Returns when something is to be done next, beside what runs out.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let of_place = self.places.values().filter_map(|seen| {
            let asked = seen.asked.map(|asked| asked + limit::PROBE);
            let due = seen.is_due.then_some(now + limit::PROBE_PAUSE);
            let hidden = seen.mute_since.map(|since| since + limit::VALID).filter(|at| *at > now);
            [asked, due, hidden].into_iter().flatten().min()
        });
        let of_user = self.users.values().filter_map(|user| user.mute.map(|(first, _)| first + limit::VALID));
        of_place.chain(of_user.filter(|at| *at > now)).min()
    }

    /// Finds out which machines are shown now. Returns whether something has changed for those who follow.
    pub(super) fn refresh(&mut self, now: Instant) -> bool {
        let (mut shown, mut said) = (Vec::new(), Vec::new());
        let mut users: Vec<_> = self.places.keys().map(Place::user).collect();
        users.dedup();
        for user in users {
            let mut there: Vec<_> = self.of_user(user).filter(|(_, seen)| seen.is_shown(now)).collect();
            there.sort_by_key(|(_, seen)| seen.answered);
            if there.len() > limit::PLACES {
                let more = there.split_off(limit::PLACES).len();
                said.push(format!(
                    "{user} has more than {} machines in the fleet: {more} left out",
                    limit::PLACES
                ));
            }
            shown.extend(there.into_iter().map(|(place, _)| place.clone()));
            let since = self.users.get(user).and_then(|user| user.mute);
            match self.of_user(user).filter(|(_, seen)| seen.is_mute()).count() {
                count if count > 0 && since.is_some_and(|(first, _)| now < first + limit::VALID) => {
                    let machines = if count == 1 { "a machine" } else { "machines" };
                    said.push(format!("{machines} of {user} in the fleet did not reply"));
                }
                _ => {}
            }
        }
        shown.sort();
        let missing = (!said.is_empty()).then(|| said.join("; "));
        let is_other = shown != self.shown || missing != self.missing;
        (self.shown, self.missing) = (shown, missing);
        is_other
    }

    /// Returns the number of the latest entry of a machine, or 0 if it has none. Each new entry has a higher number.
    pub(super) fn latest(&self, place: &Place) -> u64 {
        self.places.get(place).map_or(0, |seen| seen.number)
    }

    /// Returns the letters of the process behind a machine, or none.
    pub(super) fn process(&self, place: &Place) -> &str {
        self.places.get(place).map_or("", |seen| &seen.process)
    }

    /// Lets each entry be valid for longer, since none was received while there was no connection.
    pub(super) fn reconnected(&mut self, now: Instant) {
        for seen in self.places.values_mut() {
            seen.until = seen.until.max(now + limit::VALID);
            // What was asked over the last connection gets no reply any more.
            seen.is_due |= seen.asked.take().is_some();
        }
        self.is_read = false;
    }
}

/// Waits for an entry of a machine after the one of this number.
pub(super) async fn renewed(directory: watch::Receiver<Directory>, place: &Place, number: u64) {
    let renewed = Arc::clone(&directory.borrow().renewed);
    loop {
        // Before the look, so that no entry is missed.
        let notified = renewed.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if directory.borrow().latest(place) > number {
            return;
        }
        notified.await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn place(user: &str, number: usize) -> Place {
        Place::new(user.parse().expect("a name"), "host", &format!("{number:06}"))
    }

    /// What stands behind the entries that are asked.
    #[derive(Clone, Copy, PartialEq)]
    enum Behind {
        Machine,
        Nobody,
        /// It listens, and never replies.
        Mute,
    }

    fn settle(directory: &mut Directory, now: Instant, behind: impl Fn(&Place) -> Behind) -> usize {
        let asked = directory.ask(now);
        for place in &asked {
            match behind(place) {
                Behind::Machine => directory.answer(place, ""),
                Behind::Nobody => directory.fail(place, false, now),
                Behind::Mute => {}
            }
        }
        directory.expire(now);
        directory.refresh(now);
        asked.len()
    }

    fn users(directory: &Directory) -> Vec<(&str, usize)> {
        let mut users: Vec<(&str, usize)> = Vec::new();
        for place in directory.shown() {
            match users.last_mut().filter(|(user, _)| *user == place.user().as_str()) {
                Some((_, count)) => *count += 1,
                None => users.push((place.user().as_str(), 1)),
            }
        }
        users
    }

    /// A stolen credential writes entries under 400 names in a second, for two minutes.
    fn flood(behind: Behind) -> (Directory, usize, Vec<Option<String>>) {
        let (mut directory, begun, mut asked) =
            (Directory { is_read: true, ..Directory::default() }, Instant::now(), 0);
        let real = |place: &Place| if place.user().as_str() == "thief" { behind } else { Behind::Machine };
        let mut said = Vec::new();
        for step in 0..1200_u32 {
            let now = begun + SECOND / 10 * step;
            for number in 0..40 {
                directory.put(place("thief", 40 * step as usize + number), "", now);
            }
            if step % 100 == 0 {
                for number in 0..10 {
                    directory.put(place("box", number), "", now);
                }
            }
            asked += settle(&mut directory, now, real);
            assert!(directory.entries() <= 10 + limit::PLACES + limit::CANDIDATES);
            said.push(directory.missing());
        }
        (directory, asked, said)
    }

    #[tokio::test(start_paused = true)]
    async fn entries_that_nobody_stands_behind_are_no_machines_and_make_no_list_incomplete() {
        let (directory, asked, said) = flood(Behind::Nobody);
        assert_eq!(users(&directory), [("box", 10)]);
        assert!(said.iter().all(Option::is_none), "{said:?}");
        let most = 120 * (SECOND.as_millis() / limit::PROBE_PAUSE.as_millis()) as usize;
        assert!(asked <= most + 2 * limit::PROBES + 10, "{asked} were asked");
    }

    #[tokio::test(start_paused = true)]
    async fn a_credential_that_replies_for_all_names_has_sixteen_machines() {
        let (directory, _, said) = flood(Behind::Machine);
        assert_eq!(users(&directory), [("box", 10), ("thief", limit::PLACES)]);
        let last = said.last().unwrap().as_ref().expect("it is said");
        assert!(last.starts_with("thief has more than 16 machines in the fleet"), "{last}");
    }

    #[tokio::test(start_paused = true)]
    async fn what_listens_and_never_replies_is_said_for_as_long_as_a_frozen_machine_could_be_there() {
        let (directory, _, said) = flood(Behind::Mute);
        assert_eq!(users(&directory), [("box", 10)]);
        let incomplete =
            said.iter().flatten().filter(|why| why.contains("of thief in the fleet did not reply")).count();
        assert_eq!(incomplete, said.iter().flatten().count(), "{said:?}");
        // Steps of a tenth of a second.
        let most = limit::VALID.as_secs() * 10;
        assert!(incomplete as u64 <= most && incomplete > 0, "{incomplete}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_is_gone_stays_while_its_entry_is_valid_and_one_that_says_so_does_not() {
        let (mut directory, now) = (Directory { is_read: true, ..Directory::default() }, Instant::now());
        for number in 0..2 {
            directory.put(place("box", number), "", now);
        }
        assert!(!directory.is_settled());
        settle(&mut directory, now, |_| Behind::Machine);
        assert!(directory.is_settled());
        // Another user has made the broker write that both end: they still reply.
        for number in 0..2 {
            directory.leave(&place("box", number));
        }
        settle(&mut directory, now, |_| Behind::Machine);
        assert_eq!(users(&directory), [("box", 2)]);
        // One is killed, and one ends.
        directory.doubt(&place("box", 0));
        directory.leave(&place("box", 1));
        settle(&mut directory, now, |_| Behind::Nobody);
        assert_eq!(directory.shown(), [place("box", 0)]);
        settle(&mut directory, now + limit::VALID, |_| Behind::Nobody);
        assert_eq!(directory.entries(), 0);
        assert_eq!(directory.missing(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_replied_once_and_is_renewed_for_ever_is_shown_for_half_a_minute() {
        let (mut directory, begun) = (Directory { is_read: true, ..Directory::default() }, Instant::now());
        directory.put(place("thief", 0), "", begun);
        settle(&mut directory, begun, |_| Behind::Machine);
        directory.doubt(&place("thief", 0));
        for second in 0..120_u32 {
            let now = begun + SECOND * second;
            directory.put(place("thief", 0), "", now);
            settle(&mut directory, now, |_| Behind::Nobody);
            let is_shown = now < begun + limit::VALID;
            assert_eq!(directory.shown().len(), usize::from(is_shown), "{second}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_users_together_have_a_bounded_number_of_entries() {
        let (mut directory, now) = (Directory::default(), Instant::now());
        for user in 0..100 {
            for number in 0..100 {
                directory.put(place(&format!("u{user}"), number), "", now);
            }
        }
        assert!(directory.entries() <= limit::MACHINES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_revives_the_machine_although_no_route_changes() {
        let directory = watch::Sender::new(Directory::default());
        let put = |process: &str| {
            directory.send_if_modified(|directory| directory.put(place("box", 1), process, Instant::now()))
        };
        put("one");
        let place = place("box", 1);
        let first = directory.borrow().latest(&place);
        let renewed = renewed(directory.subscribe(), &place, first);
        tokio::pin!(renewed);
        assert!(renewed.as_mut().now_or_never().is_none(), "the entry is the same");
        put("");
        assert!(renewed.now_or_never().is_some());
        assert_eq!(directory.borrow().process(&place), "one");
        assert!(put("two"), "another process is news");
        assert_eq!(directory.borrow().process(&place), "two");
    }
}
