"""PPO in self-play on Ray's RLlib, from one machine to a cluster. Extra: iszoo[rllib,train-rllib].

    python -m iszoo.baselines.rllib_ppo --game isis_osiris --seed 1 --out runs/rllib-1 --env-runners 2
    python -m iszoo.baselines.rllib_ppo --game isis_osiris --address head:6379 --env-runners 64 --learners 4

The same networks, imitation, evaluation and files as `ppo.py`. One policy plays every seat; in a share of the games
all seats but one are its past selves. Env runners play whole games in processes of their own, on any node, so a run
with more than one of them can't be repeated to the bit. OUT/checkpoint.json names the folder of the last whole
checkpoint: --resume goes on from there. RLlib's checkpoints are pickles; the policy's files are not.
"""

from __future__ import annotations
