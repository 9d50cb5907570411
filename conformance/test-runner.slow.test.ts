/** The runner of the tests gives each failure the name of its file, and makes no failing test green. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { FlakyTest } from '../scripts/test/flaky.ts'
import { cleanRuns, missingTests, retryListed, steadyTests } from '../scripts/test/flaky.ts'
import type { FileResult, TestResult } from '../scripts/test/results.ts'

/** Told apart from those of another process that runs this file. */
const leftSeconds = 100_000 + process.pid

const sources = {
  passes: "it('one', () => {}); it('two', () => {})",
  ends: "it('one', () => new Promise(() => setTimeout(process.exit, 10)))",
  ends_at_once: "it('one', () => process.exit(0))",
  fails: "it('one', () => { throw new Error('no') })",
  hangs: "it('one', () => new Promise(() => setInterval(() => {}, 1000)))",
  fails_before: "before(() => { throw new Error('no') }); it('one', () => {})",
  spins: "it('one', () => { for (;;); })",
  skips: "it('one', { skip: true }, () => {})",
  rejects: "it('one', async () => { void Promise.reject(new Error('lost')); await wait(10) })",
  throws_late:
    "it('one', () => void setTimeout(() => { throw new Error('late') }, 10)); it('two', () => wait(50))",
  misses: "it('one', () => {}) }); await import('./nowhere.mjs'); describe('more', () => {",
  prints: "it('one', () => { console.log('a word'); throw new Error('no') })",
  waits: "it('one', () => void setInterval(() => {}, 1000))",
  leaves: `it('one', () => void spawn('sleep', ['${leftSeconds}']))`,
}
type Name = keyof typeof sources

const imports = `import { spawn } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'`
const program = fileURLToPath(import.meta.resolve('./run-files.ts'))

describe('the runner of the tests', () => {
  let folder = ''
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'steward-runner-')))
    for (const [name, tests] of Object.entries(sources))
      for (const kind of ['', '.slow'])
        await writeFile(
          join(folder, `${name}${kind}.test.ts`),
          `${imports}\ndescribe('its', () => { ${tests} })\n`,
        )
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** `kind`: `.slow` for files that have a process of their own, empty for files that share one. */
  async function run(
    names: Name[],
    kind: '' | '.slow' = '',
    limitSeconds = 60,
    silenceSeconds = 60,
  ) {
    const files = names.map((name) => join(folder, `${name}${kind}.test.ts`))
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
    const args = [program, String(limitSeconds), String(silenceSeconds), ...files]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const { results, outputs } = JSON.parse(stdout) as { results: FileResult[]; outputs: string[] }
    return {
      outputs,
      results,
      short: results.map(({ file, tests, problem }) => [
        basename(file, `${kind}.test.ts`),
        tests.map(({ outcome }) => outcome).join(' '),
        problem ?? '',
      ]),
    }
  }

  for (const kind of ['', '.slow'] as const)
    describe(kind === '' ? 'of files that share a process' : 'of files with a process each', () => {
      it('gives each test to its file', async () => {
        const { short } = await run(['passes', 'fails'], kind)
        assert.deepEqual(Object.fromEntries(short.map(([name, ...rest]) => [name, rest])), {
          passes: ['passed passed', ''],
          fails: ['failed', ''],
        })
      })

      it('fails the test with an unhandled rejection', async () => {
        const { results } = await run(['rejects'], kind)
        assert.equal(results[0]?.tests[0]?.outcome, 'failed')
        assert.match(results[0]?.tests[0]?.problem ?? '', /lost/)
      })

      it('fails a file whose test throws after its end', async () => {
        const [result] = (await run(['throws_late'], kind)).results
        assert.match(result?.problem ?? '', /^the process failed: exit code 1$/)
      })

      it('fails a file that ran no test, and a file that does not load', async () => {
        const { short } = await run(['skips', 'misses'], kind)
        const problems = Object.fromEntries(short.map(([name, , problem]) => [name, problem]))
        assert.match(problems['misses'] ?? '', kind === '' ? /nowhere\.mjs/ : /exit code 1/)
        assert.match(problems['skips'] ?? '', /it ran no test|exit code 1/)
      })

      it('fails a file whose test ends the process', async () => {
        for (const name of ['ends', 'ends_at_once'] as const) {
          const { results } = await run([name], kind)
          assert.ok(results[0]?.problem, name)
        }
      })

      it('fails a suite whose hook fails', async () => {
        const [result] = (await run(['fails_before'], kind)).results
        assert.ok(result?.tests.some(({ outcome }) => outcome === 'failed'))
      })

      it('fails a test that does not end in time, and runs the next file', async () => {
        const { results } = await run(['hangs', 'passes'], kind, 1)
        const failed = results.find(({ file }) => file.includes('hangs'))?.tests ?? []
        assert.match(failed.map(({ problem }) => problem).join(), /timed out after 1000ms/)
        assert.ok(
          results
            .find(({ file }) => file.includes('passes'))
            ?.tests.every(({ outcome }) => outcome === 'passed'),
        )
      })

      it('ends the programs that a file has started and not ended', async () => {
        await run(['leaves'], kind)
        await assert.rejects(promisify(execFile)('pgrep', ['-f', `sleep ${leftSeconds}`]))
      })

      it('passes on what a failed file printed', async () => {
        assert.match((await run(['prints'], kind)).outputs.join(), /a word/)
      })
    })

  it('names the files after one that ends their process', async () => {
    const { short } = await run(['ends', 'fails', 'passes'])
    assert.deepEqual(
      short.map(([name, , problem]) => [name, problem !== '']),
      [
        ['ends', true],
        ['fails', true],
        ['passes', true],
      ],
    )
  })

  it('fails a file that ends with an open timer, and says so', async () => {
    const { results, outputs } = await run(['waits'], '.slow')
    assert.match(results[0]?.problem ?? '', /exit code 1/)
    assert.match(outputs.join(), /the process has not: .*Timeout/)
  })

  it('kills a process in which nothing has ended for longer than the limit', async () => {
    const [result] = (await run(['spins'], '.slow', 1, 0)).results
    assert.ok(result?.problem)
  })
})

