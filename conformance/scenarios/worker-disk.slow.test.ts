/** The disk limit of sessions on a worker's machine is measured as on the server. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { ServerProcess } from '../process.ts'
import { startServer } from '../process.ts'
import type { ServiceClients } from '../service.ts'
import { clientsOf } from '../service.ts'
import { all, logOf, post, textOf } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'
import { startWorker, workerVariables } from '../worker-process.ts'
import { newPool, restsAfter, sessionIn } from '../workers.ts'

/**
 * Each file is smaller than the share. The writes take seconds, because removals by others hide the writes of one
 * second.
 */
const takes =
  'run: echo kept >small; for n in 1 2 3 4 5 6; do head -c 15M /dev/zero >large$n; sync; sleep 0.7; done; sleep 30'

describe('the disk of a worker', () => {
  let folder: string
  let server: ServerProcess
  let service: ServiceClients
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-worker-disk-'))
    server = await startServer({ DATA_DIR: folder })
    service = clientsOf(server.base)
  })
  after(async () => {
    await server.kill()
    await rm(folder, { recursive: true, force: true })
  })

  async function working(env: Record<string, string>) {
    const pool = await newPool(service)
    const worker = await startWorker({ ...workerVariables(service, pool), ...env })
    return { worker, session: await sessionIn(service, pool) }
  }
  const results = (log: Parameters<typeof all>[0]) =>
    all(log, 'user.tool_result').map((each) => textOf(each).trim())

  verifies(
    'sandbox/disk',
    'is measured: a session that takes more than its share reads so, and goes on in another sandbox',
    async () => {
      const { worker, session } = await working({ SANDBOX_DISK_MB: '20' })
      await using _worker = worker
      const log = await restsAfter(service, session, `${takes}\nrun: rm large*; cat small`)
      const [ended = '', next] = results(log)
      assert.match(ended, /the sandbox ended while this ran.* and may take 20 MB/)
      assert.equal(next, 'kept', worker.said())
    },
  )

  verifies('sandbox/disk/floor', 'has a floor, below which no sandbox starts', async () => {
    const { worker, session } = await working({ STORE_FREE_MB: '900000000' })
    await using _worker = worker
    const [said = ''] = results(await restsAfter(service, session, 'run: echo on'))
    assert.match(said, /the disk has less than 900000000 MB left/)
  })

  it('is measured for the official worker too, and the session reports why its sandbox ended', async () => {
    const { worker, session } = await working({
      ...{ WORKER_LANE: 'ama_worker', SANDBOX_DISK_MB: '20' },
    })
    await using _worker = worker
    await post(service, session, takes)
    await until(async () => {
      const log = await logOf(service, session)
      return JSON.stringify(all(log, 'session.error')).includes('may take 20 MB')
    })
  })
})
