"""Blind RSA signatures: the server signs a respondent's credential without seeing it.

This is RSABSSA-SHA384-PSS-Deterministic of RFC 9474, which Privacy Pass uses, too (RFC 9578, token type 2). The
respondent draws a credential `c` of 32 bytes and a blinding factor `r`, uniform among the invertible numbers modulo
`n`, and sends `b = EM(c) r^e mod n`, where `EM` is the PSS encoding of RFC 8017. The server answers `a = b^d mod n`,
and `s = a / r mod n` is a signature of the credential. For every credential with a valid signature `s` there is exactly
one factor, `r = a / s`, under which the server would have seen the same `b` and given the same answer: so neither tells
which credential it was, whatever the modulus.

>>> secret = SecretKey.generate()
>>> credential = secrets.token_bytes(CREDENTIAL_BYTES)
>>> blinded = secret.public.blind(credential)                                            # respondent
>>> answer = blind_sign(blinded.message, secret.public.modulus, secret.exponent)         # server
>>> signature = secret.public.finalize(credential, answer, blinded.inverse)              # respondent
>>> secret.public.verify(credential, signature), secret.public.verify(b"another", signature)
(True, False)
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import sha384
from math import gcd, lcm
from typing import Any

from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError, Words, check_installed

KIND = "RSABSSA-SHA384-PSS-Deterministic"
"""Name of the variant in RFC 9474, section 5, as survey documents state it."""

BITS = 2048
"""Bits of a survey's modulus."""

EXPONENT = 65537
"""Public exponent `e` of every key."""

SALT_BYTES = 48
"""Bytes of the salt of the encoding, as many as the hash has."""

CREDENTIAL_BYTES = 32
"""Bytes of a respondent's credential, the message that is signed."""

LEAST_BITS = 1024
"""Bits of the smallest modulus, into which hash and salt fit."""

CACHED_KEYS = 1024
"""Public keys that are kept ready for verification."""

_HASH_BYTES = 48
_MODULUS = re.compile(rf"[0-9a-f]{{{BITS // 4}}}")


@dataclass(frozen=True)
class Blinded:
    """A blinded message, which the server signs, and the inverse of the blinding factor, which it must never see."""

    message: bytes
    inverse: int = field(repr=False)


