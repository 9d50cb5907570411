# Run by ./try and npm start: builds the console when its sources are newer than its last build, and says so. The server
# starts without it, too. --is-built: builds nothing, and fails where that would be needed.
list=packages/console/dist/files.json
if [ -f "$list" ]; then
  changed=$(find packages/console package-lock.json -path packages/console/dist -prune -o -type f -newer "$list" -print | head -n 1)
  [ -n "$changed" ] || exit 0
fi
[ "${1:-}" != --is-built ] || exit 1
if [ ! -d node_modules/vite ]; then
  echo 'steward: The console is not built, and the packages that build it are missing: npm ci without --omit=dev, then npm run build.' >&2
  exit 0
fi
echo 'steward: Building the console, as its sources are newer than its last build.' >&2
node packages/console/build/build.ts || echo 'steward: The console could not be built; see above. The server starts without it.' >&2
