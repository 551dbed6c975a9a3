"""Interface definitions as facts: the fields of simulation_interfaces, and the type hashes that other nodes expect.

From github.com/ros-simulation/simulation_interfaces: 1.5.1 (Jazzy; the same types in Kilted's 1.6.1) and what 2.1.0
(Lyrical, Rolling) has otherwise. One definition per line, its own lines divided by semicolons.
"""

VERSION_1, VERSION_2 = "1.5.1", "2.1.0"

DEFINITIONS = {
    "msg/Bounds.msg": (
        "uint8 TYPE_EMPTY=0; uint8 TYPE_BOX=1; uint8 TYPE_CONVEX_HULL=2; uint8 TYPE_SPHERE=3; uint8 type; "
        "geometry_msgs/Vector3[] points"
    ),
    "msg/EntityCategory.msg": (
        "uint8 CATEGORY_OBJECT=0; uint8 CATEGORY_ROBOT=1; uint8 CATEGORY_HUMAN=2; uint8 CATEGORY_DYNAMIC_OBJECT=4; "
        "uint8 CATEGORY_STATIC_OBJECT=5; uint8 category"
    ),
    "msg/EntityFilters.msg": "string filter; EntityCategory[] categories; TagsFilter tags; Bounds bounds",
    "msg/EntityInfo.msg": "EntityCategory category; string description; string[] tags",
    "msg/EntityState.msg": (
        "std_msgs/Header header; geometry_msgs/Pose pose; geometry_msgs/Twist twist; geometry_msgs/Accel acceleration"
    ),
    "msg/NamedPose.msg": "string name; string description; string[] tags; geometry_msgs/Pose pose",
    "msg/Resource.msg": "string uri; string resource_string",
    "msg/Result.msg": (
        "uint8 RESULT_FEATURE_UNSUPPORTED=0; uint8 RESULT_OK=1; uint8 RESULT_NOT_FOUND=2; uint8 "
        "RESULT_INCORRECT_STATE=3; uint8 RESULT_OPERATION_FAILED=4; uint8 result; string error_message"
    ),
    "msg/SimulationState.msg": (
        "uint8 STATE_STOPPED=0; uint8 STATE_PLAYING=1; uint8 STATE_PAUSED=2; uint8 STATE_QUITTING=3; uint8 "
        "STATE_NO_WORLD=4; uint8 STATE_LOADING_WORLD=5; uint8 state"
    ),
    "msg/SimulatorFeatures.msg": (
        "uint8 SPAWNING=0; uint8 DELETING=1; uint8 NAMED_POSES=2; uint8 POSE_BOUNDS=3; uint8 ENTITY_TAGS=4; uint8 "
        "ENTITY_BOUNDS=5; uint8 ENTITY_BOUNDS_BOX=6; uint8 ENTITY_BOUNDS_CONVEX=7; uint8 ENTITY_CATEGORIES=8; "
        "uint8 SPAWNING_RESOURCE_STRING=9; uint8 ENTITY_STATE_GETTING=10; uint8 ENTITY_STATE_SETTING=11; uint8 "
        "ENTITY_INFO_GETTING=12; uint8 ENTITY_INFO_SETTING=13; uint8 SPAWNABLES=14; uint8 SIMULATION_RESET=20; "
        "uint8 SIMULATION_RESET_TIME=21; uint8 SIMULATION_RESET_STATE=22; uint8 SIMULATION_RESET_SPAWNED=23; uint8 "
        "SIMULATION_STATE_GETTING=24; uint8 SIMULATION_STATE_SETTING=25; uint8 SIMULATION_STATE_PAUSE=26; uint8 "
        "STEP_SIMULATION_SINGLE=31; uint8 STEP_SIMULATION_MULTIPLE=32; uint8 STEP_SIMULATION_ACTION=33; uint8 "
        "WORLD_LOADING=40; uint8 WORLD_RESOURCE_STRING=41; uint8 WORLD_TAGS=42; uint8 WORLD_UNLOADING=43; uint8 "
        "WORLD_INFO_GETTING=44; uint8 AVAILABLE_WORLDS=45; uint8 SPAWNING_ENTITIES=50; uint16[] features; string[] "
        "spawn_formats; string custom_info"
    ),
    "msg/SpawnEntity.msg": (
        "string name; bool allow_renaming; Resource entity_resource; string entity_namespace; "
        "geometry_msgs/PoseStamped initial_pose"
    ),
    "msg/SpawnResult.msg": (
        "uint8 NAME_NOT_UNIQUE=101; uint8 NAME_INVALID=102; uint8 UNSUPPORTED_FORMAT=103; uint8 NO_RESOURCE=104; "
        "uint8 NAMESPACE_INVALID=105; uint8 RESOURCE_PARSE_ERROR=106; uint8 MISSING_ASSETS=107; uint8 "
        "UNSUPPORTED_ASSETS=108; uint8 INVALID_POSE=109; Result result; string entity_name"
    ),
    "msg/Spawnable.msg": "string uri; string description; Bounds spawn_bounds",
    "msg/TagsFilter.msg": "string[] tags; uint8 FILTER_MODE_ANY=0; uint8 FILTER_MODE_ALL=1; uint8 filter_mode",
    "msg/WorldResource.msg": "string name; Resource world_resource; string description; string[] tags",
    "srv/DeleteEntity.srv": "string entity; ---; Result result",
    "srv/GetAvailableWorlds.srv": (
        "string[] additional_sources; TagsFilter filter; bool offline_only; bool continue_on_error; ---; uint8 "
        "DEFAULT_SOURCES_FAILED=101; Result result; WorldResource[] worlds"
    ),
    "srv/GetCurrentWorld.srv": "---; uint8 NO_WORLD_LOADED=101; Result result; WorldResource world",
    "srv/GetEntities.srv": "EntityFilters filters; ---; Result result; string[] entities",
    "srv/GetEntitiesStates.srv": "EntityFilters filters; ---; Result result; string[] entities; EntityState[] states",
    "srv/GetEntityBounds.srv": "string entity; ---; Result result; Bounds bounds",
    "srv/GetEntityInfo.srv": "string entity; ---; Result result; EntityInfo info",
    "srv/GetEntityState.srv": "string entity; ---; Result result; EntityState state",
    "srv/GetNamedPoseBounds.srv": "string name; ---; Result result; Bounds bounds",
    "srv/GetNamedPoses.srv": "TagsFilter tags; ---; Result result; NamedPose[] poses",
    "srv/GetSimulationState.srv": "---; SimulationState state; Result result",
    "srv/GetSimulatorFeatures.srv": "---; SimulatorFeatures features",
    "srv/GetSpawnables.srv": "string[] sources; ---; Result result; Spawnable[] spawnables",
    "srv/LoadWorld.srv": (
        "string uri; string resource_string; bool fail_on_unsupported_element; bool "
        "ignore_missing_or_unsupported_assets; ---; uint8 UNSUPPORTED_FORMAT=101; uint8 NO_RESOURCE=102; uint8 "
        "RESOURCE_PARSE_ERROR=103; uint8 MISSING_ASSETS=104; uint8 UNSUPPORTED_ASSETS=105; uint8 "
        "UNSUPPORTED_ELEMENTS=106; Result result; WorldResource world"
    ),
    "srv/ResetSimulation.srv": (
        "uint8 SCOPE_DEFAULT=0; uint8 SCOPE_TIME=1; uint8 SCOPE_STATE=2; uint8 SCOPE_SPAWNED=4; uint8 "
        "SCOPE_ALL=255; uint8 scope; ---; Result result"
    ),
    "srv/SetEntityInfo.srv": "string entity; EntityInfo info; ---; Result result",
    "srv/SetEntityState.srv": "string entity; EntityState state; ---; uint8 INVALID_POSE=101; Result result",
    "srv/SetSimulationState.srv": (
        "SimulationState state; ---; uint8 ALREADY_IN_TARGET_STATE=101; uint8 STATE_TRANSITION_ERROR=102; uint8 "
        "INCORRECT_TRANSITION=103; Result result"
    ),
    "srv/SpawnEntities.srv": (
        "SpawnEntity[] spawn_requests; ---; uint8 ENTITIES_SPAWN_FAILED=150; Result result; SpawnResult[] results"
    ),
    "srv/SpawnEntity.srv": (
        "string name; bool allow_renaming; string uri; string resource_string; string entity_namespace; "
        "geometry_msgs/PoseStamped initial_pose; ---; uint8 NAME_NOT_UNIQUE=101; uint8 NAME_INVALID=102; uint8 "
        "UNSUPPORTED_FORMAT=103; uint8 NO_RESOURCE=104; uint8 NAMESPACE_INVALID=105; uint8 "
        "RESOURCE_PARSE_ERROR=106; uint8 MISSING_ASSETS=107; uint8 UNSUPPORTED_ASSETS=108; uint8 INVALID_POSE=109; "
        "Result result; string entity_name"
    ),
    "srv/StepSimulation.srv": "uint64 steps 1; ---; Result result",
    "srv/UnloadWorld.srv": "---; uint8 NO_WORLD_LOADED=101; Result result",
    "action/SimulateSteps.action": (
        "uint64 steps; ---; Result result; ---; uint64 completed_steps; uint64 remaining_steps"
    ),
}

