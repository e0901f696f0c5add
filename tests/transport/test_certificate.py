"""What a certificate says of itself, trusted or not."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

import pytest
import trustme
from cryptography import x509

from mcp_gateway.transport import certificate
from mcp_gateway.transport.certificate import Certificate


def der(begins: datetime, ends: datetime) -> bytes:
    issued = trustme.CA().issue_cert("a.example", not_before=begins, not_after=ends)
    return ssl.PEM_cert_to_DER_cert(issued.cert_chain_pems[0].bytes().decode())


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2021, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (datetime(1999, 1, 1, tzinfo=UTC), datetime(2049, 12, 31, tzinfo=UTC)),
        (datetime(2049, 1, 1, tzinfo=UTC), datetime(2050, 1, 1, tzinfo=UTC)),
        (datetime(2051, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)),
    ],
)
def test_the_dates_of_a_certificate_that_nobody_trusts_are_read_from_its_bytes(
    begins: datetime, ends: datetime
) -> None:
    data = der(begins, ends)
    read = x509.load_der_x509_certificate(data)
    assert (read.not_valid_before_utc, read.not_valid_after_utc) == (begins, ends)
    assert certificate.of_der(data) == Certificate(begins=begins, ends=ends)


def test_bytes_that_are_no_certificate_say_nothing() -> None:
    assert certificate.of_der(b"no certificate") == Certificate()


def test_a_trusted_certificate_says_whose_it_is_from_whom_and_for_which_hosts() -> None:
    found = {
        "subject": ((("organizationName", "Example"),), (("commonName", "a.example"), ("userId", "7"))),
        "issuer": ((("commonName", "Authority"),),),
        "subjectAltName": (("DNS", "a.example"), ("IP Address", "192.0.2.7")),
        "notBefore": "Jan  2 03:04:05 2026 GMT",
        "notAfter": "Jan  2 03:04:05 2027 GMT",
    }
    assert certificate.of_verified(found) == Certificate(
        subject="O=Example, CN=a.example, userId=7",
        issuer="CN=Authority",
        names=("a.example", "192.0.2.7"),
        begins=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        ends=datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert certificate.of_verified({}) == Certificate()
