import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { agentBinary } from '../agent/binary.ts'
import { sandboxContract } from '../contract.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'

const module = import.meta.resolve('./bubblewrap.ts')
sandboxContract('bubblewrap', bubblewrapSandboxes, { module })

const ordinary = process.getuid?.() !== 0 && 'the server is an ordinary user already'
const nobody = 65_534

it('does all this for a server that is an ordinary user', { skip: ordinary }, async () => {
  // Staged, because nobody else may be able to enter the folders above.
  const root = join(import.meta.dirname, '../../../..')
  const files = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('/mnt/0', relative(root, join(import.meta.dirname, name))))
  const launch = ['launch', '--stage', root, '--stage', process.execPath, '--uid', String(nobody)]
  const test = ['/mnt/1', '--test', '--test-reporter=tap', '--test-timeout=30000', ...files]
  const child = spawn(agentBinary(), [...launch, '--', ...test], {
    env: {},
    cwd: '/',
    timeout: 50_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(code, 0, output)
  assert.match(output, /^# pass [1-9]/m)
})
