"""Runs the tests of this folder; exits 1 where one fails."""
import sys
import unittest

if __name__ == "__main__":
    unittest.main(module=None, argv=["", "discover", "--start-directory", sys.path[0]])
