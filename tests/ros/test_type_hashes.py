"""Messages speak to other people's nodes only if their type hashes (RIHS01) equal upstream's.

The expected values are the first 16 hexadecimal digits of the hashes that the original packages have on ROS 2 Jazzy:
common_interfaces 5.3.6, rcl_interfaces 2.0.3, geometry2 0.36, control_msgs 5.8.0, simulation_interfaces 1.5.1,
moveit_msgs 2.6.0, object_recognition_msgs 2.0.0, octomap_msgs 2.0.0.
"""

import json
import os
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory

UPSTREAM = {
    "control_msgs/action/FollowJointTrajectory": "738ebcb7a2d7cfa4",
    "control_msgs/action/GripperCommand": "e17c0e644eccf14b",
    "control_msgs/action/ParallelGripperCommand": "adfd3c1ebe8abc38",
    "control_msgs/msg/JointTolerance": "c254f9cece0f3b73",
    "control_msgs/msg/JointTrajectoryControllerState": "51d8dd89cc624cbe",
    "control_msgs/msg/SpeedScalingFactor": "0c240f349f2b74e3",
    "control_msgs/srv/QueryTrajectoryState": "4a0935dffef18bc5",
    "diagnostic_msgs/msg/DiagnosticArray": "5a8a36efb05fb250",
    "geometry_msgs/msg/PointStamped": "4c0296af86e01e56",
    "geometry_msgs/msg/PolygonStamped": "b7cf07932f1523d4",
    "geometry_msgs/msg/TransformStamped": "0a241f87d04668d9",
    "geometry_msgs/msg/WrenchStamped": "8dc3deaf06b2ab28",
    "moveit_msgs/msg/AttachedCollisionObject": "7fdfe7951a33a857",
    "moveit_msgs/msg/CollisionObject": "74b0acd6d56be032",
    "moveit_msgs/msg/PlanningScene": "0f58540ad5eab4b9",
    "moveit_msgs/srv/ApplyPlanningScene": "8e6134783db0987c",
    "nav_msgs/msg/Odometry": "3cc97dc7fb7502f8",
    "nav_msgs/msg/Path": "1957a5bb3cee5da6",
    "object_recognition_msgs/msg/ObjectType": "5eb3ee3976403366",
    "octomap_msgs/msg/OctomapWithPose": "e65f8760aa96a2ac",
    "rcl_interfaces/msg/Log": "e28ce254ca8abc06",
    "rcl_interfaces/msg/ParameterEvent": "043e627780fcad87",
    "rosgraph_msgs/msg/Clock": "692f7a66e93a3c83",
    "sensor_msgs/msg/Imu": "7d9a00ff13108089",
    "sensor_msgs/msg/JointState": "a13ee3a330e346c9",
    "simulation_interfaces/action/SimulateSteps": "f0837c898e1219cd",
    "simulation_interfaces/srv/DeleteEntity": "ff7e96a5b83dc8e2",
    "simulation_interfaces/srv/GetEntities": "cb90004c48cd50f3",
    "simulation_interfaces/srv/GetEntityState": "749c91f2a2353d98",
    "simulation_interfaces/srv/GetSimulationState": "3362dcebee4b1afe",
    "simulation_interfaces/srv/GetSimulatorFeatures": "abb9439c8cf19672",
    "simulation_interfaces/srv/ResetSimulation": "4ce285d7ff9b8ac7",
    "simulation_interfaces/srv/SetEntityState": "ca210e7d2b66629a",
    "simulation_interfaces/srv/SetSimulationState": "a868b916dce49974",
    "simulation_interfaces/srv/SpawnEntity": "d4c086345d4194a5",
    "simulation_interfaces/srv/StepSimulation": "913fe0653690ce6b",
    "std_msgs/msg/String": "df668c740482bbd4",
    "std_srvs/srv/SetBool": "abe9e4bb6b41b40e",
    "std_srvs/srv/Trigger": "eeff2cd6fa5ad9d2",
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52",
    "trajectory_msgs/msg/JointTrajectory": "179b33eba59d676f",
    "visualization_msgs/msg/Marker": "45b13ccf791f2259",
    "visualization_msgs/msg/MarkerArray": "86cb8800b6fb05b5",
}

OURS = Path(__file__).parents[2] / "packages/ros/karakuri_msgs"


def type_hash(interface: str) -> str:
    package, kind, name = interface.split("/")
    description = Path(get_package_share_directory(package)) / kind / f"{name}.json"
    hashes = json.loads(description.read_text())["type_hashes"]
    return next(entry["hash_string"] for entry in hashes if entry["type_name"] == interface)


@pytest.mark.parametrize("interface", UPSTREAM)
def test_hash_equals_upstream(interface: str) -> None:
    if os.environ["ROS_DISTRO"] != "jazzy":
        pytest.skip("the expected hashes are those of ROS 2 Jazzy")
    assert type_hash(interface).startswith("RIHS01_" + UPSTREAM[interface])


@pytest.mark.parametrize("source", sorted(OURS.glob("*/*.*")), ids=lambda path: path.name)
def test_our_interfaces_are_installed(source: Path) -> None:
    assert type_hash(f"karakuri_msgs/{source.parent.name}/{source.stem}").startswith("RIHS01_")
