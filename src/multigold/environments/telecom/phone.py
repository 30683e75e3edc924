"""The phone of tau2's telecom domain: how it finds a network, and what works on it.

Nearly every switch of the phone ends in a search for a network (`search`), which derives the connection, the technology
and the signal from the SIM card, the preferred mode, airplane mode, the access point and the line. A search is not done
where tau2 does none (data saver, Wi-Fi, payments), and so the shown connection may be out of date.

The VPN that the phone connects to is one object for tau2's whole process: once `break_vpn` has made it slow, every
connection in that process is slow. Here that is part of the state, in a table of its own (`vpn`), so that one run never
slows down another. No tool writes to it, so it never differs between two runs of a task.
"""

from __future__ import annotations

from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json
from multigold.state.database import Draft

DEVICE = "device"
SURROUNDINGS = "surroundings"

_TECHNOLOGY = {"4g_only": "4G", "3g_only": "3G", "2g_only": "2G"}
_SPEED = {"2G": (0.1, 0.4), "3G": (1.0, 5.0), "4G": (10.0, 100.0), "5G": (50.0, 500.0)}
"""Technology to its lowest and highest speed, in Mbps."""

_SIGNAL_FACTOR = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_SLOW_VPN_FACTOR = 0.1
_DATA_SAVER_FACTOR = 0.2
_DESCRIPTIONS = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))
"""A speed below this, in Mbps, and what it is called."""


def get(draft: Draft, field: str) -> Json:
    """Return a field of the phone, to be read only."""
    return draft.get(DEVICE, field)


def put(draft: Draft, **fields: Json) -> None:
    """Set fields of the phone."""
    for field, value in fields.items():
        draft.put(DEVICE, field, value)


def around(draft: Draft, field: str) -> Json:
    """Return a field of the user's surroundings, to be read only."""
    return draft.get(SURROUNDINGS, field)


def apn(draft: Draft) -> Json:
    """Return the settings of the access point, to be read only.

    Raises:
        RefusalError: If `set_apn_settings` was given something other than settings, which tau2 stores all the same.
    """
    settings = get(draft, "active_apn_settings")
    if not isinstance(settings, dict):
        raise RefusalError("the phone has no access point settings")
    return settings


def sim_status(draft: Draft) -> str:
    """Return the status of the SIM card; one that is not in the phone is `missing`."""
    return "missing" if get(draft, "sim_card_missing") else str(get(draft, "sim_card_status"))


def search(draft: Draft) -> None:
    """Look for a network.

    Raises:
        RefusalError: If the access point has no settings; what the SIM card and airplane mode make of the connection
            is written by then.
    """
    if sim_status(draft) == "active":
        technology, signal = _best_network(draft)
        _connect(draft, "connected", technology, signal)
    else:
        _disconnect(draft)
    if get(draft, "airplane_mode"):
        _disconnect(draft)
    if apn(draft)["apn_name"] == "broken" or not around(draft, "line_active"):
        _disconnect(draft)


def _best_network(draft: Draft) -> tuple[str, str]:
    """Return technology and signal under the preferred mode; an unknown mode is taken as 4G."""
    signals = around(draft, "signal_strength")
    mode = get(draft, "network_mode_preference")
    technology = _TECHNOLOGY.get(mode, "4G") if isinstance(mode, str) else "4G"
    if mode == "4g_5g_preferred" and signals.get("5G", "none") != "none":
        technology = "5G"
    return technology, signals.get(technology, "none")


def _connect(draft: Draft, status: str, technology: str, signal: str) -> None:
    put(
        draft,
        network_connection_status=status,
        network_technology_connected=technology,
        network_signal_strength=signal,
    )


def _disconnect(draft: Draft) -> None:
    _connect(draft, "no_service", "none", "none")


def mobile_data_works(draft: Draft) -> bool:
    """Tell whether the phone gets mobile data."""
    offline = (
        get(draft, "airplane_mode")
        or get(draft, "network_signal_strength") == "none"
        or get(draft, "network_connection_status") == "no_service"
        or not get(draft, "data_enabled")
        or around(draft, "mobile_data_usage_exceeded")
    )
    may_roam = get(draft, "roaming_enabled") and around(draft, "roaming_allowed")
    return not offline and bool(may_roam or not around(draft, "is_abroad"))


def speed(draft: Draft) -> tuple[float | None, str]:
    """Return the speed of mobile data in Mbps and what it is called; None if there is none."""
    if not mobile_data_works(draft):
        return None, "No Connection"
    factor = 1.0
    vpn = get(draft, "vpn_details")
    if get(draft, "vpn_connected") and vpn and vpn["server_performance"] == "poor":
        factor = _SLOW_VPN_FACTOR
    if get(draft, "data_saver_mode"):
        factor *= _DATA_SAVER_FACTOR
    low, high = _SPEED.get(get(draft, "network_technology_connected"), (0.0, 0.0))
    signal = _SIGNAL_FACTOR.get(get(draft, "network_signal_strength"), 0.0)
    mbps = round((low + high) / 2.0 * signal * factor, 2)
    return mbps, next((word for limit, word in _DESCRIPTIONS if mbps < limit), "Excellent")


def mms_works(draft: Draft) -> bool:
    """Tell whether the phone's messaging app can send a picture."""
    if not mobile_data_works(draft) or get(draft, "network_technology_connected") == "2G":
        return False
    if get(draft, "wifi_calling_enabled") and get(draft, "wifi_calling_mms_over_wifi"):
        return False
    app = get(draft, "app_statuses").get("messaging") if apn(draft)["mmsc_url"] is not None else None
    return app is not None and bool(app["permissions"]["storage"] and app["permissions"]["sms"])


def connect_vpn(draft: Draft) -> bool:
    """Connect to the phone's VPN; False if it is connected already."""
    if get(draft, "vpn_connected"):
        return False
    performance = "poor" if draft.has("vpn", "broken") else "excellent"
    details = {"server_address": "192.168.1.1", "protocol": "OpenVPN", "server_performance": performance}
    put(draft, vpn_connected=True, vpn_details=details)
    return True


def disconnect_vpn(draft: Draft) -> bool:
    """Disconnect the VPN; False if it is not connected."""
    if not get(draft, "vpn_connected"):
        return False
    put(draft, vpn_connected=False, vpn_details=None)
    return True
