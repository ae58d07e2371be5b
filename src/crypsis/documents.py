"""Files that people write and programs read: policies, plans, statements, ledgers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler

from crypsis.results import field_descriptions


class Document(BaseModel):
    """What stands in such a file: nothing that is unknown, and nothing changes once it is read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: GetJsonSchemaHandler) -> Any:
        """Describe each field by the string below it, which is read only when a schema is asked for."""
        schema = handler(core)
        fields = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in field_descriptions(cls).items():
            if name in fields:
                fields[name].setdefault("description", text)
        return schema
