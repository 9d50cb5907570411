/** A change selects the tests that it can break, so that `npm test` finds a fault before CI. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { describe, it } from 'node:test'
import { dependentsOf, filesOfCheckout, readGraph } from '../scripts/house/graph.ts'
import { root } from '../scripts/house/sources.ts'
import { testsOf } from '../scripts/test/select.ts'

const tests = globSync(['packages/*/src/**/*.test.ts', 'conformance/**/*.test.ts'], { cwd: root })
const files = filesOfCheckout()
const graph = readGraph(files)
const crashes = /crash-(?:sqlite|postgres)\.slow\.test\.ts$|-killed\.slow\.test\.ts$/

const git = (...words: string[]): string[] =>
  execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

describe('the tests that a change selects', () => {
  it('have a crash suite in each of the last 20 commits that touched the runner or the log', () => {
    const known = new Set(files)
    const folders = ['packages/server/src/engine/runner', 'packages/server/src/sessions/log']
    const isSource = (file: string) =>
      folders.some((folder) => file.startsWith(`${folder}/`)) && !file.endsWith('.test.ts')
    const commits = git('log', '-100', '--format=%H', '--', ...folders)
      .map((commit) => git('show', '--format=', '--name-only', commit))
      .map((changed) => changed.filter((file) => known.has(file)))
      .filter((changed) => changed.some(isSource))
      .slice(0, 20)
    assert.equal(commits.length, 20, 'the history is cut short: git fetch --unshallow')
    for (const changed of commits)
      assert.ok(
        testsOf(changed, tests, graph).some((file) => crashes.test(file)),
        changed.join(', '),
      )
  })

  it('are those of a file that is imported, started as a program or read by its path', () => {
    const selects = (file: string, test: string) => {
      assert.ok(testsOf([file], tests, graph).includes(test), `${file} does not select ${test}`)
    }
    selects('packages/mask/src/mask.ts', 'packages/mask/src/mask.test.ts')
    selects('packages/server/src/main.ts', 'conformance/operator.slow.test.ts')
    selects('packages/sandbox/src/daemon/daemon.c', 'packages/sandbox/src/daemon/daemon.test.ts')
    selects('docs/outcomes.md', 'conformance/scenarios/outcome-graders.slow.test.ts')
  })

  it('omit a file that imports only a type', () => {
    const ofPackages = readGraph(files.filter((file) => file.startsWith('packages/')))
    const type = 'packages/harness/src/kept-event.ts'
    assert.deepEqual([...dependentsOf(ofPackages, [type])], [type])
  })

  it('are all for a change of the packages', () => {
    assert.deepEqual(testsOf(['package-lock.json'], tests, graph), tests)
  })
})
