"""Words of layers that say nothing themselves; a test compares them with those layers."""

from explainers.phrase import phrase

MASKS = (phrase("full"), phrase("causal"), phrase("window of 3"), phrase("prefix of 3"))
