//! Markdown pages as HTML (CommonMark, <https://spec.commonmark.org/0.31.2/>). HTML in a doc comment is
//! shown as text, never taken over, and a link leads to a page and runs nothing.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};

/// What a link may begin with, when it has a scheme.
const SCHEMES: [&str; 4] = ["http", "https", "mailto", "file"];

/// How a page looks.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}\
    code{background:#8882;padding:.1em .3em;border-radius:3px}pre{background:#8882;padding:1em;overflow:auto}\
    pre code{background:none;padding:0}h2{border-top:1px solid #8884;padding-top:1rem}";

/// A whole page.
pub(crate) fn page(title: &str, markdown: &str) -> String {
    let extensions = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(markdown, extensions).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: harmless(dest_url), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: harmless(dest_url), title, id })
        }
        other => other,
    });
    let mut body = String::new();
    html::push_html(&mut body, events);
    // The path of a module holds no sign that HTML knows, but a file may be called anything.
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// An address as it is, or none when it would run something (`javascript:`).
fn harmless(address: CowStr<'_>) -> CowStr<'_> {
    let end = address.find(|one: char| !(one.is_ascii_alphanumeric() || "+.-".contains(one)));
    let scheme = end.filter(|end| address[*end..].starts_with(':')).map(|end| &address[..end]);
    let is_known = |scheme: &str| SCHEMES.contains(&&*scheme.to_lowercase());
    if scheme.is_none_or(is_known) { address } else { CowStr::Borrowed("#") }
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn comments_bring_no_html() {
        let text = page("a<b", "# T\n\n<script>x</script>\n\nand `a < b`\n\n```\nf(1) == 2\n```\n");
        assert!(text.contains("<title>a&lt;b</title>"), "{text}");
        assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"), "{text}");
        assert!(text.contains("<code>a &lt; b</code>") && text.contains("<pre><code>f(1) == 2"));
    }

    #[test]
    fn links_run_nothing_and_tables_are_tables() {
        let text = page("t", "[a](JavaScript:x) [b](https://h/?a=1&b=2) [c](my/m.html#x:y)\n");
        assert!(text.contains("<a href=\"#\">a</a>"), "{text}");
        assert!(text.contains("<a href=\"https://h/?a=1&amp;b=2\">b</a>"), "{text}");
        assert!(text.contains("<a href=\"my/m.html#x:y\">c</a>"), "{text}");
        assert!(page("t", "| a | b |\n|---|---|\n| 1 | <2> |\n").contains("<td>&lt;2&gt;</td>"));
    }
}
