"""tau2's telecom domain, the user's side: what the user can do with the phone.

Ported from observed behaviour, oddities included:

- `set_network_mode_preference` stores whatever is not a string before it fails; the phone then takes it as 4G. Null is
  stored too, and the answer says that it is not a valid option.
- `set_apn_settings` stores whatever is not an object before it fails; the phone can then find no network until better
  settings are set.
- `reset_apn_settings` takes effect at the next reboot.
- Every switch is a toggle; Wi-Fi cannot be switched in airplane mode.
"""

from __future__ import annotations

from multigold.environments.telecom import phone
from multigold.environments.telecom.phone import apn, around, get, put, search
from multigold.environments.telecom.records import APN_SETTINGS, NETWORK_MODES, PERMISSIONS
from multigold.environments.telecom.user_queries import on_off, status_bar
from multigold.environments.tools import RefusalError
from multigold.state.canonical import Json, clone
from multigold.state.database import Draft


def set_network_mode_preference(draft: Draft, mode: Json) -> Json:
    """Set the network mode that the phone prefers.

    Raises:
        RefusalError: If the mode is neither a string nor null; it is stored by then.
    """
    known = mode in NETWORK_MODES if isinstance(mode, str) else True
    if known:
        put(draft, network_mode_preference=mode)
        search(draft)
    if mode is None or not known:
        return (
            f"Failed to set network mode: '{mode}' is not a valid option. Please use one of: "
            f"{', '.join(NETWORK_MODES)}\n{status_bar(draft)}"
        )
    if not isinstance(mode, str):
        raise RefusalError("a network mode is a string")
    return f"Preferred Network Mode set to: {mode}\n{status_bar(draft)}"


def toggle_airplane_mode(draft: Draft) -> Json:
    """Switch airplane mode; Wi-Fi disconnects either way (if it is on), and a VPN when it is switched on.

    Raises:
        RefusalError: If the access point has no settings, after the switch.
    """
    switch_airplane_mode(draft)
    return f"Airplane Mode is now {on_off(get(draft, 'airplane_mode'))}.\n{status_bar(draft)}"


def switch_airplane_mode(draft: Draft) -> None:
    """Switch airplane mode and look for a network."""
    on = not get(draft, "airplane_mode")
    put(draft, airplane_mode=on)
    if not on:
        put(draft, network_connection_status="searching")
    if on or get(draft, "wifi_enabled"):
        _leave_wifi(draft)
    if on:
        phone.disconnect_vpn(draft)
    search(draft)


def _leave_wifi(draft: Draft) -> None:
    put(draft, wifi_connected=False, wifi_ssid=None, wifi_signal_strength="none")


def reseat_sim_card(draft: Draft) -> Json:
    """Take the SIM card out and put it back in.

    Raises:
        RefusalError: If the access point has no settings, or the card is missing all the same; it is back by then.
    """
    put(draft, sim_card_missing=False)
    search(draft)
    if phone.sim_status(draft) == "missing":
        raise RefusalError("the SIM card is still missing")
    return f"SIM card re-seated successfully.\n{status_bar(draft)}"


def toggle_data(draft: Draft) -> Json:
    """Switch mobile data.

    Raises:
        RefusalError: If the access point has no settings, after the switch.
    """
    switch(draft, "data_enabled")
    return f"Mobile Data is now {on_off(get(draft, 'data_enabled'))}.\n{status_bar(draft)}"


def toggle_roaming(draft: Draft) -> Json:
    """Switch data roaming.

    Raises:
        RefusalError: If the access point has no settings, after the switch.
    """
    switch(draft, "roaming_enabled")
    return f"Data Roaming is now {on_off(get(draft, 'roaming_enabled'))}.\n{status_bar(draft)}"


def switch(draft: Draft, field: str) -> None:
    """Switch something of the phone and look for a network."""
    put(draft, **{field: not get(draft, field)})
    search(draft)


def toggle_data_saver_mode(draft: Draft) -> Json:
    """Switch the data saver."""
    put(draft, data_saver_mode=not get(draft, "data_saver_mode"))
    return f"Data Saver Mode is now {on_off(get(draft, 'data_saver_mode'))}.\n{status_bar(draft)}"


