//! What the mock agent asks permission for, in every dialect: a page, a command, a plan and a change of a file.
//! How it is spelled on the wire is left to the dialects.

/// The page that is fetched.
pub(super) const URL: &str = "https://example.com/docs";
/// The host of the page.
pub(super) const HOST: &str = "example.com";
/// What the page is fetched for.
pub(super) const PURPOSE: &str = "Summarise the page";
/// The command, which deletes files.
pub(super) const COMMAND: &str = "rm -rf build";
/// The first word of the command.
pub(super) const PROGRAM: &str = "rm";
/// What the command is for.
pub(super) const DESCRIPTION: &str = "Remove the build folder";
/// The plan, in Markdown.
pub(super) const PLAN: &str = "# Serve on port 8080\n\n1. Change the port in src/main.rs\n2. Run the tests";
/// The file that is changed, relative to the session's folder.
pub(super) const FILE: &str = "src/main.rs";
/// The number of the line that is changed, counted from 1.
pub(super) const LINE: u32 = 2;
/// The line before the change.
pub(super) const OLD_LINE: &str = "    serve(80);";
/// The line after the change.
pub(super) const NEW_LINE: &str = "    serve(8080);";
/// The whole file before the change.
pub(super) const OLD_FILE: &str = "fn main() {\n    serve(80);\n}\n";
/// The whole file after the change.
pub(super) const NEW_FILE: &str = "fn main() {\n    serve(8080);\n}\n";
