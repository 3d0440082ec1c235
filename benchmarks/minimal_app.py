"""The bare app that ours is compared with: one slider, one Altair heat map, no torch."""

import altair as alt
import pandas as pd
import streamlit as st

st.title("A heat map")
factor = st.slider("Factor", 2, 128, 4)
cells = pd.DataFrame(
    {"row": row, "column": column, "value": (row + 1) * (column + 1) * factor % 97}
    for row in range(7)
    for column in range(7)
)
chart = alt.Chart(cells).mark_rect().encode(x="column:O", y="row:O", color="value:Q")
st.altair_chart(chart)
