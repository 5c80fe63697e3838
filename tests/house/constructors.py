# No object of the library has a constructor or destructor that runs by itself: statements in constructors of static objects find
# everything in place, and two libraries that each hold this one do not destroy the same object twice.
import subprocess
import sys

nm, library = sys.argv[1:]
found = []
member = ""
for line in subprocess.run([nm, library], capture_output=True, text=True, check=True).stdout.splitlines():
    if line.endswith(":"):
        member = line[:-1]
    if "_GLOBAL__sub_I" in line:
        found.append(member + ": " + line.split()[-1])
print("\n".join(found))
sys.exit(1 if found else 0)
