"""Commands with a module each: they read arguments, call one function, and print."""
