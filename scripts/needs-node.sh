# Says what is missing before a program starts: node 20 knows no file .ts, and names only that. With the word tests, also
# whether there are packages that ./try leaves out.
[ -d node_modules ] || {
  echo 'steward: run npm ci first: it brings the packages, and on Linux Node 24.' >&2
  exit 1
}
case $(node --version 2>/dev/null) in
v2[4-9].* | v[3-9][0-9].*) ;;
*)
  echo "steward: Node 24 or newer is needed, and $(command -v node || echo node) is $(node --version 2>/dev/null || echo missing): run npm ci, which brings it on Linux x64 and arm64." >&2
  exit 1
  ;;
esac
if [ "${1:-}" = tests ] && [ ! -d node_modules/oxlint ]; then
  echo 'steward: ./try leaves out the packages of the tests: npm install --no-save adds them.' >&2
  exit 1
fi
