//! The current question as lines: its text, the fields with their rows, and its outcome.
//! Pure. Where the lines are drawn is left to `view.rs`.

use askbridge_core::{
    desk::State,
    question::{Kind, Question, REDACTED},
};
use askbridge_os::terminal::{cut, printable_line, width};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    commented::with_comments,
    draft::Draft,
    event::QuestionItem,
    field::FieldView,
    lines::{CardLine, MEASURE, folded, lines},
    prose::{card_line, prose, subject_lines},
    state::{App, name},
    theme::Theme,
};
use crate::present::{
    answer::{settlement, value_of},
    images,
    passage::PlacedLine,
    subject,
    text::{self, page, span},
};

/// The most columns of a field's name on its tab.
const TAB: usize = 16;

/// Returns the lines of the current question, at most this many columns wide.
pub(super) fn card(app: &App, theme: Theme, columns: usize) -> Vec<CardLine> {
    let Some(item) = app.item() else {
        return nothing(app, theme, columns);
    };
    let mut writer =
        CardWriter { theme, columns: columns.max(1), measure: columns.clamp(1, MEASURE), out: Vec::new() };
    writer.head(item);
    writer.asked(item, app);
    // A question that was never entered has no draft yet.
    let draft = Draft::new(&item.record);
    let draft = app.drafts.get(&item.record.id).unwrap_or(&draft);
    if item.record.is_open() && item.record.state != State::Delivering {
        writer.form(item, draft, app);
        let CardWriter { theme, measure, out, .. } = writer;
        return with_comments(app, draft, out, &item.record.question, theme, measure);
    }
    writer.ended(item, draft);
    writer.out
}

/// Returns two lines, one with the asker and one with the question, which are shown while the lines of the question are
/// out of view.
pub(super) fn summary(app: &App, theme: Theme, columns: usize) -> Vec<CardLine> {
    let Some(item) = app.item() else { return Vec::new() };
    let line = |text: String, style| CardLine::new(cut(&text, columns).into_owned(), style);
    let question = &item.record.question;
    let field = app.draft().and_then(|draft| draft.at(question)).filter(|_| question.fields.len() > 1);
    let headline =
        field.map_or_else(|| text::headline_within(question, columns), |(field, _)| text::line(&field.label));
    let (headline, style) = match question.risk().is_dangerous() {
        true => (format!("! {headline}"), theme.danger()),
        false => (headline, theme.strong()),
    };
    vec![line(name(item), theme.muted()), line(headline, style)]
}

/// Returns the lines that are shown if there is no current question.
fn nothing(app: &App, theme: Theme, columns: usize) -> Vec<CardLine> {
    if !app.search.is_empty() {
        return vec![CardLine::new("No question matches. Esc shows all questions.", theme.strong())];
    }
    let mut out = vec![CardLine::new(nothing_waits(app), theme.strong()), CardLine::default()];
    let connected = lines(&connected(app), 0, columns);
    out.extend(connected.into_iter().map(|line| CardLine::new(line, theme.muted())));
    let gaps = app.world.gaps.iter().flat_map(|gap| lines(gap, 0, columns));
    out.extend(gaps.map(|line| CardLine::new(line, theme.warning())));
    out
}

/// Returns a sentence that no question waits, as far as that is known.
pub(super) fn nothing_waits(app: &App) -> &'static str {
    if app.world.gaps.is_empty() { "Nothing waits." } else { "Nothing waits in the inboxes that replied." }
}

/// Returns a sentence on whether any agent is connected, with advice if none is.
pub(super) fn connected(app: &App) -> String {
    match app.world.bridges {
        0 => "No agent is connected: `askbridge setup` connects yours. Claude Code in a terminal, with the plugin, is \
              connected only while it asks."
            .to_owned(),
        1 => "1 bridge runs: the questions of its agent appear here.".to_owned(),
        several => format!("{several} bridges run: the questions of their agents appear here."),
    }
}

/// Writes a question, line by line.
struct CardWriter {
    theme: Theme,
    columns: usize,
    measure: usize,
    out: Vec<CardLine>,
}

impl CardWriter {
    fn text(&mut self, text: &str, indent: usize, style: Style) {
        let lines = lines(text, indent, self.measure);
        self.out.extend(lines.into_iter().map(|line| CardLine::new(line, style)));
    }

