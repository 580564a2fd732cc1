"""What tests of launch files share."""

import pytest
from support.process import ROOT, executable


@pytest.fixture
def environment(domain, tmp_path):
    """This domain, with the programs that were built in an ament prefix."""
    prefix = tmp_path / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages").mkdir(parents=True)
    (prefix / "share/ament_index/resource_index/packages/karakuri").touch()
    (prefix / "lib/karakuri").symlink_to(executable("karakuri").parent)
    (prefix / "share/karakuri").symlink_to(ROOT)
    environment = domain.environment()
    environment["AMENT_PREFIX_PATH"] = f"{prefix}:{environment.get('AMENT_PREFIX_PATH', '')}"
    environment["ROS_LOG_DIR"] = str(tmp_path / "log")
    environment["KARAKURI_TEST"] = str(tmp_path)
    return environment
