"""Tests of the Python package, as an installed module. They need no other package."""

import pathlib
import tempfile
import threading
import time
import unittest

import outflank

# Endings with the exact scores of all moves (examples/positions.obf).
ENDING = "--OOO-X--XOOOX-O-XXOXOOOXXXXOOOOXXXOXXOOXXOOXOOO-OOOOX---OOOXXX- X"
SCORES = {"a8": 12, "g7": -10, "a7": -22, "b1": -28, "h7": -28, "f1": -32}


class Positions(unittest.TestCase):
    def test_a_game_is_played_move_by_move(self):
        position = outflank.Position()
        self.assertEqual(position.legal_moves, ["d3", "c4", "f5", "e6"])
        after = position.play("f5").play("d6")
        self.assertEqual(after, outflank.Position("f5d6"))
        self.assertEqual((after.side, after.discs), ("black", (3, 3)))
        self.assertEqual(position.discs, (2, 2), "a position does not change")
        self.assertEqual(len({after, outflank.Position("F5 D6")}), 1)
        self.assertEqual(eval(repr(after), {"Position": outflank.Position}), after)

    def test_rows_have_the_squares_of_every_board(self):
        rows = outflank.Position("f5").rows()
        self.assertEqual(rows[4], [0, 0, 0, 1, 1, 1, 0, 0])
        for board, squares in (("6x6", 36), ("7x7", 49), ("8x8", 64), ("octagon88", 88), ("cross92", 92)):
            position = outflank.Position(board=board)
            known = [disc for row in position.rows() for disc in row if disc is not None]
            self.assertEqual((len(known), sum(known)), (squares, 0))

    def test_wrong_texts_are_value_errors(self):
        for text, options in (("a1", {}), ("f5f5", {}), ("XO X", {}), ("f5", {"board": "9x9"}), ("f5", {"goal": "all"})):
            with self.assertRaises(ValueError):
                outflank.Position(text, **options)
        with self.assertRaises(ValueError):
            outflank.Position().play("a1")


class Analysis(unittest.TestCase):
    def test_an_ending_is_solved(self):
        self.assertEqual(dict(outflank.solve(outflank.Position(ENDING))), SCORES)

    def test_limits_and_players_are_checked(self):
        start = outflank.Position()
        self.assertEqual(len(outflank.hints(start, "alphabeta", depth=4, moves=2)), 2)
        self.assertIn(outflank.best_move(start, "greedy"), start.legal_moves)
        for player, limits in (("nobody", {}), ("alphabeta", {"depth": 0}), ("alphabeta", {"simulations": 5})):
            with self.assertRaisesRegex(ValueError, "allowed|unknown"):
                outflank.hints(start, player, **limits)

    def test_other_threads_run_during_a_search(self):
        counted = []
        stop = threading.Event()

        def count():
            while not stop.wait(0.01):
                counted.append(time.monotonic())

        thread = threading.Thread(target=count)
        thread.start()
        outflank.hints(outflank.Position(), "alphabeta", seconds=0.5)
        stop.set()
        thread.join()
        self.assertGreater(len(counted), 5)


class Runs(unittest.TestCase):
    def test_curves_are_read_without_an_unfinished_line(self):
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder)
            with self.assertRaises(ValueError):
                outflank.Run(run)
            (run / "config.toml").write_text("seed = 7\n")
            rows = '{"positions":5,"time":1.0,"values":{"a":1.5}}\n{"positions":9,"time":2.0,"values":{"a":2.5,"b":1}}\n{"posi'
            (run / "metrics.jsonl").write_text(rows)
            read = outflank.Run(run)
            self.assertEqual((read.config, read.curves()), ({"seed": 7}, ["a", "b"]))
            self.assertEqual(read.curve("a"), ([5, 9], [1.5, 2.5]))
            with self.assertRaisesRegex(KeyError, "it has: a, b"):
                read.curve("c")


if __name__ == "__main__":
    unittest.main()