    fn gap(&mut self) {
        self.out.push(CardLine::default());
    }

    fn head(&mut self, item: &QuestionItem) {
        let record = &item.record;
        self.text(&format!("{}, {}", name(item), record.id), 0, self.theme.muted());
        if record.is_open() {
            let age = format!("asked {} ago", span(item.now.since(record.opened_at)));
            match record.deadline {
                Some(deadline) => {
                    let left = format!("{age}, ends in {}", span(deadline.since(item.now)));
                    let style = if record.expiring { self.theme.warning() } else { self.theme.muted() };
                    self.text(&left, 0, style);
                }
                None => self.text(&age, 0, self.theme.muted()),
            }
        }
        if let Some(later) = record.later {
            let back = format!("set aside: back in {}, l brings it back now", span(later.since(item.now)));
            self.text(&back, 0, self.theme.muted());
        }
        if record.has_context {
            self.text("w shows what led to this", 0, self.theme.muted());
        }
        for said in text::since_asked(record) {
            self.text(&said, 0, self.theme.warning());
        }
        if let Some(risk) = text::risk(&record.question) {
            match risk.strip_prefix("dangerous") {
                Some(why) => self.text(&format!("! Dangerous{why}"), 0, self.theme.danger()),
                None => self.text(&risk, 0, self.theme.muted()),
            }
        }
        self.gap();
    }

    /// Writes the text of the question: the heading, or the subject of a permission.
    fn asked(&mut self, item: &QuestionItem, app: &App) {
        let question = &item.record.question;
        let heading = question.heading();
        let command = subject::command(question).filter(|_| item.is_permission());
        if let Some(command) = &command {
            let lines = command.lines().flat_map(|line| folded(line, 2, self.columns));
            self.out.extend(lines.map(|line| CardLine::new(line, self.theme.strong())));
            self.gap();
        }
        let own = if command.is_some() { Style::new() } else { self.theme.strong() };
        if let Some(title) = question.title.as_deref().filter(|title| *title != heading) {
            self.text(title, 0, own);
        }
        // Some agents write the same heading over every form: the labels of the fields say more.
        let is_formula = question.has_formula();
        let is_label = question.fields.len() == 1 && question.fields[0].label == heading;
        let is_over = !item.record.is_open() || item.record.state == State::Delivering;
        if subject::is_command(question, heading) {
            // The command is shown above already. The gap below it is removed, since the text that follows begins with
            // a gap.
            self.out.pop_if(|last| last.line.width() == 0);
        } else if item.is_permission() || !is_formula && !is_label {
            self.out.extend(prose(("question", heading), self.measure, own, self.theme));
        } else if is_over {
            // The fields of a settled question are hidden, so this line is the only text of the question.
            self.text(&question.headline(), 0, own);
        }
        if item.is_permission() {
            let whole = app.is_unfolded();
            let ready = app.about.as_ref().and_then(|about| about.of(&item.record, self.columns, whole));
            match ready {
                Some(ready) => self.about(ready),
                None => self.about(&subject_lines(question, self.columns, whole)),
            }
        }
        for link in &question.links {
            self.text(&page(link), 0, own);
        }
        for image in images::lines(question) {
            self.text(&image, 0, own);
        }
        match question.images.len() {
            0 => {}
            1 => self.text("i shows it", 0, self.theme.muted()),
            _ => self.text("i shows them", 0, self.theme.muted()),
        }
        for sentence in &question.unshown {
            self.text(&format!("! {sentence}"), 0, self.theme.warning());
        }
        if self.out.last().is_none_or(|last| last.line.width() > 0) {
            self.gap();
        }
    }

    /// Writes the subject of a permission, with changes of files coloured.
    fn about(&mut self, lines: &[PlacedLine]) {
        self.out.extend(lines.iter().map(|line| card_line(line, Style::new(), self.theme)));
    }

