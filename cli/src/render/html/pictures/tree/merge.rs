//! Fewer rectangles for many tables.
