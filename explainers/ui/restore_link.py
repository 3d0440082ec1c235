"""Back and Forward between pages: the address says all that it said when the reader left.

When the page changes, Streamlit drops from the query every name that a widget of the page before
is bound to, also where the browser's Back brought an address that has this name. The reader would
then see another picture than the address had. All that this takes of Streamlit's inside is here.
"""

from streamlit.runtime.scriptrunner import get_script_run_ctx


def restore_link() -> None:
    """Read the whole address again if the browser's history brought it; before any widget."""
    context = get_script_run_ctx()
    if context is None or not context.is_history_navigation:
        return
    with context.session_state.query_params() as asked:
        asked.populate_from_query_string(context.query_string)
        asked.set_initial_query_params(context.query_string)
        asked._send_query_param_msg()  # its name is held by a browser test