    /// Writes the field that is shown, or the review of all of them.
    fn form(&mut self, item: &QuestionItem, draft: &Draft, app: &App) {
        let question = &item.record.question;
        if question.fields.len() > 1 {
            self.tabs(question, draft);
        }
        match draft.at(question) {
            Some((field, entry)) => {
                let error = draft.errors.iter().find(|error| error.field == field.name);
                let view = FieldView {
                    question,
                    field,
                    entry,
                    error: error.map(|error| &*error.message),
                    is_typing: app.is_typing,
                    theme: self.theme,
                    columns: self.measure,
                };
                self.out.extend(view.lines());
            }
            None => self.review(question, draft),
        }
    }

    /// Writes a tab for each field, and one for the review. If there are too many for a line, they wrap.
    fn tabs(&mut self, question: &Question, draft: &Draft) {
        let (mut line, mut used) = (Vec::new(), 0);
        let names = question.fields.iter().map(|field| field.header.as_deref().unwrap_or(&field.label));
        for (place, label) in names.chain(["Send"]).enumerate() {
            let field = question.fields.get(place).zip(draft.entries.get(place));
            let is_given = field.is_some_and(|(field, entry)| matches!(entry.value(field), Ok(Some(_))));
            let is_wrong =
                field.is_some_and(|(field, _)| draft.errors.iter().any(|it| it.field == field.name));
            let mark = if is_wrong {
                "!"
            } else if is_given {
                "+"
            } else {
                " "
            };
            let label = format!(" {}{mark}", cut(&printable_line(label), TAB));
            let style = match () {
                () if place == draft.tab => self.theme.selected(true),
                () if is_wrong => self.theme.danger(),
                () => Style::new(),
            };
            let taken = width(&label) + 1;
            if used > 0 && used + taken > self.columns {
                self.out
                    .push(CardLine { line: Line::from(std::mem::take(&mut line)), ..CardLine::default() });
                used = 0;
            }
            line.extend([Span::styled(label, style), Span::raw(" ")]);
            used += taken;
        }
        self.out.push(CardLine { line: Line::from(line), ..CardLine::default() });
        self.gap();
    }

    fn review(&mut self, question: &Question, draft: &Draft) {
        for (number, (field, entry)) in (1..).zip(question.fields.iter().zip(&draft.entries)) {
            let error = draft.errors.iter().find(|error| error.field == field.name);
            let value = match entry.value(field) {
                Ok(Some(_)) if field.secret => REDACTED.to_owned(),
                Ok(Some(value)) => value_of(field, &value),
                Ok(None) if field.required => "is required".to_owned(),
                Ok(None) => "left out".to_owned(),
                Err(message) => message,
            };
            let label = field.header.as_deref().unwrap_or(&field.label);
            let style = if error.is_some() { self.theme.danger() } else { Style::new() };
            self.text(&format!("{number}  {label}: {value}"), 0, style);
        }
        self.gap();
        let submit = question.submit.as_deref().filter(|label| !label.trim().is_empty()).unwrap_or("Send");
        self.text(&format!("> {}", printable_line(submit)), 0, self.theme.selected(true));
    }

    /// Writes how the question ended, and what the person had typed.
    fn ended(&mut self, item: &QuestionItem, draft: &Draft) {
        let (record, question) = (&item.record, &item.record.question);
        let how = match record.settlement.as_deref() {
            Some(ended) => settlement(question, ended),
            None if record.state == State::Delivering => "settled, and on its way to the agent".to_owned(),
            None => "unknown how it ended: its bridge no longer runs".to_owned(),
        };
        self.text(&capitalised(&how), 0, self.theme.good());
        if !draft.is_touched {
            return;
        }
        self.gap();
        self.text("Your draft, which was not sent:", 0, self.theme.muted());
        for (field, entry) in question.fields.iter().zip(&draft.entries).filter(|(field, _)| !field.secret) {
            let text = match (&field.kind, entry.value(field)) {
                (Kind::Text { .. }, _) => entry.text.text().to_owned(),
                (_, Ok(Some(value))) => value_of(field, &value),
                _ => continue,
            };
            if !text.is_empty() {
                let label = field.header.as_deref().unwrap_or(&field.label);
                self.text(&format!("{label}: {text}"), 2, Style::new());
            }
        }
        for comment in &draft.comments {
            self.text(&format!("On \u{201c}{}\u{201d}: {}", comment.of.quote, comment.text), 2, Style::new());
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
