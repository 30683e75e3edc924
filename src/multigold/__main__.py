"""`python -m multigold`."""

from multigold.cli import main

if __name__ == "__main__":
    main()
