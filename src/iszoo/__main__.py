"""The command line: `iszoo`, or `python -m iszoo`. Needs the extra iszoo[cli]."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from iszoo import __version__

try:
    import tyro
    from tyro.conf import OmitArgPrefixes

    from iszoo.commands.contests import Ladder, Match, Reproduce, Statistics
    from iszoo.commands.games import Info, List, Perft, Solve
    from iszoo.commands.measuring import Bench, Demo
    from iszoo.commands.playing import Play, Replay, Serve
except ImportError as error:  # pragma: no cover - the message is tested in a process without tyro
    sys.exit(f"iszoo: error: the command line needs the extra cli: pip install 'iszoo[cli]' ({error})")

Command = List | Info | Match | Ladder | Statistics | Reproduce | Play | Replay | Solve | Serve | Perft | Bench | Demo


def main(args: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0, or 1 with a message on stderr; usage errors exit with 2."""
    arguments = list(sys.argv[1:] if args is None else args)
    if arguments == ["--version"]:
        print(f"iszoo {__version__}")
        return 0
    command = tyro.cli(
        Command,  # a union of classes, which tyro takes
        config=(OmitArgPrefixes,),
        prog="iszoo",
        description="Games, agents, matches and measurements of iszoo.",
        args=arguments,
    )
    try:
        command.run()
    except (ValueError, ImportError, ChildProcessError) as error:
        print(f"iszoo: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has had enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("iszoo: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
