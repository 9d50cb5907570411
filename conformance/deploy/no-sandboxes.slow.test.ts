/** A server that leaves all commands to workers, as the chart starts it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { make, post } from '@steward/server/start/commands/own-api.ts'
import type { ServerProcess } from '../process.ts'
import { startServer } from '../process.ts'
import { adminKey } from '../service.ts'

describe('a server without sandboxes', () => {
  let folder: string
  let server: ServerProcess
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'steward-no-sandboxes-'))
    server = await startServer({ DATA_DIR: folder, SANDBOX_PROVIDER: 'none' })
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('runs no command, says what to use instead, and ends the turn', async () => {
    const api = { base: server.base, apiKey: adminKey }
    const tools = [{ type: 'agent_toolset_20260401' }]
    const agent = await make(api, '/v1/agents', { name: 'runner', model: 'offline', tools })
    const environment_id = await make(api, '/v1/environments', { name: 'plain' })
    const session = await make(api, '/v1/sessions', { agent, environment_id })
    const content = { content: 'run: touch /tmp/never' }
    const events = await (await post(api, `/v1/sessions/${session}/messages`, content)).text()
    assert.match(events, /nothing was run: this server starts no sandboxes .* type self_hosted/)
    assert.match(events, /session\.status_idle/)
    assert.doesNotMatch(server.said(), /"level":"(warn|error)"/)
  })
})
