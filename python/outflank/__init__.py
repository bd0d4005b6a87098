"""Othello for notebooks: positions, analysis by any player of the program, exact endings, runs.

    import outflank

    position = outflank.Position("f5d6c3")
    print(position, position.legal_moves)
    outflank.hints(position, depth=10)                       # the default player
    outflank.hints(position, player="alphabeta:depth=12", moves=3)
    outflank.best_move(position, seconds=0.1)
    outflank.solve(ending)                                   # exact scores of all moves
    outflank.Run("runs/quick-001").curve("loss/total")       # positions and values

Players, limits and the fields of a hint are those of `outflank analyse --json`.
"""

import json

from ._outflank import Desk, Position
from .runs import Run, load_npz

__all__ = ["Position", "Run", "best_move", "hints", "load_npz", "solve"]

# One player thinks at a time, so one desk is enough.
_desk = Desk()


def hints(position, player=None, *, seconds=None, simulations=None, depth=None, nodes=None, moves=None):
    """The moves of a position, best first: a list of dictionaries with `move` and the player's values.

    `player` is a specification such as "alphabeta:depth=12" or "net:FOLDER,simulations=400"; without
    it the net that comes with the program thinks. Limits replace those of the specification. `moves`
    is the most moves that are wanted. A finished game has no moves. ValueError: the player or a limit
    is not allowed.
    """
    query = {
        "id": "hints", "board": position.board, "goal": position.goal, "position": position.text,
        "player": player, "time": seconds, "simulations": simulations, "depth": depth, "nodes": nodes,
        "max_moves": moves,
    }
    query = {name: value for name, value in query.items() if value is not None}
    return json.loads(_desk.answer(json.dumps(query))[-1]).get("moves", [])


def best_move(position, player=None, **limits):
    """The name of the best move, as `hints` finds it; None if the game is over."""
    found = hints(position, player, moves=1, **limits)
    return found[0]["move"] if found else None


def solve(position, seconds=None):
    """The exact scores of all moves, best first: pairs of a move and the final disc difference for the
    side to move. ValueError: it was not solved in the time. Up to 20 empty squares take seconds.
    """
    limits = {"seconds": seconds} if seconds is not None else {"depth": 100}
    found = hints(position, "alphabeta", **limits)
    if any(hint.get("bound") != "exact" for hint in found):
        raise ValueError(f"{position!r} was not solved in {seconds} s")
    return [(hint["move"], round(hint["score"])) for hint in found]
