//! The options of `askbridge answer`, the images of its files, and the text of stdin in the place of `-`. What they mean for a question is left to
//! `submit.rs`.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use askbridge_control::inbox::picture;
use askbridge_core::question::Image;
use clap::Args;

use super::{CommandError, help, reach::MachineArgs};
use crate::limits;

/// The value that stands for stdin.
const STDIN: &str = "-";
/// The maximum size of an answer from stdin in bytes. With its escapes, it must fit into one request.
const LONGEST_INPUT: usize = limits::REQUEST / 2;

/// Options of `askbridge answer`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = help::ANSWER)]
pub struct AnswerArgs {
    /// The question's ID [default: at a terminal, that of the first question that waits]
    pub id: Option<String>,

    /// The answer to each field in turn [default: asks field by field at a terminal]: the number, label or value of an option, a text, a number, yes or no; several
    /// options are separated by commas, or given one by one where there is one field; "" leaves a field out; `-` reads
    /// stdin
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    pub values: Vec<String>,

    /// The answer to the field with this name (can be repeated: several options of one field add up)
    #[arg(long, value_name = "NAME=VALUE")]
    pub field: Vec<String>,

    /// Free text, sent unchanged even if it looks like an option: TEXT if there is one field, otherwise behind
    /// the field's name (can be repeated)
    #[arg(long, value_name = "[NAME=]TEXT", allow_hyphen_values = true)]
    pub text: Vec<String>,

    /// A note on the field with this name, or on the first field (can be repeated, once for each field)
    #[arg(long, value_name = "[NAME=]TEXT", allow_negative_numbers = true)]
    pub note: Vec<String>,

    /// An image to add, where the agent takes one (can be repeated): a PNG, JPEG, WebP or GIF, of which nothing but the
    /// pixels is sent, scaled down
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,

    /// Repeat the answer that the same question got before, which `askbridge show` prints
    #[arg(long, conflicts_with_all = ["values", "field", "text", "note", "image"])]
    pub again: bool,

    /// You have seen the question as it is after this many changes, which `askbridge show` counts [default: 0]
    #[arg(long, value_name = "EDITION")]
    pub seen: Option<u32>,

    /// Allow it without a second step; without a terminal, a permission that is dangerous needs this
    #[arg(long)]
    pub yes: bool,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Returns the arguments with the text of stdin in the place of `-`.
pub(super) fn with_stdin(id: &str, args: &AnswerArgs) -> Result<AnswerArgs, CommandError> {
    let mut args = args.clone();
    let AnswerArgs { values, field: fields, .. } = &mut args;
    let mut values: Vec<_> = values.iter_mut().filter(|value| *value == STDIN).collect();
    let mut fields: Vec<_> = fields
        .iter_mut()
        .filter(|field| field.split_once('=').is_some_and(|(_, value)| value == STDIN))
        .collect();
    match (&mut *values, &mut *fields) {
        ([], []) => {}
        ([value], []) => **value = stdin(id)?,
        ([], [field]) => {
            field.truncate(field.len() - STDIN.len());
            field.push_str(&stdin(id)?);
        }
        _ => {
            let error = "`-` is given more than once, but stdin is only one value".to_owned();
            return Err(CommandError::Usage(format!("{id}: {error}")));
        }
    }
    Ok(args)
}

/// Returns the images of these files, scaled down and written anew: nothing but their pixels leaves this process.
pub(super) fn images(id: &str, files: &[PathBuf]) -> Result<Vec<Image>, CommandError> {
    if files.len() > limits::ANSWER_IMAGES {
        let error = format!("an answer has at most {} images", limits::ANSWER_IMAGES);
        return Err(CommandError::Usage(format!("{id}: {error}")));
    }
    let share = limits::ANSWER_IMAGES_BYTES / files.len().max(1);
    files.iter().map(|path| image(id, path, share)).collect()
}

fn image(id: &str, path: &Path, share: usize) -> Result<Image, CommandError> {
    let failed = |source| CommandError::Read { path: path.to_owned(), source };
    // One byte more than the limit, so that a file that is too large is noticed and not cut.
    let most = limits::IMAGE_FILE + 1;
    let mut data = Vec::new();
    File::open(path).map_err(failed)?.take(most).read_to_end(&mut data).map_err(failed)?;
    let made = match u64::try_from(data.len()) == Ok(most) {
        true => Err(format!("it has more than {} MiB", limits::IMAGE_FILE >> 20)),
        false => picture::anew(&data, share).and_then(|made| Image::of(made, None)),
    };
    made.map_err(|why| CommandError::Usage(format!("{id}: {}: {why}", path.display())))
}

/// Reads stdin to its end, and cuts one newline there.
fn stdin(id: &str) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    // One byte more than the limit, so that a text that is too long is noticed and not cut.
    let most = u64::try_from(LONGEST_INPUT).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
    let failed = |source| CommandError::Read { path: STDIN.into(), source };
    read.map_err(failed)?;
    if bytes.len() > LONGEST_INPUT {
        let error = format!("the answer on stdin is longer than {LONGEST_INPUT} bytes");
        return Err(CommandError::DoesNotFit(id.to_owned(), error));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let text = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text)).unwrap_or(&text);
    Ok(text.to_owned())
}
