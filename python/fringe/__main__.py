"""python3 -m fringe is the program; `convert PATH OUT` of a file that only other programs' loaders read is done here. Also
as python3 FOLDER/fringe, wherever the package lies."""
import os
import sys

if not __package__:
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

import fringe
from fringe.conversion import is_for_python
from fringe.process import program_path

words = sys.argv[1:]
if len(words) == 3 and words[0] == "convert" and is_for_python(words[1]):
    print("wrote", fringe.convert(words[1], words[2]))
else:
    try:
        program = program_path()
    except fringe.Error as error:
        print(f"fringe: {error}", file=sys.stderr)
        sys.exit(error.code)
    os.execv(program, ["fringe", *words])
