"""How many processors a process may use, with the files that Linux tells limits in."""

import os
from pathlib import Path

import pytest

from flowkit_local.cpus import _cgroup_quota, available_cpus


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_the_tightest_limit_above_the_process_counts(tmp_path: Path):
    root = tmp_path / "cgroup"
    write(root / "pod" / "box", cpu__max="max 100000\n")
    write(root / "pod", cpu__max="150000 100000\n")
    write(root, cpu__max="400000 100000\n")
    (tmp_path / "self").write_text("0::/pod/box\n")

    assert _cgroup_quota(root, tmp_path / "self") == 1.5


def test_limits_of_the_older_kind_count(tmp_path: Path):
    root = tmp_path / "cgroup"
    write(root / "cpu,cpuacct" / "box", cpu__cfs_quota_us="50000\n", cpu__cfs_period_us="100000\n")
    (tmp_path / "self").write_text("5:memory:/box\n4:cpu,cpuacct:/box\n")

    assert _cgroup_quota(root, tmp_path / "self") == 0.5


@pytest.mark.parametrize("membership", ["", "0::/\n", "4:cpu:/box\n"])
def test_without_a_limit_there_is_none(tmp_path: Path, membership: str):
    root = tmp_path / "cgroup"
    write(root, cpu__max="max 100000\n")
    write(root / "cpu" / "box", cpu__cfs_quota_us="-1\n", cpu__cfs_period_us="100000\n")
    (tmp_path / "self").write_text(membership)

    assert _cgroup_quota(root, tmp_path / "self") is None
    assert _cgroup_quota(root, tmp_path / "absent") is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity call")
def test_affinity_counts():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert available_cpus() == 1
    finally:
        os.sched_setaffinity(0, before)
