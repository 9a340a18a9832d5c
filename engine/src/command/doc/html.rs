//! Markdown pages as HTML (CommonMark, <https://spec.commonmark.org/0.31.2/>). HTML in a doc comment is
//! shown as text, never taken over.

use pulldown_cmark::{Event, Parser, html};

/// How a page looks.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}\
    code{background:#8882;padding:.1em .3em;border-radius:3px}pre{background:#8882;padding:1em;overflow:auto}\
    pre code{background:none;padding:0}h2{border-top:1px solid #8884;padding-top:1rem}";

/// A whole page.
pub fn page(title: &str, markdown: &str) -> String {
    let events = Parser::new(markdown).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
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
}
