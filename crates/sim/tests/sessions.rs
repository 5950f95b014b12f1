//! Sessions: clients that open connection after connection.

use netspurt_sim::World;
use netspurt_sim::result::RunResult;
use netspurt_sim::scenario::Scenario;

fn run(text: &str, overrides: &[(&str, &str)], seed: u64) -> RunResult {
    let scenario = Scenario::parse(text, "test.toml", overrides).unwrap_or_else(|error| panic!("{error}"));
    World::new(scenario.build("test").unwrap(), seed, None).unwrap().run(&|| false)
}

#[test]
fn the_example_does_something() {
    let result = run(include_str!("../../../examples/web.toml"), &[], 1);
    println!("{}", serde_json::to_string_pretty(&result).unwrap());
    assert!(result.flows.iter().all(|flow| flow.session.as_ref().unwrap().pages > 0));
}
