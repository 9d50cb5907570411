/** Our worker, as a process of its own, against the service as a process of its own. contract.md 4.8 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { ServerProcess } from '../process.ts'
import { startServer } from '../process.ts'
import type { Clients } from '../service.ts'
import { clientsOf } from '../service.ts'
import type { Seen } from '../turns.ts'
import { all, post, say, textOf } from '../turns.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import { newPool, sessionIn } from '../workers.ts'

describe('our worker', () => {
  let folder: string
  let server: ServerProcess
  let service: Clients
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-our-worker-'))
    server = await startServer({ DATA_DIR: folder })
    service = clientsOf(server.base)
  })
  after(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  /** Posts, and gives the whole log when the session has nothing left to do. */
  async function answered(session: string, text: string): Promise<Seen[]> {
    const stream = await service.client.beta.sessions.events.stream(session)
    await post(service, session, text)
    for await (const event of stream)
      if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break
    return say(service, session)
  }
  const resultsIn = (log: readonly Seen[]) =>
    all(log, 'user.tool_result').map((each) => textOf(each).trim())

  const work = `run: echo from elsewhere > made; cat made; env
read: made
glob: **/*
say: done`

  for (const lane of ['openma_supervised', 'ama_worker'])
    for (const strategy of [
      'claim_then_acquire',
      'poll_unacked_then_dispatch',
      'acquire_then_session_poll',
    ]) {
      if (lane === 'openma_supervised' && strategy !== 'claim_then_acquire') continue
      it(`${lane} by ${strategy} runs the tools of a session in a sandbox`, async () => {
        const pool = await newPool(service)
        await using worker = await startWorker({
          ...workerVariables(service, pool),
          ...{ WORKER_LANE: lane, WORKER_STRATEGY: strategy },
        })
        const session = await sessionIn(service, pool)
        const [first, second] = resultsIn(await answered(session, work))
        assert.match(first ?? '', /^from elsewhere\n/, worker.said())
        assert.equal(second, 'from elsewhere')
        assert.doesNotMatch(first ?? '', new RegExp(`${pool.key}|stw_claim`))
        assert.equal(await worker.stop(), 0, worker.said())
      })
    }
})