CHANGED_IN_2 = {
    "msg/Spawnable.msg": "Resource entity_resource; string description; Bounds spawn_bounds",
    "srv/LoadWorld.srv": (
        "Resource world_resource; bool fail_on_unsupported_element; bool ignore_missing_or_unsupported_assets; "
        "---; uint8 UNSUPPORTED_FORMAT=101; uint8 NO_RESOURCE=102; uint8 RESOURCE_PARSE_ERROR=103; uint8 "
        "MISSING_ASSETS=104; uint8 UNSUPPORTED_ASSETS=105; uint8 UNSUPPORTED_ELEMENTS=106; Result result; "
        "WorldResource world"
    ),
    "srv/SetEntityState.srv": (
        "string entity; EntityState state; bool set_pose; bool set_twist; bool set_acceleration; ---; uint8 "
        "INVALID_POSE=101; Result result"
    ),
    "srv/SpawnEntity.srv": (
        "string name; bool allow_renaming; Resource entity_resource; string entity_namespace; "
        "geometry_msgs/PoseStamped initial_pose; ---; uint8 NAME_NOT_UNIQUE=101; uint8 NAME_INVALID=102; uint8 "
        "UNSUPPORTED_FORMAT=103; uint8 NO_RESOURCE=104; uint8 NAMESPACE_INVALID=105; uint8 "
        "RESOURCE_PARSE_ERROR=106; uint8 MISSING_ASSETS=107; uint8 UNSUPPORTED_ASSETS=108; uint8 INVALID_POSE=109; "
        "Result result; string entity_name"
    ),
}

