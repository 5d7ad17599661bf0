"""Blind RSA signatures: the vectors of RFC 9474, what is refused, and that a blinded message says nothing."""

import pickle
import secrets
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.surveys.blind_rsa import (
    CREDENTIAL_BYTES,
    EXPONENT,
    KIND,
    Blinded,
    PublicKey,
    SecretKey,
    blind_sign,
    pss_encode,
)

VARIANTS = [
    "RSABSSA-SHA384-PSS-Randomized",
    "RSABSSA-SHA384-PSSZERO-Randomized",
    "RSABSSA-SHA384-PSS-Deterministic",
    "RSABSSA-SHA384-PSSZERO-Deterministic",
]
CREDENTIAL = bytes(range(CREDENTIAL_BYTES))


def sign(secret: SecretKey, blinded: Blinded) -> bytes:
    return blind_sign(blinded.message, secret.public.modulus, secret.exponent)


def flipped(data: bytes, bit: int) -> bytes:
    return (int.from_bytes(data) ^ 1 << bit).to_bytes(len(data))


@pytest.fixture(params=VARIANTS)
def vector(request, blind_rsa_vectors):
    """One variant's vector: numbers as integers, messages as bytes, and what the randomized variants put before."""
    (found,) = [vector for vector in blind_rsa_vectors if vector["name"] == request.param]
    numbers = {name: int(found[name], 16) for name in ("p", "q", "n", "e", "d", "sLen", "inv")}
    texts = ("msg", "msg_prefix", "input_msg", "salt", "blinded_msg", "blind_sig", "sig")
    return numbers | {name: bytes.fromhex(found[name]) for name in texts} | {"encoded_msg": found.get("encoded_msg")}


class TestVectors:
    @pytest.fixture
    def key(self, vector):
        return PublicKey(vector["n"], bits=4096, salt_bytes=vector["sLen"])

    def test_the_message_is_prepared_as_stated(self, vector):
        assert vector["input_msg"] == vector["msg_prefix"] + vector["msg"]
        assert vector["e"] == EXPONENT

    def test_encoding(self, vector):
        if vector["encoded_msg"] is not None:
            encoded = pss_encode(vector["input_msg"], 4095, vector["salt"])
            assert encoded.hex() == vector["encoded_msg"]

    def test_blinding(self, vector, key):
        factor = pow(vector["inv"], -1, vector["n"])
        blinded = key.blind(vector["input_msg"], salt=vector["salt"], factor=factor)
        assert blinded == Blinded(vector["blinded_msg"], vector["inv"])

    def test_signing(self, vector):
        secret = SecretKey(vector["p"], vector["q"])
        for exponent in (vector["d"], secret.exponent):
            assert blind_sign(vector["blinded_msg"], vector["n"], exponent) == vector["blind_sig"]

    def test_finalizing(self, vector, key):
        assert key.finalize(vector["input_msg"], vector["blind_sig"], vector["inv"]) == vector["sig"]

    def test_verifying(self, vector, key):
        assert key.verify(vector["input_msg"], vector["sig"])
        assert not key.verify(vector["input_msg"] + b"!", vector["sig"])
        other_salt = PublicKey(key.modulus, 4096, 48 - key.salt_bytes)
        assert not other_salt.verify(vector["input_msg"], vector["sig"])


