# Says in one sentence what is missing; silent when nothing is. Usage: prerequisites.sh PYTHON
python=$1
command -v git >/dev/null || { echo "git is missing: install git and run make again." >&2; exit 1; }
command -v "$python" >/dev/null || {
    echo "'$python' is missing: install Python 3.11 or newer, or name it: make PYTHON=python3.12." >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "'$python' is older than Python 3.11: install a newer one, or name it: make PYTHON=python3.12." >&2
    exit 1
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || {
    echo "'$python' has no venv module: install it (Debian and Ubuntu: apt install python3-venv)." >&2
    exit 1
}
