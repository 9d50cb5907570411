import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  asNobody,
  nodeMount,
  stageOptions,
  withSubordinateIds,
} from '@steward/sandbox/ordinary-fixture.ts'
import { readConfig } from '../ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { startSandboxProvider } from './sandboxes.ts'

const secret = 'PLATFORM_ROOT_SECRET=0123456789abcdef'

/** Returns the lines of the log. */
async function started(settings: Record<string, string>): Promise<string> {
  const read = readConfig({
    PLATFORM_ROOT_SECRET: '0123456789abcdef',
    SANDBOX_PROVIDER: 'local',
    EGRESS_PROFILE: 'disabled',
    ...settings,
  })
  assert.ok(read.ok)
  let lines = ''
  await startSandboxProvider(
    read.config,
    jsonLog((line) => (lines += line), 'info'),
  )
  return lines
}

describe('a server whose sandboxes have no limits, or a user that is its own too', () => {
  it('says so at the start, and how to mend it', async () => {
    const lines = await started({})
    assert.match(lines, /"warn".*one sandbox can take all memory.*To mend it: use SANDBOX_PROVIDER/)
    assert.match(lines, /"warn".*watches of epoll.*To mend it: use SANDBOX_PROVIDER/)
  })

  for (const setting of ['SANDBOX_LIMITS', 'SANDBOX_USERS'])
    it(`does not start where ${setting} says required`, async () => {
      await assert.rejects(started({ [setting]: 'required' }), {
        message: new RegExp(`^${setting}=required, but .* To mend it: use SANDBOX_PROVIDER`),
      })
    })

  it('warns of nothing where workers run all commands', async () => {
    const lines = await started({ SANDBOX_PROVIDER: 'none', EGRESS_PROFILE: 'required' })
    assert.match(lines, /"provider":"none"/)
    assert.doesNotMatch(lines, /"warn"/)
  })

  it('warns of nothing where it has both', { skip: process.getuid?.() !== 0 }, async () => {
    const lines = await started({ SANDBOX_PROVIDER: 'bubblewrap', SANDBOX_USERS: 'required' })
    assert.match(lines, /"users":"own"/)
    assert.doesNotMatch(lines, /epoll/)
  })
})

const ordinary = process.getuid?.() !== 0 && 'the tests run as an ordinary user'

describe('the command line of an ordinary user', { skip: ordinary }, () => {
  const main = stageOptions(join(import.meta.dirname, '../main.ts'))
  const check = (...settings: string[]) => [
    ...['/usr/bin/env', secret, 'CHECKPOINTS=stop', 'DATA_DIR=/var/tmp/steward-none', ...settings],
    ...[nodeMount, main, 'doctor'],
  ]

  it('takes users for its sandboxes where its account has subordinate ids', async () => {
    using ids = withSubordinateIds()
    const { code, output, errors } = await asNobody(check('SANDBOX_USERS=required'), ids.before)
    assert.equal(code, 0, output + errors)
    assert.match(output, /users own/)
    const shared = await asNobody(check('SANDBOX_USERS=shared'), ids.before)
    assert.match(shared.output, /users shared/)
  })

  it('says how to give it some where it has none', async () => {
    const { code, output, errors } = await asNobody(check())
    assert.equal(code, 0, output + errors)
    assert.match(output, /users shared/)
    assert.match(output, /to mend it: .*apt-get install uidmap.*usermod --add-subuids/)
  })
})
