//! The lists that `netspurt profiles`, `netspurt mechanisms` and `netspurt paths` print. They come from the profiles, the
//! schema and the path models, so nothing is written twice.

use crate::paths::MODELS;
use crate::reading::{forms, kind_of};
use crate::scenario::{Scenario, schema};
use crate::tcp::table::TcpTable;
use crate::values::quantity;
use netspurt_tcp::profile;
use serde_json::{Value as Json, json};

/// Every profile with all its choices, as a scenario file would write them:
/// `[{"name", "summary", "document", "tcp": {…}}]`.
pub fn profiles_json() -> Json {
    profile::profiles()
        .iter()
        .map(|profile| {
            json!({
                "name": profile.name,
                "summary": profile.summary,
                "document": profile.document,
                "tcp": TcpTable::from(&profile.config),
            })
        })
        .collect()
}

/// Every mechanism family with its choices:
/// `[{"family", "path", "summary", "document", "unit", "default", "choices": [{"name", "default", "summary", "document",
/// "parameters": [{"name", "default", "unit", "summary"}]}]}]`.
///
/// A family is a key of the scenario file; the default of a TCP family is that of the default profile. A family that is a
/// plain value has no choices.
pub fn mechanisms_json() -> Json {
    let root = schema();
    let default = profile::by_name(profile::DEFAULT).map(|profile| TcpTable::from(&profile.config));
    let default = json!(default);
    let tcp = keys(&root, "TcpTable")
        .filter(|(key, _)| *key != "profile")
        .map(|(key, schema)| family(&root, key, &format!("tcp.{key}"), schema, &default[key]));
    let link = keys(&root, "Link")
        .filter(|(key, _)| *key != "between")
        .map(|(key, schema)| family(&root, key, &format!("link.NAME.{key}"), schema, &schema["default"]));
    let hub = keys(&root, "Hub")
        .filter(|(key, _)| *key != "stations")
        .map(|(key, schema)| family(&root, key, &format!("hub.NAME.{key}"), schema, &schema["default"]));
    let host = keys(&root, "Host")
        .filter(|(key, _)| *key == "handover")
        .map(|(key, schema)| family(&root, key, &format!("host.NAME.{key}"), schema, &schema["default"]));
    let app = keys(&root, "Flow")
        .filter(|(key, _)| *key == "app")
        .map(|(key, schema)| family(&root, key, &format!("flow.N.{key}"), schema, &schema["default"]));
    let apps = root.pointer("/$defs/App").map(|app| forms(&root, app)).unwrap_or_default();
    let inner = [
        ("http", "web", "http"),
        ("distribution", "web", "size"),
        ("process", "arrivals", "process"),
        ("control", "video", "control"),
        ("codec", "call", "codec"),
        ("playout", "call", "playout"),
    ];
    let inner = inner.into_iter().filter_map(|(name, app, key)| {
        let app = apps.iter().find(|form| kind_of(form) == Some(app))?;
        let schema = &app["properties"][key];
        Some(family(&root, name, &format!("flow.N.app.{key}"), schema, &schema["default"]))
    });
    tcp.chain(link).chain(hub).chain(host).chain(app).chain(inner).collect()
}

/// Every path model with what it stands for on a link called `line`, whose first node is the user's side:
/// `[{"name", "title", "summary", "modelled", "not_modelled", "parameters": [{"name", "default", "meaning"}], "sources":
/// [{"cite", "gives"}], "figures": [{"quantity", "quantile", "published", "within", "source"}], "link": {…}, "change": […],
/// "toml"}]`.
pub fn paths_json() -> Json {
    let entry = |model: &crate::paths::Model| {
        let text = format!("[link.line]\nbetween = [\"user\", \"net\"]\npath = \"{}\"\n", model.name);
        let scenario = Scenario::parse(&text, model.name, &[]).expect("the tests parse every model");
        let facts = &model.facts;
        let parameters = facts
            .parameter
            .iter()
            .map(|(name, each)| json!({ "name": name, "default": each.default, "meaning": each.meaning }));
        json!({
            "name": model.name,
            "title": facts.title,
            "summary": facts.summary,
            "modelled": facts.modelled,
            "not_modelled": facts.not_modelled,
            "parameters": parameters.collect::<Vec<_>>(),
            "sources": facts.source,
            "figures": facts.figure,
            "link": scenario.link.get("line"),
            "change": scenario.change,
            "toml": scenario.merged_toml(),
        })
    };
    MODELS.iter().map(entry).collect()
}

fn keys<'a>(root: &'a Json, table: &str) -> impl Iterator<Item = (&'a str, &'a Json)> {
    let keys = root.pointer(&format!("/$defs/{table}/properties")).and_then(Json::as_object);
    keys.into_iter().flatten().map(|(key, schema)| (key.as_str(), schema))
}

fn family(root: &Json, key: &str, path: &str, schema: &Json, default: &Json) -> Json {
    let described = forms(root, schema);
    let default_name = default["kind"].as_str().or_else(|| default.as_str());
    let mut choices: Vec<Json> = Vec::new();
    for form in &described {
        let Some(name) = form["const"].as_str().or_else(|| kind_of(form)) else { continue };
        let (summary, document) = prose(form);
        choices.push(json!({
            "name": name,
            "default": default_name == Some(name),
            "summary": summary,
            "document": document,
            "parameters": parameters(root, form),
        }));
    }
    let (summary, document) = prose(schema);
    json!({
        "family": key,
        "path": path,
        "summary": summary,
        "document": document,
        "unit": unit(&described),
        "default": default,
        "choices": choices,
    })
}

fn parameters(root: &Json, form: &Json) -> Vec<Json> {
    let keys = form["properties"].as_object().into_iter().flatten().filter(|(key, _)| *key != "kind");
    keys.map(|(key, schema)| {
        json!({
            "name": key,
            "default": schema["default"],
            "unit": unit(&forms(root, schema)),
            "summary": prose(schema).0,
        })
    })
    .collect()
}

/// What a value is measured in: `null` for a pure number or a name.
fn unit(forms: &[&Json]) -> Json {
    let format =
        forms.iter().find_map(|form| form["format"].as_str().filter(|f| quantity::format(f).is_some()));
    json!(format)
}

/// A doc comment's text and its source.
fn prose(schema: &Json) -> (String, Option<String>) {
    let text = schema["description"].as_str().unwrap_or_default();
    let (summary, document) = match text.split_once("Document:") {
        Some((summary, document)) => (summary, Some(document)),
        None => (text, None),
    };
    let join = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (join(summary), document.map(|document| join(document).trim_end_matches('.').to_owned()))
}
