"""Every door, with its seeds and so many changed ones: doors.py MFC FOLDER_OF_DOORS RUNS [DOOR...]."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main(mfc, build, runs, *chosen):
    mfc, build = os.path.abspath(mfc), os.path.abspath(build)
    seeds = os.path.join(build, "seeds")
    subprocess.run([sys.executable, os.path.join(HERE, "seeds.py"), mfc, seeds], check=True)
    failed = 0
    doors = chosen or [n[len("door_"):] for n in sorted(os.listdir(build)) if n.startswith("door_")]
    for door in doors:
        folder = os.path.join(seeds, door)
        files = [os.path.join(folder, n) for n in sorted(os.listdir(folder))]
        done = subprocess.run([os.path.join(build, "door_" + door), runs, *files], capture_output=True, text=True)
        print(f"{door}: {done.stdout.strip()}{done.stderr[-2000:]}", flush=True)
        if done.returncode:
            failed += 1
            print(f"FAIL {door}: {done.returncode}")
    sys.exit(failed > 0 or not doors)


main(*sys.argv[1:])
