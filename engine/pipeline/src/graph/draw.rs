//! Drawings of a graph: as a text tree, for Graphviz, for Mermaid, and as SVG. Nodes that nothing
//! reaches or that lead nowhere are left out.

use super::{Graph, Step};
use std::fmt::Write;

/// A format of drawings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// A tree of lines.
    Text,
    /// The language of Graphviz: <https://graphviz.org/doc/info/lang.html>
    Dot,
    /// The flowcharts of Mermaid: <https://mermaid.js.org/syntax/flowchart.html>
    Mermaid,
    /// A picture: <https://www.w3.org/TR/SVG11/>
    Svg,
}

/// What is drawn of a graph.
struct Plan {
    boxes: Vec<Box>,
    arrows: Vec<Arrow>,
    /// Boxes of the inputs.
    inputs: Vec<usize>,
}

struct Box {
    name: String,
    shape: Shape,
    /// Number of the chain that it is fused into, if it is: events go from step to step of a chain
    /// without any choice.
    chain: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Input,
    Output,
    Stream,
    Step,
    /// A step that remembers what changes later results.
    Memory,
}

struct Arrow {
    from: usize,
    to: usize,
    /// The port, when it is not the usual one.
    label: String,
}

impl Graph {
    /// Draws the graph.
    #[must_use]
    pub fn draw(&self, picture: Picture) -> String {
        let plan = Plan::of(self);
        match picture {
            Picture::Text => plan.text(),
            Picture::Dot => plan.dot(),
            Picture::Mermaid => plan.mermaid(),
            Picture::Svg => plan.svg(),
        }
    }
}

