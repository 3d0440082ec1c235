"""Pages as files, for readers without a server: `python -m explainers.export` says how.

A picture is drawn by the modules that draw it in the app; what only a server computes for it is
computed beforehand, as far as its choices can be counted.
"""
