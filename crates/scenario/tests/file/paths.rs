//! Path models: `path` on a link.

use netspurt_scenario::{Scenario, mechanisms_json, paths_json, schema};

fn text(link: &str) -> String {
    format!(
        "duration = \"40 s\"\n[link.line]\nbetween = [\"home\", \"net\"]\n{link}\n[[flow]]\napp = {{ kind = \"bulk\" }}\nfrom = \"net\"\nto = \"home\"\n"
    )
}

#[track_caller]
fn read(link: &str, overrides: &[(&str, &str)]) -> Scenario {
    Scenario::parse(&text(link), "line.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn refused(link: &str, overrides: &[(&str, &str)]) -> String {
    Scenario::parse(&text(link), "line.toml", overrides).unwrap_err().to_string()
}

/// What another link says, so that two files are compared.
#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(read(one, &[]), read(other, &[]));
}

const VDSL: &str = r#"delay = "5.4 ms"
queue = [{ kind = "drop-tail", limit = "256 KiB" }, { kind = "drop-tail", limit = "100 ms" }]"#;

#[test]
fn a_model_stands_for_plain_keys_which_the_merged_scenario_shows() {
    same("path = \"vdsl\"", &format!("rate = [\"10 Mbit/s\", \"50 Mbit/s\"]\n{VDSL}"));
    let merged = read("path = \"vdsl\"", &[]).merged_toml();
    assert!(merged.contains("256 KiB") && !merged.contains("path"), "{merged}");
}

#[test]
fn every_model_builds_and_its_merged_form_is_the_same_scenario() {
    for model in paths_json().as_array().unwrap() {
        let name = model["name"].as_str().unwrap();
        let scenario = read(&format!("path = \"{name}\""), &[]);
        let again = Scenario::parse(&scenario.merged_toml(), "merged.toml", &[]);
        assert_eq!(again.as_ref(), Ok(&scenario), "{name}");
        scenario.build("line").unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(scenario.remarks(&text(&format!("path = \"{name}\"")), "line.toml", &[]), [], "{name}");
    }
}

#[test]
fn every_model_documents_its_scope_limits_and_sources() {
    let models = paths_json();
    let names: Vec<_> =
        models.as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect();
    let wanted = [
        "adsl",
        "vdsl",
        "docsis",
        "gpon",
        "wifi",
        "lte",
        "5g",
        "leo",
        "geo",
        "transatlantic",
        "data-centre",
        "cloud-vm",
    ];
    assert_eq!(names, wanted);
    for model in models.as_array().unwrap() {
        for key in ["modelled", "not_modelled", "sources"] {
            assert!(!model[key].as_array().unwrap().is_empty(), "{}: {key}", model["name"]);
        }
        let sources = model["sources"].as_array().unwrap().len() as u64;
        for figure in model["figures"].as_array().unwrap() {
            assert!(figure["source"].as_u64().unwrap() < sources, "{}", model["name"]);
        }
    }
}

#[test]
fn parameters_and_keys_beside_the_path_replace_values_of_the_model() {
    let parameters = "path = { model = \"vdsl\", down = \"100 Mbit/s\", up = \"40 Mbit/s\" }";
    same(parameters, &format!("rate = [\"40 Mbit/s\", \"100 Mbit/s\"]\n{VDSL}"));
    same("path = \"vdsl\"\nrate = \"7 Mbit/s\"", &format!("rate = \"7 Mbit/s\"\n{VDSL}"));
    same("rate = \"7 Mbit/s\"\npath = \"vdsl\"", &format!("rate = \"7 Mbit/s\"\n{VDSL}"));
    let trace = r#"trace = { kind = "rates", times = ["0 s"], rates = ["7.3 Mbit/s"] }"#;
    same(&format!("path = \"vdsl\"\n{trace}"), &format!("{VDSL}\n{trace}"));
}

#[test]
fn a_model_adds_changes_of_the_link_except_for_replaced_values() {
    let leo = read("path = \"leo\"", &[]);
    assert_eq!(leo.change.len(), 10);
    assert!(leo.change.iter().any(|change| change.set.contains_key("link.line.rate")));
    let still = read("path = \"leo\"\nrate = \"100 Mbit/s\"\ndelay = \"25 ms\"", &[]);
    assert_eq!(still.change.len(), 2, "only the outages are left");
    let own =
        read("path = \"leo\"\n[[change]]\nat = \"3 s\"\nset = { \"link.line.rate\" = \"1 Mbit/s\" }", &[]);
    assert_eq!(own.change.len(), 11);
    assert!(own.change[0].set.contains_key("link.line.rate"), "the file's own keep their places");
    let dotted = text("path = \"leo\"").replace("[link.line]", "[link.\"a.b\"]");
    let dotted = Scenario::parse(&dotted, "line.toml", &[]).unwrap();
    assert!(
        dotted.change.iter().all(|change| change.set.keys().all(|path| path.starts_with("link.\"a.b\".")))
    );
}