const test = (file: string, name: string, outcome: TestResult['outcome']): TestResult => ({
  ...{ file, path: ['its', name], ms: 1, outcome, problem: '' },
})
const fileOf = (file: string, tests: TestResult[], problem?: string): FileResult => ({
  ...{ file, seconds: 1, tests, problem },
})
const entry: FlakyTest = {
  ...{
    file: 'a.test.ts',
    test: 'its > one',
    reason: 'its clock is not injected',
    since: '2026-11-26',
  },
}

describe('the list of flaky tests', () => {
  const failed = fileOf('a.test.ts', [test('a.test.ts', 'one', 'failed')])
  const passed = fileOf('a.test.ts', [test('a.test.ts', 'one', 'passed')])

  it('gives a listed test one more run, whose result counts', async () => {
    for (const second of [passed, failed]) {
      const lines: string[] = []
      const way = { runOnce: async () => second, print: (line: string) => void lines.push(line) }
      assert.deepEqual(await retryListed([failed], [entry], way), [second])
      assert.match(lines.join(), /tried once more: a\.test\.ts: its > one/)
    }
  })

  const never = { runOnce: assert.fail, print: assert.fail }

  it('gives no other failure a second run', async () => {
    const other = test('a.test.ts', 'two', 'failed')
    const results = [
      fileOf('a.test.ts', [...failed.tests, other]),
      fileOf('a.test.ts', failed.tests, 'the process failed: exit code 1'),
      fileOf('b.test.ts', [test('b.test.ts', 'one', 'failed')]),
    ]
    assert.deepEqual(await retryListed(results, [entry], never), results)
  })

  it('fails a run of all files for a test that is no more', () => {
    assert.deepEqual(missingTests([entry], [passed]), [])
    const gone = missingTests([{ ...entry, test: 'its > three' }], [passed])
    assert.match(gone.join(), /its > three: listed as flaky, and there is no such test/)
  })

  it('fails the night for a test that did not fail in thirty runs', async () => {
    const runs = (some: FileResult) => async () => Array<FileResult>(cleanRuns).fill(some)
    assert.match((await steadyTests([entry], runs(passed))).join(), /no failure in 30 runs/)
    assert.deepEqual(await steadyTests([entry], runs(failed)), [])
    const unlisted = { ...entry, test: 'another' }
    const faults = await steadyTests([unlisted], runs(failed))
    assert.match(faults.join(), /failed beside a listed test, and is not listed/)
    assert.equal(faults.length, 2)
  })
})
