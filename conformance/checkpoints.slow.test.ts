/** Two machines share nothing but a database and a blob store. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { newPostgresUrl } from '@steward/server/ground/database/fixture.ts'
import { startServer } from './process.ts'
import type { ServerProcess } from './process.ts'
import { adminKey } from './service.ts'
import { all, fresh, only, textOf, turn } from './turns.ts'
import { verifies } from './verifies.ts'

describe('machines of their own', () => {
  let url: string
  let folder: string
  let blobs: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-machines-'))
    blobs = join(folder, 'blobs')
    url = await newPostgresUrl()
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const machine = (name: string) =>
    startServer({
      DATA_DIR: join(folder, name),
      DATABASE_URL: url,
      STORE_BACKENDS: JSON.stringify({ blobs: { type: 'disk', dir: blobs } }),
    })
  const at = ({ base }: ServerProcess) => ({
    client: new Anthropic({ baseURL: base, apiKey: adminKey, maxRetries: 0 }),
  })

  async function sessionAt(server: ServerProcess): Promise<string> {
    const { beta } = at(server).client
    const tools = [{ type: 'agent_toolset_20260401' as const }]
    const agent = await beta.agents.create({ name: fresh('agent'), model: 'offline', tools })
    const environment = await beta.environments.create({ name: fresh('environment') })
    const made = { agent: agent.id, environment_id: environment.id }
    return (await beta.sessions.create(made)).id
  }

  const resultOf = async (server: ServerProcess, session: string, text: string) =>
    textOf(only(await turn(at(server), session, text), 'agent.tool_result'))

  verifies(
    ['workspace/checkpoint', 'workspace/replaced-told', 'sandbox/path/user'],
    'a session continues on another machine with its files, and the agent reads that its sandbox is new',
    async () => {
      const one = await machine('one')
      const session = await sessionAt(one)
      await resultOf(one, session, 'run: mkdir -p deep && echo from the first > deep/note')
      await resultOf(
        one,
        session,
        'run: echo more >> deep/note; echo result > /mnt/session/outputs/r; echo own > /mnt/user/o',
      )
      await one.kill()
      await using other = await machine('other')
      const said = await resultOf(
        other,
        session,
        'run: cat deep/note /mnt/session/outputs/r /mnt/user/o; id -u',
      )
      assert.match(said, /^from the first\nmore\nresult\nown\n1000\n/)
      assert.match(said, /started anew.*\/workspace was restored as it was at 20/)
      const again = await resultOf(
        other,
        session,
        'run: echo kept by its user >> deep/note; cat deep/note',
      )
      assert.equal(again, 'from the first\nmore\nkept by its user\n')
    },
  )

  verifies(
    ['workspace/checkpoint-corrupt', 'errors/case/corrupt-checkpoint'],
    'a session whose checkpoint is corrupt stops there, with an error that says so',
    async () => {
      const one = await machine('first')
      const session = await sessionAt(one)
      await resultOf(one, session, 'run: echo from the first > note')
      await one.kill()
      for (const path of await readdir(blobs, { recursive: true }))
        if (path.includes('chkpt_')) await writeFile(join(blobs, path), 'rotten')
      await using other = await machine('second')
      for (let round = 0; round < 2; round++) {
        const seen = await turn(at(other), session, 'run: ls')
        const [error] = all(seen, 'session.error')
        assert.match(
          JSON.stringify(error),
          new RegExp(`checkpoint of the workspace of ${session} is corrupt`),
        )
        assert.match(JSON.stringify(seen.at(-1)), /retries_exhausted/)
        assert.doesNotMatch(JSON.stringify(all(seen, 'agent.tool_result')), /"is_error":false/)
      }
    },
  )

  it('says at its start if checkpoints are rarer than the setting asks for', async () => {
    const env = { SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'disabled', CHECKPOINTS: 'idle' }
    await using without = await startServer({ DATA_DIR: join(folder, 'x'), PATH: folder, ...env })
    assert.match(without.said(), /CHECKPOINTS=idle does no more here than stop/)
    await using at = await startServer({ DATA_DIR: join(folder, 'y'), ...env })
    assert.doesNotMatch(at.said(), /CHECKPOINTS/)
  })
})
