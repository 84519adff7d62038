"""Token ids as training sees them: one JSON list of segment texts a line in, one JSON list of ids a line out, BOS first."""
import json
import sys

from tokenizer import Tokenizer

if __name__ == "__main__":
    tokenizer = Tokenizer.read()
    for line in sys.stdin:
        print(json.dumps(tokenizer.encode_all(json.loads(line))))
