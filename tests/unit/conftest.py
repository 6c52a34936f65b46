"""For every test of attnlab."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """As the pages have it. With more, small models on a busy machine wait for each other."""
    torch.set_num_threads(1)
