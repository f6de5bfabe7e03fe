//! What the C library says about itself.

/// Its name and version.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "gnu_get_libc_version has no safe interface")]
pub(crate) fn c_library() -> Option<String> {
    // SAFETY: the call takes nothing and gives a string that lives as long as the process.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_string_lossy()))
}

/// Its name.
#[cfg(all(target_os = "linux", target_env = "musl"))]
pub(crate) fn c_library() -> Option<String> {
    Some("musl".into())
}

/// Not known.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
pub(crate) fn c_library() -> Option<String> {
    None
}
