"""Values that are no arrays of numbers: strings, sequences, optionals and maps.

In: objects that programs hold, and the type of an input as Collage writes it ("str[2]", "seq(f32[?])", "opt(...)",
"map(i64,f32[])"). Out: JSON for the extension module; and from its JSON objects again.
A tensor of strings is a NumPy array of objects, a sequence a list, an optional its value or None, a map a dict.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .errors import BadInputError, UnsupportedError

if TYPE_CHECKING:
    import numpy

# Collage's names of element types that JSON carries, and NumPy's.
NUMBERS = {
    "f32": "float32",
    "f64": "float64",
    "f16": "float16",
    "bool": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
}


def encode(value: Any, type_text: str, where: str) -> tuple[str, tuple[int, ...]]:
    """JSON of the value, and its shape if it is a tensor."""
    shape = strings_of(value, where).shape if type_text.startswith("str[") else ()
    return json.dumps(_plain(value, type_text, where), ensure_ascii=False, allow_nan=False), shape


def decode(text: str, type_text: str) -> Any:
    """The value that this JSON means."""
    return _object(json.loads(text), type_text)


def strings(texts: list[str], shape: tuple[int, ...]) -> numpy.ndarray:
    """An array of objects with these strings, row-major."""
    import numpy as np

    made = np.empty(len(texts), object)
    made[:] = texts
    return made.reshape(shape)


def strings_of(value: Any, where: str) -> numpy.ndarray:
    """An array of objects, each a str."""
    import numpy as np

    # A list may mix str and bytes, which NumPy would join to one type.
    found = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=object)
    if found.dtype.kind not in "OUST" and found.size > 0:
        raise BadInputError("api/wrong-type", where, f"an array of {found.dtype}", "strings")
    flat = np.empty(found.size, object)
    flat[:] = [_text(one, where) for one in found.reshape(-1).tolist()]
    return flat.reshape(found.shape)


def _text(one: Any, where: str) -> str:
    if isinstance(one, str):
        text = one
    elif isinstance(one, bytes):
        try:
            text = one.decode("utf-8")
        except UnicodeDecodeError:
            raise BadInputError("input/not-utf8", where, "bytes that are no text", "text in UTF-8") from None
    else:
        raise BadInputError("api/wrong-type", where, f"an object of type {type(one).__name__}", "strings")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInputError("input/not-utf8", where, "a lone surrogate", "text that UTF-8 has") from None
    return text


def _inner(type_text: str) -> str:
    return type_text[type_text.index("(") + 1 : -1]


def _map_types(type_text: str) -> tuple[str, str]:
    key, inner = _inner(type_text).split(",", 1)
    return key, inner


def _element(type_text: str, where: str) -> str:
    name = type_text[: type_text.index("[")] if "[" in type_text else type_text
    if name not in NUMBERS:
        raise UnsupportedError("api/no-bytes", where, type_text, "elements that JSON carries")
    return NUMBERS[name]


def _plain(value: Any, type_text: str, where: str) -> Any:
    if type_text.startswith("seq("):
        if not isinstance(value, (list, tuple)):
            raise BadInputError("api/wrong-type", where, f"an object of type {type(value).__name__}", f"a list, for {type_text}")
        return [_plain(one, _inner(type_text), f"{where}, item {i}") for i, one in enumerate(value)]
    if type_text.startswith("opt("):
        return None if value is None else _plain(value, _inner(type_text), where)
    if type_text.startswith("map("):
        if not isinstance(value, dict):
            raise BadInputError("api/wrong-type", where, f"an object of type {type(value).__name__}", f"a dict, for {type_text}")
        inner = _map_types(type_text)[1]
        return {str(key): _plain(one, inner, f"{where}, key {key}") for key, one in value.items()}
    if type_text.startswith("str["):
        return strings_of(value, where).tolist()
    return _numbers(value, type_text, where)


def _numbers(value: Any, type_text: str, where: str) -> Any:
    import numpy as np

    wanted = np.dtype(_element(type_text, where))
    found = np.asarray(value)
    is_array = isinstance(value, (np.ndarray, np.generic))
    if is_array and found.dtype != wanted:
        raise BadInputError("api/wrong-type", where, f"an array of {found.dtype}", f"an array of {wanted}")
    if found.dtype.kind not in "biuf":
        raise BadInputError("api/wrong-type", where, f"an array of {found.dtype}", f"an array of {wanted}")
    if found.dtype.kind != "f" or np.isfinite(found).all():
        return found.tolist()
    return _with_odd(found.tolist())


def _with_odd(numbers: Any) -> Any:
    """Numbers that JSON lacks by the names that Collage gives them."""
    if isinstance(numbers, list):
        return [_with_odd(one) for one in numbers]
    if numbers != numbers:
        return "nan"
    return numbers if abs(numbers) != float("inf") else "inf" if numbers > 0 else "-inf"


def _object(value: Any, type_text: str) -> Any:
    import numpy as np

    if type_text.startswith("seq("):
        return [_object(one, _inner(type_text)) for one in value]
    if type_text.startswith("opt("):
        return None if value is None else _object(value, _inner(type_text))
    if type_text.startswith("map("):
        key, inner = _map_types(type_text)
        made = {name if key == "str" else int(name): _object(one, inner) for name, one in value.items()}
        return {name: one.item() if getattr(one, "shape", None) == () else one for name, one in made.items()}
    if type_text.startswith("str["):
        return np.array(value, object)
    return np.array(value, _element(type_text, "output"))
