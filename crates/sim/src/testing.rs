//! What unit tests share.

use netspurt_tcp::config::Config;
use std::sync::Arc;

pub(crate) fn config() -> Arc<Config> {
    Arc::new(netspurt_tcp::profile::by_name("newreno").expect("a profile of that name").config.clone())
}
