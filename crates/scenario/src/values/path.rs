//! Dotted paths to keys of a scenario.

/// The steps of a dotted path; a step may stand in quotation marks if it holds a dot.
pub(crate) fn split(path: &str) -> Result<Vec<String>, String> {
    let mut steps = vec![String::new()];
    let mut quoted = false;
    for c in path.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => steps.push(String::new()),
            c => steps.iter_mut().last().into_iter().for_each(|step| step.push(c)),
        }
    }
    if quoted || steps.iter().any(String::is_empty) {
        return Err(format!("\"{path}\" is no path: write it like link.satellite.delay or flow.0.start"));
    }
    Ok(steps)
}
