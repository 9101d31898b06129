//! The list of questions: its order and lines, which part of it is in view, how it is drawn, and the keys of its search.
//! Pure. Which questions a search finds is left to `search.rs`, what other keys do to `handle.rs`.

use std::{cmp::Reverse, collections::BTreeMap};

use askbridge_core::desk::{QuestionId, State};
use askbridge_os::terminal::{cut, padded, width};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    card::{connected, nothing_waits},
    event::{Key, QuestionItem},
    lines::lines,
    search::Search,
    state::{App, Pane},
    theme::Theme,
};
use crate::present::{
    answer::settlement,
    text::{self, short, span},
    urgency,
};

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListLine {
    /// The name of a project, with that of its machine where it is another one, or of the part with the settled questions.
    Heading(String),
    /// An open question, by its place in the world.
    Open(usize),
    /// A settled question, by its place in the world.
    Settled(usize),
}

/// Returns the other machine that a question waits on, and its project.
fn group(item: &QuestionItem) -> (Option<&str>, Option<String>) {
    (item.record.bridge.machine(), text::project(&item.record.question))
}

impl App {
    /// Returns the open questions in the order of the list.
    pub(super) fn ids(&self) -> Vec<QuestionId> {
        self.order().into_iter().map(|place| self.world.open[place].record.id.clone()).collect()
    }

    /// Returns the open questions that the search finds, in the order of the list: by project, each on its machine, and in
    /// it what waits most urgently first.
    pub fn order(&self) -> Vec<usize> {
        let open = &self.world.open;
        let order = |place: usize| {
            let QuestionItem { record, now, .. } = &open[place];
            (
                urgency::urgency(record, *now),
                // `false` sorts first. Among equals, the place keeps the order in which they opened.
                Reverse(record.question.blocking),
                Reverse(record.question.risk().is_dangerous()),
                place,
            )
        };
        let mut projects: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, item) in open.iter().enumerate().filter(|(_, item)| self.search.finds(item)) {
            projects.entry(group(item)).or_default().push(place);
        }
        let mut groups: Vec<_> = projects.into_values().collect();
        groups.iter_mut().for_each(|group| group.sort_by_key(|place| order(*place)));
        groups.sort_by_key(|group| group.first().map(|place| order(*place)));
        let mut order = groups.concat();
        // What is set aside stands at the end, of all projects together.
        order.sort_by_key(|place| open[*place].record.later.is_some());
        order
    }

    /// Returns how many questions are set aside.
    pub(super) fn aside(&self) -> usize {
        self.world.open.iter().filter(|item| item.record.later.is_some()).count()
    }

    /// Returns the lines of the list.
    pub fn list(&self) -> Vec<ListLine> {
        let (mut lines, mut last, mut has_later) = (Vec::new(), None, false);
        for place in self.order() {
            let item = &self.world.open[place];
            if item.record.later.is_some() {
                if !std::mem::replace(&mut has_later, true) {
                    lines.push(ListLine::Heading(format!("Later ({})", self.aside())));
                }
                lines.push(ListLine::Open(place));
                continue;
            }
            let group = group(item);
            if last.as_ref() != Some(&group) {
                let (machine, project) = &group;
                let project = project.as_deref().unwrap_or("no project");
                let heading = machine.map_or_else(|| project.to_owned(), |name| format!("{name}: {project}"));
                lines.push(ListLine::Heading(heading));
                last = Some(group);
            }
            lines.push(ListLine::Open(place));
        }
        let settled = self.world.settled.iter().enumerate();
        let settled: Vec<_> = settled.filter(|(_, item)| self.search.finds(item)).collect();
        if !settled.is_empty() {
            lines.push(ListLine::Heading("Settled lately".to_owned()));
            lines.extend(settled.into_iter().map(|(place, _)| ListLine::Settled(place)));
        }
        lines
    }

    /// Returns the question of a line of the list.
    pub fn of_line(&self, line: &ListLine) -> Option<&QuestionItem> {
        match line {
            ListLine::Heading(_) => None,
            ListLine::Open(place) => self.world.open.get(*place),
            ListLine::Settled(place) => self.world.settled.get(*place),
        }
    }

    /// Returns how many questions the keys for pages move by.
    pub(super) fn list_page(&self) -> isize {
        self.height().saturating_sub(2).max(1).cast_signed()
    }

    /// Moves by this many questions in the list.
    pub fn step(&mut self, by: isize) {
        let lines = self.list();
        let ids: Vec<_> =
            lines.iter().filter_map(|line| Some(self.of_line(line)?.record.id.clone())).collect();
        let Some(last) = ids.len().checked_sub(1) else { return };
        let at = self.current.as_ref().and_then(|id| ids.iter().position(|other| other == id));
        let next = match at {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by < 0 => last,
            None => 0,
        };
        self.told = None;
        self.select(ids.get(next).cloned());
    }

    /// Returns the first line of the list that is in view.
    pub(super) fn first_in_list(&self) -> usize {
        let lines = self.list();
        let is_current = |line: &ListLine| {
            self.of_line(line).is_some_and(|item| Some(&item.record.id) == self.current.as_ref())
        };
        let at = lines.iter().position(is_current).unwrap_or_default();
        let height = self.height().max(1);
        // The heading stays in view with the first question, and the line that counts the lines below covers the last
        // line.
        let is_in_view = if lines.len() > height { at + 1 < height } else { true };
        if is_in_view { 0 } else { (at + 1 + height / 3).min(lines.len()) - height.min(lines.len()) }
    }
}

