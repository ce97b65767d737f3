//! Side by side with LevelDB itself.
