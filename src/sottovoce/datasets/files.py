"""Data files: their paths, sources and SHA-256."""

import gzip
import hashlib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sottovoce.errors import SottovoceError, Words, check_installed

FOLDER = "SOTTOVOCE_DATA"
"""Environment variable that names the data folder."""


@dataclass(frozen=True)
class DataFile:
    """A file in the data folder; `sha256` is that of its uncompressed bytes.

    `source` is where these bytes can be downloaded; None where they cannot.
    """

    path: str
    sha256: str
    source: str | None = None

    def text(self) -> str:
        """Return the content of the file, from the folder or else from its source."""
        return _content(self, os.environ.get(FOLDER)).decode()


UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
FILES = {
    "adult.data": DataFile(
        "adult/adult.data.gz",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        f"{UCI}/adult/adult.data",
    ),
    "adult.test": DataFile(
        "adult/adult.test.gz",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        f"{UCI}/adult/adult.test",
    ),
    "bms-webview-1": DataFile(
        "bms/BMS1_spmf.txt.gz", "f601490237237320baf1218a941657e86daa276d0b2004b0b39506b1d5017970"
    ),
    "bms-webview-2": DataFile(
        "bms/BMS2_spmf.txt.gz", "2ea6b5800f49d2bb60b5f72bbc8f1118daccea572ac3a77e4eb27fbfb15b4b2b"
    ),
    "breast-cancer-ljubljana": DataFile(
        "breast-cancer-ljubljana/breast-cancer.data",
        "ca7d3fa97b62ff967b6894ffbb3acaaf4a51062e0149e5950b3ad6f685970b65",
        f"{UCI}/breast-cancer/breast-cancer.data",
    ),
    "breast-cancer-wisconsin": DataFile(
        "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        "81add727690ddfdfffe60d06dfc915848ce8639c3cafc37b5b44604d334c444c",
        f"{UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
    ),
    "car": DataFile(
        "car/car.data", "b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83", f"{UCI}/car/car.data"
    ),
    "connect-4": DataFile(
        "connect-4/connect-4.data.gz", "063152e6eadbb424c7ef4645df76e493a43812edd9c992400983da4fa54f8cba"
    ),
    "nhis-2009": DataFile(
        "health-nhis-standins/nhis2009_mmdata.csv.gz",
        "a4a0a0616ae4a66e019e8a4c8e085b940f0322439f7a9158bc66c4270693029f",
    ),
    "nhis-large": DataFile(
        "health-nhis-standins/nhis_large_PracTools.csv.gz",
        "efca9d45620697ff69559451035537495e2db0aa240b2465129cfb824ef5d050",
    ),
    "diabetes": DataFile(
        "ldl-cholesterol/sklearn_diabetes_unscaled.csv",
        "d0b14a7a6a4015e4291e82705a7dd34906afb0b87bf5f67037bf1ec2f51e663f",
    ),
    "ego-facebook": DataFile(
        "networks/facebook_combined.txt.gz", "f41c026ed8af3cc3359f1ca5573d0605fb09ae0eefa34544b820fd8c6e2ef296"
    ),
    "t10i4d100k": DataFile(
        "t10i4d100k/T10I4D100K.dat.gz",
        "464d7b87aa7fdc0dc432ddad0493515569b2968b0f229ce39399c454a8c62e0c",
        "http://fimi.uantwerpen.be/data/T10I4D100K.dat",
    ),
}


@cache
def _content(file: DataFile, folder: str | None) -> bytes:
    """Return the uncompressed bytes, checked."""
    path = Path(folder) / file.path if folder else None
    if path is not None and path.exists():
        stored = path.read_bytes()
        plain = gzip.decompress(stored) if path.suffix == ".gz" else stored
        if hashlib.sha256(plain).hexdigest() != file.sha256:
            raise SottovoceError(FOLDER, f"must hold the {file.path} that results are stated for", Words("other bytes"))
        return plain
    if file.source is None:
        given = Words(f"a folder without it: {folder}" if folder else "no folder")
        raise SottovoceError(FOLDER, f"must name a folder that holds {file.path}", given)
    return _download(file).read_bytes()


def _download(file: DataFile) -> Path:
    """Return the path of the file in the user's cache, downloaded once."""
    check_installed(f"downloading {file.path} (or set {FOLDER})", "data", "pooch")
    import pooch

    name = file.path.replace("/", "-").removesuffix(".gz")
    try:
        path = pooch.retrieve(file.source, f"sha256:{file.sha256}", fname=name, path=pooch.os_cache("sottovoce"))
    except (OSError, ValueError) as error:  # of the network, or of the hash
        received = "nothing" if isinstance(error, OSError) else "other bytes"
        rule = f"must name a folder that holds {file.path} where it cannot be downloaded"
        raise SottovoceError(FOLDER, rule, Words(f"{received} from {file.source}")) from None
    return Path(path)