impl App {
    /// Begins to type a search, in the list.
    pub(super) fn search_begins(&mut self) {
        self.pane = Pane::List;
        self.search.is_typing = true;
    }

    /// Shows all questions again.
    pub(super) fn search_ends(&mut self) {
        self.search = Search::default();
        self.select_found();
    }

    /// Handles a key while the person types a search.
    pub(super) fn search_key(&mut self, key: Key) {
        self.said = None;
        match key {
            Key::Escape => self.search_ends(),
            Key::Backspace if self.search.text().is_empty() => self.search_ends(),
            Key::Enter | Key::Tab => self.search.is_typing = false,
            Key::Down => self.step(1),
            Key::Up => self.step(-1),
            Key::PageDown => self.step(self.list_page()),
            Key::PageUp => self.step(-self.list_page()),
            key => {
                self.search.edit(|typed| _ = typed.key(key, false));
                self.select_found();
            }
        }
    }

    /// Searches for a text that is pasted.
    pub(super) fn search_pasted(&mut self, text: &str) {
        self.search.edit(|typed| typed.insert(text, false));
        self.select_found();
    }

    /// Selects the first question that the search finds, unless it finds the current one.
    fn select_found(&mut self) {
        let lines = self.list();
        let ids: Vec<_> =
            lines.iter().filter_map(|line| Some(self.of_line(line)?.record.id.clone())).collect();
        let is_found = self.current.as_ref().is_some_and(|id| ids.contains(id));
        if !is_found {
            self.select(ids.first().cloned());
        }
    }
}

/// The least number of lines at which the list has signs of what is above and below.
const SIGNED: usize = 4;

/// Returns the part of the list that is in view, in this many columns and lines. Its first and its last line say how
/// much is beyond them.
pub(super) fn list(app: &App, theme: Theme, columns: usize, height: usize) -> Vec<Line<'static>> {
    let all = app.list();
    if all.is_empty() {
        let nothing = if app.search.is_empty() { nothing_waits(app) } else { "No match." };
        let mut said = vec![Line::styled(cut(&format!(" {nothing}"), columns).into_owned(), theme.strong())];
        // On a wide screen, the part for the question says this.
        if app.search.is_empty() && !app.is_wide() {
            said.push(Line::default());
            said.extend(
                lines(&connected(app), 1, columns).into_iter().map(|line| Line::styled(line, theme.muted())),
            );
            let gaps = app.world.gaps.iter().flat_map(|gap| lines(gap, 1, columns));
            said.extend(gaps.map(|line| Line::styled(line, theme.warning())));
        }
        return said;
    }
    let (first, end) = (app.first_in_list(), (app.first_in_list() + height).min(all.len()));
    let mut shown: Vec<_> = all[first..end].iter().map(|line| drawn(app, line, theme, columns)).collect();
    if height < SIGNED {
        return shown;
    }
    let sign = |text: String| Line::styled(cut(&text, columns).into_owned(), theme.muted());
    // Each counting line covers a line of the list, so it counts the question on that line as well.
    if first > 0 {
        shown[0] = sign(format!(" ↑ {}", beyond(&all[..=first])));
    }
    if end < all.len()
        && let Some(last) = shown.last_mut()
    {
        *last = sign(format!(" ↓ {}", beyond(&all[end - 1..])));
    }
    shown
}

