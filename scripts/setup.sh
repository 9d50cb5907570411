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

# npm removes this list before it installs everything, and writes it last.
package_list=node_modules/.package-lock.json
# Is there while packages are added to others.
unfinished=node_modules/.steward-unfinished

# What the installed packages suffice for: the server, the build of its console too, or the tests too.
installed_level() {
  if [ ! -f "$package_list" ] || [ -f "$unfinished" ]; then
    echo none
  elif grep -q '"node_modules/oxlint"' "$package_list"; then
    echo tests
  elif grep -q '"node_modules/vite"' "$package_list"; then
    echo console
  else
    echo server
  fi
}

# True when the packages of the first level hold those of the second.
includes_level() {
  case "$1 $2" in
  'tests '* | 'console console' | 'console server' | 'server server') ;;
  *) return 1 ;;
  esac
}

# Installs the packages of a level where they are missing. What is there stays: a server may run from it. After a change
# of package-lock.json, and after an interruption, everything is installed again.
install_node_packages() {
  level=$1
  installed=$(installed_level)
  how='install --no-save'
  if [ "$installed" = none ] || [ package-lock.json -nt "$package_list" ]; then
    how=ci
    if includes_level "$installed" "$level"; then level=$installed; fi
  elif includes_level "$installed" "$level"; then
    return
  fi
  case $level in
  server) which='--omit=dev' why='the server' ;;
  console) which='--workspaces --include-workspace-root=false' why='the console' ;;
  tests) which='' why='the tests' ;;
  esac
  say "Installing the packages of $why with npm (once; it can take a minute)."
  mkdir -p node_modules
  : >"$unfinished"
  # npm's cache is quicker than the registry, and fails where it knows a package and not the version.
  run_npm --prefer-offline 2>/dev/null || run_npm || stop "npm $how failed; see above."
  rm -f "$unfinished"
}

run_npm() {
  # shellcheck disable=SC2086
  npm $how $which "$@" --no-audit --no-fund --loglevel=error >&2
}

setup_node() {
  if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    install_packages 'Node.js and npm are missing.' nodejs npm
  fi
  install_node_packages "$1"
  NODE="$PWD/node_modules/.bin/node"
  [ -x "$NODE" ] || NODE=$(command -v node)
  major=$("$NODE" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || major=0
  [ "$major" -ge 24 ] || stop "Node 24 or newer is needed; $NODE is version $major. On Linux x64 and arm64 npm ci brings it, elsewhere install it yourself."
  PATH="$(dirname "$NODE"):$PWD/node_modules/.bin:$PATH"
  export PATH NODE
}

# Builds the console where its sources are newer than its last build.
setup_console() {
  if sh scripts/console.sh --is-built; then return; fi
  install_node_packages console
  sh scripts/console.sh
}

setup_sandbox() {
  [ "${SANDBOX_PROVIDER:-bubblewrap}" = bubblewrap ] || return 0
  if [ "$(uname -s)" != Linux ]; then
    stop 'The bubblewrap sandbox needs Linux. SANDBOX_PROVIDER=local runs commands without any isolation, for a trial only.'
  fi
  need_command bwrap 'bubblewrap, which isolates the commands of agents, is missing.' bubblewrap
}
