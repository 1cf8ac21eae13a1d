"""echoctl: experiments that are promised before they are measured."""

__version__ = "0.1.0"
