"""Small modules and functions, and inputs, that cases are made of."""

import torch
from torch import nn


class Called(nn.Module):
    """A module of one expression."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class First(nn.Module):
    """The first output of a module."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, *inputs):
        return self.inner(*inputs)[0]


class Remembers(nn.Module):
    """A hidden state that every call changes, and a nested answer."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(12, 5)
        self.hidden = torch.linspace(0, 1, 10).reshape(2, 5)
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        self.hidden = torch.tanh(self.inner(torch.cat([x, self.hidden], 1)))
        self.calls += 1
        return self.hidden * 2, (self.hidden, [x + 1])


def raised(x):
    x += 1
    return x * 2


def replaced(x):
    x = x.clone()
    x[:, 0] = 3
    x[:, 1:3] = x[:, 3:5] * 2
    x[:, 1::3] = x[:, :3] + 1
    return x


def masked(x, mask, row):
    x = x.clone()
    x[mask] = 0.5
    x[:, row > 0] = -1.0
    return x


def collected(x):
    out = torch.empty(2, 3)
    for row in range(2):
        out[row] = x[row] * 2
    return out


class Plain(nn.Module):
    """A tensor kept as a plain attribute, and one that the state leaves out."""

    def __init__(self):
        super().__init__()
        self.shift = torch.linspace(0, 1, 7)
        self.register_buffer("scale", torch.linspace(1, 2, 7), persistent=False)

    def forward(self, x):
        return x * self.scale + self.shift


class Named(nn.Module):
    """A parameter with the name of an operation, and a buffer with that of the input."""

    def __init__(self):
        super().__init__()
        self.exp = nn.Parameter(torch.zeros(5))
        self.register_buffer("x", torch.linspace(0, 1, 5))

    def forward(self, x):
        return x.exp() * self.exp + self.x


class Shared(nn.Module):
    """A parameter without dimensions."""

    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x, y):
        return self.alpha * x + (1 - self.alpha) * y


def values(*shape):
    return torch.randn(*shape)


def places(below, *shape):
    return torch.randint(0, below, shape)
