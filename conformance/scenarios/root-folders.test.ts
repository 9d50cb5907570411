/** Environments that name a root folder of the operator's. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { makeRoot } from '@steward/sandbox/bubblewrap/root-fixture.ts'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import { fresh, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

describe('root folders', () => {
  const root = mkdtempSync(join(tmpdir(), 'steward-root-'))
  let service: TestService
  before(async () => {
    makeRoot(root, ['/usr/bin/bash', '/usr/bin/cat'])
    service = await boot('sqlite', { env: { SANDBOX_ROOTS: `small=${root},gone=/nowhere/at/all` } })
  })
  after(async () => {
    await service.close()
    rmSync(root, { recursive: true })
  })

  async function session(base_image: string): Promise<string> {
    const made = await service.ask('POST', '/v1/environments', { name: fresh('env'), base_image })
    const tools = [{ type: 'agent_toolset_20260401' }]
    return newSession(service, { tools }, { environment_id: made.body.id })
  }

  verifies(
    'environments/base-image/root',
    'commands run in the root folder that the environment names, and a path or a missing folder is refused',
    async () => {
      const command = 'cat /etc/os-release; type ls cat'
      const seen = await turn(
        service,
        await session('small'),
        `call bash ${JSON.stringify({ command })}`,
      )
      const said = textOf(only(seen, 'agent.tool_result'))
      assert.match(said, /a small one[^]*ls: not found[^]*cat is/)
      for (const name of [root, 'gone', '../small'])
        await assert.rejects(session(name), /environment\.base_image: /)
    },
  )
})
