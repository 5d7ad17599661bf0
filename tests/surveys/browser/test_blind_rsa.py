"""The page's blind signatures under Node and in Chromium: RFC 9474's vectors, refusals, and Python at the other end."""

import json
import re
import statistics
from pathlib import Path

import pytest

from sottovoce.surveys.blind_rsa import CREDENTIAL_BYTES, PublicKey, blind_sign
from sottovoce.surveys.page.files import FOLDER, address

HERE = Path(__file__).parent
NOT_BY_THE_KEY = "a signature that is not by the key of the survey"


@pytest.fixture
def in_browser(tmp_path, phone, serving, plain_definition):
    """Call the very module that the server hands out, under its content security policy."""
    check = re.sub(r"^export ", "", (HERE / "check_blind_rsa.mjs").read_text(), flags=re.MULTILINE)
    with serving(tmp_path, plain_definition) as site:
        phone.goto(site.link())
        phone.wait_for_selector("button.primary")

        def call(name, *values):
            return phone.evaluate(
                f"""async ([name, values, modules]) => {{
                    {check}
                    const parts = await Promise.all(modules.map((path) => import(path)));
                    return called(name, values, Object.assign({{}}, ...parts));
                }}""",
                [name, values, [address("blind_rsa.js"), address("rules.js")]],
            )

        yield call


@pytest.fixture(params=["node", "chromium"])
def page(request):
    """Call the page's module by a function's name, with values that JSON can hold."""
    if request.param == "chromium":
        return request.getfixturevalue("in_browser")
    node = request.getfixturevalue("node")
    return lambda name, *values: json.loads(node(HERE / "blind_rsa.mjs", FOLDER, name, json.dumps(values)))


def sign(secret_key, blinded: str) -> str:
    return blind_sign(bytes.fromhex(blinded), secret_key.public.modulus, secret_key.exponent).hex()


def flipped(digits: str, bit: int) -> str:
    return f"{int(digits, 16) ^ 1 << bit:0{len(digits)}x}"


def test_the_vectors_of_the_rfc(page, blind_rsa_vectors):
    assert page("checkVectors", blind_rsa_vectors) == {"checked": 4, "failed": []}


def test_a_credential_of_the_page_is_verified_here(page, secret_key):
    key = secret_key.public
    prepared = page("prepare", key.to_json())["result"]
    assert sorted(prepared) == ["blinded", "credential", "inverse"]
    assert 0 < int(prepared["blinded"], 16) < key.modulus
    signature = sign(secret_key, prepared["blinded"])
    admitted = page("finalize", key.to_json(), prepared, signature)["result"]
    assert admitted.keys() == {"credential", "signature"}
    credential = bytes.fromhex(admitted["credential"])
    assert admitted["credential"] == prepared["credential"]
    assert len(credential) == CREDENTIAL_BYTES
    assert key.verify(credential, bytes.fromhex(admitted["signature"]))
    assert (
        key.finalize(credential, bytes.fromhex(signature), int(prepared["inverse"], 16)).hex() == admitted["signature"]
    )


def test_a_message_blinded_here_is_finalized_by_the_page(page, secret_key):
    key, credential = secret_key.public, bytes(range(CREDENTIAL_BYTES))
    blinded = key.blind(credential)
    prepared = {"credential": credential.hex(), "inverse": f"{blinded.inverse:0512x}"}
    signature = sign(secret_key, blinded.message.hex())
    admitted = page("finalize", key.to_json(), prepared, signature)["result"]
    assert key.verify(credential, bytes.fromhex(admitted["signature"]))


def test_wrong_signatures_are_refused(page, secret_key, other_key):
    key = secret_key.public
    prepared = page("prepare", key.to_json())["result"]
    right = sign(secret_key, prepared["blinded"])
    number = int(prepared["blinded"], 16) % other_key.public.modulus
    others = [
        sign(other_key, f"{number:0512x}"),
        sign(secret_key, flipped(prepared["blinded"], 7)),
        flipped(right, 2047),
        flipped(right, 0),
        "0" * 512,
        f"{key.modulus:x}",
    ]
    malformed = (right[2:], right + "00", "", right.upper(), None, "0x" + right[2:])
    cases = [(prepared, signature, NOT_BY_THE_KEY) for signature in others]
    cases += [(prepared, signature, "signature without 512 hexadecimal digits") for signature in malformed]
    cases += [(prepared | {"inverse": "1"}, right, "inverse without 512 hexadecimal digits")]
    cases += [(prepared | {"credential": "1"}, right, "credential without 64 hexadecimal digits")]
    found = page("each", *(["finalize", [key.to_json(), kept, signature]] for kept, signature, _ in cases))
    assert found == [{"refused": reason} for _, _, reason in cases]


def test_wrong_keys_are_refused(page, secret_key):
    document = secret_key.public.to_json()
    modulus = document["modulus"]
    digits = "modulus without 512 hexadecimal digits"
    changes = [
        ({"modulus": flipped(modulus, 0)}, "an even modulus"),
        ({"modulus": flipped(modulus, 2047)}, "a modulus of less than 2048 bits"),
        ({"modulus": "1" + modulus}, digits),
        ({"modulus": modulus[1:]}, digits),
        ({"modulus": modulus.upper()}, digits),
        ({"modulus": 65537}, digits),
        ({"exponent": 3}, "another exponent than 65537"),
        ({"exponent": "65537"}, "another exponent than 65537"),
        ({"kind": "RSABSSA-SHA384-PSSZERO-Deterministic"}, "an unknown kind of admission"),
        ({"more": 1}, "keys exponent,kind,modulus,more, not exponent,kind,modulus"),
    ]
    cases = [(document | change, {"refused": reason}) for change, reason in changes]
    cases += [(None, {"refused": "no object"}), (document, {"result": "read"})]
    assert page("each", *(["readKey", [admission]] for admission, _ in cases)) == [expected for _, expected in cases]


def test_factors_without_inverse_are_drawn_again_and_messages_with_a_divisor_refused(page):
    """Of 60 factors and 60 messages a third is divisible by 3."""
    found = page("checkDivisor", f"{PublicKey(3 * (2**2046 + 1)).modulus:x}")
    assert found == {"fair": True, "without": None, "refused": ["a modulus that shares a divisor with a message", None]}


def test_a_slow_phone_waits_less_than_half_a_second(in_browser, phone, secret_key):
    phone.context.new_cdp_session(phone).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    times = [in_browser("time", secret_key.public.to_json(), "1" * 512) for _ in range(5)]
    assert statistics.median(times) < 500
