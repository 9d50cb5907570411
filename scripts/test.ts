/** `npm test`: every test file, or those whose path holds one of the words given. Fails when no summary was printed. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'

const words = process.argv.slice(2)
const files = globSync(['packages/*/src/**/*.test.ts', 'conformance/**/*.test.ts'])
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .toSorted()
if (files.length === 0) throw new Error(`no test file matches ${words.join(', ')}`)

const options = [
  '--test',
  '--test-isolation=none',
  '--test-timeout=60000',
  '--test-global-setup=scripts/test-setup.ts',
  '--test-reporter=dot',
  '--test-reporter-destination=stderr',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
]
const run = spawn(process.execPath, [...options, ...files], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let text = ''
run.stdout.setEncoding('utf8').on('data', (piece: string) => {
  text += piece
})
run.on('close', (code) => {
  const failures = text.split('failing tests:')[1]
  if (failures) console.log(`failing tests:${failures}`)
  const summary = text.match(/^ℹ .*$/gm) ?? []
  console.log(summary.join('\n'))
  // A test that ends the process would leave no summary, and an exit code of 0.
  const counted = summary.some((line) => /^ℹ pass [1-9]/.test(line))
  process.exitCode = code === 0 && !counted ? 1 : (code ?? 1)
})