impl Plan {
    fn of(graph: &Graph) -> Self {
        let mut reached = vec![false; graph.nodes.len()];
        let inputs = graph.inputs.iter().map(|(_, node)| *node);
        let mut next: Vec<usize> = inputs
            .clone()
            .filter(|node| !graph.nodes[*node].edges.iter().all(|(_, edges)| edges.is_empty()))
            .collect();
        while let Some(node) = next.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                let node = &graph.nodes[node];
                next.extend(node.edges.iter().flat_map(|(_, edges)| edges).map(|edge| edge.node));
                next.extend(node.rest);
            }
        }
        let mut place = vec![0; graph.nodes.len()];
        let mut boxes = Vec::new();
        for (number, node) in graph.nodes.iter().enumerate().filter(|(at, _)| reached[*at]) {
            place[number] = boxes.len();
            let shape = match &node.step {
                Step::Pass if inputs.clone().any(|input| input == number) => Shape::Input,
                Step::Pass | Step::Counted(_) => Shape::Stream,
                Step::Output(_) | Step::AnyOutput(_) => Shape::Output,
                Step::Operator(operator) if operator.is_stateful() => Shape::Memory,
                Step::Operator(_) => Shape::Step,
            };
            boxes.push(Box { name: node.name.clone(), shape, chain: None });
        }
        let mut arrows = Vec::new();
        for (number, node) in graph.nodes.iter().enumerate().filter(|(at, _)| reached[*at]) {
            let from = place[number];
            for (port, edges) in &node.edges {
                for edge in edges {
                    let label = label(port, &edge.port);
                    arrows.push(Arrow { from, to: place[edge.node], label });
                }
            }
            let rest = node.rest.map(|to| (place[to], "any other port".to_string()));
            arrows.extend(rest.map(|(to, label)| Arrow { from, to, label }));
        }
        let inputs = inputs.filter(|node| reached[*node]).map(|node| place[node]).collect();
        let mut plan = Self { boxes, arrows, inputs };
        plan.mark_chains();
        plan
    }

    fn leaving(&self, number: usize) -> impl Iterator<Item = &Arrow> {
        self.arrows.iter().filter(move |arrow| arrow.from == number)
    }

    /// The only successor of a step, when the step is its only predecessor.
    fn fused_with(&self, number: usize) -> Option<usize> {
        let mut leaving = self.leaving(number);
        let (Some(arrow), None) = (leaving.next(), leaving.next()) else { return None };
        let entering = self.arrows.iter().filter(|one| one.to == arrow.to).count();
        let both = [number, arrow.to];
        let steps = both.iter().all(|one| {
            matches!(self.boxes[*one].shape, Shape::Step | Shape::Memory | Shape::Stream)
        });
        (entering == 1 && steps).then_some(arrow.to)
    }

    fn mark_chains(&mut self) {
        let mut chains = 0;
        for number in 0..self.boxes.len() {
            let Some(next) = self.fused_with(number) else { continue };
            let chain = self.boxes[number].chain.or(self.boxes[next].chain).unwrap_or_else(|| {
                chains += 1;
                chains
            });
            let joined = [self.boxes[number].chain, self.boxes[next].chain];
            for one in &mut self.boxes {
                if one.chain.is_some() && joined.contains(&one.chain) {
                    one.chain = Some(chain);
                }
            }
            self.boxes[number].chain = Some(chain);
            self.boxes[next].chain = Some(chain);
        }
    }

    fn remark(&self, number: usize) -> String {
        let one = &self.boxes[number];
        let mut remarks = Vec::new();
        match one.shape {
            Shape::Input => remarks.push("input".to_string()),
            Shape::Output => remarks.push("output".to_string()),
            Shape::Memory => remarks.push("keeps state".to_string()),
            Shape::Stream | Shape::Step => {}
        }
        remarks.extend(one.chain.map(|chain| format!("fused chain {chain}")));
        remarks.join(", ")
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut drawn = vec![false; self.boxes.len()];
        // Lines to draw, the next one last: what stands in front, and what leads there.
        let mut lines: Vec<(usize, String, String, String)> = Vec::new();
        for input in self.inputs.iter().rev() {
            lines.push((*input, String::new(), String::new(), String::new()));
        }
        while let Some((number, front, branch, label)) = lines.pop() {
            let port = if label.is_empty() { String::new() } else { format!("{label}: ") };
            let seen = std::mem::replace(&mut drawn[number], true);
            let remark = self.remark(number);
            let more = seen && self.leaving(number).next().is_some();
            let remark = match (remark.is_empty(), more) {
                (_, true) => "  (see above)".to_string(),
                (true, false) => String::new(),
                (false, false) => format!("  ({remark})"),
            };
            let name = &self.boxes[number].name;
            let _ = writeln!(text, "{front}{branch}{port}{name}{remark}");
            if seen {
                continue;
            }
            let below = match branch.as_str() {
                "" => front,
                "└─ " => format!("{front}   "),
                _ => format!("{front}│  "),
            };
            let leaving: Vec<_> = self.leaving(number).collect();
            for (at, arrow) in leaving.iter().enumerate().rev() {
                let branch = if at + 1 == leaving.len() { "└─ " } else { "├─ " };
                lines.push((arrow.to, below.clone(), branch.to_string(), arrow.label.clone()));
            }
        }
        text
    }

    fn dot(&self) -> String {
        let mut text = String::from("digraph pipeline {\n  rankdir=LR;\n");
        for (number, one) in self.boxes.iter().enumerate() {
            let shape = match one.shape {
                Shape::Input | Shape::Output => "oval",
                Shape::Stream => "plaintext",
                Shape::Step => "box",
                Shape::Memory => "box3d",
            };
            let label = quoted(&[one.name.as_str(), &self.remark(number)].join("\n"));
            let _ = writeln!(text, "  n{number} [shape={shape}, label={label}];");
        }
        for arrow in &self.arrows {
            let label = quoted(&arrow.label);
            let _ = writeln!(text, "  n{} -> n{} [label={label}];", arrow.from, arrow.to);
        }
        text.push_str("}\n");
        text
    }

    fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for (number, one) in self.boxes.iter().enumerate() {
            let (open, close) = match one.shape {
                Shape::Input | Shape::Output => ("([", "])"),
                Shape::Stream => ("(", ")"),
                Shape::Step => ("[", "]"),
                Shape::Memory => ("[(", ")]"),
            };
            let remark = one.chain.map_or(String::new(), |chain| format!("<br>chain {chain}"));
            let name = escaped(&one.name);
            let _ = writeln!(text, "  n{number}{open}\"{name}{remark}\"{close}");
        }
        for arrow in &self.arrows {
            let label = match arrow.label.as_str() {
                "" => String::new(),
                label => format!("|\"{}\"|", escaped(label)),
            };
            let _ = writeln!(text, "  n{} -->{label} n{}", arrow.from, arrow.to);
        }
        text
    }

    /// Columns: each box stands to the right of all that lead to it.
    fn columns(&self) -> Vec<usize> {
        let mut columns = vec![0; self.boxes.len()];
        // A graph without cycles needs no more rounds than it has boxes.
        for _ in 0..self.boxes.len() {
            let mut changed = false;
            for arrow in &self.arrows {
                let least = columns[arrow.from] + 1;
                if columns[arrow.to] < least && least < self.boxes.len() {
                    columns[arrow.to] = least;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        columns
    }

    fn svg(&self) -> String {
        const WIDTH: usize = 180;
        const HEIGHT: usize = 40;
        const GAP_X: usize = 60;
        const GAP_Y: usize = 24;
        let columns = self.columns();
        let mut rows = vec![0; self.boxes.len() + 1];
        let places: Vec<(usize, usize)> = columns
            .iter()
            .map(|column| {
                let row = rows[*column];
                rows[*column] += 1;
                (GAP_Y + column * (WIDTH + GAP_X), GAP_Y + row * (HEIGHT + GAP_Y))
            })
            .collect();
        let wide = places.iter().map(|(x, _)| x + WIDTH + GAP_Y).max().unwrap_or(GAP_Y);
        let high = places.iter().map(|(_, y)| y + HEIGHT + GAP_Y).max().unwrap_or(GAP_Y);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n"
        );
        for arrow in &self.arrows {
            let ((x1, y1), (x2, y2)) = (places[arrow.from], places[arrow.to]);
            let (x1, y1, y2) = (x1 + WIDTH, y1 + HEIGHT / 2, y2 + HEIGHT / 2);
            let _ = writeln!(
                text,
                "  <line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#777\"/>"
            );
            let (x, y) = (x1 + 4, y1.midpoint(y2) - 4);
            let label = escaped(&arrow.label);
            let _ = writeln!(text, "  <text x=\"{x}\" y=\"{y}\" fill=\"#555\">{label}</text>");
        }
        for (number, (one, (x, y))) in self.boxes.iter().zip(&places).enumerate() {
            let (fill, round) = match one.shape {
                Shape::Input | Shape::Output => ("#dbe9f6", HEIGHT / 2),
                Shape::Stream => ("#ffffff", HEIGHT / 2),
                Shape::Step => ("#eeeeee", 4),
                Shape::Memory => ("#f6e6cf", 4),
            };
            let (name, remark) = (escaped(&one.name), escaped(&self.remark(number)));
            let (middle, first, second) = (x + WIDTH / 2, y + 17, y + 32);
            let _ = writeln!(
                text,
                "  <rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"{round}\" \
                 fill=\"{fill}\" stroke=\"#777\"/>\n  \
                 <text x=\"{middle}\" y=\"{first}\" text-anchor=\"middle\">{name}</text>\n  \
                 <text x=\"{middle}\" y=\"{second}\" text-anchor=\"middle\" \
                 fill=\"#777\">{remark}</text>"
            );
        }
        text.push_str("</svg>\n");
        text
    }
}

/// Ports of an arrow, where they are not the usual ones.
fn label(from: &str, to: &str) -> String {
    use crate::operator::{IN, OUT};
    match (from == OUT, to == IN) {
        (true, true) => String::new(),
        (false, true) => from.to_string(),
        (true, false) => format!("to {to}"),
        (false, false) => format!("{from} to {to}"),
    }
}

/// A string of Graphviz.
fn quoted(text: &str) -> String {
    let text = text.trim_end().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}

/// Text between the tags of HTML and SVG.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Language, LoadOptions};
    use crate::registry::Registry;
    use temblor_lang::lower::NoModules;

    fn drawn(picture: Picture) -> String {
        let text = "in |> where event.a > 1 |> dedup by event.b within 10s |> script event end \
                    |> route case event.a > 5 => big default => out end;";
        let loaded = LoadOptions::new(Registry::of_this_crate()).compile(
            "test",
            text.to_string(),
            Language::Temblor,
            &NoModules,
        );
        assert!(!loaded.has_errors(), "{}", loaded.report(true));
        loaded.graph.draw(picture)
    }

    #[test]
    fn a_tree_shows_ports_chains_and_state() {
        let text = drawn(Picture::Text);
        assert!(text.starts_with("in  (input)\n└─ "), "{text}");
        assert!(text.contains("keeps state, fused chain 1"), "{text}");
        assert!(text.contains("big: big  (output)"), "{text}");
    }

    #[test]
    fn every_arrow_is_in_every_picture() {
        let arrows = drawn(Picture::Dot).matches(" -> ").count();
        assert!(arrows >= 5);
        assert_eq!(drawn(Picture::Mermaid).matches(" -->").count(), arrows);
        assert_eq!(drawn(Picture::Svg).matches("<line ").count(), arrows);
    }

    #[test]
    fn names_cannot_break_a_picture() {
        assert_eq!(quoted("a\"b\\"), "\"a\\\"b\\\\\"");
        assert_eq!(escaped("<&\">"), "&lt;&amp;&quot;&gt;");
    }
}
