"""TorchRL: a game in a `PettingZooWrapper`, a masked actor, and each agent's own decisions. Extra: iszoo[torchrl]."""

from __future__ import annotations

from typing import Any

from iszoo.envs import make

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from tensordict.nn import TensorDictModule
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import MarlGroupMapType
    from torchrl.modules import MaskedCategorical, ProbabilisticActor
except ImportError as error:
    raise ImportError("this adapter needs TorchRL: pip install 'iszoo[torchrl]'") from error

GROUP = "agents"
"""The one group of `make_env`, in which all agents are."""
LOG_PROB = "sample_log_prob"
"""Under which key an actor of `masked_actor` leaves the log-probability of its action."""


def make_env(game: str, *, seed: int | None = None, **options: Any) -> PettingZooWrapper:
    """A game as a TorchRL env; all agents are in the group GROUP, stacked in seat order.

    Args:
        game: its name.
        seed: fixes the deals that follow; `reset(seed=...)` fixes the next one, as in `GameEnv`.
        **options: as for `GameEnv`; the observation is "flat" by default.

    Raises:
        ValueError: no such game, option or value.
    """
    return PettingZooWrapper(
        make(game, **{"observation": "flat", **options}),
        use_mask=True,
        categorical_actions=True,
        group_map=MarlGroupMapType.ALL_IN_ONE_GROUP,
        seed=seed,
    )


def masked_actor(net: torch.nn.Module, *, in_env: bool) -> ProbabilisticActor:
    """A policy that draws legal actions only, from a network of float observations to logits.

    Args:
        net: shared by the actors that are made of it.
        in_env: True: reads and writes the keys of `make_env`, for rollouts. False: the keys of `decisions`, for
            losses.
    """
    observation: Any = (GROUP, "observation", "observation") if in_env else "observation"

    def key(name: str) -> Any:
        return (GROUP, name) if in_env else name

    return ProbabilisticActor(
        TensorDictModule(_Logits(net), in_keys=[observation], out_keys=[key("logits")]),
        in_keys={"logits": key("logits"), "mask": key("action_mask")},
        out_keys=[key("action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=key(LOG_PROB),
    )


class _Logits(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """A network that takes observations as they are, int8."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.net(observation.float())
        return logits


def decisions(rollout: TensorDictBase) -> TensorDictBase:
    """The decisions of every agent in the finished games of a rollout, as a batch for a single-agent loss.

    A rollout of `make_env` has an entry for every agent at every ply, most of which are those of agents that only
    wait. Here each entry is a decision that was taken; what follows it is the same agent's next decision, and its
    reward is all that the agent got until then, or until the end, whoever made the last move. The decisions of one
    agent in one game stand together in order and end with `done`, as estimators of advantages expect. What was
    not played to its end is left out.

    Args:
        rollout: of shape (T,) or (B, T), of games in which one of `make_env` follows another.

    Returns:
        Shape (K,), with `observation`, `action_mask`, `agent` (its seat), `action`, LOG_PROB if it is there, and
        under `next` `observation`, `reward` (K, 1), `done` and `terminated` (K, 1).

    Raises:
        ValueError: no game was played to its end.
    """
    rows = rollout.unbind(0) if rollout.ndim == 2 else [rollout]
    parts = [part for row in rows for part in _trajectories(row)]
    if not parts:
        raise ValueError("no game of this rollout was played to its end: roll out more steps")
    return torch.cat(parts)


def _trajectories(row: TensorDictBase) -> list[TensorDictBase]:
    group, after = row[GROUP], row["next", GROUP]
    ends = row["next", "done"].flatten().nonzero().flatten().tolist()
    found = []
    first = 0
    for end in ends:
        for seat in range(group["mask"].shape[1]):
            at = group["mask"][first : end + 1, seat].nonzero().flatten() + first
            if len(at):
                found.append(_trajectory(group, after, seat, at, end))
        first = end + 1
    return found


def _trajectory(group: TensorDictBase, after: TensorDictBase, seat: int, at: torch.Tensor, end: int) -> TensorDictBase:
    own = group["observation", "observation"]
    last = after["observation", "observation"][end, seat][None]
    earned = torch.cat([torch.zeros(1), after["reward"][:, seat, 0].cumsum(0)])
    until = torch.cat([at[1:], torch.tensor([end + 1])])
    over = torch.zeros(len(at), 1, dtype=torch.bool)
    over[-1] = True
    known = set(group.keys())
    kept = {name: group[name][at, seat] for name in ("action", "action_mask", LOG_PROB) if name in known}
    following = {
        "observation": torch.cat([own[at[1:], seat], last]),
        "reward": (earned[until] - earned[at])[:, None],
        "done": over,
        "terminated": over.clone(),
    }
    return TensorDict(
        {**kept, "observation": own[at, seat], "agent": torch.full((len(at),), seat), "next": following},
        batch_size=len(at),
    )
