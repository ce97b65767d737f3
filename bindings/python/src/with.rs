//! Classes that `with` closes.

/// Lets `with` close what has a method `close`.
macro_rules! closed_by_with {
    ($class:ident) => {
        #[pyo3::pymethods]
        impl $class {
            fn __enter__(this: pyo3::Bound<'_, Self>) -> pyo3::Bound<'_, Self> {
                this
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(&self, py: pyo3::Python<'_>, _exception: &pyo3::Bound<'_, pyo3::types::PyTuple>) {
                self.close(py);
            }
        }
    };
}

pub(crate) use closed_by_with;
