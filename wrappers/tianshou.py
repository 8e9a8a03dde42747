"""Tianshou: a game as its `PettingZooEnv`, and DQN with every seat's own outcome. Extra: iszoo[tianshou]."""

from __future__ import annotations

from typing import Any

from iszoo.envs import make
from iszoo.envs.aec import GameEnv

try:
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.env.pettingzoo_env import PettingZooEnv
    from tianshou.utils.net.common import Net
except ImportError as error:
    raise ImportError("this adapter needs Tianshou: pip install 'iszoo[tianshou]'") from error


class TianshouEnv(PettingZooEnv):  # type: ignore[misc, unused-ignore]
    """A game as Tianshou's `PettingZooEnv`, many times as fast and with a list of rewards of its own for every step.

    `PettingZooEnv` looks at each action of a mask in Python, and overwrites one list of rewards. Observations are
    {"agent_id", "obs", "mask"}, the mask a list of bools, as there.

    Args:
        game: its name.
        **options: as for `GameEnv`; the observation is "flat" by default.

    Raises:
        ValueError: no such game, option or value.
    """

    def __init__(self, game: str, **options: Any) -> None:
        self.env: GameEnv
        super().__init__(make(game, **{"observation": "flat", **options}))

    def reset(self, *args: Any, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deals a game; arguments as for `GameEnv.reset`."""
        self.env.reset(*args, **kwargs)
        return self._shown(), {}

    def step(self, action: Any) -> tuple[dict[str, Any], list[float], bool, bool, dict[str, Any]]:
        """Plays an action; the rewards are every seat's, in seat order."""
        env = self.env
        env.step(action)
        over = env.terminations[env.agent_selection]
        return self._shown(), list(env.rewards.values()), over, False, {}

    def _shown(self) -> dict[str, Any]:
        agent = self.env.agent_selection
        parts = self.env.observe(agent)
        return {"agent_id": agent, "obs": parts["observation"], "mask": (parts["action_mask"] == 1).tolist()}


def dqn(
    env: TianshouEnv, *, hidden: tuple[int, ...] = (128, 128), lr: float = 1e-3, exploration: float = 0.1
) -> MultiAgentOffPolicyAlgorithm:
    """A DQN for every seat, legal actions only. The target of each decision is the outcome of its game.

    Tianshou bootstraps from the observation one ply later, which is another agent's, and a seat that doesn't move
    last would never see its -1. With a horizon of the longest game and no discount, the return of every decision
    is its own seat's reward at the end.

    Args:
        env: any env of the game; its spaces are looked at.
        hidden: the sizes of the hidden layers.
        lr: the learning rate.
        exploration: the probability of a random legal action in training.
    """
    space, actions = env.observation_space["observation"], env.action_space
    players = [
        DQN(
            policy=DiscreteQLearningPolicy(
                model=Net(state_shape=space.shape, action_shape=int(actions.n), hidden_sizes=list(hidden)),
                action_space=actions,
                observation_space=space,
                eps_training=exploration,
            ),
            optim=AdamOptimizerFactory(lr=lr),
            gamma=1.0,
            n_step_return_horizon=env.env.game.max_game_length,
        )
        for _ in env.agents
    ]
    return MultiAgentOffPolicyAlgorithm(algorithms=players, env=env)
