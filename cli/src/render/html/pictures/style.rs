//! The looks of pictures.

/// Style sheet for all pictures, for light and dark. Its classes begin with `p-`, its variables with
/// `--p-`.
pub(crate) const STYLE: &str = "";
