//! Shortens the scripts and styles of the page for the way to the browser: comments, white space and what else only
//! a reader needs. The sources keep it, and no build step is needed. Which files it is for is left to `files`; what it
//! cannot tell apart in scripts, `tests/tidy/web.rs` keeps out of the sources.

use minifier::{
    css,
    js::{self, Keyword, ReservedChar, Token, Tokens},
};

use super::rename::short_names;

/// Returns a script that does the same; as it is where it cannot be read.
pub(super) fn script(text: &str) -> String {
    let Ok(tokens) = js::simple_minify(text) else { return text.to_owned() };
    let tokens = tokens.apply(js::clean_tokens);
    let names = short_names(&tokens);
    let renamed = tokens.into_iter().map(|token| match token.get_other().and_then(|name| names.get(name)) {
        Some(name) => Token::Other(name),
        // To the browser it is the same.
        None if token.get_keyword() == Some(Keyword::Const) => Token::Keyword(Keyword::Let),
        None => token,
    });
    let tokens = Tokens::from(renamed.collect::<Vec<_>>());
    tokens.apply(without_last_semicolons).apply(with_joined_declarations).to_string()
}

/// Returns a style that looks the same; as it is where it cannot be read.
pub(super) fn style(text: &str) -> String {
    let Ok(style) = css::minify(text) else { return text.to_owned() };
    style.to_string().trim().replace(";}", "}").replace(":0.", ":.").replace(" 0.", " .")
}

/// Leaves out the semicolon before the end of a block.
fn without_last_semicolons(tokens: Tokens<'_>) -> Tokens<'_> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_last = tokens.peek().is_some_and(|next| next.eq_char(ReservedChar::CloseCurlyBrace));
        if !(is_last && token.eq_char(ReservedChar::SemiColon)) {
            kept.push(token);
        }
    }
    kept.into()
}

/// Joins declarations that follow each other: `let a=1;let b=2;` becomes `let a=1,b=2;`.
fn with_joined_declarations(tokens: Tokens<'_>) -> Tokens<'_> {
    use ReservedChar as Char;
    let mut joined = Vec::with_capacity(tokens.len());
    // For each bracket that is open, whether the statement in it is a declaration. One that is exported is none.
    let mut declares = vec![false];
    let mut before = Some(Char::SemiColon);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(mut token) = tokens.next() {
        let is_declared = token.get_keyword() == Some(Keyword::Let);
        if let Some(declares) = declares.last_mut() {
            match before {
                Some(Char::SemiColon) => *declares = is_declared,
                // What follows a brace may also be the rest of a statement.
                Some(Char::OpenCurlyBrace | Char::CloseCurlyBrace) => *declares |= is_declared,
                _ => {}
            }
        }
        before = token.get_char();
        match before {
            Some(Char::OpenCurlyBrace | Char::OpenParenthese | Char::OpenBracket) => declares.push(false),
            Some(Char::CloseCurlyBrace | Char::CloseParenthese | Char::CloseBracket) => {
                declares.pop();
            }
            Some(Char::SemiColon) if declares.last() == Some(&true) => {
                let is_next = |next: &Token<'_>| next.get_keyword() == Some(Keyword::Let);
                if tokens.next_if(is_next).is_some() {
                    token = Token::Char(Char::Comma);
                    before = None;
                }
            }
            _ => {}
        }
        joined.push(token);
    }
    joined.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_loses_comments_and_white_space() {
        let source =
            "// A.\n\n/** B. */\na = b ?? c?.d; // E\nif (a in b) {\n  c(\n    `${a + 1} g`,\n  );\n}\n";
        assert_eq!(script(source), "a=b??c?.d;if(a in b){c(`${a + 1} g`,)}");
    }

    #[test]
    fn texts_and_patterns_of_a_script_stay() {
        let source = "a=\"http://x  ; }\";b=c.split(/ *\\/+ ;}/);d='\\' /* e';f=/ g/u";
        assert_eq!(script(source), source);
    }

    #[test]
    fn declarations_that_follow_each_other_are_joined() {
        for (source, expected) in [
            (
                "const a=1;let{b}=a;const[c]=[()=>{const d=1;e()}];f",
                "let a=1,{b}=a,[c]=[()=>{let d=1;e()}];f",
            ),
            ("export const a=1;const b=2;const c=3", "export let a=1;let b=2,c=3"),
            ("for(const a of b)c();const d=1", "for(let a of b)c();let d=1"),
            ("for(let a=1;a<b;a++)c();const d=1", "for(let a=1;a<b;a++)c();let d=1"),
            ("if(a){b()}const c=1;const d=2;e();const f=3", "if(a){b()}let c=1,d=2;e();let f=3"),
            ("const a=1;b={};const c=2", "let a=1;b={};let c=2"),
        ] {
            assert_eq!(script(source), expected);
        }
    }

    #[test]
    fn what_cannot_be_read_stays_as_it_is() {
        let source = format!("// A\n{}", "`${".repeat(2000));
        assert_eq!(script(&source), source);
    }

    #[test]
    fn style_loses_comments_and_the_white_space_that_means_nothing() {
        let source = "/* A. */\n.b :is(c, d) > e {\n  width: calc(100% - 0.5rem);\n  content: \"f  g\";\n}\n";
        assert_eq!(style(source), ".b :is(c,d)>e{width:calc(100% - .5rem);content:\"f  g\"}");
    }
}
