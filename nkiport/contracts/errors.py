"""Trouble, as a tree. Domain outcomes ("does not compile", "numbers differ") are data, not errors.

NkiportError
├── Rejected                what was asked cannot be done; trying again cannot help
│   ├── BadRequest          the request itself is wrong (every finding at once)
│   ├── BadSource           the uploaded or fetched source cannot be used
│   ├── SourceTooLarge      the source passes a size limit
│   ├── NotFound            no such job, kernel, gate or artifact
│   ├── Conflict            the thing was already decided, or changed meanwhile
│   ├── StaleLink           a mail link that is expired, forged or already used
│   ├── Sealed              a caller named a reference, shape or tolerance after the gate sealed it
│   ├── UnsafePath          a path that leaves the tree, is a link, absolute or protected
│   ├── UnsupportedGraph    no lowering rule covers the graph
│   ├── CaptureFailed       the reference cannot be captured, with the reason
│   └── SpendCapReached     the next billed call would pass the cap
└── Retryable               trying the same again may help
    ├── StoreBusy           the table or bucket throttled or lost a race
    ├── ModelBusy           the model throttled, or the answer was cut
    ├── DeviceBusy          no device was free
    ├── DeviceLost          the worker or its child died
    └── DeliveryFailed      the forge did not take the delivery

The class name is the wire name: Lambda reports it, ``SendTaskFailure`` sends it, and the state
machine's retry lists are derived from this file.
"""


class NkiportError(Exception):
    """The root; never raised itself."""


class Rejected(NkiportError):
    """What was asked cannot be done, and trying again cannot help."""


class BadRequest(Rejected):
    """The request is wrong; the message holds every finding."""


class BadSource(Rejected):
    """The uploaded or fetched source cannot be used."""


class SourceTooLarge(Rejected):
    """The source passes a size limit."""


class NotFound(Rejected):
    """No such job, kernel, gate or artifact."""


class Conflict(Rejected):
    """The thing was already decided, or changed meanwhile."""


class StaleLink(Rejected):
    """A mail link that is expired, forged or already used."""


class Sealed(Rejected):
    """A caller named a reference, a shape or a tolerance after the gate sealed it."""


class UnsafePath(Rejected):
    """A path that leaves the tree, is a link, is absolute or is protected."""


class UnsupportedGraph(Rejected):
    """No lowering rule covers the graph."""


class CaptureFailed(Rejected):
    """The reference cannot be captured; the message says why and what to do."""


class SpendCapReached(Rejected):
    """The next billed call would pass the cap."""


class Retryable(NkiportError):
    """Trying the same again may help."""


class StoreBusy(Retryable):
    """The table or the bucket throttled, or a conditional write lost a race."""


class ModelBusy(Retryable):
    """The model throttled, or its answer was cut."""


class DeviceBusy(Retryable):
    """No device was free in time."""


class DeviceLost(Retryable):
    """The worker, or the child that ran the candidate, died."""


class DeliveryFailed(Retryable):
    """The forge or the repository did not take the delivery."""


def wire_names(family: type[NkiportError]) -> list[str]:
    """The names of a family's leaves, sorted: what a ``Retry`` or ``Catch`` lists.

    >>> wire_names(Retryable)
    ['DeliveryFailed', 'DeviceBusy', 'DeviceLost', 'ModelBusy', 'StoreBusy']
    """
    children = family.__subclasses__()
    if not children:
        return [family.__name__]
    return sorted(name for child in children for name in wire_names(child))