def set_apn_settings(draft: Draft, apn_settings: Json) -> Json:
    """Set the access point; what is left out is as usual.

    Raises:
        RefusalError: If it is not an object with settings; what is not an object is stored by then.
    """
    settings = APN_SETTINGS(apn_settings) if isinstance(apn_settings, dict) else apn_settings
    put(draft, active_apn_settings=settings)
    name = apn(draft)["apn_name"]
    search(draft)
    return f"APN settings set to: {name}\n{status_bar(draft)}"


def reset_apn_settings(draft: Draft) -> Json:
    """Have the access point set as usual at the next reboot.

    Raises:
        RefusalError: If it has no settings.
    """
    put(draft, active_apn_settings={**apn(draft), "reset_at_reboot": True})
    search(draft)
    return f"APN settings will reset at reboot.\n{status_bar(draft)}"


def toggle_wifi(draft: Draft) -> Json:
    """Switch Wi-Fi, which then is not connected to anything; not in airplane mode."""
    if get(draft, "airplane_mode"):
        return f"Cannot change Wi-Fi settings while Airplane Mode is ON.\n{status_bar(draft)}"
    on = not get(draft, "wifi_enabled")
    put(draft, wifi_enabled=on)
    if not on:
        _leave_wifi(draft)
    return f"Wi-Fi is now {on_off(on)}.\n{status_bar(draft)}"


def toggle_wifi_calling(draft: Draft) -> Json:
    """Switch Wi-Fi calling."""
    put(draft, wifi_calling_enabled=not get(draft, "wifi_calling_enabled"))
    return f"Wi-Fi Calling is now {on_off(get(draft, 'wifi_calling_enabled'))}.\n{status_bar(draft)}"


def connect_vpn(draft: Draft) -> Json:
    """Connect to the phone's VPN."""
    if not phone.connect_vpn(draft):
        return "VPN already connected."
    return f"VPN connected successfully.\n{status_bar(draft)}"


def disconnect_vpn(draft: Draft) -> Json:
    """Disconnect from the VPN."""
    done = phone.disconnect_vpn(draft)
    words = "VPN disconnected successfully." if done else "No active VPN connection to disconnect."
    return f"{words}\n{status_bar(draft)}"


def grant_app_permission(draft: Draft, app_name: Json, permission: Json) -> Json:
    """Give an app a permission; an unknown app or permission is said in words.

    Raises:
        AttributeError: If the permission is not a string; to `step` that is a refusal as any other.
        TypeError: If the app cannot be looked up (a list); likewise.
    """
    known = get(draft, "app_statuses").get(app_name) is not None
    name = permission.lower()
    if not known:
        return f"Error. App '{app_name}' not found. Cannot grant permission.\n{status_bar(draft)}"
    if name not in PERMISSIONS:
        words = f"not tracked for app '{app_name}', available permissions: {list(PERMISSIONS)}"
        return f"Error. Permission '{name}' {words}\n{status_bar(draft)}"
    set_permission(draft, app_name, name, granted=True)
    return f"Success. Permission '{name}' granted to app '{app_name}'.\n{status_bar(draft)}"


def set_permission(draft: Draft, app_name: str, permission: str, *, granted: bool) -> None:
    """Give an app a permission, or take it away."""
    draft.edit(phone.DEVICE, "app_statuses")[app_name]["permissions"][permission] = granted


def reboot_device(draft: Draft) -> Json:
    """Restart the phone: a reset of the access point takes effect, and the phone looks for a network.

    Raises:
        RefusalError: If the access point has no settings.
    """
    lines = ["Restarting network services..."]
    if apn(draft)["reset_at_reboot"]:
        lines.insert(0, "Resetting APN settings...")
        put(draft, active_apn_settings=APN_SETTINGS({}))
    put(draft, network_connection_status="searching")
    search(draft)
    return "\n".join([*lines, status_bar(draft)])


def make_payment(draft: Draft) -> Json:
    """Pay the bill that the user is asked to pay; the bill itself is marked when the two sides are brought in step."""
    request = clone(around(draft, "payment_request"))
    if request is None:
        return "You do not have a payment request."
    request["paid"] = True
    draft.put(phone.SURROUNDINGS, "payment_request", request)
    return f"Payment of {request['amount_due']} USD has been made for bill {request['bill_id']}."
