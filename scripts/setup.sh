# Sourced by ./try and ./test from the root of the checkout: installs what is missing, says what it does, and sets NODE.
# POSIX sh. Nothing outside of this folder is touched but for Debian packages that are named when they are installed.

# Debian gives an ordinary user no sbin, and that is where dockerd, nats-server, ip and nft are.
PATH="$PATH:/usr/sbin:/sbin"
export PATH

say() { printf '%s\n' "steward: $*" >&2; }

stop() {
  say "$1"
  exit 1
}

# Installs Debian packages, or says what the person has to do.
install_packages() {
  why=$1
  shift
  if ! command -v apt-get >/dev/null 2>&1; then
    stop "$why Install with your system's package manager: $*"
  fi
  if [ "$(id -u)" -eq 0 ]; then
    as=''
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as='sudo'
  else
    stop "$why Run this and start again: sudo apt-get install $*"
  fi
  say "$why Installing $* with apt-get."
  export DEBIAN_FRONTEND=noninteractive
  $as apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1 || {
    $as apt-get update >/dev/null 2>&1 || say 'apt-get update failed; trying to install all the same.'
    $as apt-get install -y --no-install-recommends "$@" >/dev/null || stop "apt-get could not install $*."
  }
}

need_command() {
  command -v "$1" >/dev/null 2>&1 && return
  install_packages "$2" "$3"
  command -v "$1" >/dev/null 2>&1 || stop "$3 is installed, and $1 is still not found in: $PATH"
}

setup_node() {
  if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    install_packages 'Node.js and npm are missing.' nodejs npm
  fi
  stamp=node_modules/.steward-installed
  if [ ! -f "$stamp" ] || [ package-lock.json -nt "$stamp" ]; then
    say 'Installing packages with npm ci (once; it can take a few minutes).'
    npm ci --no-audit --no-fund --loglevel=error >&2 || stop 'npm ci failed; see above.'
    touch "$stamp"
  fi
  NODE="$PWD/node_modules/.bin/node"
  [ -x "$NODE" ] || NODE=$(command -v node)
  major=$("$NODE" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || major=0
  [ "$major" -ge 24 ] || stop "Node 24 or newer is needed; $NODE is version $major. On Linux x64 and arm64 npm ci brings it, elsewhere install it yourself."
  PATH="$(dirname "$NODE"):$PWD/node_modules/.bin:$PATH"
  export PATH NODE
}

setup_sandbox() {
  [ "${SANDBOX_PROVIDER:-bubblewrap}" = bubblewrap ] || return 0
  if [ "$(uname -s)" != Linux ]; then
    stop 'The bubblewrap sandbox needs Linux. SANDBOX_PROVIDER=local runs commands without any isolation, for a trial only.'
  fi
  need_command bwrap 'bubblewrap, which isolates the commands of agents, is missing.' bubblewrap
}
