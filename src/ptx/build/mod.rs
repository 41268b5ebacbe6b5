//! The builder: typed registers, structured control flow, shared arrays with a layout.
