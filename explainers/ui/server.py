"""The app for the world: `python -m explainers.ui.server` serves it on $PORT, and logs little."""

import logging
import os

import uvicorn
from streamlit import config

from app import app

if __name__ == "__main__":
    # What readers type is in the URL, and not for the log. Streamlit revives `access_log=False`.
    logging.getLogger("uvicorn.access").disabled = True
    config.set_option("server.fileWatcherType", "none")  # what is served does not change
    uvicorn.run(
        app,
        host="0.0.0.0",  # noqa: S104 - a container is reached from outside
        port=int(os.environ.get("PORT", "8501")),
        log_config=None,  # Streamlit sets up the logs
    )
