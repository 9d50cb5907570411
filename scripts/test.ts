/**
 * `npm test`: every test file, or those whose path holds one of the words given. Two processes share them, for many tests wait
 * for most of their time. Fails when one of the two prints no summary.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
  // A handle that a failed test leaves open must not keep the run from its end.
  '--test-force-exit',
  '--test-global-setup=scripts/test-setup.ts',
  '--test-reporter=dot',
  '--test-reporter-destination=stderr',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
]

async function run(some: string[]): Promise<{ code: number; text: string }> {
  const child = spawn(process.execPath, [...options, ...some], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  const [code] = (await once(child, 'close')) as [number | null]
  // A test that ends the process would leave no summary, and an exit code of 0.
  return { code: code === 0 && !/^ℹ pass [1-9]/m.test(text) ? 1 : (code ?? 1), text }
}

function slowest(count: number): string[] {
  const lines = runs.flatMap(({ text }) => [...text.matchAll(/^[✔✖] (.+) \(([\d.]+)ms\)$/gm)])
  const took = lines.map(([, name, ms]) => ({ name, seconds: Math.round(Number(ms) / 1000) }))
  const sorted = took.toSorted((a, b) => b.seconds - a.seconds)
  return sorted.slice(0, count).map(({ name, seconds }) => `${seconds} s  ${name}`)
}

const shares = [0, 1].map((share) => files.filter((_, index) => index % 2 === share))
const runs = await Promise.all(shares.filter(({ length }) => length > 0).map(run))
const sums = new Map<string, number>()
for (const { text } of runs) {
  const failures = text.split('failing tests:')[1]
  if (failures) console.log(`failing tests:${failures.replace(/^ℹ .*$/gm, '').trimEnd()}`)
  for (const [, what = '', count] of text.matchAll(/^ℹ (\w+) (\d+)/gm))
    if (what !== 'duration_ms') sums.set(what, (sums.get(what) ?? 0) + Number(count))
}
if (words.length === 0) console.log(['The slowest:', ...slowest(10)].join('\n'))
for (const [what, count] of sums) console.log(`ℹ ${what} ${count}`)
process.exitCode = Math.max(...runs.map(({ code }) => code))
