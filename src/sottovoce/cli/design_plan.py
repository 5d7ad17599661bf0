"""A point of a front as a plan of one attribute, for `sottovoce design`."""

from typing import TYPE_CHECKING

from sottovoce.cli.output import names
from sottovoce.errors import SottovoceError, Words

if TYPE_CHECKING:
    from sottovoce.design.front import Front
    from sottovoce.design.point import Point


def chosen(front: "Front", number: int | None) -> "Point":
    """Point of a number that counts from 1; of a single one, that one."""
    if number is None and len(front) == 1:
        return front[0]
    if number is None or number > len(front):
        raise SottovoceError("point", f"must be a number from 1 to {len(front)} for a plan", number)
    return front[number - 1]


def write_point(
    point: "Point", path: str, attribute: str | None, labels: str | None, source: str | None, *, overwrite: bool
) -> None:
    """Write a plan that asks for one attribute under the point's scheme, and says where its prior is from."""
    from sottovoce.plan.plan import Plan
    from sottovoce.plan.prior import PriorSource
    from sottovoce.schema.attribute import Attribute
    from sottovoce.schema.schema import Schema
    from sottovoce.table.plan_file import write_plan

    if attribute is None:
        raise SottovoceError("attribute", "must name what the plan asks for", Words("none"))
    if source is None:
        raise SottovoceError("prior_source", "must say where the prior is from, like public:census 2021", Words("none"))
    kind, _, note = source.partition(":")
    answers = names(labels) or [str(number) for number in range(1, point.channel.n_in + 1)]
    schema = Schema([Attribute(attribute, answers)])
    plan = Plan.of(schema, {attribute: point.scheme}, prior=PriorSource(kind, note.strip()))
    write_plan(plan, path, overwrite=overwrite)
