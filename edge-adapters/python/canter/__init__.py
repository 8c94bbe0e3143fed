"""Search over immutable indexes in object storage.

>>> import canter
>>> index = canter.open("s3://bucket/logs")
>>> found = index.search("severity_text:ERROR", max_hits=5)
>>> found.num_hits, found.hits[0]["body"]
"""

from ._build import Publication, Receipt, build_split, create, publish
from ._canter import (
    CanterError,
    DataError,
    IndexNotFoundError,
    InternalError,
    InvalidRequestError,
    LimitError,
    UnavailableError,
)
from ._canter import VERSION as __version__
from ._index import Index, Part, open
from ._result import SearchResult

__all__ = [
    "CanterError",
    "DataError",
    "Index",
    "IndexNotFoundError",
    "InternalError",
    "InvalidRequestError",
    "LimitError",
    "Part",
    "Publication",
    "Receipt",
    "SearchResult",
    "UnavailableError",
    "__version__",
    "build_split",
    "create",
    "open",
    "publish",
]
