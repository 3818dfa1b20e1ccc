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
plain = [word for word in words if word not in ("--force", "--quiet")]
if len(plain) == 3 and plain[0] == "convert" and is_for_python(plain[1]):
    if os.path.exists(plain[2]) and "--force" not in words:
        print(f"fringe: {plain[2]} exists; --force replaces it", file=sys.stderr)
        sys.exit(73)
    try:
        print("wrote", fringe.convert(plain[1], plain[2]))
    except SystemExit as refused:
        print(f"fringe: {refused}", file=sys.stderr)
        sys.exit(69 if "is not installed" in str(refused) else 65)
    except OSError as error:
        print(f"fringe: {plain[2]}: {error.strerror}", file=sys.stderr)
        sys.exit(73)
else:
    try:
        program = program_path()
    except fringe.Error as error:
        print(f"fringe: {error}", file=sys.stderr)
        sys.exit(error.code)
    os.execv(program, ["fringe", *words])
