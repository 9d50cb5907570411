/** The guarantees of bubblewrap also hold for a server that is not root. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it } from 'node:test'
import { asNobody, nodeMount, stageOptions, withSubordinateIds } from '../ordinary-fixture.ts'
import { userMapping } from '../own-users.ts'

const ordinary = process.getuid?.() !== 0 && 'the server is an ordinary user already'
const folder = import.meta.dirname
const all = readdirSync(folder).filter(
  (name) => name.endsWith('.test.ts') && name !== basename(import.meta.filename),
)
/** Test files in which the owner of files and processes matters. */
const ofUsers = ['ownership', 'isolation', 'egress', 'escape', 'system'].map(
  (name) => `${name}.test.ts`,
)
/**
 * `npm test` runs each file once as an ordinary user, with subordinate ids or without. `npm run test:long` runs all
 * without.
 */
const withoutIds =
  process.env['STEWARD_TEST_LONG'] === '1' ? all : all.filter((name) => !ofUsers.includes(name))
const testing = (names: readonly string[]) => {
  const files = names.map((name) => stageOptions(join(folder, name)))
  return [
    nodeMount,
    '--test',
    '--test-isolation=none',
    '--test-reporter=tap',
    '--test-timeout=60000',
    ...files,
  ]
}

/** Each test runs several test files, or makes millions of calls. */
const patience = { timeout: 240_000 }

describe('a server that is an ordinary user', { skip: ordinary }, () => {
  it('keeps the promises of bubblewrap', patience, async () => {
    const { code, output } = await asNobody(testing(withoutIds))
    assert.equal(code, 0, output)
    assert.match(output, /^# pass [1-9]/m)
  })

  it(
    'has walls, and a user for each session, where its account has subordinate ids',
    patience,
    async () => {
      using ids = withSubordinateIds()
      const { code, output } = await asNobody([...userMapping, ...testing(ofUsers)], ids.before)
      assert.equal(code, 0, output)
      assert.match(output, /^ok \d+ - a session of bubblewrap under root$/m)
      assert.doesNotMatch(output, /# SKIP/)
    },
  )

  const most = Number(readFileSync('/proc/sys/fs/epoll/max_user_watches', 'utf8'))
  const large = most > 10_000_000 && 'this machine has more watches than a test can use up'
  it(
    'outlives a sandbox that uses up the watches of its user',
    { ...patience, skip: large },
    async () => {
      using ids = withSubordinateIds()
      const attacked = [nodeMount, stageOptions(join(folder, 'watches-fixture.ts'))]
      const ended = await asNobody([...userMapping, ...attacked], ids.before)
      assert.deepEqual(ended, { code: 0, output: 'alive\n', errors: '' })
    },
  )
})