class TestPublicKey:
    def test_documents(self, secret_key):
        key = secret_key.public
        document = key.to_json()
        assert document == {"exponent": 65537, "kind": KIND, "modulus": f"{key.modulus:0512x}"}
        assert PublicKey.from_json(document) == key
        assert key.length == 256

    @pytest.mark.parametrize(
        ("change", "parameter"),
        [
            ({"modulus": "8" + "0" * 511}, "modulus must be odd. Got an even number"),
            ({"modulus": "7" + "f" * 511}, "modulus must have 2048 bits. Got 2047 bits"),
            ({"modulus": "1" + "f" * 512}, "modulus must be 512 lower-case hexadecimal digits"),
            ({"modulus": "F" * 512}, "modulus must be 512"),
            ({"modulus": "f" * 511 + "\n"}, "modulus must be 512"),
            ({"modulus": 65537}, "modulus must be 512"),
            ({"exponent": 3}, "exponent must be 65537. Got 3"),
            ({"exponent": 65537.0}, "exponent must be 65537"),
            ({"exponent": "65537"}, "exponent must be 65537"),
            ({"kind": "RSABSSA-SHA384-PSSZERO-Deterministic"}, f"kind must be {KIND}"),
            ({"kind": None}, f"kind must be {KIND}"),
            ({"more": 1}, "admission must have exactly exponent, kind and modulus"),
        ],
    )
    def test_other_documents_are_refused(self, secret_key, change, parameter):
        with pytest.raises(SottovoceError, match=f"^{parameter}"):
            PublicKey.from_json(secret_key.public.to_json() | change)

    @pytest.mark.parametrize("document", [None, [], "key", {}, {"kind": KIND}])
    def test_what_is_no_key_is_refused(self, document):
        with pytest.raises(SottovoceError, match=r"^admission must have exactly"):
            PublicKey.from_json(document)

    @pytest.mark.parametrize("modulus", [2**2047 - 1, 2**2048 + 1])
    def test_other_sizes_are_refused(self, modulus):
        with pytest.raises(SottovoceError, match=r"modulus must have 2048 bits. Got 204[79] bits instead"):
            PublicKey(modulus)

    def test_other_parameters_are_refused(self):
        with pytest.raises(SottovoceError, match="bits must be a whole number of at least 1024"):
            PublicKey(2**767 + 1, bits=768)
        with pytest.raises(SottovoceError, match="salt_bytes must be a whole number from 0 to 48"):
            PublicKey(2**2047 + 1, salt_bytes=49)

    @pytest.mark.parametrize("parameters", [{"bits": 2048, "salt_bytes": 0}, {"bits": 4096}])
    def test_only_the_kind_that_documents_state_is_written(self, parameters):
        with pytest.raises(SottovoceError, match="key must have 2048 bits and a salt of 48 bytes"):
            PublicKey(2 ** (parameters["bits"] - 1) + 1, **parameters).to_json()

    def test_it_can_be_copied_to_another_process_after_verifying(self, secret_key):
        key = secret_key.public
        assert not key.verify(CREDENTIAL, bytes(256))
        assert pickle.loads(pickle.dumps(key)) == key  # noqa: S301 - our own bytes


