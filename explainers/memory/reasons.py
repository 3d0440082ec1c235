"""Why a published figure is another than ours: each reason has a name, and is said here once."""

from explainers.phrase import phrase

REASONS = {
    "binary-unit": phrase("It prints KB, MB or GB and means KiB, MiB or GiB."),
    "checkpoint-for-sixteen": phrase(
        "It counts the 16 KV heads of a checkpoint cut for 16 GPUs, where each of the 8 is stored "
        "twice."
    ),
    "width-divided": phrase(
        "It divides d_model by the heads for head_dim, and gives every layer the whole text."
    ),
    "wrong-width": phrase("It uses half of the model's head_dim."),
    "slip": phrase("A slip of arithmetic: its own inputs give another number."),
    "cut-off": phrase("Its decimals are cut off instead of rounded."),
    "no-reading": phrase(
        "No reading of the model gives this number, with or without its windows, groups or latents."
    ),
    "bound": phrase("It is stated as an upper bound, and holds as one."),
    "not-reproducible": phrase(
        "Six times what the formula gives, in every row; the report gives no reason."
    ),
    "two-precisions": phrase(
        "It compares a cache of 6 bits with one of 16 bits; at equal precision less is saved."
    ),
    "latent-twice": phrase(
        "It counts the latent once for keys and once for values, and leaves out the rotary part."
    ),
    "bits-as-bytes": phrase(
        "It takes 8 bits for 8 bytes, counts query heads for KV heads, and prints MB for MiB."
    ),
    "end-to-end": phrase(
        "It is measured with the weights in memory; the cache alone shrinks more."
    ),
    "rounded-inputs": phrase("It follows from numbers that were rounded before."),
    "about": phrase("It is stated as a rough number, within 5 % of the exact one."),
}
