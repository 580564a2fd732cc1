//! Suggestion of a known name for a wrong one, for "did you mean".

/// Known name nearest to a wrong one, if one is near.
pub(crate) fn closest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (edit_distance(wrong, name), name))
        // Of equally near names the first by the alphabet, so the message is the same in every run.
        .min()
        // A mistake for each four letters and one more: beyond that, names are similar by chance.
        .filter(|&(distance, name)| distance <= 1 + name.chars().count() / 4)
        .map(|(_, name)| name)
}

/// Levenshtein distance of two names, of their first 200 characters.
fn edit_distance(a: &str, b: &str) -> usize {
    // 40 000 steps at most, whatever a broken file calls a name.
    let b: Vec<char> = b.chars().take(200).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(200).enumerate() {
        // Row i of the table of distances replaces row i − 1 in place.
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
