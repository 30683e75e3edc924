"""tau2's own retail domain beside the port."""

from __future__ import annotations

from parity import Fresh, Pair, Tau2

from multigold.environments.base import Environment


def retail_pair(environment: Environment) -> Pair:
    """Return tau2's shop and the port, on the port's data."""
    from tau2.domains.retail import data_model
    from tau2.domains.retail.tools import RetailTools

    raw = environment.initial.agent.to_json()
    toolkit = RetailTools(data_model.RetailDB.model_validate(raw))
    models = {"products": data_model.Product, "users": data_model.User, "orders": data_model.Order}
    tables = {name: Fresh(getattr(toolkit.db, name), raw[name], model) for name, model in models.items()}
    return Pair(Tau2("retail", toolkit, raw, tables), environment)
