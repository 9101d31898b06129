"""Questions of agent frameworks, answered from the inbox: one module for each framework, which imports it."""
