"""Exact tests and estimates: integers and fractions in, fractions out.

The same answer on every machine and in every year, because nothing here is rounded and no
statistics library is imported. Rules: docs/statistics.md.
"""

from echoctl.exact.holm import Holm, holm
from echoctl.exact.paired import (
    MAX_SUMS,
    Alternative,
    ExactTest,
    Interval,
    ZeroMethod,
    differences,
    hodges_lehmann,
    improvement,
    mean_difference,
    rank_biserial,
    sign_flip,
    sign_test,
    wilcoxon,
)
from echoctl.exact.proportions import clopper_pearson
from echoctl.exact.rational import Number, decimal_text, exact_number
from echoctl.exact.subsets import SubsetSums

__all__ = [
    "MAX_SUMS",
    "Alternative",
    "ExactTest",
    "Holm",
    "Interval",
    "Number",
    "SubsetSums",
    "ZeroMethod",
    "clopper_pearson",
    "decimal_text",
    "differences",
    "exact_number",
    "hodges_lehmann",
    "holm",
    "improvement",
    "mean_difference",
    "rank_biserial",
    "sign_flip",
    "sign_test",
    "wilcoxon",
]