@dataclass(frozen=True)
class PublicKey:
    """Public key of a survey: an odd modulus of exactly `bits` bits, with the exponent 65537.

    Size and salt are parameters because the test vectors of RFC 9474 have others; keys in documents have the defaults.

    >>> PublicKey(2**2047)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: modulus must be odd. Got an even number instead.
    """

    modulus: int
    bits: int = BITS
    salt_bytes: int = SALT_BYTES

    def __post_init__(self) -> None:
        """Check the modulus and the parameters."""
        whole_number("bits", self.bits, least=LEAST_BITS)
        whole_number("salt_bytes", self.salt_bytes, least=0, most=SALT_BYTES)
        modulus = whole_number("modulus", self.modulus)
        if modulus.bit_length() != self.bits:
            raise SottovoceError("modulus", f"must have {self.bits} bits", Words(f"{modulus.bit_length()} bits"))
        if modulus % 2 == 0:
            raise SottovoceError("modulus", "must be odd", Words("an even number"))

    @property
    def length(self) -> int:
        """Bytes of a signature, and of a blinded message."""
        return (self.bits + 7) // 8

    def to_json(self) -> dict[str, Any]:
        """Return the key as a survey document states it, the modulus in hexadecimal digits."""
        if (self.bits, self.salt_bytes) != (BITS, SALT_BYTES):
            got = Words(f"{self.bits} bits and a salt of {self.salt_bytes} bytes")
            raise SottovoceError("key", f"must have {BITS} bits and a salt of {SALT_BYTES} bytes", got)
        return {"exponent": EXPONENT, "kind": KIND, "modulus": f"{self.modulus:x}"}

    @classmethod
    def from_json(cls, document: Any) -> "PublicKey":
        """Return the key that `to_json` describes; refuse one of another kind, size or exponent.

        >>> PublicKey.from_json({"exponent": 3, "kind": KIND, "modulus": "f" * 512})
        Traceback (most recent call last):
        ...
        sottovoce.errors.SottovoceError: exponent must be 65537. Got 3 instead.
        """
        if not isinstance(document, Mapping) or set(document) != {"exponent", "kind", "modulus"}:
            raise SottovoceError("admission", "must have exactly exponent, kind and modulus", document)
        exponent, kind, modulus = document["exponent"], document["kind"], document["modulus"]
        if kind != KIND:
            raise SottovoceError("kind", f"must be {KIND}", kind)
        if type(exponent) is not int or exponent != EXPONENT:
            raise SottovoceError("exponent", f"must be {EXPONENT}", exponent)
        if not isinstance(modulus, str) or not _MODULUS.fullmatch(modulus):
            raise SottovoceError("modulus", f"must be {BITS // 4} lower-case hexadecimal digits", modulus)
        return cls(int(modulus, 16))

    def blind(self, message: bytes, *, salt: bytes | None = None, factor: int | None = None) -> Blinded:
        """Encode and blind a message: `EM(message) factor^e mod n` (RFC 9474, section 4.2).

        Salt and factor are drawn from the system's randomness; only tests state them.
        """
        if salt is None:
            salt = secrets.token_bytes(self.salt_bytes)
        elif len(salt) != self.salt_bytes:
            raise SottovoceError("salt", f"must have {self.salt_bytes} bytes", Words(f"{len(salt)} bytes"))
        encoded = int.from_bytes(pss_encode(message, self.bits - 1, salt))
        if gcd(encoded, self.modulus) != 1:
            rule = "must be coprime to the modulus once it is encoded, as with a product of two large primes it is"
            raise SottovoceError("message", rule, Words("a common divisor"))
        if factor is None:
            factor, inverse = self._draw_factor()
        else:
            inverse = self._invert(factor)
        blinded = encoded * pow(factor, EXPONENT, self.modulus) % self.modulus
        return Blinded(blinded.to_bytes(self.length), inverse)

    def _draw_factor(self) -> tuple[int, int]:
        """Return a blinding factor, uniform among the invertible numbers, and its inverse."""
        while True:
            factor = 1 + secrets.randbelow(self.modulus - 1)
            if gcd(factor, self.modulus) == 1:
                return factor, self._invert(factor)

    def _invert(self, factor: int) -> int:
        if not 0 < factor < self.modulus or gcd(factor, self.modulus) != 1:
            rule = "must be positive, below the modulus and coprime to it"
            raise SottovoceError("factor", rule, Words("another number"))  # a secret: it is not shown
        return pow(factor, -1, self.modulus)

    def finalize(self, message: bytes, blind_signature: bytes, inverse: int) -> bytes:
        """Unblind a signature, `blind_signature inverse mod n`, and verify it (RFC 9474, section 4.4)."""
        if len(blind_signature) != self.length:
            got = Words(f"{len(blind_signature)} bytes")
            raise SottovoceError("signature", f"must have {self.length} bytes", got)
        unblinded = int.from_bytes(blind_signature) * inverse % self.modulus
        signature = unblinded.to_bytes(self.length)
        if not self.verify(message, signature):
            raise SottovoceError("signature", "must be by the key of the survey", Words("one that does not verify"))
        return signature

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Return whether a signature of a message is by this key: RSASSA-PSS-VERIFY (RFC 8017, section 8.1.2)."""
        return _verifier(self.modulus, self.salt_bytes)(message, signature)


@dataclass(frozen=True, repr=False)
class SecretKey:
    """Secret key of a survey: the two primes whose product is the modulus. Its repr shows nothing.

    >>> SecretKey.generate()
    SecretKey(...)
    """

    p: int
    q: int

    def __repr__(self) -> str:
        """Show nothing: a secret must not get into a log."""
        return "SecretKey(...)"

    @classmethod
    def generate(cls, bits: int = BITS) -> "SecretKey":
        """Draw a new key whose modulus has exactly `bits` bits."""
        from cryptography.hazmat.primitives.asymmetric import rsa

        whole_number("bits", bits, least=LEAST_BITS)
        numbers = rsa.generate_private_key(EXPONENT, bits).private_numbers()
        return cls(numbers.p, numbers.q)

    @cached_property
    def public(self) -> PublicKey:
        """The public key."""
        modulus = self.p * self.q
        return PublicKey(modulus, modulus.bit_length())

    @cached_property
    def exponent(self) -> int:
        """Private exponent `d`, the inverse of 65537 modulo `lcm(p - 1, q - 1)`."""
        return pow(EXPONENT, -1, lcm(self.p - 1, self.q - 1))

    def to_bytes(self) -> bytes:
        """Return the key as PKCS#8 in DER, unencrypted, as other programs read it."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        numbers = rsa.RSAPrivateNumbers(
            self.p,
            self.q,
            self.exponent,
            rsa.rsa_crt_dmp1(self.exponent, self.p),
            rsa.rsa_crt_dmq1(self.exponent, self.q),
            rsa.rsa_crt_iqmp(self.p, self.q),
            rsa.RSAPublicNumbers(EXPONENT, self.public.modulus),
        )
        encoding, no_password = serialization.Encoding.DER, serialization.NoEncryption()
        return numbers.private_key().private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_password)

    @classmethod
    def from_bytes(cls, data: bytes, bits: int = BITS) -> "SecretKey":
        """Return the key that `to_bytes` wrote; refuse one of another kind, size or exponent, and a damaged one."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        rule = f"must be an RSA key of {bits} bits with the exponent {EXPONENT}, as PKCS#8 in DER"
        try:
            key = serialization.load_der_private_key(data, None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise SottovoceError("secret key", rule, Words("something else, or a damaged one")) from None
        if not isinstance(key, rsa.RSAPrivateKey):
            raise SottovoceError("secret key", rule, Words("a key of another kind"))
        numbers = key.private_numbers()
        if (key.key_size, numbers.public_numbers.e) != (bits, EXPONENT):
            got = Words(f"{key.key_size} bits with the exponent {numbers.public_numbers.e}")
            raise SottovoceError("secret key", rule, got)
        return cls(numbers.p, numbers.q)


def blind_sign(blinded: bytes, modulus: int, exponent: int) -> bytes:
    """Sign a blinded message: `blinded^d mod n` (RFC 9474, section 4.3), in time that does not depend on `d`.

    The result is verified before it is returned, since a faulty power can give away the factors of the modulus (Boneh,
    DeMillo & Lipton 1997). It takes milliseconds, and plain integers, so that a worker process can do it.
    """
    check_installed("signing admissions", "survey", "gmpy2")
    from gmpy2 import powmod, powmod_sec

    length = PublicKey(modulus, modulus.bit_length()).length
    base = int.from_bytes(blinded)
    if len(blinded) != length or not 0 < base < modulus:
        rule = f"must have {length} bytes and be a number above 0 and below the modulus"
        raise SottovoceError("blinded", rule, Words("another"))
    # Secret: the exponent is not shown.
    signed = int(powmod_sec(base, exponent, modulus)) if exponent > 0 else 0
    if powmod(signed, EXPONENT, modulus) != base:
        raise SottovoceError(
            "exponent", "must be the private one of this modulus", Words("a power that does not verify")
        )
    return signed.to_bytes(length)


def pss_encode(message: bytes, bits: int, salt: bytes) -> bytes:
    """Return EMSA-PSS-ENCODE with SHA-384 and MGF1-SHA-384 (RFC 8017, section 9.1.1), a number of at most `bits` bits.

    >>> encoded = pss_encode(b"message", 2047, bytes(48))
    >>> len(encoded), encoded[-1:].hex()
    (256, 'bc')
    """
    length = (bits + 7) // 8
    digest = sha384(bytes(8) + sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - _HASH_BYTES - 2) + b"\x01" + salt
    masked = int.from_bytes(block) ^ int.from_bytes(_mgf1(digest, len(block)))
    masked &= (1 << bits - 8 * (_HASH_BYTES + 1)) - 1  # the leading bits, beyond `bits`, are zero
    return masked.to_bytes(len(block)) + digest + b"\xbc"


def _mgf1(seed: bytes, length: int) -> bytes:
    """Return a mask made of hashes of a seed and a counter (RFC 8017, section B.2.1)."""
    counters = range(-(-length // _HASH_BYTES))
    return b"".join(sha384(seed + counter.to_bytes(4)).digest() for counter in counters)[:length]


@lru_cache(CACHED_KEYS)
def _verifier(modulus: int, salt_bytes: int) -> Callable[[bytes, bytes], bool]:
    """Return a function that verifies a message and its signature, with the key loaded once."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
    from cryptography.hazmat.primitives.hashes import SHA384

    key = RSAPublicNumbers(EXPONENT, modulus).public_key()
    padding = PSS(MGF1(SHA384()), salt_bytes)

    def verify(message: bytes, signature: bytes) -> bool:
        try:
            key.verify(signature, message, padding, SHA384())
        except InvalidSignature:
            return False
        return True

    return verify
