import numpy as np
import polars as pl
import pytest

from shortlist.datasets import make_claims, make_outages
from shortlist.exceptions import InvalidInputError
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


def test_no_storm_is_too_few():
    with pytest.raises(InvalidInputError, match="n_storms must be a whole number of at least 1"):
        make_outages(0)
