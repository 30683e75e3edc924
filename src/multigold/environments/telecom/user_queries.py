"""tau2's telecom domain, the user's side: what the user can look at on the phone. Nothing here writes to a draft.

Answers are text, word for word as tau2 gives them, since a replay is compared with what was recorded.
"""

from __future__ import annotations

from multigold.environments.telecom.phone import apn, around, get, mms_works, sim_status, speed
from multigold.environments.telecom.records import PERMISSIONS
from multigold.state.canonical import Json
from multigold.state.database import Draft

_BARS = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}
_SIM_SENTENCES = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}
_SPEED_ADVICE = {
    "Very Poor": "Connection is very slow. Basic web browsing might be difficult.",
    "Poor": "Connection is slow. Web browsing may be sluggish, streaming difficult.",
    "Fair": "Connection is okay for web browsing and some standard definition streaming.",
    "Good": "Connection is good for most activities, including HD streaming.",
    "Excellent": "Connection is very fast.",
}


def on_off(value: Json) -> str:
    """Return ON or OFF."""
    return "ON" if value else "OFF"


def yes_no(value: Json) -> str:
    """Return Yes or No."""
    return "Yes" if value else "No"


def status_bar(draft: Draft) -> str:
    """Return the phone's status bar, the last line of what most tools answer."""
    icons = ["✈️ Airplane Mode"] if get(draft, "airplane_mode") else _cellular_icons(draft)
    if get(draft, "wifi_enabled") and get(draft, "wifi_connected"):
        ssid = get(draft, "wifi_ssid")
        icons.append(f"📡 Connected to {ssid}" if ssid else "📡 Enabled")
    if get(draft, "vpn_connected"):
        icons.append("🔒 VPN Connected")
    icons.append(f"🔋 {get(draft, 'battery_level')}%")
    return f"Status Bar: {' | '.join(icons)}"


def _cellular_icons(draft: Draft) -> list[str]:
    technology = get(draft, "network_technology_connected")
    icons = [_BARS[get(draft, "network_signal_strength")]]
    if technology != "none":
        icons.append(technology)
    if technology == "none" or not get(draft, "data_enabled"):
        return [*icons, "📵 Data Disabled"]
    return [*icons, "📱 Data Enabled", *(["🔽 Data Saver"] if get(draft, "data_saver_mode") else [])]


def check_status_bar(draft: Draft) -> Json:
    """Return the phone's status bar."""
    return status_bar(draft)


def check_network_status(draft: Draft) -> Json:
    """Return how the phone is connected, to cellular networks and to Wi-Fi."""
    lines = [
        f"Airplane Mode: {on_off(get(draft, 'airplane_mode'))}",
        f"SIM Card Status: {sim_status(draft)}",
        f"Cellular Connection: {get(draft, 'network_connection_status')}",
        f"Cellular Signal: {get(draft, 'network_signal_strength')}",
        f"Cellular Network Type: {get(draft, 'network_technology_connected')}",
        f"Mobile Data Enabled: {yes_no(get(draft, 'data_enabled'))}",
        f"Data Roaming Enabled: {yes_no(get(draft, 'roaming_enabled'))}",
        f"Wi-Fi Radio: {on_off(get(draft, 'wifi_enabled'))}",
        f"Wi-Fi Connected: {yes_no(get(draft, 'wifi_connected'))}",
    ]
    if get(draft, "wifi_connected"):
        lines.append(f"Connected Wi-Fi Network: {get(draft, 'wifi_ssid')}")
    return "\n".join(lines)


def check_network_mode_preference(draft: Draft) -> Json:
    """Return the preferred network mode.

    Raises:
        TypeError: If it was set to something that is not a string; to `step` that is a refusal as any other.
    """
    return "Network Mode Preference: " + get(draft, "network_mode_preference")


def run_speed_test(draft: Draft) -> Json:
    """Return the speed of mobile data, and what it is good for."""
    mbps, word = speed(draft)
    if mbps is None:
        return f"Speed test failed: {word}."
    return f"Speed Test Result: {mbps:.2f} Mbps ({word}). {_SPEED_ADVICE[word]}"


def check_sim_status(draft: Draft) -> Json:
    """Return whether the SIM card works."""
    return _SIM_SENTENCES[sim_status(draft)]


