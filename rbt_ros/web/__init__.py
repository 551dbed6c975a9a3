"""The browser view: a page of our own, a server process bound to this machine, a paced run, recordings, export."""