class TestSignatures:
    def test_a_credential_is_signed_blindly(self, secret_key):
        key = secret_key.public
        blinded = key.blind(CREDENTIAL)
        signature = key.finalize(CREDENTIAL, sign(secret_key, blinded), blinded.inverse)
        assert key.verify(CREDENTIAL, signature)
        assert not key.verify(flipped(CREDENTIAL, 0), signature)

    def test_salt_and_factor_are_drawn_anew(self, secret_key):
        first, second = secret_key.public.blind(CREDENTIAL), secret_key.public.blind(CREDENTIAL)
        assert first.message != second.message
        assert first.inverse != second.inverse

    def test_the_inverse_is_not_shown(self, secret_key):
        blinded = secret_key.public.blind(CREDENTIAL)
        assert str(blinded.inverse) not in repr(blinded)
        assert "inverse" not in repr(blinded)

    def test_a_blinded_message_fits_every_credential(self, secret_key):
        """Blindness: whatever credential turns up later, some factor makes the server see this very message."""
        key = secret_key.public
        seen = key.blind(CREDENTIAL)
        answer = sign(secret_key, seen)
        for _ in range(5):
            credential, salt = secrets.token_bytes(CREDENTIAL_BYTES), secrets.token_bytes(48)
            other = key.blind(credential, salt=salt)
            signature = key.finalize(credential, sign(secret_key, other), other.inverse)
            factor = int.from_bytes(answer) * pow(int.from_bytes(signature), -1, key.modulus) % key.modulus
            explained = key.blind(credential, salt=salt, factor=factor)
            assert explained.message == seen.message
            assert key.finalize(credential, answer, explained.inverse) == signature

    def test_blinded_messages_of_small_numbers_are_uniform(self):
        """The same law counted out, without padding: as each factor comes once, so does each blinded message."""
        n, e = 11 * 23, 3
        units = [r for r in range(1, n) if r % 11 and r % 23]
        for message in units[:20]:
            assert sorted(message * pow(r, e, n) % n for r in units) == units

    def test_wrong_signatures_are_refused(self, secret_key, other_key):
        key = secret_key.public
        blinded = key.blind(CREDENTIAL)
        right = sign(secret_key, blinded)
        number = int.from_bytes(blinded.message) % other_key.public.modulus
        others = blind_sign(number.to_bytes(256), other_key.public.modulus, other_key.exponent)
        for wrong in (others, flipped(right, 0), flipped(right, 2047), bytes(256), key.modulus.to_bytes(256)):
            with pytest.raises(SottovoceError, match="signature must be by the key of the survey"):
                key.finalize(CREDENTIAL, wrong, blinded.inverse)
        for wrong in (right[1:], right + b"\0", b""):
            with pytest.raises(SottovoceError, match=f"signature must have 256 bytes. Got {len(wrong)} bytes"):
                key.finalize(CREDENTIAL, wrong, blinded.inverse)

    def test_wrong_signatures_do_not_verify(self, secret_key, other_key):
        key = secret_key.public
        blinded = key.blind(CREDENTIAL)
        signature = key.finalize(CREDENTIAL, sign(secret_key, blinded), blinded.inverse)
        assert not other_key.public.verify(CREDENTIAL, signature)
        larger = int.from_bytes(signature) + key.modulus
        wrong = [flipped(signature, bit) for bit in (0, 1000, 2047)]
        wrong += [signature[1:], signature + b"\0", b"\0" + signature, b"", larger.to_bytes(257)]
        assert not any(key.verify(CREDENTIAL, other) for other in wrong)

    def test_salt_and_factor_are_checked_and_the_factor_is_not_shown(self, secret_key):
        key = secret_key.public
        with pytest.raises(SottovoceError, match=r"salt must have 48 bytes. Got 47 bytes"):
            key.blind(CREDENTIAL, salt=bytes(47))
        for factor in (0, -5, key.modulus, key.modulus + 1, secret_key.p, 3 * secret_key.q):
            with pytest.raises(SottovoceError, match=r"factor must be positive, below .* Got another number") as caught:
                key.blind(CREDENTIAL, factor=factor)
            assert str(secret_key.q) not in str(caught.value)

    def test_a_factor_without_inverse_is_drawn_again(self, secret_key, monkeypatch):
        draws = iter([secret_key.p - 1, 41])
        monkeypatch.setattr("sottovoce.surveys.blind_rsa.secrets.randbelow", lambda _: next(draws))
        blinded = secret_key.public.blind(CREDENTIAL)
        assert blinded.inverse == pow(42, -1, secret_key.public.modulus)

    def test_a_message_that_shares_a_divisor_with_the_modulus_is_refused(self):
        """Only a broken or dishonest key has small divisors; here every third message is divisible by 3."""
        modulus = 3 * (2**2046 + 1)
        key = PublicKey(modulus)
        salts = [bytes(47) + bytes([i]) for i in range(30)]
        encoded = [int.from_bytes(pss_encode(CREDENTIAL, 2047, salt)) for salt in salts]
        divisible = [salt for salt, number in zip(salts, encoded, strict=True) if number % 3 == 0]
        assert divisible
        for salt in divisible:
            with pytest.raises(SottovoceError, match="message must be coprime to the modulus"):
                key.blind(CREDENTIAL, salt=salt)


