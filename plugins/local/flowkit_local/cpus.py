"""How many processors this process may really use: affinity and container limits count, not what the machine has.

available_cpus()     # 2 in a container that was given two of 64
"""

import math
import os
from pathlib import Path

__all__ = ["available_cpus"]

_ROOT = Path("/sys/fs/cgroup")


def available_cpus() -> int:
    """At least 1. Read anew each time, since a container's limit may change while it runs."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity call
        allowed = os.cpu_count() or 1
    quota = _cgroup_quota(_ROOT, Path("/proc/self/cgroup"))
    return max(1, min(allowed, math.ceil(quota)) if quota else allowed)


def _cgroup_quota(root: Path, membership: Path) -> float | None:
    """Processors' worth of time per period, the tightest limit on the way up; None without a limit."""
    limits: list[float] = []
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            folder = root / path.lstrip("/")
            for level in (folder, *folder.parents):
                limits += _v2_limit(level / "cpu.max")
                if level == root:
                    break
        elif "cpu" in controllers.split(","):
            for mount in (root / controllers, root / "cpu"):
                limits += _v1_limit(mount / path.lstrip("/")) or _v1_limit(mount)
    return min(limits, default=None)


def _v2_limit(file: Path) -> list[float]:
    """`cpu.max` holds "quota period" or "max period", in microseconds."""
    quota, _, period = _read(file).partition(" ")
    return [int(quota) / int(period)] if quota.isdigit() and period.isdigit() and int(period) else []


def _v1_limit(folder: Path) -> list[float]:
    quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
    return [int(quota) / int(period)] if quota.isdigit() and period.isdigit() and int(period) else []


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
