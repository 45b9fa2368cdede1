import numpy as np
import polars as pl
import pytest

from shortlist.datasets import load_paper_set, make_claims, make_outages, paper_sets
from shortlist.exceptions import TableError
from shortlist.metrics import roc_auc


def test_claims_are_what_they_say():
    claims = make_claims(20_000, random_state=5)
    assert claims["fraud"].mean() == pytest.approx(0.03)
    assert claims["claim_id"].n_unique() == 20_000
    assert 0.05 < claims["repair_shop"].null_count() / 20_000 < 0.2
    # No single number gives fraud away.
    for name in ("amount", "previous_claims", "witnesses", "vehicle_age"):
        assert 0.3 < roc_auc(claims["fraud"], claims[name].cast(float)) < 0.8


@pytest.mark.bits
def test_same_seed_same_claims():
    assert make_claims(50, random_state=1).equals(make_claims(50, random_state=1))
    assert not make_claims(50, random_state=1).equals(make_claims(50, random_state=2))


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


def test_outages_have_the_shape_that_utilities_rank():
    outages = make_outages(60, random_state=0)
    impact = outages["customers_out"].to_numpy()
    sizes = outages.group_by("storm").len()["len"]
    assert outages["storm"].n_unique() == 60
    assert sizes.min() >= 5
    assert sizes.max() <= 500
    assert 0.8 < np.mean(impact == 0) < 0.95
    assert impact.max() / impact[impact > 0].min() > 1_000
    assert outages.null_count().sum_horizontal().item() == 0


@pytest.mark.bits
def test_outages_are_the_same_for_the_same_seed():
    assert make_outages(5, random_state=1).equals(make_outages(5, random_state=1))
    assert not make_outages(5, random_state=1).equals(make_outages(5, random_state=2))


def test_a_network_keeps_its_properties_from_storm_to_storm():
    outages = make_outages(20, random_state=0)
    assert outages.group_by("network").agg(n=pl.col("cable_km").n_unique())["n"].max() == 1