class TestBlindSign:
    def test_numbers_out_of_range_are_refused(self, secret_key):
        modulus = secret_key.public.modulus
        for number in (0, modulus, modulus + 1, 2**2048 - 1):
            with pytest.raises(SottovoceError, match="blinded must have 256 bytes and be a number above 0"):
                blind_sign(number.to_bytes(256), modulus, secret_key.exponent)
        for wrong in (b"", bytes(254) + b"\1", bytes(256) + b"\1"):
            with pytest.raises(SottovoceError, match="blinded must have 256 bytes"):
                blind_sign(wrong, modulus, secret_key.exponent)

    def test_the_ends_of_the_range_are_signed(self, secret_key):
        modulus = secret_key.public.modulus
        for number in (1, modulus - 1):
            assert blind_sign(number.to_bytes(256), modulus, secret_key.exponent) == number.to_bytes(256)

    def test_a_faulty_power_does_not_leave(self, secret_key, monkeypatch):
        blinded = secret_key.public.blind(CREDENTIAL)
        right = int.from_bytes(sign(secret_key, blinded))
        monkeypatch.setattr("gmpy2.powmod_sec", lambda *_: right ^ 1)
        with pytest.raises(SottovoceError, match="Got a power that does not verify") as caught:
            sign(secret_key, blinded)
        assert str(secret_key.exponent)[:40] not in str(caught.value)

    def test_an_exponent_of_another_key_is_refused(self, secret_key, other_key):
        blinded = secret_key.public.blind(CREDENTIAL)
        for exponent in (other_key.exponent, 0, -secret_key.exponent):
            with pytest.raises(SottovoceError, match="exponent must be the private one of this modulus") as caught:
                blind_sign(blinded.message, secret_key.public.modulus, exponent)
            assert str(abs(exponent))[:40] not in str(caught.value) or not exponent

    def test_an_even_modulus_is_refused(self, secret_key):
        with pytest.raises(SottovoceError, match="modulus must be odd"):
            blind_sign(bytes(255) + b"\1", secret_key.public.modulus - 1, secret_key.exponent)

    def test_it_says_which_library_is_missing(self, secret_key, monkeypatch):
        monkeypatch.setitem(sys.modules, "gmpy2", None)
        with pytest.raises(MissingExtraError, match=r"signing admissions needs gmpy2; .*sottovoce\[survey\]"):
            sign(secret_key, secret_key.public.blind(CREDENTIAL))


class TestSecretKey:
    def test_bytes(self, secret_key):
        written = secret_key.to_bytes()
        assert SecretKey.from_bytes(written) == secret_key
        read = serialization.load_der_private_key(written, None)
        assert read.private_numbers().d == secret_key.exponent
        assert read.public_key().public_numbers().n == secret_key.public.modulus

    def test_nothing_of_it_is_shown(self, secret_key):
        assert repr(secret_key) == str(secret_key) == f"{secret_key}" == "SecretKey(...)"

    def test_size_is_a_parameter(self):
        secret = SecretKey.generate(1024)
        assert secret.public.bits == 1024
        assert SecretKey.from_bytes(secret.to_bytes(), 1024) == secret
        with pytest.raises(
            SottovoceError, match=r"must be an RSA key of 2048 bits .* Got 1024 bits with the exponent 65537"
        ):
            SecretKey.from_bytes(secret.to_bytes())
        with pytest.raises(SottovoceError, match="bits must be a whole number of at least 1024"):
            SecretKey.generate(512)

    def test_other_keys_are_refused(self, secret_key):
        numbers = rsa.generate_private_key(3, 2048)
        curve = ec.generate_private_key(ec.SECP256R1())
        formats = (serialization.Encoding.DER, serialization.PrivateFormat.PKCS8)
        plain = serialization.NoEncryption()
        locked = serialization.BestAvailableEncryption(b"password")
        cases = {
            "2048 bits with the exponent 3": numbers.private_bytes(*formats, plain),
            "a key of another kind": curve.private_bytes(*formats, plain),
            "something else": b"no key",
            "something else, or": secret_key.to_bytes()[:-9],
            "something else, or a": numbers.private_bytes(*formats, locked),
            "something else, or a damaged": flipped(secret_key.to_bytes(), 3000),
        }
        for got, data in cases.items():
            with pytest.raises(
                SottovoceError, match=f"secret key must be an RSA key of 2048 bits .* Got {got}"
            ) as caught:
                SecretKey.from_bytes(data)
            assert caught.value.__suppress_context__ or caught.value.__context__ is None
