"""A DDS client of another vendor (Eclipse Cyclone DDS), which knows nothing of ROS: reads topics, pushes, prints JSON.

Usage: cyclone_client.py DOMAIN
"""

import json
import os
import sys
import time
from dataclasses import dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float64, int32, sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

CONFIG = """<CycloneDDS><Domain id="any">
<General><Interfaces><NetworkInterface name="lo" multicast="true"/></Interfaces>
<AllowMulticast>spdp</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>"""
DEADLINE = 60  # [s]


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Vector3(IdlStruct, typename="geometry_msgs::msg::dds_::Vector3_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Point(IdlStruct, typename="geometry_msgs::msg::dds_::Point_"):
    x: float64
    y: float64
    z: float64


@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs::msg::dds_::Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64


@dataclass
class Transform(IdlStruct, typename="geometry_msgs::msg::dds_::Transform_"):
    translation: Vector3
    rotation: Quaternion


@dataclass
class TransformStamped(IdlStruct, typename="geometry_msgs::msg::dds_::TransformStamped_"):
    header: Header
    child_frame_id: str
    transform: Transform


@dataclass
class TFMessage(IdlStruct, typename="tf2_msgs::msg::dds_::TFMessage_"):
    transforms: sequence[TransformStamped]


@dataclass
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@dataclass
class Pose(IdlStruct, typename="geometry_msgs::msg::dds_::Pose_"):
    position: Point
    orientation: Quaternion


@dataclass
class PoseWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::PoseWithCovariance_"):
    pose: Pose
    covariance: array[float64, 36]


@dataclass
class Twist(IdlStruct, typename="geometry_msgs::msg::dds_::Twist_"):
    linear: Vector3
    angular: Vector3


@dataclass
class TwistWithCovariance(IdlStruct, typename="geometry_msgs::msg::dds_::TwistWithCovariance_"):
    twist: Twist
    covariance: array[float64, 36]


@dataclass
class Odometry(IdlStruct, typename="nav_msgs::msg::dds_::Odometry_"):
    header: Header
    child_frame_id: str
    pose: PoseWithCovariance
    twist: TwistWithCovariance


@dataclass
class Wrench(IdlStruct, typename="geometry_msgs::msg::dds_::Wrench_"):
    force: Vector3
    torque: Vector3


@dataclass
class WrenchStamped(IdlStruct, typename="geometry_msgs::msg::dds_::WrenchStamped_"):
    header: Header
    wrench: Wrench


@dataclass
class TriggerRequest(IdlStruct, typename="std_srvs::srv::dds_::Trigger_Request_"):
    structure_needs_at_least_one_member: uint8


@dataclass
class TriggerResponse(IdlStruct, typename="std_srvs::srv::dds_::Trigger_Response_"):
    success: bool
    message: str


def stamp(header: Header) -> int:
    return header.stamp.sec * 1_000_000_000 + header.stamp.nanosec


def until(condition, what: str):
    end = time.monotonic() + DEADLINE
    while not (result := condition()):
        if time.monotonic() > end:
            sys.exit(f"no {what}")
        time.sleep(0.01)
    return result


def main() -> None:
    os.environ["CYCLONEDDS_URI"] = CONFIG
    participant = DomainParticipant(int(sys.argv[1]))
    qos = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(100))
    kinds = {"joint_states": JointState, "odom": Odometry, "tf": TFMessage}
    readers = {
        name: DataReader(participant, Topic(participant, f"rt/{name}", kind), qos=qos) for name, kind in kinds.items()
    }
    writer = DataWriter(participant, Topic(participant, "rt/wrench/cubesat", WrenchStamped), qos=qos)
    seen: dict = {name: until(lambda r=reader: r.take(N=100), name)[-1] for name, reader in readers.items()}
    (transform,) = seen["tf"].transforms
    joints, odom = seen["joint_states"], seen["odom"]
    q, r = transform.transform.rotation, odom.pose.pose.orientation
    told = {
        "joint_states": [stamp(joints.header), joints.name, joints.position],
        "tf": [stamp(transform.header), transform.header.frame_id, transform.child_frame_id, [q.w, q.x, q.y, q.z]],
        "odom": [stamp(odom.header), odom.header.frame_id, odom.child_frame_id, [r.w, r.x, r.y, r.z]],
    }
    until(lambda: writer.get_matched_subscriptions(), "reader of the wrench")
    header = Header(Time(0, 0), "world")
    writer.write(WrenchStamped(header, Wrench(Vector3(0.0, 3.0, 0.0), Vector3(0.0, 0.0, 0.0))))

    def moved():
        return [m for m in readers["odom"].take(N=100) if m.pose.pose.position.y > 0]

    told["moved"] = stamp(until(moved, "motion after the push")[0].header)

    # a client that asks before it hears, as any does while it is being discovered
    asks = DataWriter(participant, Topic(participant, "rq/rbt_simulator/resetRequest", TriggerRequest), qos=qos)
    until(lambda: asks.get_matched_subscriptions(), "service")
    asks.write(TriggerRequest(0))
    until(lambda: [m for m in readers["odom"].take(N=100) if m.pose.pose.position.y == 0], "reset")
    hears = DataReader(participant, Topic(participant, "rr/rbt_simulator/resetReply", TriggerResponse), qos=qos)
    told["answer"] = until(lambda: hears.take(), "answer")[0].message
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
