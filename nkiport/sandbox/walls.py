"""The walls around a child: raised in the child itself, before anything of the candidate runs.

Only the standard library, and only what is needed: this runs in every child. The constants are
those of ``linux/sched.h``, ``linux/mount.h``, ``linux/prctl.h`` and ``linux/capability.h``.
"""

import ctypes
import os
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS = 0x40000000, 0x08000000, 0x04000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
CAPABILITY_VERSION_3 = 0x20080522
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SIGKILL = 9
NOBODY = 65534

SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/dev/null",
          "/dev/urandom", "/dev/zero", "/proc/cpuinfo", "/sys/devices/system/cpu")  # fmt: skip
"""What any Python needs of the host, if it is there; torch asks which processor it is on before it
computes in float16. Nothing else of /proc and /sys, no /home, no /etc/passwd."""


class Libc:
    """The few system calls that Python does not offer; a failure is an ``OSError``."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a libc function that returns 0 when it worked."""
        if getattr(self._c, name)(*arguments) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"{name}: {os.strerror(code)}")

    def mount(self, source: str, target: str, kind: str, flags: int, data: str = "") -> None:
        """Attach a file system, or change how one is attached."""
        texts = (each.encode() or None for each in (source, target, kind))
        self.call("mount", *texts, ctypes.c_ulong(flags), data.encode() or None)


def limit(request: dict[str, Any]) -> None:
    """Set the resource limits; they also hold for everything the child starts."""
    bounds = {
        resource.RLIMIT_CPU: request["cpu_seconds"],
        resource.RLIMIT_AS: request["memory_bytes"],
        resource.RLIMIT_FSIZE: request["file_bytes"],
        resource.RLIMIT_NPROC: request["processes"],
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
    }
    for which, wanted in bounds.items():
        _, hard = resource.getrlimit(which)
        bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (bound, bound))


def unshare(libc: Libc) -> tuple[str, ...]:
    """Leave the host's network, mounts, processes and IPC; () where the host forbids it."""
    flags = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID
    uid, gid = os.getuid(), os.getgid()
    try:
        libc.call("unshare", flags if uid == 0 else flags | CLONE_NEWUSER)
        if uid != 0:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    except OSError:
        return ()
    return ("network", "processes")


def confine(libc: Libc, scratch: Path, readable: Sequence[str]) -> tuple[str, ...]:
    """See nothing but ``readable`` (read-only) and the scratch folder, which becomes the cwd."""
    root = scratch / ".root"
    root.mkdir()
    try:
        libc.mount("", "/", "", MS_REC | MS_PRIVATE)
        libc.mount("tmpfs", str(root), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
        for path in outermost(readable):
            _show(libc, root, path, writable=False)
        _show(libc, root, str(scratch), writable=True)
        libc.mount("", str(root), "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
        os.chdir(root)
        libc.call("syscall", SYS_PIVOT_ROOT[os.uname().machine], b".", b".")
        libc.call("umount2", b".", MNT_DETACH)
        os.chdir(scratch)
    except (OSError, KeyError):
        return ()
    return ("files",)


def outermost(paths: Sequence[str]) -> list[str]:
    """The paths that exist and lie inside no other of them, links resolved by the kernel.

    >>> outermost(["/usr/lib", "/usr", "/nowhere"])
    ['/usr']
    """
    # Links stay links: the child must find the paths under the names it was given.
    there = sorted({os.path.abspath(path) for path in paths if Path(path).exists()})  # noqa: PTH100
    kept: list[str] = []
    for path in there:
        if not any(path == each or path.startswith(f"{each}/") for each in kept):
            kept.append(path)
    return kept


def _show(libc: Libc, root: Path, path: str, *, writable: bool) -> None:
    inside = root / path.lstrip("/")
    if Path(path).is_dir():
        inside.mkdir(parents=True, exist_ok=True)
    else:
        inside.parent.mkdir(parents=True, exist_ok=True)
        inside.touch()
    libc.mount(path, str(inside), "", MS_BIND | MS_REC)
    if writable:
        return
    # A user namespace may only add to the flags that the mount already has.
    locked = os.statvfs(path).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
    keep_devices = 0 if path.startswith("/dev/") else MS_NODEV
    libc.mount("", str(inside), "", MS_REMOUNT | MS_BIND | MS_RDONLY | locked | keep_devices)


def drop(libc: Libc) -> tuple[str, ...]:
    """Become nobody for good, if root; lose every capability; gain none from a file."""
    walls: tuple[str, ...] = ()
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
        walls = ("user",)
    libc.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    libc.call("capset", header, (ctypes.c_uint32 * 6)())
    libc.call("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    return (*walls, "privileges")


def readable_by_nobody(paths: Sequence[str]) -> bool:
    """Whether every folder on the way to the paths may be entered by anybody."""
    folders = {each for path in paths for each in (Path(path), *Path(path).parents)}
    return all(each.stat().st_mode & 0o001 for each in folders if each.is_dir())
