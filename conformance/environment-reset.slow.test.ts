/** The sandbox of a session is replaced after its server was killed, and streams of `/openai/v1` say so. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { newestOpenAI } from './openai.ts'
import { localSettings, settingsIn, startServer } from './process.ts'
import { clientsOf, scenarioDatabases } from './service.ts'
import { verifies } from './verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`the sandbox of a killed server on ${database}`, () => {
    verifies(
      'openai/events/environments',
      'is replaced with the next command, and each replacement has its number',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-reset-'))
        const env = {
          ...localSettings,
          ...(await settingsIn(folder, database)),
        }
        let process = await startServer(env)
        try {
          const { sessions } = newestOpenAI(clientsOf(process.base)).beta.agents
          const first = await sessions.create({
            ...{ agent: { model: 'offline' }, input: 'run: echo kept > file', stream: true },
            ...{ environment: { type: 'openai_hosted' }, toolHandlers: {} },
          })
          const { session_id } = await first.finalResult()
          for (const expected of [1, 2]) {
            await process.kill()
            process = await startServer(env)
            const after = newestOpenAI(clientsOf(process.base)).beta.agents.sessions
            const turn = after.stream(session_id, { input: 'run: cat file' })
            const events = await Array.fromAsync(turn)
            const resets = events.flatMap((event) =>
              event.type === 'agent.session.environment.reset' ? [event] : [],
            )
            const [reset, ...others] = resets
            assert.deepEqual(others, [])
            assert.equal(reset?.reset_count, expected)
            const { environment } = await after.retrieve(session_id)
            assert.equal(environment.type === 'none' ? '' : environment.id, reset.environment_id)
            assert.match(JSON.stringify(events), /kept/)
          }
        } finally {
          await process.kill()
          await rm(folder, { recursive: true, force: true })
        }
      },
    )
  })
}