HASHES = {  # RIHS01, SHA-256 (REP 2011)
    "msg/Bounds": "e8624fe51f0f5548197542697d924c5699ac7198f1e4c68e50c3ca2af73f5b3f",
    "msg/EntityCategory": "43bdf7933fddf75f6970f7a8fe7078524355d821d390b3954bb46ac36c03dfe1",
    "msg/EntityFilters": "8e7b12e8ea062f14c55de4877221fe1b7cd9749665a7ad8a4ab855fc4b148303",
    "msg/EntityInfo": "3b9a2e7fa00f9a59d325b6e47904044c421561a385682027c7fc06c359806319",
    "msg/EntityState": "2e0464a85eb80a939025075d6c20761eca6a4cb9d6baf2c0ba373467c8b598d0",
    "msg/NamedPose": "b32da2a039b1840f605ec025b7991a18efacac662fac272818d1ae6e2b12bc27",
    "msg/Resource": "2bb1939cf80f8d2f284afba53cbec60b5ff33759bd39b714128ea8867a34c51a",
    "msg/Result": "cf43a306adff3337a0a47143d8f5689933bc70a30478f13b077dc1fe3bc5ad17",
    "msg/SimulationState": "bb9f87ccdd98fba113052a512d9801e84ce732d0a2b3c2b0cb281828de36e415",
    "msg/SimulatorFeatures": "8b101c8529bc0ea3dcf056078254768f39832b9ef0adaf93bd5cea96c0de3305",
    "msg/SpawnEntity": "94a349a865ccf673c18c080520299c88c3d8d5f4842ecf1482d6c997ac4b69f9",
    "msg/SpawnResult": "dbc277304b6c24bfb2a631cea8f52e2b005d583ec0a6c86b11613f5ce6486da1",
    "msg/Spawnable": "8c22025d840e7a05ab31ba56f998b06458b549a9744b4695be25b778829fc176",
    "msg/TagsFilter": "5c3efc51e8ed04c266c09cb4691ec95b964cd410558e01d8c83646b038826b45",
    "msg/WorldResource": "e3b65ecf904b9b115673e4a343c6aa3d28c19e185a71228faa64b783afcf2403",
    "srv/DeleteEntity": "ff7e96a5b83dc8e2bb34b8b034480028b3a24d9f8376b2c0590bac3704be3e28",
    "srv/GetAvailableWorlds": "ce5589b5523f2732d1969a3c5a7e6b17a387091df8190c62f78d7fdd1109e3e3",
    "srv/GetCurrentWorld": "79ed4e910e1b7a1c9f7950ff758bfba3535bf0dec669054e8af115a099724ddd",
    "srv/GetEntities": "cb90004c48cd50f37732fb008e22c34c261dd680a723bf0f85d8437ea4498bf7",
    "srv/GetEntitiesStates": "0a76170d0c1c90e1eaf805cfab78ea801d1f82df309a28c1f0fae4b570f19754",
    "srv/GetEntityBounds": "17be8d36231178a5eed0de0344b55c19975581627a9aec30a4fee9926a35deed",
    "srv/GetEntityInfo": "953b7ab6bfc35063f5c9a72463c6ce489baa10249a7fa510926d342a34b0d29e",
    "srv/GetEntityState": "749c91f2a2353d98367b64f2995a0f5842ce92a08ec1ffb3e185540a91557fb5",
    "srv/GetNamedPoseBounds": "59fa8dd2c68ba6771160cc66a628ac99fa95e2748fa0a43c2cc62a2e5f3f6fdc",
    "srv/GetNamedPoses": "c3d12ab920115bfd4733f6d20516adc3968fb438538540997c37e200e02b04e3",
    "srv/GetSimulationState": "3362dcebee4b1afebbf9c4beee5c79c1455385aded62092a892d61fde8644f30",
    "srv/GetSimulatorFeatures": "abb9439c8cf196722a469fb6c68b44b484f198c2a1356ac38849a29c2a20a794",
    "srv/GetSpawnables": "3bc0266bf8236058ff589c44512e013afe4f295427c39d44cff363d1c956bf36",
    "srv/LoadWorld": "f210682338f195f6f06191b46b20ec4992bddf485d33e2cffab2dd15341b4e3e",
    "srv/ResetSimulation": "4ce285d7ff9b8ac70dcc95161f32bf54c05a6f4b13427990e41ab40c36c39646",
    "srv/SetEntityInfo": "867fe2b6812f3e021859171f9b788560d66bb7079d640030baf6c0bb2dd2631e",
    "srv/SetEntityState": "ca210e7d2b66629ae133c8e1edf5246e618106d75c78ed0556c0e7a33c59ee5e",
    "srv/SetSimulationState": "a868b916dce49974f637ba252141258c4b07b0c06858b88af560e3eb6bfbcb30",
    "srv/SpawnEntities": "41703a359ee032bf4fc230f144f531705ba039a2e97edeae1f7997dd83b04857",
    "srv/SpawnEntity": "d4c086345d4194a5fc4c9ae45095736ca4062b5cdac4d06a42dec93d683e03cf",
    "srv/StepSimulation": "913fe0653690ce6bf8f09f316e6a626747012e9fca31e26719910d417aa8565c",
    "srv/UnloadWorld": "ac7f9a73df1b5b15015d854c5ac552b7726506e22f886c6792804f0b7f88b30b",
    "action/SimulateSteps": "f0837c898e1219cd73bf4c041feab41e8c533e8e1057e982744dba7b093467eb",
}

HASHES_CHANGED_IN_2 = {
    "msg/Spawnable": "8675aa686f0df1ed7874a6ec210fdce1ac1c07f4e49fc26ec7fb6fe729f6772e",
    "srv/GetSpawnables": "3e25fd827d8bcbd9db5e36ccb190efa22d6f6313897861268ab923bf091a992a",
    "srv/LoadWorld": "87d0ded1bfddb40a74d0bedb963fdd592fbedb14d0057d597850404b73c338af",
    "srv/SetEntityState": "fba636c91d38832dbd4f6896ffce54ff98fd9929962b0533546b56ce00f988ac",
    "srv/SpawnEntity": "66860313e11009faddbfc8568e5d410d1a11607fe75eeb1308671dc0406fe3a7",
}
