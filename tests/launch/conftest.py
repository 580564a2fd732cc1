"""What tests of launch files share."""

import pytest
from support.process import ROOT, executable


def installed(domain, folder):
    """The environment of this domain, with the programs that were built in an ament prefix in the folder."""
    prefix = folder / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages/karakuri").touch()
    (prefix / "lib/karakuri").symlink_to(executable("karakuri").parent)
    (prefix / "share/karakuri").symlink_to(ROOT)
    environment = domain.environment()
    environment["AMENT_PREFIX_PATH"] = f"{prefix}:{environment.get('AMENT_PREFIX_PATH', '')}"
    environment["ROS_LOG_DIR"] = str(folder / "log")
    environment["KARAKURI_TEST"] = str(folder)
    return environment


@pytest.fixture
def environment(domain, tmp_path):
    return installed(domain, tmp_path)


@pytest.fixture(scope="module")
def shared_environment(domain, tmp_path_factory):
    """One for all tests of a module."""
    return installed(domain, tmp_path_factory.mktemp("shared"))
