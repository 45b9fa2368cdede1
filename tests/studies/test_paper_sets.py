import numpy as np
import pytest

from shortlist.exceptions import TableError
from studies.paper_sets import load_paper_set, paper_sets


def test_a_missing_set_says_where_to_look(tmp_path, monkeypatch):
    monkeypatch.setenv("SHORTLIST_DATA", str(tmp_path))
    assert paper_sets().is_empty()
    with pytest.raises(TableError, match="SHORTLIST_DATA"):
        load_paper_set("abalone")


@pytest.mark.real_data
@pytest.mark.skipif(paper_sets().is_empty(), reason="the papers' data sets are not here")
def test_every_set_of_the_manifest_loads_as_described():
    for name, rows, positives in paper_sets().select("name", "rows", "positives").iter_rows():
        found = load_paper_set(name)
        assert found.X.shape[0] == found.y.size == rows
        if positives is not None and found.groups is None:
            assert np.sum(found.y > 0) == int(positives)
