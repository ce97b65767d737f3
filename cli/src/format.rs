//! The choice of a renderer.

use super::json::rebuild::JsonRebuild;
use super::json::tune::JsonTune;
use super::renderer::{RebuildRenderer, TuneRenderer};
use super::text::rebuild::TextRebuild;
use super::text::tune::renderer::TextTune;

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

    pub(crate) fn rebuild(self) -> Box<dyn RebuildRenderer> {
        match self {
            Self::Text => Box::new(TextRebuild),
            Self::Json => Box::new(JsonRebuild),
        }
    }

    /// `is_wide`: all settings are shown, not only those that tell most. JSON has them all.
    pub(crate) fn tune(self, is_wide: bool) -> Box<dyn TuneRenderer> {
        match self {
            Self::Text => Box::new(TextTune::new(is_wide)),
            Self::Json => Box::new(JsonTune),
        }
    }
}
