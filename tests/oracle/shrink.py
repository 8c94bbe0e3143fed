"""Makes a request that is answered wrongly smaller, as long as it still is."""

import copy

CLAUSES = {
    "match_all", "match_none", "bool", "constant_score", "dis_max", "boosting", "nested", "match", "match_phrase", "match_phrase_prefix",
    "match_bool_prefix", "multi_match", "term", "terms", "range", "exists", "prefix", "wildcard", "regexp", "fuzzy", "_said",
}
MAX_TRIES = 300

# Without these the answer has another form, which is no difference.
KEPT = {"keyed", "key", "size"}


def shrink(request, is_wrong):
    """The smallest request that was found; `is_wrong` asks."""
    tries = 0
    is_smaller = True
    while is_smaller and tries < MAX_TRIES:
        is_smaller = False
        for candidate in candidates(request):
            tries += 1
            if tries >= MAX_TRIES:
                break
            if holds(candidate, is_wrong):
                request, is_smaller = candidate, True
                break
    return request


def holds(candidate, is_wrong):
    """Whether a request is still answered wrongly; one that makes no sense is not."""
    try:
        return is_wrong(candidate)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, StopIteration):
        return False


def is_clause(value):
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in CLAUSES


def inner_clauses(value):
    """All clauses inside, the outer ones first."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if is_clause(inner):
            yield inner
        yield from inner_clauses(inner)


def places(value, path=()):
    """The paths of all objects and lists."""
    if isinstance(value, (dict, list)):
        yield path, value
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, path + (key,))


def changed(request, path, change):
    """A copy of a request with something changed at a path."""
    copied = copy.deepcopy(request)
    holder = {"root": copied}
    parent, key = holder, "root"
    for step in path:
        parent, key = parent[key], step
    parent[key] = change(parent[key])
    return holder["root"]


def candidates(request):
    """Requests with one thing less, those that lack much first."""
    for path, value in places(request):
        # What a query string says and what it means must stay the same thing.
        if "means" in path or "send" in path:
            continue
        if is_clause(value):
            for inner in inner_clauses(value):
                yield changed(request, path, lambda _, inner=inner: copy.deepcopy(inner))
        if isinstance(value, list):
            for place in range(len(value)):
                yield changed(request, path, lambda old, place=place: old[:place] + old[place + 1 :])
        if isinstance(value, dict) and "_said" not in value and len(value) > 1:
            for key in sorted(set(value) - KEPT):
                yield changed(request, path, lambda old, key=key: {name: item for name, item in old.items() if name != key})
