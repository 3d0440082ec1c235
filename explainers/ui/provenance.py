"""Where a picture's numbers come from, in one badge next to it."""

import streamlit as st


def badge(origin: str, device: str) -> None:
    """`origin` as in "random, seed 3" or "trained: relations"; `device` is what computed."""
    with st.container(horizontal=True, gap="small"):
        st.badge(origin, icon=":material/casino:", color="gray")
        st.badge(f"computed live on {device}", icon=":material/memory:", color="gray")


def random_weights(seed: int, device: str) -> None:
    """The badge of untrained weights."""
    badge(f"random, seed {seed}", device)
