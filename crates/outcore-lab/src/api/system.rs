//! Identity of the C library.

/// Returns the name and version of the C library.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "gnu_get_libc_version has no safe interface")]
pub(crate) fn c_library() -> Option<String> {
    // SAFETY: the call takes no arguments and returns a string that lives as long as the process.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Some(format!("glibc {}", version.to_string_lossy()))
}

/// Returns the name of the C library.
#[cfg(all(target_os = "linux", target_env = "musl"))]
pub(crate) fn c_library() -> Option<String> {
    Some("musl".into())
}

/// Returns `None`: the C library is unknown.
#[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
pub(crate) fn c_library() -> Option<String> {
    None
}