/// Returns how many questions are on these lines, which are not in view.
fn beyond(lines: &[ListLine]) -> String {
    let open = lines.iter().filter(|line| matches!(line, ListLine::Open(_))).count();
    let settled = lines.iter().filter(|line| matches!(line, ListLine::Settled(_))).count();
    match (open, settled) {
        (0, settled) => format!("{settled} settled"),
        (open, 0) => format!("{open} more"),
        (open, settled) => format!("{open} more, {settled} settled"),
    }
}

fn drawn(app: &App, line: &ListLine, theme: Theme, columns: usize) -> Line<'static> {
    match (line, app.of_line(line)) {
        (ListLine::Open(_), Some(item)) => open(app, item, theme, columns),
        (ListLine::Settled(_), Some(item)) => settled(app, item, theme, columns),
        (ListLine::Heading(name), _) => {
            Line::styled(cut(&format!(" {name}"), columns).into_owned(), theme.muted())
        }
        (_, None) => Line::default(),
    }
}

fn is_current(app: &App, item: &QuestionItem) -> bool {
    app.current.as_ref() == Some(&item.record.id)
}

/// Returns the line of an open question: its headline, with marks before it and its time after it.
fn open(app: &App, item: &QuestionItem, theme: Theme, columns: usize) -> Line<'static> {
    let record = &item.record;
    let later = record.later.map(|later| format!("back {}", span(later.since(item.now))));
    let (time, time_style) = match (record.state == State::Delivering, later, record.deadline) {
        (true, ..) => ("sent".to_owned(), theme.muted()),
        (_, Some(later), _) => (later, theme.muted()),
        (_, _, Some(deadline)) => {
            let style = if record.expiring { theme.warning() } else { theme.muted() };
            (format!("ends {}", span(deadline.since(item.now))), style)
        }
        _ => (span(item.now.since(record.opened_at)), theme.muted()),
    };
    let is_touched = app.drafts.get(&record.id).is_some_and(|draft| draft.is_touched);
    // `>` once the question takes keys, `·` until then.
    let mark = match is_current(app, item) {
        true if app.is_fresh => "·",
        true => ">",
        false => " ",
    };
    let danger = if record.question.risk().is_dangerous() { "!" } else { " " };
    let draft = if is_touched { "*" } else { " " };
    let agent = item.agent.as_deref().map(|agent| format!("{}: ", short(agent, 20))).unwrap_or_default();
    // With little room, the question matters more than its agent.
    let agent = if columns < 60 { String::new() } else { agent };
    let room = columns.saturating_sub(width(&time) + 6);
    let text = format!("{agent}{}", text::summary(&record.question, columns));
    let text = padded(&cut(&text, room), room);
    let (style, time_style) = match is_current(app, item) {
        true => (theme.selected(app.pane == Pane::List), theme.selected(app.pane == Pane::List)),
        false => (Style::new(), time_style),
    };
    let danger_style =
        if record.question.risk().is_dangerous() && !is_current(app, item) { theme.danger() } else { style };
    Line::from(vec![
        Span::styled(mark, style),
        Span::styled(danger, danger_style),
        Span::styled(format!("{draft}{text} "), style),
        Span::styled(format!("{time} "), time_style),
    ])
}

fn settled(app: &App, item: &QuestionItem, theme: Theme, columns: usize) -> Line<'static> {
    let record = &item.record;
    let how = record.settlement.as_deref().map(|ended| settlement(&record.question, ended));
    let how = how.unwrap_or_else(|| "lost".to_owned());
    let text = format!("{}: {how}", text::summary(&record.question, 30));
    let mark = if is_current(app, item) { ">" } else { " " };
    let style = if is_current(app, item) { theme.selected(app.pane == Pane::List) } else { theme.muted() };
    let room = columns.saturating_sub(4);
    Line::styled(format!("{mark}  {} ", padded(&cut(&text, room), room)), style)
}
