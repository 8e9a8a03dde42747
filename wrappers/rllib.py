"""RLlib (new API stack): a multi-agent env, a masked RLModule, PPO in self-play. Extra: iszoo[rllib]."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from iszoo.envs import find
from iszoo.envs.aec import GameEnv

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise ImportError("this adapter needs RLlib with torch: pip install 'iszoo[rllib]'") from error

POLICY = "shared"
"""The one policy of `ppo_config`, which plays every seat."""


class RLlibEnv(MultiAgentEnv):  # type: ignore[misc, unused-ignore]
    """A game as a `MultiAgentEnv`: only the agent to move gets an observation, and only it may act.

    Observations are {"observation", "action_mask"}, both int8. When the game ends every agent gets its last
    observation, its reward and its termination, whoever made the last move, so that RLlib credits the reward to
    the last action of each.

    Args:
        config: {"game": its name, and any of the options of `GameEnv`}; the observation is "flat" by default.

    Raises:
        ValueError: no such game, option or value.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.env = _game_env(dict(config or {}))
        self.render_mode = self.env.render_mode
        self.possible_agents = list(self.env.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = self.env.observation_spaces
        self.action_spaces = self.env.action_spaces

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deals a game; what the first agent to move sees, and no infos (RLlib drops those of a reset)."""
        super().reset(seed=seed)
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._shown(self.env.agent_selection), {}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Plays the action of the agent to move.

        Raises ValueError if others act or none does, IllegalActionError (with illegal="raise").
        """
        env = self.env
        if list(action_dict) != [env.agent_selection] or not self.agents:
            turn = f"it is {env.agent_selection}'s turn" if self.agents else "the game is over"
            raise ValueError(f"{turn}, and actions came from {', '.join(action_dict) or 'nobody'}")
        env.step(action_dict[env.agent_selection])
        over = all(env.terminations.values())
        seeing = self.possible_agents if over else [env.agent_selection]
        rewards = dict(env.rewards) if over else dict.fromkeys((*action_dict, *seeing), 0.0)
        if over:
            self.agents = []
        terminations = {**dict.fromkeys(seeing, over), "__all__": over}
        return self._shown(*seeing), rewards, terminations, dict.fromkeys(terminations, False), {}

    def render(self) -> Any:
        """The position in the form of the render mode, see `GameEnv`."""
        return self.env.render()

    def close(self) -> None:
        """Closes the window, if there is one."""
        self.env.close()

    def _shown(self, *agents: str) -> dict[str, Any]:
        return {agent: self.env.observe(agent) for agent in agents}


class MaskedModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc, unused-ignore]
    """Policy and value of {"observation", "action_mask"}, in any layout, int8 as they are.

    Illegal actions get the least finite logit: they are never drawn, and a mask of zeros (the end of a game)
    does no harm.

    `model_config`: {"hidden": (256, 256)}, the sizes of the hidden layers.
    """

    def setup(self) -> None:
        """Builds the network from the spaces."""
        space, actions = self.observation_space, self.action_space
        if not isinstance(space, spaces.Dict) or set(space.spaces) != {"observation", "action_mask"}:
            raise ValueError(
                f"MaskedModule reads a Dict of 'observation' and 'action_mask', not {space}: "
                "take out connectors that change observations"
            )
        if not isinstance(actions, spaces.Discrete):
            raise ValueError(f"MaskedModule acts in a Discrete space, not {actions}")
        sizes = [spaces.flatdim(space["observation"]), *(self.model_config or {}).get("hidden", (256, 256))]
        layers: list[torch.nn.Module] = []
        for size, following in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(size, following), torch.nn.ReLU()]
        self.body = torch.nn.Sequential(*layers)
        self.policy = torch.nn.Linear(sizes[-1], int(actions.n))
        self.value = torch.nn.Linear(sizes[-1], 1)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self._logits(batch, self._body(batch))}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        body = self._body(batch)
        return {Columns.ACTION_DIST_INPUTS: self._logits(batch, body), Columns.EMBEDDINGS: body}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """The value of each position for the agent that sees it."""
        return self.value(self._body(batch) if embeddings is None else embeddings).squeeze(-1)

    def _body(self, batch: dict[str, Any]) -> Any:
        seen = batch[Columns.OBS]["observation"]
        # The order of the space, which may differ from that of a batch's dict.
        parts = [seen[key] for key in self.observation_space["observation"]] if isinstance(seen, dict) else [seen]
        lead = batch[Columns.OBS]["action_mask"].shape[:-1]
        return self.body(torch.cat([part.reshape(*lead, -1) for part in parts], dim=-1).float())

    def _logits(self, batch: dict[str, Any], body: Any) -> Any:
        logits = self.policy(body)
        return logits.masked_fill(batch[Columns.OBS]["action_mask"] == 0, torch.finfo(logits.dtype).min)


def ppo_config(game: str, *, hidden: tuple[int, ...] = (256, 256), **options: Any) -> PPOConfig:
    """A `PPOConfig` for self-play: one policy, POLICY, plays and learns every seat. All of it can be changed.

    Games are sampled whole, so that no reward is cut off from the actions that earned it.

    Args:
        game: its name.
        hidden: the sizes of the hidden layers of the network.
        **options: as for `GameEnv`; the observation is "flat" by default.

    Raises:
        ValueError: no such game, option or value. RLlib itself would say "list index out of range" for what goes
            wrong in a remote env runner.
    """
    env_config = {"game": game, **options}
    check_env_config(env_config)
    module = RLModuleSpec(module_class=MaskedModule, model_config={"hidden": tuple(hidden)})
    return (
        PPOConfig()
        # RLlib's check of envs plays an action that it draws without looking at the mask.
        .environment(RLlibEnv, env_config=env_config, disable_env_checking=True)
        .env_runners(batch_mode="complete_episodes")
        .multi_agent(policies={POLICY}, policy_mapping_fn=_shared)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        # Rewards come at the end, and zero-sum: nothing is discounted.
        .training(gamma=1.0, lambda_=0.95, entropy_coeff=0.01, grad_clip=1.0)
    )


def check_env_config(env_config: Mapping[str, Any]) -> None:
    """Makes an env and begins a game. Raises what goes wrong, which RLlib hides in a remote env runner."""
    RLlibEnv(env_config).reset(seed=0)


def check_cluster(env_config: Mapping[str, Any]) -> int:
    """Makes an env on every node of the running Ray cluster; returns the number of nodes.

    Call it after `ray.init` and before `build_algo`: a node that lacks iszoo, or has another version of it, is
    named with its error, where RLlib alone says "list index out of range".

    Raises:
        RuntimeError: with the address of the node and its error.
    """
    nodes = [node for node in ray.nodes() if node["Alive"]]
    check = ray.remote(num_cpus=0, max_retries=0)(check_env_config)
    running = []
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
        running.append(check.options(scheduling_strategy=there).remote(dict(env_config)))
    for node, result in zip(nodes, running, strict=True):
        try:
            ray.get(result)
        except ray.exceptions.RayError as error:
            raise RuntimeError(f"Ray node {node['NodeManagerAddress']} can't make the env: {error}") from error
    return len(nodes)


def _game_env(config: dict[str, Any]) -> GameEnv:
    if "game" not in config:
        raise ValueError("name the game in the env config: {'game': ...}")
    return GameEnv(find(config.pop("game")), **{"observation": "flat", **config})


def _shared(agent: str, episode: Any, **_: Any) -> str:
    return POLICY
