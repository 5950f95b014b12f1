//! What an emulation sets of the TCP of its hosts' kernels.

/// Settings of the kernel's TCP that are attributes of routes, because namespaces may not set them freely by sysctl.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelTcp {
    /// Its congestion control, such as `cubic`.
    pub congestion: Option<String>,
    /// Initial window in segments.
    pub initial_window: Option<u32>,
}
