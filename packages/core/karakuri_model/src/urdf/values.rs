//! Checked attributes: present, numbers, vectors of the right length.

use roxmltree::Node;

use crate::diagnostic::Report;
use crate::xml::XmlText;

/// Reads attributes of one file and reports what is wrong with them.
pub(super) struct Values<'a, 'r> {
    pub(super) xml: &'a XmlText<'a>,
    pub(super) report: &'r mut Report,
}

impl Values<'_, '_> {
    /// A required, non-empty attribute.
    pub(super) fn text<'n>(
        &mut self,
        node: Node<'n, '_>,
        name: &str,
        example: &str,
    ) -> Option<&'n str> {
        let tag = node.tag_name().name();
        match node.attribute(name).map(str::trim) {
            Some("") | None => {
                let place = self.xml.node(node);
                self.report.error_at(
                    place,
                    format!("<{tag}> has no `{name}`"),
                    format!("write <{tag} {name}=\"{example}\" ...>"),
                );
                None
            }
            Some(text) => Some(text),
        }
    }

    /// `N` finite numbers, or `None` where the attribute is missing or wrong; wrong ones are reported.
    pub(super) fn numbers<const N: usize>(
        &mut self,
        node: Node<'_, '_>,
        name: &str,
    ) -> Option<[f64; N]> {
        let attribute = node.attribute_node(name)?;
        let text = attribute.value();
        let tag = node.tag_name().name();
        let example = ["0.1"; N].join(" ");
        let mut numbers = Vec::with_capacity(N);
        for word in text.split_whitespace() {
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => numbers.push(number),
                Ok(_) => {
                    let place = self.xml.value(&attribute);
                    self.report.error_at(
                        place,
                        format!("<{tag} {name}>: `{word}` is not finite"),
                        format!("write finite numbers: {name}=\"{example}\""),
                    );
                    return None;
                }
                Err(_) => {
                    let place = self.xml.value(&attribute);
                    // A decimal comma, or commas between the numbers.
                    let remedy = if word.contains(',') {
                        format!(
                            "separate numbers by spaces, decimals by a point: {name}=\"{example}\""
                        )
                    } else {
                        format!("write {name}=\"{example}\"")
                    };
                    // A forgotten quote makes one word of half the file.
                    let word: String = word.chars().take(40).collect();
                    self.report.error_at(
                        place,
                        format!("<{tag} {name}>: `{word}` is not a number"),
                        remedy,
                    );
                    return None;
                }
            }
        }
        if let Ok(numbers) = numbers.as_slice().try_into() {
            return Some(numbers);
        }
        let place = self.xml.value(&attribute);
        let (count, plural) = (numbers.len(), if N == 1 { "number" } else { "numbers" });
        self.report.error_at(
            place,
            format!("<{tag} {name}> has {count} numbers, not {N}"),
            format!("write {N} {plural}, separated by spaces: {name}=\"{example}\""),
        );
        None
    }

    /// One finite number.
    pub(super) fn number(&mut self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        self.numbers(node, name).map(|[number]| number)
    }

    /// A required number; 1 where it is missing or wrong, and reported, so that reading goes on.
    pub(super) fn required(&mut self, node: Node<'_, '_>, name: &str, unit: &str) -> f64 {
        if !node.has_attribute(name) {
            let tag = node.tag_name().name();
            let place = self.xml.node(node);
            self.report.error_at(
                place,
                format!("<{tag}> has no `{name}`"),
                format!("write <{tag} {name}=\"...\"> in {unit}"),
            );
        }
        // A value that passes every later check, so that one mistake is reported once.
        self.number(node, name).unwrap_or(1.0)
    }

    /// A required number above zero.
    pub(super) fn positive(&mut self, node: Node<'_, '_>, name: &str) -> f64 {
        let value = self.required(node, name, "m");
        if value > 0.0 {
            return value;
        }
        let tag = node.tag_name().name();
        let place = self.xml.node(node);
        self.report.error_at(
            place,
            format!("<{tag}>: {name} {value} is not above 0"),
            format!("write the {name} in m, above 0"),
        );
        1.0
    }

    /// A limit: infinite where missing; `inf` is allowed.
    pub(super) fn limit(&mut self, node: Node<'_, '_>, name: &str) -> Option<f64> {
        let infinite = node
            .attribute(name)
            .and_then(|text| text.trim().parse::<f64>().ok())
            .filter(|number| number.is_infinite());
        infinite.or_else(|| self.number(node, name))
    }
}

/// Numbers as an attribute's value; `{}` prints the shortest text that reads back to the same bits.
pub(super) fn join(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}
