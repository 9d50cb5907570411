/** The test runner names the file of a batch that fails, hangs or ends the process, and loses no other file. */
import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runBatch } from '../scripts/test-process.ts'
import { again, settle } from '../scripts/test-unsteady.ts'

/** Test files by name. Node runs them in this order. */
const files = {
  a_passes: "it('one', () => {}); it('two', () => {})",
  b_ends: "it('one', () => new Promise(() => setTimeout(process.exit, 10)))",
  b_ends_at_once: "it('one', () => process.exit(0))",
  b_fails: "it('one', () => { throw new Error('no') })",
  b_hangs: `it('one', async () => { connect(createServer().listen(0).address().port)
    await once(spawn('sleep', ['50']), 'exit') })`,
  b_hooks: "before(() => new Promise(() => {})); it('one', () => {})",
  b_idles: "it('one', { skip: true }, () => {})",
  b_leaves: `it('one', async () => { void Promise.reject(new Error('lost')); await wait(10) });
    it('two', async () => { setTimeout(() => { throw new Error('late') }); await wait(10) })`,
  b_misses: "it('one', () => {}) }); await import('./nowhere.mjs'); describe('more', () => {",
  c_last: "it('one', () => {})",
  d_steadies: `it('one', () => { if (!existsSync(import.meta.filename + '.ran')) {
    writeFileSync(import.meta.filename + '.ran', ''); throw new Error('too late') } })`,
}
const imports = `import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { existsSync, writeFileSync } from 'node:fs'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'`
type Name = keyof typeof files

describe('a batch of test files', () => {
  let folder = ''
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'steward-batches-')))
    for (const [name, tests] of Object.entries(files)) {
      const source = `${imports}\ndescribe('its', () => { ${tests} })\n`
      await writeFile(join(folder, `${name}.test.mjs`), source)
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const pathOf = (name: Name) => join(folder, `${name}.test.mjs`)
  const runFiles = (paths: string[], deadlineSeconds = 60, limitSeconds = 60) =>
    runBatch(paths, { env: {}, limitSeconds, deadlineSeconds, onTest() {} })

  async function run(names: Name[], deadlineSeconds?: number) {
    const { results, rest } = await runFiles(names.map(pathOf), deadlineSeconds)
    const short = (file: string) => basename(file, '.test.mjs')
    return {
      rest: rest.map(short),
      results: results.map(({ file, tests, problem }) => [
        short(file),
        tests.map(({ outcome }) => outcome).join(' '),
        problem ?? '',
      ]),
    }
  }

  it('tells the tests of one from those of the others', async () => {
    assert.deepEqual(await run(['a_passes', 'b_fails', 'c_last']), {
      results: [
        ['a_passes', 'passed passed', ''],
        ['b_fails', 'failed', ''],
        ['c_last', 'passed', ''],
      ],
      rest: [],
    })
  })

  it('blames the test that runs for an error that nobody catches', async () => {
    assert.deepEqual(await run(['a_passes', 'b_leaves', 'c_last']), {
      results: [
        ['a_passes', 'passed passed', ''],
        ['b_leaves', 'failed passed failed passed', ''],
        ['c_last', 'passed', ''],
      ],
      rest: [],
    })
  })

  it('names a file that ran no test, and one that could not be loaded', async () => {
    assert.deepEqual(await run(['a_passes', 'b_idles', 'b_misses', 'c_last']), {
      results: [
        ['a_passes', 'passed passed', ''],
        ['b_idles', 'skipped', 'it ran no test'],
        ['b_misses', 'passed failed', ''],
        ['c_last', 'passed', ''],
      ],
      rest: [],
    })
  })

  it('has failed where one ends the process, which with those after it is to run alone', async () => {
    const problem = 'with 2 others: it ended before its tests: exit code 0'
    assert.deepEqual(await run(['a_passes', 'b_ends', 'c_last']), {
      results: [
        ['a_passes', 'passed passed', ''],
        ['b_ends', '', problem],
      ],
      rest: ['b_ends', 'c_last'],
    })
  })

  it('has failed where one ends the process before it could say that it began', async () => {
    const { results, rest } = await run(['a_passes', 'b_ends_at_once', 'c_last'])
    assert.match(results.at(-1)?.[2] ?? '', /^with 2 others: it ended before its tests/)
    assert.deepEqual(rest.slice(-2), ['b_ends_at_once', 'c_last'])
  })

  it('has failed where one does not end, which with those after it is to run alone', async () => {
    const problem = 'with 2 others: it did not end within 2 s and was killed'
    assert.deepEqual(await run(['a_passes', 'b_hangs', 'c_last'], 2), {
      results: [
        ['a_passes', 'passed passed', ''],
        ['b_hangs', '', problem],
      ],
      rest: ['b_hangs', 'c_last'],
    })
  })

  it('has failed where a test or a hook does not end in its time, and goes on with the others', async () => {
    const names: Name[] = ['b_hangs', 'b_hooks', 'c_last']
    const { results, rest } = await runFiles(names.map(pathOf), 60, 0.2)
    const [hangs, hooks, last] = results.map(({ tests }) => tests.map((each) => each.outcome))
    assert.deepEqual([hangs, last, rest], [['failed'], ['passed'], []])
    assert.ok(hooks?.includes('failed'))
    assert.match(results[0]?.tests[0]?.problem ?? '', /timed out after 200ms/)
  })

  it('says what a file that does not end waits for', async () => {
    const { results } = await runFiles([pathOf('b_hangs')], 2)
    const [hangs] = results
    assert.match(hangs?.output ?? '', /^under way:\n {2}its\n {2}its > one\nwaits for:\n/m)
    assert.match(hangs?.output ?? '', /^ {2}process \d+ sleep 50$/m)
    assert.match(hangs?.output ?? '', /^ {2}tcp \S+:\d+ \S+:\d+$/m)
  })

  it('of one file is that file, whatever becomes of it', async () => {
    assert.deepEqual(await run(['b_ends']), {
      results: [['b_ends', '', 'it ended before its tests: exit code 0']],
      rest: [],
    })
  })
  it('has failed again by itself, or is unsteady, where few files failed', async () => {
    const names: Name[] = ['b_fails', 'c_last', 'd_steadies']
    const { results } = await runFiles(names.map(pathOf))
    const runs: string[] = []
    const settled = await settle(results, async (file) => {
      runs.push(basename(file, '.test.mjs'))
      return (await runFiles([file])).results
    })
    assert.deepEqual(runs, ['b_fails', ...Array(again.runs).fill('d_steadies')])
    const outcomes = settled.results.map(({ file, tests }) => [file, tests[0]?.outcome])
    assert.deepEqual(outcomes, [
      [pathOf('b_fails'), 'failed'],
      [pathOf('c_last'), 'passed'],
      [pathOf('d_steadies'), 'passed'],
    ])
    assert.deepEqual(
      settled.unsteady.map(({ file }) => file),
      [pathOf('d_steadies')],
    )
    const many = Array.from({ length: again.files + 1 }, (_, index) => ({
      ...{ file: `${index}`, seconds: 1, computed: 1, tests: [], output: '' },
      problem: 'no',
    }))
    assert.deepEqual(await settle(many, assert.fail), { results: many, unsteady: [] })
  })
})
