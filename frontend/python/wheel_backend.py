"""Makes the Python package for pip (PEP 517), with the standard library alone, so that `pip install .` needs no network.

A wheel is a zip file: the module, and three files that describe it. The version is that of frontend/mfc.h."""
import base64
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
DATE = (2020, 1, 1, 0, 0, 0)  # the same bytes from the same files


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


def version():
    numbers = dict(re.findall(r"^#define MFC_VERSION_(MAJOR|MINOR|PATCH) (\d+)$", read("frontend", "mfc.h"), re.M))
    return ".".join(numbers[part] for part in ("MAJOR", "MINOR", "PATCH"))


def metadata():
    return (f"Metadata-Version: 2.1\nName: mfc\nVersion: {version()}\n"
            "Summary: Turns ONNX models into training steps that fit a memory budget\n"
            "License: MIT\nRequires-Python: >=3.9\n")


def files():
    """Path in the package, and content, of everything in it."""
    folder = os.path.join(HERE, "mfc")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            yield f"mfc/{name}", read("frontend", "python", "mfc", name)
    info = f"mfc-{version()}.dist-info"
    yield f"{info}/METADATA", metadata()
    yield f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: wheel_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    yield f"{info}/LICENSE", read("LICENSE")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Called by pip: writes the wheel and returns its name."""
    name = f"mfc-{version()}-py3-none-any.whl"
    records = []
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(path, data):
            entry = zipfile.ZipInfo(path, DATE)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)

        for path, text in files():
            data = text.encode()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(data)}")
            add(path, data)
        record = f"mfc-{version()}.dist-info/RECORD"
        add(record, "\n".join([*records, f"{record},,", ""]).encode())
    return name


def build_sdist(sdist_directory, config_settings=None):
    """Called by `python -m build`; a source package would need libmfc's sources, too."""
    raise NotImplementedError("there is no source package; install from the source tree with pip install .")
