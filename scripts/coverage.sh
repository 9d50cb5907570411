#!/bin/sh
# npm run coverage -- [word...]: runs the test files whose path holds a word, all of them without one, and says which
# lines of the sources they ran: in coverage/ as pages and as lcov. Servers run from their sources, so that they count.
# It is a report for people: nothing fails for a figure, and what no test reaches may be dead.
set -u
cd "$(dirname "$0")/.."
rm -rf coverage
[ $# -gt 0 ] || set -- packages/ conformance/
NODE_V8_COVERAGE="$PWD/coverage/raw" node scripts/test.ts "$@"
tests=$?
[ -d coverage/raw ] || exit "$tests"
# The raw files of all processes are larger than what Node takes at once.
NODE_OPTIONS=--max-old-space-size=8192 c8 report --merge-async --all --temp-directory coverage/raw --reports-dir coverage \
  --src packages --include 'packages/*/src/**/*.ts' --exclude '**/*.{test,slow.test}.ts' --exclude '**/*fixture.ts' \
  --exclude 'packages/console/**' --reporter text-summary --reporter html --reporter lcov || exit 1
rm -rf coverage/raw
exit "$tests"
