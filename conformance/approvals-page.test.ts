/** Runs the commands of docs/approvals.md against a service and the offline model, all but the line that names the server. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { until } from './until.ts'
import type { TestService } from './service.ts'
import { adminKey, boot } from './service.ts'

const page = join(import.meta.dirname, '..', 'docs/approvals.md')

describe('the page about approvals', () => {
  let service: TestService
  let blocks: string[]
  before(async () => {
    service = await boot('sqlite')
    const source = await readFile(page, 'utf8')
    blocks = [...source.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, body = '']) => body)
  })
  after(() => service.close())

  /** Runs blocks of the page, and returns what they print, with the id of the session as its last line. */
  async function run(chosen: readonly string[]): Promise<string> {
    const script = chosen.join('\n').replace(/^export URL.*$/m, '')
    const child = spawn('bash', ['-c', `${script}\necho\necho $SESSION`], {
      env: { PATH: process.env['PATH'], URL: service.base, KEY: adminKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.equal(child.exitCode, 0, said)
    return said.trimEnd()
  }

  async function logOf(said: string): Promise<string> {
    const session = said.split('\n').at(-1) ?? ''
    const headers = { 'x-api-key': adminKey }
    return (await fetch(`${service.base}/v1/sessions/${session}/log`, { headers })).text()
  }

  it('has a call that waits, and runs once it is allowed', async () => {
    const [setup = '', message = '', call = '', allow = ''] = blocks
    const said = await run([setup, message, call, allow])
    assert.match(said, /"requires_action"/)
    await until(async () => (await logOf(said)).includes('Linux'))
  })

  it('has a call that waits, and is denied with a reason for the agent', async () => {
    const [setup = '', message = '', call = '', , deny = ''] = blocks
    const said = await run([setup, message, call, deny])
    await until(async () => /agent.tool_result.*Not on this machine/s.test(await logOf(said)))
    assert.doesNotMatch(await logOf(said), /Linux/)
  })
})
