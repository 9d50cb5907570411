/** Requests of `/openai/v1` bring files and agents with them, while their server is killed again and again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type OpenAI from 'openai'
import { isLongRun } from '@steward/server/ground/database/fixture.ts'
import { newestOpenAI } from './openai.ts'
import { localSettings, settingsIn, startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { fresh } from './turns.ts'
import { verifies } from './verifies.ts'

const kills = isLongRun ? 20 : 6
/** So many that units of several requests wait for each other. */
const atOnce = 40
const longestLifeMs = 80

/** Requests that are cut off. */
function bring({ beta: { agents } }: OpenAI): Promise<unknown>[] {
  const file = () =>
    ({
      type: 'inline',
      path: '/workspace/a.txt',
      data: Buffer.from(fresh('a')).toString('base64'),
    }) as const
  const input = [
    { role: 'user' as const, content: [{ type: 'input_text' as const, text: 'say: x' }] },
  ]
  return Array.from({ length: atOnce }, (_, n) =>
    n % 2 === 0
      ? agents.environments.templates.create({ files: [file()] })
      : agents.automations.create({
          ...{ type: 'periodic', name: fresh('a'), expression: '0 9 * * *', timezone: 'UTC' },
          target: {
            ...{ type: 'new_session', agent: { model: 'offline', name: fresh('agent') }, input },
            environment: { type: 'openai_hosted', files: [file()] },
          },
        }),
  )
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`files and agents of requests to a killed server on ${database}`, () => {
    verifies(
      ['openai/environments/inline-files', 'openai/automations/new-session'],
      `are there with what names them, or not at all, after ${kills} kills`,
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-described-'))
        const env = {
          ...localSettings,
          ...(await settingsIn(folder, database)),
        }
        let process = await startServer(env)
        let client = newestOpenAI(clientsOf(process.base))
        try {
          // The first requests load parts of the service: a kill meets nothing before.
          await Promise.all(bring(client))
          let cut = 0
          for (let n = 0; n < kills; n++) {
            const asked = Promise.allSettled(bring(client))
            await sleep(Math.random() * longestLifeMs)
            await process.kill()
            cut += (await asked).filter(({ status }) => status === 'rejected').length
            process = await startServer(env)
            client = newestOpenAI(clientsOf(process.base))
          }
          assert.ok(cut > 0, 'no request was cut off')
          const { agents } = client.beta
          const { beta } = clientsOf(process.base).client
          const all = await Array.fromAsync(beta.agents.list({ limit: 100 }))
          const automations = await Array.fromAsync(agents.automations.list({ limit: 100 }))
          const named = automations.map(({ target }) =>
            target.type === 'new_session' ? (target.agent_id ?? '') : '',
          )
          assert.deepEqual(all.map(({ id }) => id).toSorted(), named.toSorted())
          const templates = await Array.fromAsync(
            agents.environments.templates.list({ limit: 100 }),
          )
          const files = (await Array.fromAsync(client.files.list({ limit: 100 }))).map(
            ({ id }) => id,
          )
          const mounted = templates.flatMap((template) =>
            template.files.map((file) => ('file_id' in file ? file.file_id : '')),
          )
          assert.ok(files.length >= atOnce)
          assert.deepEqual(files.toSorted(), mounted.toSorted())
        } finally {
          await process.kill()
          await rm(folder, { recursive: true, force: true })
        }
      },
    )
  })
}
