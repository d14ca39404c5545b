"""The graded package: one module per gate, its schemas, and the coach that notebooks call."""
