"""Runs the tests of this folder; exits 1 where one fails."""
import sys
import unittest
from pathlib import Path

if __name__ == "__main__":
    tests = unittest.defaultTestLoader.discover(str(Path(__file__).parent))
    sys.exit(0 if unittest.TextTestRunner().run(tests).wasSuccessful() else 1)
