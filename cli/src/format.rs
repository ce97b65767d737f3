//! The choice of a renderer.

use std::path::PathBuf;

use super::json::inspect::JsonInspect;
use super::renderer::InspectRenderer;
use super::text::inspect::TextInspect;

/// The form of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Format {
    /// `json`: whether the user has asked for JSON.
    pub(crate) fn new(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// `list_filters`: each filter of a table is shown. `is_single`: the table is the only one.
    /// `is_wide`: listings have all columns. `paths`: those given as arguments.
    pub(crate) fn inspect(
        self,
        list_filters: bool,
        is_single: bool,
        is_wide: bool,
        paths: &[PathBuf],
    ) -> Box<dyn InspectRenderer> {
        match self {
            Self::Text => Box::new(TextInspect::new(list_filters, is_single, is_wide, paths)),
            Self::Json => Box::new(JsonInspect { list_filters }),
        }
    }
}
