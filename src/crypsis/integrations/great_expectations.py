"""An expectation of Great Expectations: a batch is safe to release."""

from __future__ import annotations

from typing import Any, ClassVar

from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from crypsis.integrations._release import assess_release, explanation, is_safe

_OPTIONS = (
    "roles_file",
    "identifiers",
    "quasi_identifiers",
    "sensitive",
    "insensitive",
    "excluded",
    "person",
    "policy",
)


class ReleaseVerdict(TableMetricProvider):  # type: ignore[misc]
    """The verdict on a table, with its reasons."""

    metric_name = "table.crypsis_verdict"
    value_keys = _OPTIONS

    @metric_value(engine=PandasExecutionEngine)  # type: ignore[untyped-decorator]
    def _pandas(
        cls,  # noqa: N805 - how metrics are declared
        execution_engine: PandasExecutionEngine,
        metric_domain_kwargs: dict[str, Any],
        metric_value_kwargs: dict[str, Any],
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any],
    ) -> dict[str, Any]:
        data, _, _ = execution_engine.get_compute_domain(
            metric_domain_kwargs, domain_type=MetricDomainTypes.TABLE
        )
        kwargs_by_name = {name: metric_value_kwargs.get(name) for name in _OPTIONS}
        options = {name: value for name, value in kwargs_by_name.items() if value}
        assessment = assess_release(data, **options)
        return {
            "safe": is_safe(assessment),
            "verdict": assessment.verdict.value,
            "explanation": explanation(assessment),
        }


class ExpectReleaseToBeSafe(BatchExpectation):  # type: ignore[misc]
    """Expect that the verdict on the batch is "safe".

    It computes where the batch is a pandas frame.

    Examples
    --------
    >>> batch.validate(ExpectReleaseToBeSafe(roles_file="roles.toml"))  # doctest: +SKIP
    """

    roles_file: str | None = None
    identifiers: list[str] | None = None
    quasi_identifiers: list[str] | None = None
    sensitive: list[str] | None = None
    insensitive: list[str] | None = None
    excluded: list[str] | None = None
    person: str | None = None
    policy: str = "default"
    description: str | None = "The table is safe to release under the policy."

    metric_dependencies: ClassVar[tuple[str, ...]] = (ReleaseVerdict.metric_name,)
    success_keys: ClassVar[tuple[str, ...]] = _OPTIONS
    domain_keys: ClassVar[tuple[str, ...]] = ("batch_id",)

    def _validate(
        self,
        metrics: dict[str, Any],
        runtime_configuration: dict[str, Any] | None = None,
        execution_engine: Any = None,
    ) -> dict[str, Any]:
        verdict_values = metrics[ReleaseVerdict.metric_name]
        details = {"explanation": verdict_values["explanation"]}
        return {
            "success": bool(verdict_values["safe"]),
            "result": {"observed_value": verdict_values["verdict"], "details": details},
        }
