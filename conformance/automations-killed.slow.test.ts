/** Agents make automations while their server is killed again and again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLongRun } from '@steward/server/ground/database/fixture.ts'
import { newestOpenAI } from './openai.ts'
import { localSettings, settingsIn, startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { all, newSession, post, say } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

const kills = isLongRun ? 20 : 5
const longestLifeMs = 200
const tools = [{ type: 'agent_toolset_20260401', automations: {} }]
const task = Array.from(
  { length: 8 },
  (_, n) =>
    `call automations ${JSON.stringify({ action: 'create', name: `n${n}`, instructions: 'say: x', expression: '0 9 * * *' })}`,
).join('\n')

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`automations of a killed server on ${database}`, () => {
    verifies(
      ['tools/automations/recorded', 'running/recovery/orphan-call'],
      `each call with a result has made one automation, and no other call has, after ${kills} kills`,
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-automations-'))
        const env = {
          ...localSettings,
          ...(await settingsIn(folder, database)),
        }
        let process = await startServer(env)
        let server = clientsOf(process.base)
        const sessions: string[] = []
        try {
          for (let n = 0; n < kills; n++) {
            const session = await newSession(server, { tools })
            sessions.push(session)
            await post(server, session, task)
            await sleep(Math.random() * longestLifeMs)
            await process.kill()
            process = await startServer(env)
            server = clientsOf(process.base)
          }
          let made = 0
          for (const session of sessions) {
            await until(
              async () => (await say(server, session)).at(-1)?.type === 'session.status_idle',
            )
            const log = await say(server, session)
            const ended = all(log, 'agent.tool_result').filter((each) => !each['is_error'])
            const { automations } = newestOpenAI(server).beta.agents
            const listed = await Array.fromAsync(automations.list({ session_id: session }))
            const calls = listed.map(({ created_by }) =>
              created_by.type === 'agent' ? created_by.tool_call_id : '',
            )
            assert.deepEqual(
              calls.toSorted(),
              ended.map((each) => String(each['tool_use_id'])).toSorted(),
            )
            made += calls.length
          }
          assert.ok(made > 0)
        } finally {
          await process.kill()
          await rm(folder, { recursive: true, force: true })
        }
      },
    )
  })
}
