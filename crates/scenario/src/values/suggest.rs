//! "Did you mean …?"

/// The nearest known name if one is near, and the known names: `did you mean "delay"? Known: delay, rate`.
pub(crate) fn among<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.collect();
    let nearest = nearest(wrong, known.iter().copied());
    known.dedup();
    let list = known.join(", ");
    match nearest {
        Some(name) => format!("did you mean \"{name}\"? Known: {list}"),
        None => format!("known: {list}"),
    }
}

/// The known name that a slip of the finger could have turned into `wrong`.
pub(crate) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|name| (strsim::damerau_levenshtein(&wrong.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= name.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
