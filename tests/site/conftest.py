"""What every test of the built site needs."""

import pytest
from built import PAGES, ROOT, Page


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def page(request) -> Page:
    return request.param


@pytest.fixture(scope="session")
def pages() -> list[Page]:
    return PAGES


@pytest.fixture(scope="session", autouse=True)
def site_is_built():
    missing = [page.name for page in PAGES if not page.file.exists()]
    assert not missing, f"not built: {missing}; run make html first"
    newest = max((ROOT / f"{page.name}.md").stat().st_mtime for page in PAGES)
    assert min(page.file.stat().st_mtime for page in PAGES) > newest, "the site is older than its pages; run make html"
