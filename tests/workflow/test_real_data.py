"""The workflow on public data, as a new user would try it."""

import pytest

from shortlist import backtest, compare
from studies.paper_sets import data_folder

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(
        not (data_folder() / "carclaims.parquet").is_file(), reason="the data sets are absent"
    ),
]


def test_car_claims_by_year():
    result = backtest(
        data_folder() / "carclaims.parquet",
        label="y",
        time="Year",
        ignore=["PolicyNumber"],
        models=["logistic"],
    )
    assert result.periods["period"].unique(maintain_order=True).to_list() == ["1995", "1996"]
    found = dict(zip(result.table["ranking"], result.table["found"], strict=True))
    assert found["logistic"] > 1.5 * found["at random"]


def test_card_payments_by_time():
    result = backtest(
        data_folder() / "creditcard_part.parquet",
        label="y",
        time="Time",
        every=28_800,
        ignore=["sample"],
        budget=20,
        models=["logistic"],
        baselines=["Amount desc"],
    )
    assert result.table["ranking"][0] == "logistic"
    assert result.table["precision"][0] > 0.8


def test_power_outages_by_state():
    result = compare(
        data_folder() / "power_outages.parquet",
        impact="y",
        list="list",
        ignore=["hurricane_names", "post_outage_duration", "post_demand_loss_mw"],
        budget=3,
        models=["logistic"],
    )
    assert result.goal == "impact share"
    assert result.folds.height == 5 * 2
