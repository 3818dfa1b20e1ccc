"""python3 -m fringe convert PATH OUT; also python3 FOLDER/fringe convert PATH OUT, wherever the package lies."""
import os
import sys

if not __package__:
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import fringe

if len(sys.argv) != 4 or sys.argv[1] != "convert":
    raise SystemExit("usage: python3 -m fringe convert PATH OUT")
print("wrote", fringe.convert(sys.argv[2], sys.argv[3]))