#[test]
fn overrides_act_as_if_the_keys_stood_in_the_file() {
    let of = |overrides: &[(&str, &str)]| read("path = \"vdsl\"", overrides);
    let plain = |rate: &str| read(&format!("rate = {rate}\n{VDSL}"), &[]);
    assert_eq!(of(&[("link.line.rate", "7 Mbit/s")]), plain("\"7 Mbit/s\""));
    assert_eq!(of(&[("link.line.rate.1", "7 Mbit/s")]), plain("[\"10 Mbit/s\", \"7 Mbit/s\"]"));
    assert_eq!(of(&[("link.line.path.up", "7 Mbit/s")]), plain("[\"7 Mbit/s\", \"50 Mbit/s\"]"));
    assert_eq!(of(&[("link.line.path", "lte")]), read("path = \"lte\"", &[]));
    let short = of(&[("link.line.queue.0.limit", "9 packets")]).merged_toml();
    assert!(short.contains("9 packets") && short.contains("100 ms"), "{short}");
    assert_eq!(
        read("delay = \"9 ms\"", &[("link.line.path", "vdsl")]),
        read("path = \"vdsl\"\ndelay = \"9 ms\"", &[])
    );
}

#[test]
fn what_is_wrong_with_a_path_is_said_with_its_place() {
    let known = "adsl, vdsl, docsis, gpon, wifi, lte, 5g, leo, geo, transatlantic, data-centre, cloud-vm";
    for (link, message) in [
        (
            "path = \"docsi\"",
            format!("4:8: link.line.path: unknown path model \"docsi\": did you mean \"docsis\"? Known: {known}"),
        ),
        (
            "path = { model = \"docsis\", upp = \"1 Mbit/s\" }",
            "4:28: link.line.path: the path model \"docsis\" has no parameter \"upp\": did you mean \"up\"? Known: down, up"
                .to_owned(),
        ),
        (
            "path = { model = \"leo\", rate = \"1 Mbit/s\" }",
            "4:25: link.line.path: the path model \"leo\" has no parameters: write the keys of the link beside it instead"
                .to_owned(),
        ),
        (
            "path = { model = \"docsis\", up = 3 }",
            "4:33: link.line.path: the parameter \"up\" is a text with its unit, such as \"25 Mbit/s\"".to_owned(),
        ),
        (
            "path = { up = \"3 Mbit/s\" }",
            format!("4:8: link.line.path: the key \"model\" is missing: write {{ model = \"…\" }}, one of {known}"),
        ),
        (
            "path = { model = 5 }",
            format!("4:18: link.line.path: the model must be a name: one of {known}"),
        ),
        ("path = 5", format!("4:8: link.line.path: expected a path model: one of {known}, or a table with a model")),
    ] {
        assert_eq!(refused(link, &[]), format!("line.toml:{message}"));
    }
    let wrong = refused("path = { model = \"docsis\", up = \"3 parsecs\" }", &[]);
    assert!(wrong.starts_with("line.toml:4:33: link.line.rate.0: "), "{wrong}");
    let zero = refused("path = { model = \"docsis\", up = \"0 Mbit/s\" }", &[]);
    assert!(zero.starts_with("line.toml:4:33: "), "{zero}");
    let set = refused("path = \"docsis\"", &[("link.line.path.upp", "3 Mbit/s")]);
    assert!(set.starts_with("--set link.line.path.upp: "), "{set}");
    // What does not go together with the model is said at the place of the model.
    let half = refused("path = \"leo\"\nduplex = \"half\"", &[]);
    assert!(half.starts_with("line.toml:4:8: "), "{half}");
}

#[test]
fn the_schema_and_the_mechanisms_have_the_models() {
    let schema = schema();
    let forms = schema.pointer("/$defs/Path/anyOf").unwrap().as_array().unwrap();
    assert_eq!(forms.len(), 24, "a name and a table for each");
    let mechanisms = mechanisms_json();
    let path =
        mechanisms.as_array().unwrap().iter().find(|family| family["path"] == "link.NAME.path").unwrap();
    assert_eq!(path["choices"].as_array().unwrap().len(), 12);
}