def check_data_restriction_status(draft: Draft) -> Json:
    """Return whether the data saver is on."""
    if get(draft, "data_saver_mode"):
        return "Data Saver mode is ON (limits data usage)."
    return "Data Saver mode is OFF."


def check_apn_settings(draft: Draft) -> Json:
    """Return the settings of the access point.

    Raises:
        RefusalError: If it has none.
    """
    settings = apn(draft)
    return (
        f"Current APN Name: {settings['apn_name']}\n"
        f"MMSC URL (for picture messages): {settings['mmsc_url'] or 'Not Set'}\n"
        "(These are technical settings, usually best left unchanged.)"
    )


def check_wifi_status(draft: Draft) -> Json:
    """Return whether Wi-Fi is on, and connected to what."""
    if not get(draft, "wifi_enabled"):
        return "Wi-Fi is turned OFF."
    if not get(draft, "wifi_connected"):
        return "Wi-Fi is ON but not connected to any network."
    ssid, signal = get(draft, "wifi_ssid"), get(draft, "wifi_signal_strength")
    return f"Wi-Fi is ON and connected to '{ssid}'. Signal strength: {signal}."


def check_wifi_calling_status(draft: Draft) -> Json:
    """Return whether Wi-Fi calling is on."""
    return f"Wi-Fi Calling is currently turned {on_off(get(draft, 'wifi_calling_enabled'))}."


def check_vpn_status(draft: Draft) -> Json:
    """Return whether a VPN is connected, and its details as tau2 prints them: as Python shows the dictionary."""
    if get(draft, "vpn_connected"):
        details = get(draft, "vpn_details")
        if not details:
            return "VPN is ON and connected (no specific details available)."
        return f"VPN is ON and connected. Details: {_python_text(details)}"
    if get(draft, "vpn_enabled_setting"):
        return "VPN is turned ON in settings, but currently not connected."
    return "VPN is turned OFF."


def _python_text(details: Json) -> str:
    performance = details["server_performance"]
    shown = {**{key: repr(value) for key, value in details.items()}, "server_performance": _member(performance)}
    return f"{{{', '.join(f'{key!r}: {value}' for key, value in shown.items())}}}"


def _member(performance: str) -> str:
    return f"<PerformanceLevel.{performance.upper()}: {performance!r}>"


def check_installed_apps(draft: Draft) -> Json:
    """Return the names of the phone's apps."""
    return f"The following apps are installed on the phone: {', '.join(get(draft, 'app_statuses'))}"


def check_app_status(draft: Draft, app_name: Json) -> Json:
    """Return an app's permissions, one per line.

    Raises:
        TypeError: If the name cannot be looked up (a list); to `step` that is a refusal as any other.
    """
    granted = _granted(draft, app_name)
    if granted is None:
        return f"App '{app_name}' not found on this phone."
    if not granted:
        return f"Status for App: {app_name}\n - Permissions: None granted."
    return "\n".join([f"Status for App: {app_name}", " - Permissions Granted:", *(f"   - {name}" for name in granted)])


def check_app_permissions(draft: Draft, app_name: Json) -> Json:
    """Return an app's permissions, in a sentence.

    Raises:
        TypeError: If the name cannot be looked up (a list); to `step` that is a refusal as any other.
    """
    granted = _granted(draft, app_name)
    if granted is None:
        return f"App '{app_name}' not found on this phone."
    if not granted:
        return f"App '{app_name}' currently has no permissions granted."
    return f"App '{app_name}' has permission for: {', '.join(granted)}."


def _granted(draft: Draft, app_name: Json) -> list[str] | None:
    app = get(draft, "app_statuses").get(app_name)
    return None if app is None else [name for name in PERMISSIONS if app["permissions"][name]]


def can_send_mms(draft: Draft) -> Json:
    """Return whether the messaging app can send pictures.

    Raises:
        RefusalError: If that depends on the access point and it has no settings.
    """
    return f"Your messaging app {'can' if mms_works(draft) else 'cannot'} send MMS messages."


def check_payment_request(draft: Draft) -> Json:
    """Return the bill that the user is asked to pay."""
    request = around(draft, "payment_request")
    if request is None:
        return "No payment request has been made."
    return f"You have a payment request for bill {request['bill_id']} of {request['amount_due']} USD."
